"""Job files of examples/ and model/recipes/, made small enough for a test."""

import re

# What stands in a file, and what in the small one.
_SMALLER = (
    (r"(?<=layers: )\d+", "1"),
    (r"(?<=width: )\d+", "16"),
    (r"(?<=heads: )\d+", "2"),
    (r"(?<=every_steps: )\d+", "10"),
    (r"(?<![a-z_])steps: \d+", "steps: 20"),
    (r"(?<=batch_size: )\d+", "4"),
    (r"(?<=samples: )\d+", "2"),
    (r"(?<=max_items: )\d+", "400"),
    (r"(?<=max_digits: )\d+", "2"),
    (r"(?<=max_tokens: )\d+", "2000"),
    (r"(?<=pairs: )\d+", "4"),
    (r"(?<![a-z_])length: \d+", "length: 32"),
    (r"(?<=rounds: )\d+", "1"),
    (r"seeds: \[1, 2, 3\]", "seeds: [1]"),
    (r"threads: 2", "threads: 1"),
    # Steps of one width are too few to meet within one in a hundred.
    (r"budget: flops", "budget: tokens"),
)


def small(text):
    for pattern, instead in _SMALLER:
        text = re.sub(pattern, instead, text)
    return text
