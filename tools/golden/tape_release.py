"""Golden checkpoints of the TAPE paper's public code, made by running it.

  git clone https://github.com/VITA-Group/TAPE DIR
  python3 -m tools.golden.tape_release tests/golden --source DIR --commit HASH

Writes, for each model below, <folder>/vita_<name>/config.json and
model.safetensors as that code saves them (random weights), encoding.json (what
`ordo-trainer --encoding` is given), cases.safetensors (tokens, and the code's
logits) and made_with.txt. Needs the Python packages torch, transformers 4.34.0
(which that code was written for), safetensors and einops. None of its code is
here: DIR holds it. Attention kernels that need a GPU are left out; the code
does not use them as configured here.
"""

import argparse
import importlib
import json
import os
import sys
import types

VOCABULARY = 11
HEADS = 3
WIDTH = 18
# Of training; a case is longer.
LENGTH = 8
CASES = {"short": 6, "long": 13}

YARN = {"rope_scaling": {"type": "adayarn", "factor": 4.0},
        "original_max_position_embeddings": LENGTH,
        "max_position_embeddings": 4 * LENGTH}


class Model:
    """A module of the code, further keys of its configuration, and the encoding
    that says the same."""

    def __init__(self, module, encoding, **config):
        self.module = module
        self.encoding = encoding
        self.config = config


def tape(*start, **params):
    params = dict({"reading": "released", "position_size": 5}, **params)
    encoding = {"name": "tape", "params": params}
    if start:
        encoding["with"] = [dict(zip(("name", "params"), start))]
    return encoding


MODELS = {
    "tape": Model("adape", tape(), position_size=5),
    "tape_linear": Model("adape", tape("linear", {"factor": 3}),
                         position_size=5,
                         rope_scaling={"type": "linear", "factor": 3.0}),
    "tape_yarn": Model("adayarn",
                       tape("yarn", {"factor": 4, "trained_length": LENGTH}),
                       position_size=5, **YARN),
    "tape_attention": Model("adattention", tape(mlp_update=False),
                            position_size=5),
    "tape_mlp": Model("adamlp", tape(attention_update=False), position_size=5),
    "tape_not_equivariant": Model("adawoeq", tape(equivariant=False),
                                  position_size=5),
    "tape_vector": Model("adavector", {
        "name": "tape", "params": {"embedding": "vector", "position_size": 5}},
                         position_size=5),
    "rope": Model("rope", {"name": "rope"}),
    "alibi": Model("alibi", {"name": "alibi"}),
    "t5": Model("t5rb", {"name": "t5", "params": {
        "buckets": 8, "max_distance": 10, "per_layer": True}},
                relative_attention_num_buckets=8,
                relative_attention_max_distance=10),
    "fire": Model("fire", {"name": "fire"}),
    "xpos": Model("xpos", {"name": "xpos", "params": {"scale_base": 2048}}),
    "sinusoidal": Model("sincos", {"name": "sinusoidal"}),
    "none": Model("nope", {"name": "none"}),
}


def stand_in(name, **members):
    """A module that the code imports and, as configured here, does not use."""
    module = types.ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    sys.modules[name] = module


def import_code(source):
    # Before the stand-ins: it looks for what is installed.
    importlib.import_module("transformers")
    # adavector keeps its frequencies on a GPU.
    torch = importlib.import_module("torch")
    move = torch.Tensor.to
    torch.Tensor.to = lambda tensor, *where, **how: (
        tensor if where == ("cuda:0",) else move(tensor, *where, **how))
    sys.path.insert(0, source)
    unused = dict.fromkeys(("flash_attn_func", "flash_attn_varlen_func",
                            "adape_flash_attn_func"))
    stand_in("flash_attn", **unused)
    stand_in("flash_attn.bert_padding", index_first_axis=None, pad_input=None,
             unpad_input=None)
    stand_in("utils", **unused)
    stand_in("utils.triton_utils", **unused)


def config_of(model):
    from config_llama import MyLlamaConfig
    keys = {
        "hidden_size": WIDTH,
        "intermediate_size": 14,
        "num_attention_heads": HEADS,
        "num_hidden_layers": 3,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": LENGTH,
        "rms_norm_eps": 1e-5,
        "pad_token_id": -1,
        "rpe_type": model.module,
        "train_scale": LENGTH,
        "use_flash_attention_2": "none",
    }
    keys.update(model.config)
    return MyLlamaConfig(**keys)


def set_weights(net, name):
    """So that every one of them acts."""
    import torch
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    for key, tensor in sorted(net.named_parameters()):
        if key.endswith("init_L"):
            continue
        # Of one number, near what training starts from.
        if tensor.dim() == 0:
            tensor.fill_(0.3 if key.endswith(".c") else 0.01)
            continue
        noise = torch.randn(tensor.shape, generator=generator)
        if key.endswith("inv_freq"):
            if net.config.rpe_type == "adayarn":
                # The code trains these.
                tensor.mul_(1 + 0.1 * noise)
        elif tensor.dim() == 1 and "norm" in key:
            tensor.copy_(1 + 0.1 * noise)
        else:
            tensor.copy_(0.3 * noise)
        if net.config.rpe_type == "adavector" and "attention_linear" in key:
            # The code sums over each row, the paper multiplies; a diagonal
            # matrix does both.
            tensor.copy_(tensor.diag().diag())


def used(net):
    """The code's weights but those that, in its last layer, nothing uses and
    that Ordo has in the released reading only."""
    last = "layers.%d." % (net.config.num_hidden_layers - 1)
    return {key: tensor for key, tensor in net.state_dict().items()
            if net.config.rpe_type != "adavector" or last not in key or
            ".pe." not in key and "attention_linear" not in key}


def logits_of(net, tokens):
    result = net(tokens, use_cache=False)
    return result.logits.double().contiguous()


def write(folder, source_commit):
    import torch
    import transformers
    from safetensors.torch import save_file
    torch.set_grad_enabled(False)
    made_with = "VITA-Group/TAPE %s, transformers %s, torch %s\n" % (
        source_commit, transformers.__version__,
        torch.__version__.split("+")[0])
    for name, model in MODELS.items():
        code = importlib.import_module("models.llama." + model.module)
        net = code.MyLlamaForCausalLM(config_of(model)).eval()
        set_weights(net, name)
        path = os.path.join(folder, "vita_" + name)
        os.makedirs(path, exist_ok=True)
        generator = torch.Generator().manual_seed(1)
        cases = {}
        # The long one last: the code changes its own state there.
        for case, length in CASES.items():
            tokens = torch.randint(VOCABULARY, (2, length),
                                   generator=generator)
            cases["tokens." + case] = tokens
            cases["logits." + case] = logits_of(net, tokens)
        save_file(cases, os.path.join(path, "cases.safetensors"))
        net.save_pretrained(path, state_dict=used(net),
                            safe_serialization=True)
        for file in os.listdir(path):
            if file == "generation_config.json":
                os.remove(os.path.join(path, file))
        with open(os.path.join(path, "encoding.json"), "w") as file:
            json.dump(model.encoding, file)
            file.write("\n")
        with open(os.path.join(path, "made_with.txt"), "w") as file:
            file.write(made_with)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--source", required=True)
    parser.add_argument("--commit", required=True)
    arguments = parser.parse_args()
    import_code(arguments.source)
    write(arguments.folder, arguments.commit)
