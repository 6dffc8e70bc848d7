"""Golden logits of the hf_* folders from Hugging Face's own modules.

  python3 -m tools.golden.hugging_face_logits tests/golden

Loads each folder that tools/golden/hugging_face.py wrote with the Python
packages transformers and torch, and writes beside its files
published.safetensors (tokens, and the logits that the library gives, in double
where it does not compute in fp32) and made_with.txt. That the two files agree
shows that the formulas are the library's, and so are the defaults of keys that
a configuration leaves out. Needs transformers 5: earlier ones do not read
`rope_parameters`.
"""

import os
import sys

from tools.golden import hugging_face
from tools.golden import logits as files

PUBLISHED = "published.safetensors"


def load(path, kind):
    import torch
    from transformers import AutoModelForCausalLM
    # The library's masks for mpt overflow in double.
    dtype = torch.float32 if kind == "mpt" else torch.float64
    model, report = AutoModelForCausalLM.from_pretrained(
        path, dtype=dtype, attn_implementation="eager",
        output_loading_info=True)
    for what in ("missing_keys", "mismatched_keys", "error_msgs"):
        if report[what]:
            sys.exit("%s: %s: %s" % (path, what, report[what]))
    return model.eval()


def write(folder):
    import torch
    import transformers
    torch.set_grad_enabled(False)
    made_with = "%s: transformers %s, torch %s\n" % (
        PUBLISHED, transformers.__version__, torch.__version__.split("+")[0])
    for name, config in hugging_face.MODELS.items():
        path = os.path.join(folder, name)
        tensors = files.read_safetensors(
            os.path.join(path, "cases.safetensors"))
        _, shape, flat = tensors["tokens"]
        tokens = torch.tensor(flat).view(shape)
        logits = load(path, config["model_type"])(
            tokens, use_cache=False).logits.double()
        files.write_safetensors(os.path.join(path, PUBLISHED), {
            "tokens": tensors["tokens"],
            "logits": ("F64", list(logits.shape), logits.flatten().tolist()),
        })
        with open(os.path.join(path, "made_with.txt"), "w",
                  encoding="utf-8") as file:
            file.write(made_with)
        worst = max(abs(a - b) for a, b in zip(
            logits.flatten().tolist(), tensors["logits"][2]))
        print("%-20s differs from the formulas by %.1e" % (name, worst))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
