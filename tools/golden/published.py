"""Golden values of encodings by themselves, from published code.

  git clone each of SOURCES below into DIR/<name>
  python3 -m tools.golden.published tests/golden --source DIR

Writes <folder>/encodings/published.json: for each case an encoding, q, k and
what else it reads, its parameters, and what the code named in `made_with` makes
of them. Hugging Face's modules and x-transformers are installed packages; of
the repositories only the classes named below are run, and none of their code is
here. Values are rounded inputs and doubles, unless the code computes in fp32
(`"single"`). tools/golden/formulas.py has the encodings without such code.
"""

import argparse
import os
import subprocess
import types

from tools.golden import published_content
from tools.golden import published_rotary
from tools.golden.encoding_cases import ATTENTION
from tools.golden.encoding_cases import HEADS
from tools.golden.encoding_cases import LENGTH
from tools.golden.encoding_cases import WIDTH
from tools.golden.encoding_cases import write_cases
from tools.golden.published_content import Maker
from tools.golden.published_content import Random

PACKAGES = ("timm", "transformers", "x-transformers")
SOURCES = {
    "KERPLE": "https://github.com/chijames/KERPLE",
    "TAPE": "https://github.com/VITA-Group/TAPE",
    "transformer-xl": "https://github.com/kimiyoung/transformer-xl",
    "arithmetic": "https://github.com/mcleish7/arithmetic",
    "yarn": "https://github.com/jquesnelle/yarn",
    "rerope": "https://github.com/bojone/rerope",
}


def t5(maker):
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention
    positions = [0, 1, 2, 7, 15, 16, 31, 40, 90, 113, 128, 200]
    for causal in (True, False):
        config = T5Config(num_heads=HEADS, d_model=8, is_decoder=causal)
        module = T5Attention(config, has_relative_attention_bias=True).double()
        table = Random("t5")(32, HEADS)
        module.relative_attention_bias.weight.copy_(table)
        bias = module.compute_bias(201, 201)[:, :, positions][..., positions]
        maker.add("transformers T5Attention", {"name": "t5"}, ("scores", bias),
                  causal=causal, positions=positions,
                  parameters={"model.t5.weight": table})


def alibi(maker):
    import torch
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
    for heads in (4, 6):
        made = {
            "transformers build_alibi_tensor": build_alibi_tensor(
                torch.ones(1, LENGTH), heads, torch.float32),
            "transformers build_mpt_alibi_tensor": build_mpt_alibi_tensor(
                heads, LENGTH),
        }
        for name, bias in made.items():
            # Theirs leaves out what a softmax does not see.
            bias = bias.view(1, heads, 1, LENGTH).double()
            bias = bias - bias.transpose(2, 3)
            maker.add(name, {"name": "alibi"}, ("scores", bias), heads=heads,
                      single=True)


def kerple(maker):
    import torch
    torch.cuda.current_device = lambda: "cpu"
    one = {"get_model_parallel_world_size": lambda: 1,
           "get_model_parallel_rank": lambda: 0}
    names = ["ParallelKerpleLog", "ParallelKerplePower"]
    arguments = types.SimpleNamespace(
        num_attention_heads=HEADS, pos_emb="kerple_power_ap_",
        params_dtype=torch.float64)
    made = maker.classes("KERPLE", "megatron/mpu/layers.py", names, **one)
    for name, make, r1, r2 in zip(("kerple_log", "kerple_power"), made,
                                  ("bias_p", "bias_a"), ("bias_a", "bias_p")):
        # The second head's are out of bounds.
        values = {r1: torch.tensor([0.7, -0.2]), r2: torch.tensor([0.4, 2.5])}
        module = make(arguments)
        for key, value in values.items():
            getattr(module, key).data = value.double()[:, None, None]
        bias = module(torch.zeros(1, HEADS, LENGTH, LENGTH,
                                  dtype=torch.float64))
        maker.add("KERPLE " + make.__name__, {"name": name}, ("scores", bias),
                  parameters={"model.%s.r1" % name: values[r1].double(),
                              "model.%s.r2" % name: values[r2].double()})


def fire(maker):
    import torch
    make, = maker.classes("TAPE", "models/llama/fire.py", ["FIRE"])
    random_values = Random("fire")
    module = make(num_heads=HEADS, mlp_width=5, init_L=3.0).double().eval()
    values = {"in_proj.weight": random_values(5, 1),
              "in_proj.bias": random_values(5),
              "out_proj.weight": random_values(HEADS, 5),
              "out_proj.bias": random_values(HEADS),
              "c": torch.tensor([0.6], dtype=torch.float64),
              "l": torch.tensor([0.9], dtype=torch.float64)}
    module.load_state_dict({
        "mlp.0.weight": values["in_proj.weight"],
        "mlp.0.bias": values["in_proj.bias"],
        "mlp.2.weight": values["out_proj.weight"],
        "mlp.2.bias": values["out_proj.bias"],
        "c": values["c"][0], "L_multiplier": values["l"][0],
        "init_L": torch.tensor(3.0)})
    maker.add("TAPE FIRE",
              {"name": "fire", "params": {"mlp_width": 5, "length": 3}},
              ("scores", module(LENGTH, "cpu")), single=True,
              parameters={ATTENTION + "fire." + key: value
                          for key, value in values.items()})


