"""Golden values of encodings by themselves, from the papers' formulas.

  python3 -m tools.golden.formulas tests/golden

Writes <folder>/encodings/formulas.json, as tools/golden/published.py writes its
file, for encodings and options without public code that runs by itself. Each
case says the paper and equation; one number at a time, Python's standard
library only.
"""

import math
import sys

from tools.golden.encoding_cases import HEADS
from tools.golden.encoding_cases import LENGTH
from tools.golden.encoding_cases import WIDTH
from tools.golden.encoding_cases import write_cases
from tools.golden.formula_case import Case
from tools.golden.formula_case import PLACES
from tools.golden.formula_case import ROOT
from tools.golden.formula_case import add
from tools.golden.formula_case import clip
from tools.golden.formula_case import dot
from tools.golden.formula_case import exponential
from tools.golden.formula_case import sigmoid
from tools.golden.formula_case import turned


def sandwich():
    case = Case("arXiv:2212.10356, section 5", "sandwich", {"width": 6},
                causal=False)
    return [case.scores(lambda h, i, j, q, k: dot(q, k) / ROOT + sum(
        math.cos((i - j) * 10000**(-2 * f / 6)) for f in range(3)) /
                        (8 * (h + 1) / HEADS))]


def t5():
    """Its own attention does not divide by the root of the width."""
    case = Case("arXiv:1910.10683, section 2.1", "t5",
                {"buckets": 4, "max_distance": 5, "scale": "none"})
    table = case.parameter("t5.weight", 4, HEADS, shared=True)

    def bucket(x):
        if x < 2:
            return x
        return min(2 + math.floor(math.log(x / 2) / math.log(5 / 2) * 2), 3)
    return [case.scores(
        lambda h, i, j, q, k: dot(q, k) + table[bucket(max(i - j, 0))][h])]


