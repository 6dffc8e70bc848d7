"""Golden logits: a transformer written once more, in plain Python.

  python3 tools/golden/logits.py tests/golden

Writes, for each model below, <folder>/<name>/config.json, model.safetensors
(random weights) and cases.safetensors (inputs, and logits in double). The code
follows the formulas, one number at a time, and shares nothing with Ordo's own:
Llama's block (RMSNorm or LayerNorm, SwiGLU or GELU, no biases), rotary encoding
(Su et al. 2021, arXiv:2104.09864) and TAPE's canonical reading, equations 6 to
8 of Zhu et al. 2025, arXiv:2501.00712. Python's standard library only.
"""

import cmath
import json
import math
import os
import random
import struct
import sys

VOCABULARY = 7
SIZES = {"layers": 3, "width": 8, "mlp_width": 12}
POSITION_SIZE = 3
EPSILON = 1e-5

ROWS = 3
LENGTH = 6
# Padding on the left, on the right, and none.
MASK = [[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]
# With gaps, and another start in each row.
POSITIONS = [[0, 1, 3, 4, 9, 30], [5, 6, 7, 11, 12, 13],
             [0, 2, 400, 401, 403, 1000]]

_CODES = {"F32": "f", "F64": "d", "I64": "q"}


class Model:
    """What one golden model is."""

    def __init__(self, encoding, params=None, heads=2, plain=True):
        self.encoding = encoding
        self.params = params or {}
        self.heads = heads
        # Llama's norms and MLP; else every other option at once.
        self.plain = plain

    @property
    def pairs(self):
        """Pairs of channels of a head that turn."""
        width = SIZES["width"] // self.heads
        return int(self.params.get("partial", 1) * width) // 2

    def config(self):
        if self.encoding == "rope" and self.plain:
            # As another program writes it: without the key "ordo".
            return {
                "model_type": "llama",
                "hidden_size": SIZES["width"],
                "intermediate_size": SIZES["mlp_width"],
                "num_hidden_layers": SIZES["layers"],
                "num_attention_heads": self.heads,
                "rms_norm_eps": EPSILON,
                "rope_theta": self.params["base"],
                "vocab_size": VOCABULARY,
            }
        model = dict(SIZES, heads=self.heads, vocabulary_size=VOCABULARY,
                     norm_epsilon=EPSILON)
        if not self.plain:
            model.update(mlp="gelu", norm="layernorm", qk_norm=True,
                         tie_embeddings=True)
        return {
            "ordo": {
                "model": model,
                "encoding": {"name": self.encoding, "params": self.params},
            }
        }

    def shapes(self):
        width, inner = SIZES["width"], SIZES["mlp_width"]
        heads = self.heads
        shapes = {
            "model.embed_tokens.weight": [VOCABULARY, width],
            "model.norm.weight": [width],
        }
        if self.plain:
            shapes["lm_head.weight"] = [VOCABULARY, width]
        for layer in range(SIZES["layers"]):
            own = {
                "input_layernorm": [width],
                "post_attention_layernorm": [width],
                "mlp.up_proj": [inner, width],
                "mlp.down_proj": [width, inner],
            }
            for name in "qkvo":
                own["self_attn.%s_proj" % name] = [width, width]
            if self.plain:
                own["mlp.gate_proj"] = [inner, width]
            else:
                own["self_attn.q_norm"] = [width // heads]
                own["self_attn.k_norm"] = [width // heads]
            if self.encoding == "tape" and layer + 1 < SIZES["layers"]:
                own["self_attn.tape.mix"] = [heads, heads]
                own["self_attn.tape.in_proj"] = [POSITION_SIZE, heads]
                own["self_attn.tape.out_proj"] = [heads, POSITION_SIZE]
                own["self_attn.tape.gate_proj"] = [POSITION_SIZE, width]
            for name, shape in own.items():
                shapes["model.layers.%d.%s.weight" % (layer, name)] = shape
        return shapes


MODELS = {
    "none": Model("none"),
    "rope": Model("rope", {"base": 500.0}),
    "tape": Model("tape", {"position_size": POSITION_SIZE}),
    "options": Model("rope", {"partial": 0.5, "layout": "interleaved"},
                     heads=1, plain=False),
}


def single(number):
    """The nearest number that a float32 holds."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def make_weights(name, model):
    """Flat lists by name; every parameter acts."""
    generator = random.Random("golden " + name)
    weights = {}
    for key, shape in sorted(model.shapes().items()):
        is_norm = len(shape) == 1
        weights[key] = [
            single(1.0 * is_norm + generator.gauss(0, 0.1 if is_norm else 0.4))
            for _ in range(math.prod(shape))
        ]
    return weights


def write_safetensors(path, tensors):
    """`tensors`: name -> (dtype, shape, flat values)."""
    header, data = {}, b""
    for name, (dtype, shape, values) in sorted(
            tensors.items(), key=lambda item: (item[1][0] == "F32", item[0])):
        begin = len(data)
        data += struct.pack("<%d%s" % (len(values), _CODES[dtype]), *values)
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [begin, len(data)],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        code = _CODES[entry["dtype"]]
        count = (end - begin) // struct.calcsize("<" + code)
        tensors[name] = (entry["dtype"], entry["shape"],
                         list(struct.unpack_from("<%d%s" % (count, code), data,
                                                 begin)))
    return tensors


def silu(x):
    return x / (1 + math.exp(-x))


def gelu(x):
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


class Pass:
    """The logits of one row of tokens, of which `real` are no padding."""

    def __init__(self, model, weights, tokens, real, positions):
        self.model = model
        self.weights = weights
        self.tokens = tokens
        self.real = real
        self.positions = positions
        self.heads = model.heads
        self.head_width = SIZES["width"] // self.heads
        # e[i][h][f], one complex number per token, head and pair.
        self.state = {i: [self.rotations(i) for _ in range(self.heads)]
                      for i in real}

    def rotations(self, i):
        pairs = self.model.pairs
        if self.model.encoding == "none":
            return [1.0] * pairs
        base = self.model.params.get("base", 10000.0)
        return [cmath.exp(1j * self.positions[i] * base**(-f / pairs))
                for f in range(pairs)]

    def linear(self, name, x):
        flat = self.weights[name + ".weight"]
        rows = len(flat) // len(x)
        return [sum(flat[r * len(x) + c] * x[c] for c in range(len(x)))
                for r in range(rows)]

    def norm(self, name, x):
        weight = self.weights[name + ".weight"]
        if not self.model.plain:
            mean = sum(x) / len(x)
            x = [v - mean for v in x]
        scale = 1 / math.sqrt(sum(v * v for v in x) / len(x) + EPSILON)
        return [v * scale * w for v, w in zip(x, weight)]

    def head(self, x, h):
        return x[h * self.head_width:(h + 1) * self.head_width]

    def turned(self, x, i, h):
        """Equation 6: the head's pairs as complex numbers, times the state."""
        pairs = self.model.pairs
        interleaved = self.model.params.get("layout") == "interleaved"
        turned = []
        for f in range(pairs):
            a, b = (2 * f, 2 * f + 1) if interleaved else (f, pairs + f)
            z = complex(x[a], x[b]) * self.state[i][h][f]
            turned += [z.real, z.imag]
        return turned + x[2 * pairs:]

    def attention(self, prefix, inputs):
        """Weights [i][h][j] and outputs [i] before the last projection."""
        keys = {}
        values = {}
        for i in self.real:
            k = self.linear(prefix + "k_proj", inputs[i])
            keys[i] = [self.prepared(prefix + "k_norm", k, i, h)
                       for h in range(self.heads)]
            values[i] = self.linear(prefix + "v_proj", inputs[i])
        weights, outputs = {}, {}
        for i in self.real:
            q = self.linear(prefix + "q_proj", inputs[i])
            seen = [j for j in self.real if j <= i]
            weights[i], outputs[i] = [], []
            for h in range(self.heads):
                query = self.prepared(prefix + "q_norm", q, i, h)
                scores = [sum(a * b for a, b in zip(query, keys[j][h])) /
                          math.sqrt(self.head_width) for j in seen]
                exponents = [math.exp(s - max(scores)) for s in scores]
                row = {j: e / sum(exponents) for j, e in zip(seen, exponents)}
                weights[i].append(row)
                outputs[i] += [
                    sum(row[j] * self.head(values[j], h)[c] for j in seen)
                    for c in range(self.head_width)
                ]
        return weights, outputs

    def prepared(self, norm, x, i, h):
        part = self.head(x, h)
        if not self.model.plain:
            part = self.norm(norm, part)
        return self.turned(part, i, h)

    def mlp(self, prefix, x):
        up = self.linear(prefix + "up_proj", x)
        if self.model.plain:
            gate = self.linear(prefix + "gate_proj", x)
            up = [silu(g) * u for g, u in zip(gate, up)]
        else:
            up = [gelu(u) for u in up]
        return self.linear(prefix + "down_proj", up)

    def update_state(self, prefix, attention, mlp):
        """Equations 7 and 8."""
        heads, pairs = range(self.heads), range(self.model.pairs)
        mix, inner, outer = (self.weights[prefix + name + ".weight"]
                             for name in ("mix", "in_proj", "out_proj"))
        before = self.state
        self.state = {}
        for i in self.real:
            attended = [[sum(a * before[j][h][f]
                             for j, a in attention[i][h].items())
                         for f in pairs] for h in heads]
            mixed = [[before[i][h][f] + sum(mix[h * self.heads + g] *
                                            attended[g][f] for g in heads)
                      for f in pairs] for h in heads]
            psi = [silu(z) for z in self.linear(prefix + "gate_proj", mlp[i])]
            self.state[i] = [[
                mixed[h][f] + sum(outer[h * len(psi) + p] * psi[p] *
                                  sum(inner[p * self.heads + g] * mixed[g][f]
                                      for g in heads)
                                  for p in range(len(psi)))
                for f in pairs] for h in heads]

    def logits(self):
        """By token; padding has none."""
        width = SIZES["width"]
        embedding = self.weights["model.embed_tokens.weight"]
        x = {i: embedding[self.tokens[i] * width:(self.tokens[i] + 1) * width]
             for i in self.real}
        for layer in range(SIZES["layers"]):
            prefix = "model.layers.%d." % layer
            weights, outputs = self.attention(
                prefix + "self_attn.",
                {i: self.norm(prefix + "input_layernorm", x[i])
                 for i in self.real})
            mlp = {}
            for i in self.real:
                added = self.linear(prefix + "self_attn.o_proj", outputs[i])
                x[i] = [a + b for a, b in zip(x[i], added)]
                mlp[i] = self.mlp(
                    prefix + "mlp.",
                    self.norm(prefix + "post_attention_layernorm", x[i]))
            if self.model.encoding == "tape" and layer + 1 < SIZES["layers"]:
                self.update_state(prefix + "self_attn.tape.", weights, mlp)
            for i in self.real:
                x[i] = [a + b for a, b in zip(x[i], mlp[i])]
        head = "lm_head" if self.model.plain else "model.embed_tokens"
        return {i: self.linear(head, self.norm("model.norm", x[i]))
                for i in self.real}


def case_logits(model, weights, tokens, mask=None, positions=None):
    """Flat logits of all rows; zeros at padding."""
    flat = []
    for row in range(ROWS):
        real = [i for i in range(LENGTH) if mask is None or mask[row][i]]
        place = (dict(enumerate(positions[row])) if positions else
                 {i: n for n, i in enumerate(real)})
        logits = Pass(model, weights, tokens[row], real, place).logits()
        for i in range(LENGTH):
            flat += logits.get(i, [0.0] * VOCABULARY)
    return flat


def make_cases(name, model, weights):
    generator = random.Random("golden tokens " + name)
    tokens = [[generator.randrange(VOCABULARY) for _ in range(LENGTH)]
              for _ in range(ROWS)]
    grid = [ROWS, LENGTH]
    cases = {
        "tokens": ("I64", grid, sum(tokens, [])),
        "attention_mask": ("I64", grid, sum(MASK, [])),
        "positions": ("I64", grid, sum(POSITIONS, [])),
    }
    for case, options in (("plain", {}), ("masked", {"mask": MASK}),
                          ("placed", {"positions": POSITIONS}),
                          ("masked_and_placed",
                           {"mask": MASK, "positions": POSITIONS})):
        cases["logits." + case] = ("F64", grid + [VOCABULARY],
                                   case_logits(model, weights, tokens,
                                               **options))
    return cases


def write(folder):
    for name, model in MODELS.items():
        path = os.path.join(folder, name)
        os.makedirs(path, exist_ok=True)
        weights = make_weights(name, model)
        with open(os.path.join(path, "config.json"), "w",
                  encoding="utf-8") as file:
            json.dump(model.config(), file, indent=2)
            file.write("\n")
        shapes = model.shapes()
        write_safetensors(
            os.path.join(path, "model.safetensors"),
            {key: ("F32", shapes[key], weights[key]) for key in weights})
        write_safetensors(os.path.join(path, "cases.safetensors"),
                          make_cases(name, model, weights))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
