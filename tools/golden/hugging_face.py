"""Golden logits of Hugging Face's kinds of models, in plain Python.

  python3 -m tools.golden.hugging_face tests/golden

Writes, for each model below, <folder>/<name>/config.json and the weights
(random) as a file of that kind holds them, and cases.safetensors (tokens, and
logits in double). Every kind is written here from its formulas, with its own
names and layouts of tensors, one number at a time: nothing is shared with
Ordo's own code. Scalings of rotary encoding follow the papers that
model/catalog/entries_rotary.cc names. Python's standard library only.
"""

import json
import math
import os
import random
import sys

from tools.golden import logits as files

VOCABULARY = 7
WIDTH = 8
INNER = 12
LAYERS = 2
ROWS = 2
LENGTH = 8


def config_of(kind, **more):
    """A config.json as its kind has it; None stands for a key left out."""
    shared = {
        "num_hidden_layers": LAYERS,
        "hidden_size": WIDTH,
        "num_attention_heads": 2,
        "intermediate_size": INNER,
        "vocab_size": VOCABULARY,
    }
    kinds = {
        "llama": dict(shared, rms_norm_eps=1e-5, num_key_value_heads=1,
                      max_position_embeddings=16, rope_theta=500.0),
        "mistral": dict(shared, num_key_value_heads=1, sliding_window=3,
                        rope_theta=500.0),
        "qwen2": dict(shared, num_key_value_heads=1, rope_theta=500.0,
                      use_sliding_window=False, sliding_window=3,
                      max_window_layers=2, tie_word_embeddings=True),
        "qwen3": dict(shared, num_key_value_heads=1, rope_theta=500.0,
                      head_dim=6),
        "gpt2": {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": 2,
                 "n_positions": 9, "vocab_size": VOCABULARY,
                 "resid_pdrop": 0.1},
        "gpt_neox": dict(shared, rotary_pct=0.5, rotary_emb_base=500),
        "bloom": {"hidden_size": 12, "n_layer": LAYERS, "n_head": 3,
                  "vocab_size": VOCABULARY},
        "mpt": {"d_model": 12, "n_layers": LAYERS, "n_heads": 3,
                "expansion_ratio": 4, "vocab_size": VOCABULARY,
                "attn_config": {"alibi": True}, "no_bias": True},
    }
    config = dict(kinds[kind], model_type=kind, **more)
    return {key: value for key, value in config.items() if value is not None}


FACTORS = ([1.5, 2.0], [3.0, 7.0])
MODELS = {
    "hf_llama": config_of("llama"),
    "hf_llama_linear": config_of(
        "llama", rope_scaling={"type": "linear", "factor": 4.0},
        tie_word_embeddings=True),
    "hf_llama_dynamic": dict(
        config_of("llama", rope_scaling={"type": "dynamic", "factor": 2.0}),
        max_position_embeddings=4),
    "hf_llama_yarn": config_of("llama", rope_parameters={
        "rope_type": "yarn", "rope_theta": 700.0, "factor": 2.0,
        "beta_fast": 3.0, "beta_slow": 0.1,
        "original_max_position_embeddings": 64}),
    "hf_llama_longrope": config_of(
        "llama", original_max_position_embeddings=4, rope_scaling={
            "rope_type": "longrope", "short_factor": FACTORS[0],
            "long_factor": FACTORS[1]}),
    "hf_llama_llama3": config_of("llama", rope_scaling={
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 300}),
    "hf_llama_sharded": dict(
        config_of("llama", attention_bias=True, mlp_bias=True, head_dim=6),
        num_key_value_heads=2),
    "hf_mistral": config_of("mistral"),
    "hf_qwen2": config_of("qwen2"),
    "hf_qwen3": config_of("qwen3"),
    "hf_gpt2": config_of("gpt2"),
    "hf_gpt_neox": config_of("gpt_neox"),
    "hf_gpt_neox_serial": config_of("gpt_neox", use_parallel_residual=False),
    "hf_bloom": config_of("bloom"),
    "hf_mpt": config_of("mpt"),
}
# Their weights stand in several files.
SHARDED = ("hf_llama_sharded",)


