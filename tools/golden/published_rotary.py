"""Those cases of tools/golden/published.py that turn q and k."""

import math

from tools.golden.encoding_cases import HEADS
from tools.golden.encoding_cases import WIDTH
from tools.golden.published_content import Random
from tools.golden.published_content import q_and_k

# Channels of a head whose pairs fall into each part of a ramp.
MANY = 16


def scores(q, k):
    return q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])


def rotary(maker):
    import torch
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb
    from x_transformers import x_transformers
    inputs = q_and_k("rotary")
    positions = [0, 1, 5, 6, 90, 1000]
    angle = torch.tensor(positions).double().unsqueeze(-1) * 10000.0**(
        -torch.arange(0, WIDTH, 2).double() / WIDTH)
    table = torch.cat([angle, angle], -1).unsqueeze(0)
    q, k = apply_rotary_pos_emb(inputs["q"], inputs["k"], table.cos(),
                                table.sin())
    maker.add("transformers apply_rotary_pos_emb", {"name": "rope"},
              ("scores", scores(q, k)), inputs=inputs, positions=positions)
    inputs = {key: value[:, :, :4] for key, value in inputs.items()}
    for name, params, options in (
            ("rope", {}, {}),
            ("linear", {"factor": 4}, {"interpolation_factor": 4.0}),
            ("ntk", {"factor": 4}, {"base_rescale_factor": 4.0}),
            ("xpos", {"scale_base": 20},
             {"use_xpos": True, "scale_base": 20})):
        embedding = x_transformers.RotaryEmbedding(WIDTH, **options).double()
        freqs, scale = embedding(torch.tensor(positions[:4]))
        turn = x_transformers.apply_rotary_pos_emb
        q = turn(inputs["q"], freqs, scale)
        k = turn(inputs["k"], freqs, 1 / scale)
        maker.add("x-transformers RotaryEmbedding",
                  {"name": name, "params": dict(params, layout="interleaved")},
                  ("scores", scores(q, k)), inputs=inputs,
                  positions=positions[:4], single=True)


def add_by_table(maker, made_with, encoding, cos, sin):
    """A case of tables [1,1,T,D] that code has for each position."""
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb
    length, width = cos.shape[-2:]
    random_values = Random(made_with)
    inputs = {key: random_values(1, 1, length, width) for key in ("q", "k")}
    q, k = apply_rotary_pos_emb(inputs["q"], inputs["k"], cos[0].double(),
                                sin[0].double())
    maker.add(made_with, encoding, ("scores", scores(q, k)), inputs=inputs,
              heads=1, head_width=width, single=True)


def scaled(maker):
    """Classes of the authors of yarn and of the methods before it."""
    import torch
    length = 8
    x = torch.zeros(1)
    for name, file, params, options in (
            ("linear", "LlamaLinearScaledRotaryEmbedding",
             {"factor": 4}, {"scale": 4}),
            ("ntk", "LlamaNTKScaledRotaryEmbedding",
             {"factor": 4}, {"alpha": 4}),
            ("partial_ntk", "LlamaPartNTKScaledRotaryEmbedding",
             {"factor": 4, "trained_length": 256},
             {"scale": 4, "original_max_position_embeddings": 256}),
            ("partial_ntk", "LlamaPartNTKScaledRotaryEmbedding",
             {"factor": 3, "trained_length": 64, "ntk_factor": 0.75,
              "extrapolation_factor": 0.5},
             {"scale": 3, "original_max_position_embeddings": 64,
              "ntk_factor": 0.75, "extrapolation_factor": 0.5}),
            ("yarn", "LlamaYaRNScaledRotaryEmbedding",
             {"factor": 4, "trained_length": 256},
             {"scale": 4, "original_max_position_embeddings": 256}),
            ("dynamic_linear", "LlamaDynamicScaledRotaryEmbedding",
             {"trained_length": 5}, {"max_position_embeddings": 5}),
            ("dynamic_ntk", "LlamaDynamicScaledRotaryEmbedding",
             {"trained_length": 5, "factor": 2},
             {"max_position_embeddings": 5, "ntk": 2})):
        module = maker.module("yarn", "scaled_rope/%s.py" % file)
        cos, sin = getattr(module, file)(MANY, **options)(x, seq_len=length)
        add_by_table(maker, "yarn " + file, {"name": name, "params": params},
                     cos, sin)


def mixed_base(maker):
    """The code's factor is 12 and its exponent 0.75."""
    import numpy
    import torch
    made = torch.nn.Module()
    made._set_cos_sin_cache = lambda *_: None
    function, = maker.classes("rerope", "ntk_patch.py",
                              ["ntk_rope_mixed_init"], np=numpy,
                              training_length=1, old_init=lambda *_: None)
    function(made, MANY)
    angle = torch.outer(torch.arange(8.0), made.inv_freq)
    table = torch.cat([angle, angle], -1)[None, None]
    add_by_table(maker, "rerope ntk_rope_mixed_init",
                 {"name": "rope_mixed_base",
                  "params": {"factor": 12, "exponent": 0.75}},
                 table.cos(), table.sin())


def grid(maker):
    from timm.layers.pos_embed_sincos import RotaryEmbeddingCat
    from timm.layers.pos_embed_sincos import apply_rot_embed_cat
    width, rows, columns = 2 * WIDTH, 2, 3
    random_values = Random("rope_2d")
    inputs = {key: random_values(1, HEADS, rows * columns, width)
              for key in ("q", "k")}
    table = RotaryEmbeddingCat(width, in_pixels=False,
                               feat_shape=[rows, columns]).get_embed().double()
    q, k = (apply_rot_embed_cat(x, table) for x in inputs.values())
    maker.add("timm RotaryEmbeddingCat",
              {"name": "rope_2d", "params": {"columns": columns,
                                             "layout": "interleaved"}},
              ("scores", scores(q, k)), inputs=inputs, head_width=width,
              causal=False, single=True)


MAKERS = (rotary, scaled, mixed_base, grid)
