"""What golden cases of encodings by themselves share.

A case says an encoding, q [B,H,T,D] and k, what else it reads, its parameters,
what it was made with, and what comes out: tests/golden/encodings_test.cc.
"""

import json
import os

HEADS = 2
WIDTH = 4
LENGTH = 6
ATTENTION = "model.layers.0.self_attn."


def write_cases(folder, name, cases):
    """One case to a line."""
    path = os.path.join(folder, "encodings")
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name), "w", encoding="utf-8") as file:
        lines = [json.dumps(case, separators=(",", ":")) for case in cases]
        file.write('{"cases":[\n' + ",\n".join(lines) + "\n]}\n")