def window(maker):
    from transformers import SwinConfig
    from transformers.models.swin.modeling_swin import SwinSelfAttention
    rows, columns = 2, 3
    module = SwinSelfAttention(SwinConfig(), HEADS * WIDTH, HEADS,
                               (rows, columns)).double()
    table = Random("window")((2 * rows - 1) * (2 * columns - 1), HEADS)
    bias = table[module.relative_position_index.view(-1)].view(
        rows * columns, -1, HEADS).permute(2, 0, 1).unsqueeze(0)
    maker.add("transformers SwinSelfAttention",
              {"name": "window_bias_2d",
               "params": {"rows": rows, "columns": columns}},
              ("scores", bias), causal=False,
              parameters={"model.window_bias_2d.weight": table})


def sinusoidal(maker):
    import torch
    from transformers.models.xlm.modeling_xlm import create_sinusoidal_embeddings
    table = torch.zeros(200, HEADS * WIDTH)
    create_sinusoidal_embeddings(200, HEADS * WIDTH, table)
    positions = [0, 1, 2, 50, 199]
    maker.add("transformers create_sinusoidal_embeddings",
              {"name": "sinusoidal"},
              ("embedded", table[positions].double().unsqueeze(0)),
              positions=positions, single=True)


def grid(maker):
    from timm.layers.pos_embed_sincos import build_sincos2d_pos_embed
    rows, columns = 3, 5
    made = build_sincos2d_pos_embed([rows, columns], HEADS * WIDTH,
                                    interleave_sin_cos=True)
    maker.add("timm build_sincos2d_pos_embed",
              {"name": "grid_sinusoidal", "params": {"columns": columns}},
              # Theirs has an axis's sines before its cosines.
              ("embedded", made.double().view(1, -1, 2, 2, HEADS * WIDTH // 4)
               .transpose(-1, -2).flatten(2)), single=True)


def axial(maker):
    import torch
    from transformers import ReformerConfig
    from transformers.models.reformer.modeling_reformer import (
        AxialPositionEmbeddings)
    first, second, width = 3, 2, 3
    rest = HEADS * WIDTH - width
    module = AxialPositionEmbeddings(ReformerConfig(
        axial_pos_shape=(second, first), axial_pos_embds_dim=(rest, width),
        hidden_size=HEADS * WIDTH)).double().eval()
    random_values = Random("axial")
    tables = [random_values(second, rest), random_values(first, width)]
    module.weights[0].copy_(tables[0].unsqueeze(1))
    module.weights[1].copy_(tables[1].unsqueeze(0))
    made = module(torch.arange(first * second).unsqueeze(0))
    # Its documentation has the axes the other way round than its code.
    made = torch.cat([made[..., rest:], made[..., :rest]], -1)
    maker.add("transformers AxialPositionEmbeddings",
              {"name": "axial", "params": {
                  "first_size": first, "second_size": second,
                  "first_width": width}},
              ("embedded", made),
              parameters={"model.axial.first": tables[1],
                          "model.axial.second": tables[0]})


def abacus(maker):
    import torch
    make, = maker.classes("arithmetic", "abacus.py", ["Abacus"])
    module = make([4, 5, 6], HEADS * WIDTH, max_seq_length=12, max_k=9)
    module = module.double().eval()
    table = Random("abacus")(12, HEADS * WIDTH)
    module.embedding.weight.copy_(table)
    tokens = torch.tensor([[4, 5, 1, 6, 6, 4, 2, 2, 5],
                           [1, 4, 1, 4, 4, 9, 6, 5, 4]])
    maker.add("arithmetic Abacus",
              {"name": "abacus", "params": {
                  "digits": [4, 5, 6], "rows": 12, "max_offset": 9}},
              ("embedded", module(tokens)),
              inputs={"tokens": tokens},
              parameters={"model.abacus.weight": table})


MAKERS = (t5, alibi, kerple, fire, window, sinusoidal, grid, axial,
          abacus) + published_rotary.MAKERS + published_content.MAKERS


def versions_of(source):
    from importlib.metadata import version
    versions = {name: version(name)
                for name in PACKAGES}
    for name in SOURCES:
        versions[name] = subprocess.check_output(
            ["git", "-C", os.path.join(source, name), "rev-parse", "HEAD"],
            text=True).strip()
    return versions


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--source", required=True)
    arguments = parser.parse_args()
    import torch
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    maker = Maker(arguments.source, versions_of(arguments.source))
    for make in MAKERS:
        make(maker)
    write_cases(arguments.folder, "published.json", maker.cases)


if __name__ == "__main__":
    main()