def alibi():
    """Beside rope."""
    omega = [10000**(-2 * f / WIDTH) for f in range(WIDTH // 2)]
    case = Case("arXiv:2108.12409, section 3", "rope", over="alibi")
    return [case.scores(
        lambda h, i, j, q, k: turned(q, k, [(i - j) * w for w in omega]) -
        2**(-8 * (h + 1) / HEADS) * (i - j))]


def huang():
    last = 2
    cases = []
    for method in (1, 2, 3):
        for causal in (True, False):
            case = Case("arXiv:2009.13658, section 3", "huang%d" % method,
                        {"max_distance": last + 1}, causal=causal)
            rows = last + 1 if method == 1 else 2 * last + 1
            table = case.parameter("huang.distance.weight",
                                   *([rows] if method < 3 else [rows, WIDTH]))

            def score(_, i, j, q, k, method=method, table=table):
                if method == 1:
                    return dot(q, k) * table[min(abs(i - j), last)] / ROOT
                w = table[clip(i - j, -last, last) + last]
                if method == 2:
                    return dot(q, k) * w / ROOT
                return sum(a * b * c for a, b, c in zip(q, k, w)) / ROOT
            cases.append(case.scores(score))
    return cases


def da_transformer():
    case = Case("arXiv:2010.06925, equations 3 to 5", "da_transformer",
                causal=False)
    v = case.parameter("da.offset", HEADS)
    w = case.parameter("da.slope", HEADS)
    return [case.scores(
        lambda h, i, j, q, k: max(dot(q, k), 0) * (1 + math.exp(v[h])) /
        (1 + math.exp(v[h] - w[h] * abs(i - j))) / ROOT)]


def tener():
    """The authors' code has a further product with keys, and R of j - i."""
    half = WIDTH // 2
    cases = []
    for params in ({"scale": False}, {"scale": True},
                   {"project_keys": False}):
        case = Case("arXiv:1911.04474, equations 15 to 18", "tener",
                    params, causal=False)
        u = case.parameter("tener.key_bias", HEADS, WIDTH)
        v = case.parameter("tener.distance_bias", HEADS, WIDTH)

        own = None
        if "project_keys" in params:
            own = case.random(1, LENGTH, HEADS * WIDTH)
            case.json["inputs"]["hidden"] = own

        def score(h, i, j, q, k, u=u, v=v, own=own, params=params):
            if own:
                k = own[0][j][h * WIDTH:(h + 1) * WIDTH]
            angles = [(i - j) * 10000**(-f / (half - 1)) for f in range(half)]
            r = [math.sin(a) for a in angles] + [math.cos(a) for a in angles]
            return ((dot(add(q, u[h]), k) + dot(add(q, v[h]), r)) /
                    (ROOT if params.get("scale") else 1))
        cases.append(case.scores(score))
    return cases


def shaw():
    """With vectors for values, and with nothing past K."""
    last = 2
    cases = []
    for unseen in ("last", "none"):
        case = Case("arXiv:1803.02155, equations 3 and 4", "shaw",
                    {"max_distance": last, "values": True, "unseen": unseen})
        key = case.parameter("shaw.key.weight", last + 1, WIDTH)
        value = case.parameter("shaw.value.weight", last + 1, WIDTH)

        def row(table, i, j, unseen=unseen):
            if i - j > last and unseen == "none":
                return [0.0] * WIDTH
            return table[min(i - j, last)]
        cases.append(case.attended(
            lambda h, i, j, q, k, key=key, row=row:
            dot(q, add(k, row(key, i, j))) / ROOT,
            lambda h, i, j, case=case, value=value, row=row:
            add(case.v[0][h][j], row(value, i, j))))
    return cases


def cope():
    """Options that Listing 1 has not."""
    rows = 4
    cases = []
    for gates, form, divide in (("values", "table", True),
                                ("used", "alibi", False),
                                ("used", "mlp", False)):
        params = {"gates": gates, "form": form, "divide_position": divide}
        params.update({"table": {"max_position": rows},
                       "alibi": {"slope_exponent": 2},
                       "mlp": {"mlp_width": 3}}[form])
        case = Case("arXiv:2405.18719, equations 3 to 5 and section 5", "cope",
                    params)
        if form == "table":
            table = case.parameter("cope.positions.weight", rows, WIDTH)
        if form == "mlp":
            w1, b1 = (case.parameter("cope.mlp.0." + x, 3)
                      for x in ("weight", "bias"))
            w2 = case.parameter("cope.mlp.1.weight", WIDTH, 3)
            b2 = case.parameter("cope.mlp.1.bias", WIDTH)

        def score(h, i, j, q, k):
            gate = case.v if gates == "values" else case.k
            p = sum(sigmoid(dot(q, gate[0][h][t]) / ROOT)
                    for t in range(j, i + 1))
            if form == "alibi":
                return dot(q, k) / ROOT - 2**-(2 + 4 * h / HEADS) * p
            if form == "mlp":
                inner = [max(w * p + b, 0) for w, b in zip(w1, b1)]
                return dot(q, k) / ROOT + dot(q, add(
                    [dot(row, inner) for row in w2], b2))
            p = min(p, rows - 1)
            w = p - math.floor(p)
            z = ((1 - w) * dot(q, table[math.floor(p)]) +
                 w * dot(q, table[math.ceil(p)]))
            return dot(q, k) / ROOT + z / (ROOT if divide else 1)
        cases.append(case.scores(score))
    return cases


def cope_further():
    """Gates by keys of their own, and beside rope."""
    rows = LENGTH + 1
    omega = [10000**(-2 * f / WIDTH) for f in range(WIDTH // 2)]
    cases = []
    for gates, over in (("sep_keys", None), ("used", "rope"),
                        ("plain", "rope")):
        case = Case("arXiv:2405.18719, equations 3 to 5 and section 5", "cope",
                    {"gates": gates, "max_position": rows}, over=over)
        table = case.parameter("cope.positions.weight", rows, WIDTH)
        keys = case.k[0]
        if gates == "sep_keys":
            hidden = case.random(1, LENGTH, HEADS * WIDTH)
            case.json["inputs"]["hidden"] = hidden
            matrix = case.parameter("cope.gate_proj.weight", HEADS * WIDTH,
                                    HEADS * WIDTH)
            keys = [[[dot(row, x) for row in matrix[h * WIDTH:(h + 1) * WIDTH]]
                     for x in hidden[0]] for h in range(HEADS)]

        def used(i, j, q, k, over=over):
            return turned(q, k, [(i - j) * w if over else 0.0 for w in omega])

        def score(h, i, j, q, k, used=used, gates=gates, keys=keys,
                  table=table):
            p = 0.0
            for t in range(j, i + 1):
                p += sigmoid(used(i, t, q, keys[h][t]) if gates == "used" else
                             dot(q, keys[h][t]) / ROOT)
            w = p - math.floor(p)
            return (used(i, j, q, k) + (1 - w) * dot(q, table[math.floor(p)]) +
                    w * dot(q, table[math.ceil(p)]))
        cases.append(case.scores(score))
    return cases


def deberta():
    """The authors' code takes the same row in both terms."""
    last = 2
    case = Case("arXiv:2006.03654, equations 3 and 4", "deberta",
                {"max_distance": last, "index": "paper"}, causal=False)
    width = HEADS * WIDTH
    positions = case.parameter("deberta.positions.weight", 2 * last, width,
                               shared=True)
    of_query = case.parameter("deberta.query_proj.weight", width, width)
    bias = case.parameter("deberta.query_proj.bias", width)
    of_key = case.parameter("deberta.key_proj.weight", width, width)

    def row(matrix, h, distance):
        place = clip(distance + last, 0, 2 * last - 1)
        return [dot(matrix[c], positions[place])
                for c in range(h * WIDTH, (h + 1) * WIDTH)]
    return [case.scores(lambda h, i, j, q, k: (
        dot(q, k) + dot(q, row(of_key, h, i - j)) +
        dot(k, add(row(of_query, h, j - i),
                   bias[h * WIDTH:(h + 1) * WIDTH]))) / math.sqrt(3 * WIDTH))]


def rotary():
    omega = [10000**(-2 * f / WIDTH) for f in range(WIDTH // 2)]
    window, leak = 2, 3

    def clipped(x):
        return x if x < window else window

    def leaky(x):
        return x if x < window else window + (x - window) / leak
    cases = []
    for name, params, place in (
            ("rerope", {"window": window}, clipped),
            ("leaky_rerope", {"window": window, "leak": leak}, leaky)):
        case = Case("kexue.fm/archives/9708", name, params)
        cases.append(case.scores(
            lambda h, i, j, q, k, place=place: turned(
                q, k, [place(i - j) * w for w in omega])))
    case = Case("kexue.fm/archives/9577", "rope_bias", over="rope")
    a = case.parameter("rope_bias.query", HEADS, WIDTH)
    b = case.parameter("rope_bias.key", HEADS, WIDTH)
    cases.append(case.scores(lambda h, i, j, q, k: turned(
        add(q, a[h]), add(k, b[h]), [(i - j) * w for w in omega])))
    return cases


def liere():
    """Values of each matrix below its diagonal, row by row."""
    columns = 3
    cases = []
    for params in ({"axes": 1}, {"axes": 2, "columns": columns},
                   {"axes": 1, "block": 2}):
        block = params.get("block", WIDTH)
        case = Case("arXiv:2406.10322, section 3", "liere", params)
        values = case.parameter("liere.generators", params["axes"], HEADS,
                                WIDTH // block, block * (block - 1) // 2)

        def turn(h, i, x, values=values, axes=params["axes"], block=block):
            place = [i] if axes == 1 else divmod(i, columns)
            turned_x = []
            for n in range(WIDTH // block):
                matrix = [[0.0] * block for _ in range(block)]
                for p, axis in zip(place, values):
                    below = iter(axis[h][n])
                    for r in range(block):
                        for c in range(r):
                            value = p * next(below)
                            matrix[r][c] += value
                            matrix[c][r] -= value
                turned_x += [dot(row, x[n * block:(n + 1) * block])
                             for row in exponential(matrix)]
            return turned_x
        cases.append(case.scores(
            lambda h, i, j, q, k, turn=turn:
            dot(turn(h, i, q), turn(h, j, k)) / ROOT))
    return cases


def tables():
    """A row for each position, and for each cell of a grid."""
    cases = []
    for source, name, rows, params in (
            ("arXiv:1705.03122, section 3.1", "learned", LENGTH + 1,
             {"max_length": LENGTH + 1}),
            ("arXiv:2010.11929, section 3.1", "grid_learned", 8,
             {"rows": 2, "columns": 4})):
        case = Case(source, name, params)
        table = case.parameter(name + ".weight", rows, HEADS * WIDTH,
                               shared=True)
        case.json["expected"] = {"embedded": [table[:LENGTH]]}
        cases.append(case.json)
    return cases


def all_cases():
    cases = []
    for make in (sandwich, t5, alibi, huang, da_transformer, tener, shaw, cope,
                 cope_further, deberta, rotary, liere, tables):
        cases += make()
    return cases


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_cases(sys.argv[1], "formulas.json", all_cases())
