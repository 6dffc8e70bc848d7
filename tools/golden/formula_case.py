"""What cases of tools/golden/formulas.py are made of."""

import math
import random

from tools.golden.encoding_cases import ATTENTION
from tools.golden.encoding_cases import HEADS
from tools.golden.encoding_cases import LENGTH
from tools.golden.encoding_cases import WIDTH

PLACES = range(LENGTH)
ROOT = math.sqrt(WIDTH)


class Random:
    """Normal numbers of three digits, the same on every run."""

    def __init__(self, name):
        self.generator = random.Random("golden " + name)

    def __call__(self, *shape):
        if not shape:
            return round(self.generator.gauss(0, 1), 3)
        return [self(*shape[1:]) for _ in range(shape[0])]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def clip(x, low, high):
    return min(max(x, low), high)


class Case:
    """q and k, and scores by what they are between two tokens of a head."""

    def __init__(self, source, name, params=None, causal=True, over=None):
        self.random = Random(source + name + str(params) + (over or ""))
        encoding = {"name": name, "params": params or {}}
        if over:
            encoding["with"] = [{"name": over}]
        self.json = {"made_with": source, "encoding": encoding,
                     "heads": HEADS, "head_width": WIDTH, "causal": causal,
                     "parameters": {}}
        self.q, self.k, self.v = (self.random(1, HEADS, LENGTH, WIDTH)
                                  for _ in range(3))
        self.json["inputs"] = {"q": self.q, "k": self.k, "v": self.v}

    def parameter(self, name, *shape, shared=False):
        values = self.random(*shape)
        prefix = "model." if shared else ATTENTION
        self.json["parameters"][prefix + name] = values
        return values

    def scores(self, of):
        """`of`(h, i, j, q_i, k_j), of all pairs."""
        self.json["expected"] = {"scores": [[
            [[of(h, i, j, self.q[0][h][i], self.k[0][h][j]) for j in PLACES]
             for i in PLACES] for h in range(HEADS)]]}
        return self.json

    def attended(self, of, value):
        """The mean of `value`(h, i, j) over the tokens seen, by scores."""
        rows = []
        for h in range(HEADS):
            rows.append([])
            for i in PLACES:
                weights = [math.exp(of(h, i, j, self.q[0][h][i],
                                       self.k[0][h][j]))
                           for j in range(i + 1)]
                rows[h].append([
                    sum(w * value(h, i, j)[c] for j, w in enumerate(weights)) /
                    sum(weights) for c in range(WIDTH)])
        self.json["expected"] = {"attended": [rows]}
        return self.json


def turned(q, k, angles):
    """Re of q's complex numbers times those of k, turned by each pair's angle;
    pairs are half against half."""
    half = WIDTH // 2
    return sum((complex(q[f], q[f + half]) *
                complex(math.cos(angles[f]), math.sin(angles[f])) *
                complex(k[f], -k[f + half])).real
               for f in range(half)) / ROOT


def product(a, b):
    columns = list(zip(*b))
    return [[dot(row, column) for column in columns] for row in a]


def exponential(matrix):
    """Of a small matrix: the series of its 1024th part, squared ten times."""
    small = [[x / 1024 for x in row] for row in matrix]
    places = range(len(matrix))
    result = term = [[float(r == c) for c in places] for r in places]
    for n in range(1, 12):
        term = [[x / n for x in row] for row in product(term, small)]
        result = [add(a, b) for a, b in zip(result, term)]
    for _ in range(10):
        result = product(result, result)
    return result