def llama_shapes(config):
    """Also mistral, qwen2 and qwen3."""
    kind, width = config["model_type"], config["hidden_size"]
    heads, inner = config["num_attention_heads"], config["intermediate_size"]
    head = config.get("head_dim", width // heads)
    keys = config["num_key_value_heads"] * head
    shapes = {"model.embed_tokens.weight": [VOCABULARY, width],
              "model.norm.weight": [width]}
    if not config.get("tie_word_embeddings"):
        shapes["lm_head.weight"] = [VOCABULARY, width]
    for layer in range(LAYERS):
        prefix = "model.layers.%d." % layer
        matrices = {"self_attn.q_proj": [heads * head, width],
                    "self_attn.k_proj": [keys, width],
                    "self_attn.v_proj": [keys, width],
                    "self_attn.o_proj": [width, heads * head],
                    "mlp.gate_proj": [inner, width],
                    "mlp.up_proj": [inner, width],
                    "mlp.down_proj": [width, inner]}
        for name, shape in matrices.items():
            shapes[prefix + name + ".weight"] = shape
            if (config.get("mlp_bias") and name.startswith("mlp") or
                    config.get("attention_bias") and name.startswith("self") or
                    kind == "qwen2" and name[-6:] in
                    ("q_proj", "k_proj", "v_proj")):
                shapes[prefix + name + ".bias"] = shape[:1]
        for name in ("input_layernorm", "post_attention_layernorm"):
            shapes[prefix + name + ".weight"] = [width]
        if kind == "qwen3":
            for name in ("q_norm", "k_norm"):
                shapes[prefix + "self_attn." + name + ".weight"] = [head]
    return shapes


def with_bias(shapes, name, shape, bias):
    shapes[name + ".weight"] = shape
    shapes[name + ".bias"] = [bias]


def gpt2_shapes(config):
    width = config["n_embd"]
    shapes = {"transformer.wte.weight": [VOCABULARY, width],
              "transformer.wpe.weight": [config["n_positions"], width]}
    with_bias(shapes, "transformer.ln_f", [width], width)
    for layer in range(LAYERS):
        prefix = "transformer.h.%d." % layer
        for name, shape in (("ln_1", [width]), ("ln_2", [width]),
                            ("attn.c_attn", [width, 3 * width]),
                            ("attn.c_proj", [width, width]),
                            ("mlp.c_fc", [width, 4 * width]),
                            ("mlp.c_proj", [4 * width, width])):
            with_bias(shapes, prefix + name, shape, shape[-1])
        shapes[prefix + "attn.bias"] = [1, 1, 2, 2]
    return shapes


def neox_shapes(config):
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes = {"gpt_neox.embed_in.weight": [VOCABULARY, width],
              "embed_out.weight": [VOCABULARY, width]}
    with_bias(shapes, "gpt_neox.final_layer_norm", [width], width)
    for layer in range(LAYERS):
        block_shapes(shapes, "gpt_neox.layers.%d." % layer, "attention", width,
                     inner)
    return shapes


def bloom_shapes(config):
    width = config["hidden_size"]
    shapes = {"transformer.word_embeddings.weight": [VOCABULARY, width]}
    with_bias(shapes, "transformer.word_embeddings_layernorm", [width], width)
    with_bias(shapes, "transformer.ln_f", [width], width)
    for layer in range(LAYERS):
        block_shapes(shapes, "transformer.h.%d." % layer, "self_attention",
                     width, 4 * width)
    return shapes


def block_shapes(shapes, prefix, attention, width, inner):
    for name, shape in (("input_layernorm", [width]),
                        ("post_attention_layernorm", [width]),
                        (attention + ".query_key_value", [3 * width, width]),
                        (attention + ".dense", [width, width]),
                        ("mlp.dense_h_to_4h", [inner, width]),
                        ("mlp.dense_4h_to_h", [width, inner])):
        with_bias(shapes, prefix + name, shape, shape[0])


def mpt_shapes(config):
    width = config["d_model"]
    inner = width * config["expansion_ratio"]
    shapes = {"transformer.wte.weight": [VOCABULARY, width],
              "transformer.norm_f.weight": [width]}
    for layer in range(LAYERS):
        prefix = "transformer.blocks.%d." % layer
        for name, shape in (("norm_1", [width]), ("norm_2", [width]),
                            ("attn.Wqkv", [3 * width, width]),
                            ("attn.out_proj", [width, width]),
                            ("ffn.up_proj", [inner, width]),
                            ("ffn.down_proj", [width, inner])):
            shapes[prefix + name + ".weight"] = shape
    return shapes


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def silu(x):
    return x / (1 + math.exp(-x))


def gelu(x):
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + math.tanh(
        math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def slopes(heads):
    """ALiBi's, Press et al. 2022: of any number of heads."""
    power = 2**int(math.log2(heads))
    values = [2**(-8 * (h + 1) / power) for h in range(power)]
    return values + [2**(-4 * (2 * h + 1) / power)
                     for h in range(heads - power)]


def frequencies(config, channels):
    """Angles per position of each pair, and the factor of q and of k."""
    scaling = dict(config.get("rope_scaling") or
                   config.get("rope_parameters") or {})
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    base = scaling.get("rope_theta", config.get("rope_theta", 10000.0))
    pairs = range(channels // 2)
    plain = [base**(-2 * f / channels) for f in pairs]
    longest = config.get("max_position_embeddings")
    original = "original_max_position_embeddings"
    trained = scaling.get(original, config.get(original, longest))
    s = scaling.get("factor")
    if kind == "default":
        return plain, 1.0
    if kind == "linear":
        return [w / s for w in plain], 1.0
    if kind == "dynamic":
        n = max(LENGTH, longest)
        base *= (s * n / longest - (s - 1))**(channels / (channels - 2))
        return [base**(-2 * f / channels) for f in pairs], 1.0
    if kind == "yarn":
        def pair(turns):
            return (channels * math.log(trained / (2 * math.pi * turns)) /
                    (2 * math.log(base)))
        low = max(math.floor(pair(scaling["beta_fast"])), 0)
        high = min(math.ceil(pair(scaling["beta_slow"])), channels - 1)
        ramp = [min(max((f - low) / (high - low), 0), 1) for f in pairs]
        return ([w * (1 - r) + w / s * r for w, r in zip(plain, ramp)],
                0.1 * math.log(s) + 1)
    if kind == "longrope":
        s = longest / trained
        factors = scaling["long_factor" if LENGTH > trained else
                          "short_factor"]
        return ([w / x for w, x in zip(plain, factors)],
                math.sqrt(1 + math.log(s) / math.log(trained)))
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    result = []
    for w in plain:
        turns = trained * w / (2 * math.pi)
        blend = min(max((turns - low) / (high - low), 0), 1)
        result.append((1 - blend) * w / s + blend * w)
    return result, 1.0


class Model:
    """One kind's pass over one row of tokens."""

    def __init__(self, config, weights, shapes):
        self.config = config
        self.kind = config["model_type"]
        self.weights = weights
        self.shapes = shapes

    def row(self, name, i):
        width = self.shapes[name][-1]
        return self.weights[name][i * width:(i + 1) * width]

    def linear(self, name, x):
        """y = W x + b with W [out, in]."""
        out = [sum(a * b for a, b in zip(self.row(name + ".weight", r), x))
               for r in range(self.shapes[name + ".weight"][0])]
        return add(out, self.weights.get(name + ".bias", [0.0] * len(out)))

    def conv(self, name, x):
        """The same with W [in, out]."""
        rows = [self.row(name + ".weight", i) for i in range(len(x))]
        out = [sum(x[i] * rows[i][o] for i in range(len(x)))
               for o in range(len(rows[0]))]
        return add(out, self.weights[name + ".bias"])

    def rms_norm(self, name, x):
        epsilon = self.config.get("rms_norm_eps", 1e-6)
        scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + epsilon)
        return [v * scale * w
                for v, w in zip(x, self.weights[name + ".weight"])]

    def layer_norm(self, name, x):
        mean = sum(x) / len(x)
        variance = sum((v - mean)**2 for v in x) / len(x)
        scale = 1 / math.sqrt(variance + 1e-5)
        out = [(v - mean) * scale * w
               for v, w in zip(x, self.weights[name + ".weight"])]
        return add(out, self.weights.get(name + ".bias", [0.0] * len(out)))

    @staticmethod
    def attend(q, k, v, bias=lambda h, distance: 0.0, window=None):
        """q[i][h], k[j][g] and v[j][g] to one list of channels per token."""
        group = len(q[0]) // len(k[0])
        outputs = []
        for i, heads in enumerate(q):
            out = []
            for h, query in enumerate(heads):
                seen = [j for j in range(i + 1)
                        if window is None or i - j < window]
                scores = [sum(a * b for a, b in zip(query, k[j][h // group])) /
                          math.sqrt(len(query)) + bias(h, i - j) for j in seen]
                exponents = [math.exp(s - max(scores)) for s in scores]
                for c in range(len(query)):
                    out.append(sum(e * v[j][h // group][c]
                                   for e, j in zip(exponents, seen)) /
                               sum(exponents))
            outputs.append(out)
        return outputs

    @staticmethod
    def heads(x, count):
        width = len(x) // count
        return [x[h * width:(h + 1) * width] for h in range(count)]

    @staticmethod
    def rotate(x, position, turns):
        """The first channels of a head, paired half against half."""
        angles, factor = turns
        half = len(angles)
        out = list(x)
        for f, angle in enumerate(angles):
            cos, sin = math.cos(position * angle), math.sin(position * angle)
            a, b = x[f], x[f + half]
            out[f] = factor * (a * cos - b * sin)
            out[f + half] = factor * (b * cos + a * sin)
        return out

    def logits(self, tokens):
        return getattr(self, {"gpt2": "gpt2", "gpt_neox": "neox",
                              "bloom": "bloom", "mpt": "mpt"}.get(
                                  self.kind, "llama"))(tokens)

    def llama(self, tokens):
        config = self.config
        heads, groups = (config["num_attention_heads"],
                         config["num_key_value_heads"])
        x = [self.row("model.embed_tokens.weight", t) for t in tokens]
        for layer in range(LAYERS):
            prefix = "model.layers.%d." % layer
            own = prefix + "self_attn."
            y = [self.rms_norm(prefix + "input_layernorm", t) for t in x]
            q = [self.heads(self.linear(own + "q_proj", t), heads) for t in y]
            k = [self.heads(self.linear(own + "k_proj", t), groups) for t in y]
            v = [self.heads(self.linear(own + "v_proj", t), groups) for t in y]
            if self.kind == "qwen3":
                q = [[self.rms_norm(own + "q_norm", a) for a in t] for t in q]
                k = [[self.rms_norm(own + "k_norm", a) for a in t] for t in k]
            turns = frequencies(config, len(q[0][0]))
            q = [[self.rotate(a, i, turns) for a in t]
                 for i, t in enumerate(q)]
            k = [[self.rotate(a, i, turns) for a in t]
                 for i, t in enumerate(k)]
            window = (config["sliding_window"] if self.kind == "mistral" else
                      None)
            out = self.attend(q, k, v, window=window)
            x = [add(a, self.linear(own + "o_proj", b))
                 for a, b in zip(x, out)]
            for i, t in enumerate(x):
                y = self.rms_norm(prefix + "post_attention_layernorm", t)
                gate = self.linear(prefix + "mlp.gate_proj", y)
                up = self.linear(prefix + "mlp.up_proj", y)
                inner = [silu(g) * u for g, u in zip(gate, up)]
                x[i] = add(t, self.linear(prefix + "mlp.down_proj", inner))
        head = ("model.embed_tokens" if config.get("tie_word_embeddings") else
                "lm_head")
        return [self.linear(head, self.rms_norm("model.norm", t)) for t in x]

    def gpt2(self, tokens):
        heads = self.config["n_head"]
        x = [add(self.row("transformer.wte.weight", t),
                 self.row("transformer.wpe.weight", i))
             for i, t in enumerate(tokens)]
        for layer in range(LAYERS):
            prefix = "transformer.h.%d." % layer
            qkv = [self.conv(prefix + "attn.c_attn",
                             self.layer_norm(prefix + "ln_1", t)) for t in x]
            q, k, v = ([self.heads(self.heads(t, 3)[part], heads)
                        for t in qkv] for part in range(3))
            out = self.attend(q, k, v)
            x = [add(a, self.conv(prefix + "attn.c_proj", b))
                 for a, b in zip(x, out)]
            for i, t in enumerate(x):
                inner = [gelu_tanh(u) for u in self.conv(
                    prefix + "mlp.c_fc", self.layer_norm(prefix + "ln_2", t))]
                x[i] = add(t, self.conv(prefix + "mlp.c_proj", inner))
        return [self.linear("transformer.wte",
                            self.layer_norm("transformer.ln_f", t)) for t in x]

    def by_head(self, name, x, heads):
        """q, k and v of each token, which stand head by head."""
        parts = [self.heads(self.linear(name, t), heads) for t in x]
        return ([[self.heads(head, 3)[part] for head in t] for t in parts]
                for part in range(3))

    def neox(self, tokens):
        heads = self.config["num_attention_heads"]
        x = [self.row("gpt_neox.embed_in.weight", t) for t in tokens]
        for layer in range(LAYERS):
            prefix = "gpt_neox.layers.%d." % layer
            y = [self.layer_norm(prefix + "input_layernorm", t) for t in x]
            q, k, v = self.by_head(prefix + "attention.query_key_value", y,
                                   heads)
            channels = int(len(q[0][0]) * self.config["rotary_pct"])
            base = self.config["rotary_emb_base"]
            turns = ([base**(-2 * f / channels)
                      for f in range(channels // 2)], 1.0)
            q, k = ([[self.rotate(a, i, turns) for a in t]
                     for i, t in enumerate(part)] for part in (q, k))
            out = [self.linear(prefix + "attention.dense", t)
                   for t in self.attend(q, k, v)]
            for i, t in enumerate(x):
                after = add(t, out[i])
                parallel = self.config.get("use_parallel_residual", True)
                y = self.layer_norm(prefix + "post_attention_layernorm",
                                    t if parallel else after)
                inner = [gelu(u) for u in self.linear(
                    prefix + "mlp.dense_h_to_4h", y)]
                x[i] = add(after, self.linear(prefix + "mlp.dense_4h_to_h",
                                              inner))
        return [self.linear("embed_out",
                            self.layer_norm("gpt_neox.final_layer_norm", t))
                for t in x]

    def bloom(self, tokens):
        heads = self.config["n_head"]
        slope = slopes(heads)
        x = [self.layer_norm("transformer.word_embeddings_layernorm",
                             self.row("transformer.word_embeddings.weight", t))
             for t in tokens]
        for layer in range(LAYERS):
            prefix = "transformer.h.%d." % layer
            y = [self.layer_norm(prefix + "input_layernorm", t) for t in x]
            q, k, v = self.by_head(prefix + "self_attention.query_key_value",
                                   y, heads)
            out = self.attend(q, k, v, lambda h, d: -slope[h] * d)
            for i, t in enumerate(x):
                t = add(t, self.linear(prefix + "self_attention.dense",
                                       out[i]))
                inner = [gelu_tanh(u) for u in self.linear(
                    prefix + "mlp.dense_h_to_4h",
                    self.layer_norm(prefix + "post_attention_layernorm", t))]
                x[i] = add(t, self.linear(prefix + "mlp.dense_4h_to_h", inner))
        return [self.linear("transformer.word_embeddings",
                            self.layer_norm("transformer.ln_f", t)) for t in x]

    def mpt(self, tokens):
        heads = self.config["n_heads"]
        slope = slopes(heads)
        x = [self.row("transformer.wte.weight", t) for t in tokens]
        for layer in range(LAYERS):
            prefix = "transformer.blocks.%d." % layer
            qkv = [self.heads(self.linear(
                prefix + "attn.Wqkv",
                self.layer_norm(prefix + "norm_1", t)), 3) for t in x]
            q, k, v = ([self.heads(t[part], heads) for t in qkv]
                       for part in range(3))
            out = self.attend(q, k, v, lambda h, d: -slope[h] * d)
            for i, t in enumerate(x):
                t = add(t, self.linear(prefix + "attn.out_proj", out[i]))
                inner = [gelu(u) for u in self.linear(
                    prefix + "ffn.up_proj",
                    self.layer_norm(prefix + "norm_2", t))]
                x[i] = add(t, self.linear(prefix + "ffn.down_proj", inner))
        return [self.linear("transformer.wte",
                            self.layer_norm("transformer.norm_f", t))
                for t in x]


SHAPES = {"gpt2": gpt2_shapes, "gpt_neox": neox_shapes, "bloom": bloom_shapes,
          "mpt": mpt_shapes}


def make_weights(name, shapes):
    """Flat lists by name; every parameter acts."""
    generator = random.Random("golden " + name)
    weights = {}
    for key, shape in sorted(shapes.items()):
        norm = key.endswith(".weight") and len(shape) == 1
        weights[key] = [
            files.single(1.0 * norm + generator.gauss(0, 0.1 if norm else 0.4))
            for _ in range(math.prod(shape))
        ]
    return weights


def write_weights(path, name, tensors):
    if name not in SHARDED:
        files.write_safetensors(os.path.join(path, "model.safetensors"),
                                tensors)
        return
    names = sorted(tensors)
    parts = [names[::2], names[1::2]]
    places = {}
    for number, part in enumerate(parts):
        file = "model-%05d-of-%05d.safetensors" % (number + 1, len(parts))
        files.write_safetensors(os.path.join(path, file),
                                {key: tensors[key] for key in part})
        places.update((key, file) for key in part)
    total = sum(4 * len(values) for _, _, values in tensors.values())
    write_json(os.path.join(path, "model.safetensors.index.json"),
               {"metadata": {"total_size": total}, "weight_map": places})


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
        file.write("\n")


def write(folder):
    for name, config in MODELS.items():
        path = os.path.join(folder, name)
        os.makedirs(path, exist_ok=True)
        shapes = SHAPES.get(config["model_type"], llama_shapes)(config)
        weights = make_weights(name, shapes)
        write_json(os.path.join(path, "config.json"), config)
        write_weights(path, name, {key: ("F32", shapes[key], weights[key])
                                   for key in weights})
        generator = random.Random("golden tokens " + name)
        tokens = [[generator.randrange(VOCABULARY) for _ in range(LENGTH)]
                  for _ in range(ROWS)]
        model = Model(config, weights, shapes)
        flat = [value for row in tokens for token in model.logits(row)
                for value in token]
        files.write_safetensors(os.path.join(path, "cases.safetensors"), {
            "tokens": ("I64", [ROWS, LENGTH], sum(tokens, [])),
            "logits": ("F64", [ROWS, LENGTH, VOCABULARY], flat),
        })


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
