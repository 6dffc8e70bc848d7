"""Golden frequencies of the rotary family: Hugging Face's own.

  python3 tools/golden/rope_scaling.py tests/golden

Writes rope_scaling/cases.json: for each encoding, with its parameters and a
number of tokens, what transformers.modeling_rope_utils gives for the same
configuration, computed in fp32 as there. Needs the Python packages transformers
and torch; the file says which versions it was made with.
"""

import json
import os
import sys

# Number of tokens that a configuration without another one was trained for.
TRAINED = 4096
LONG = [1.0, 1.25, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0]
SHORT = [1.0, 1.0, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5]


class Case:
    """An encoding, and the type and keys of `rope_scaling` that say the same."""

    def __init__(self, name, params, rope_type, scaling, **sizes):
        self.name = name
        self.params = params
        self.rope_type = rope_type
        self.scaling = dict(scaling, rope_type=rope_type)
        self.head_width = sizes.get("head_width", 64)
        self.length = sizes.get("length", 1)


def cases():
    """Every type, with each key that changes what it gives."""
    trained = {"trained_length": TRAINED}
    original = {"original_max_position_embeddings": TRAINED}
    yarn = dict(trained, factor=8)
    hf_yarn = dict(original, factor=8.0)
    lists = {"short_factors": SHORT, "long_factors": LONG}
    hf_lists = {"short_factor": SHORT, "long_factor": LONG}
    small = {"head_width": 16}
    return [
        Case("rope", {"base": 5000}, "default", {}),
        Case("rope", {"partial": 0.25}, "default", {}, head_width=128),
        Case("linear", {"factor": 4}, "linear", {"factor": 4.0}),
        Case("dynamic_ntk", dict(trained, factor=2), "dynamic",
             {"factor": 2.0}, length=TRAINED),
        Case("dynamic_ntk", dict(trained, factor=2), "dynamic",
             {"factor": 2.0}, length=3 * TRAINED),
        Case("dynamic_ntk", dict(trained, factor=1), "dynamic",
             {"factor": 1.0}, length=9999, head_width=128),
        Case("yarn", yarn, "yarn", hf_yarn),
        Case("yarn", yarn, "yarn", hf_yarn, head_width=128),
        Case("yarn", dict(yarn, partial=0.5, base=1000), "yarn", hf_yarn),
        Case("yarn", dict(yarn, truncate=False), "yarn",
             dict(hf_yarn, truncate=False)),
        Case("yarn", dict(yarn, beta_fast=20, beta_slow=2), "yarn",
             dict(hf_yarn, beta_fast=20.0, beta_slow=2.0)),
        Case("yarn", dict(yarn, attention_factor=1.5), "yarn",
             dict(hf_yarn, attention_factor=1.5)),
        Case("yarn", dict(yarn, mscale=0.7, mscale_all_dim=1.3), "yarn",
             dict(hf_yarn, mscale=0.7, mscale_all_dim=1.3)),
        Case("longrope", dict(trained, factor=32, **lists), "longrope",
             dict(hf_lists, factor=32.0), length=TRAINED, **small),
        Case("longrope", dict(trained, factor=32, **lists), "longrope",
             dict(hf_lists, factor=32.0), length=TRAINED + 1, **small),
        Case("longrope", dict(trained, attention_factor=1.25, **lists),
             "longrope", dict(hf_lists, factor=1.0, attention_factor=1.25),
             length=TRAINED + 1, **small),
        Case("llama3", {}, "llama3",
             {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 8192}, head_width=128),
        Case("llama3", {"factor": 32, "base": 10000, "low_freq_factor": 2,
                        "high_freq_factor": 9, "trained_length": 2048},
             "llama3",
             {"factor": 32.0, "low_freq_factor": 2.0, "high_freq_factor": 9.0,
              "original_max_position_embeddings": 2048}),
    ]


class Config:
    """What modeling_rope_utils reads of a model's configuration."""

    def __init__(self, case):
        base = 500000.0 if case.name == "llama3" else 10000.0
        self.rope_theta = float(case.params.get("base", base))
        self.partial_rotary_factor = case.params.get("partial", 1.0)
        self.head_dim = case.head_width
        self.hidden_size = 4 * case.head_width
        self.num_attention_heads = 4
        self.max_position_embeddings = TRAINED
        self.rope_scaling = case.scaling


def made(case, functions):
    frequencies, factor = functions[case.rope_type](
        Config(case), device="cpu", seq_len=case.length)
    return {
        "encoding": {"name": case.name, "params": case.params},
        "head_width": case.head_width,
        "length": case.length,
        "frequencies": [float(value) for value in frequencies],
        "attention_factor": float(factor),
    }


def main(folder):
    import torch
    import transformers
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    os.makedirs(os.path.join(folder, "rope_scaling"), exist_ok=True)
    path = os.path.join(folder, "rope_scaling", "cases.json")
    with open(path, "w") as file:
        json.dump({
            "made_with": "transformers %s, torch %s" %
                         (transformers.__version__, torch.__version__),
            "cases": [made(case, ROPE_INIT_FUNCTIONS) for case in cases()],
        }, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
