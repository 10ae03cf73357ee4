# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs whose sizes lie at the bounds of the compiler's own plans.

A plan (how many threads a row has, how many vectors each keeps, how large a tile is) is exactly full at some sizes, and one
element more is another kernel, or a loop, or a ragged edge. Random sizes hardly ever are such ones. So a program is grown with
unknown sizes first and shown to tenon-opt, whose kernels say what they are made of: limits of their guards, and the choices of
their strategies. The sizes of the program are drawn from these, and from what lies one element or one vector beside them.

Seeds come in families of SIZES: one structure, half as many sizes, each known to the program (even seeds) and unknown (odd ones),
so that most of a family's programs of unknown sizes are one text.
"""
import functools
import json
import re
import subprocess

import numpy as np

import bounded
import elements
from draws import random_program
from elements import is_float
from nodes.node import Elementwise, Step
from draws.random_program import Grower

SIZES = 16
MOST = 1_100_000  # elements of a tensor: more than the largest cluster keeps of bytes
OTHERS = (8, 29, 33, 64, 96, 100, 128, 136, 264, 512, 600, 1024, 1100, 2048, 2056)  # sizes beside the one that is unknown
SMALL = (1, 2, 3, 3, 4, 5, 7, 8, 9, 17)
PASSES = ("--tenon-lower-tensors", "--tenon-lower-math", "--tenon-lower-types", "--tenon-normalize-executables",
          "--tenon-lower-control-flow", "--tenon-find-attention", "--tenon-align-products", "--tenon-form-dispatches",
          "--tenon-choose-strategies")
# How often each class is drawn, as the first and as one behind it.
FIRST = {"norm": 5, "softmax": 3, "reduce": 4, "reduce_body": 4, "kept": 2, "argmax": 1, "elementwise": 4, "transpose": 2,
         "concat": 1, "pad": 1, "slice": 1, "broadcast": 1, "gather": 1, "scan": 2, "sort": 1, "topk": 2, "scatter": 1,
         "contraction": 3, "attention": 2}
BEHIND = ("elementwise", "elementwise", "reduce", "norm", "softmax", "reduce_body", "transpose", "slice", "pad", "convert")
READER = []  # path of tenon-opt; of a process
BOUNDS = {}  # family: what read_bounds() found, where there is no tenon-opt; of a process


def numbers_of(said):
    """Sizes at which something changes: (of guards and tiles, of one vector more)."""
    found, vectors = set(), {1}
    # Of guards, of tiles, and of what the program computes of sizes: how many parts a sum has.
    for constant in re.findall(r"arith\.constant (\d+) : index|(?:ceildiv|floordiv|mod) (\d+)", said):
        number = int(constant[0] or constant[1])
        found |= {number, 4 * number}
    for text in re.findall(r"tenon\.strategy = \{([^}]*)\}", said):
        choices = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+) : i64", text)}
        width, lanes, blocks = (choices.get(name, 1) for name in ("width", "lanes", "blocks"))
        vectors |= {width, 2 * width}
        line = width * lanes * max(blocks, 1)
        kept = choices.get("chunks", 0) + choices.get("shared", 0)
        found |= {line * count for count in (1, 2, choices.get("chunks", 1), kept, kept - 1, (1 + kept) // 2, 4)}
        found |= {width * value for value in choices.values()} | {value for value in choices.values()}
    return sorted(n for n in found if 0 < n <= MOST), sorted(vectors)


class EdgeGrower(Grower):
    """sizes: which of the family's; bounds: numbers_of() its plans, or None before they are known."""

    def __init__(self, family, unknown, sizes=0, bounds=None):
        self.bounds, self.of_sizes = bounds, np.random.default_rng((family, 1, sizes))
        self.of_data = np.random.default_rng((family, 2, sizes))
        super().__init__(family, list(FIRST))
        self.count = float(self.pick((16, 1000, 4096)))
        self.unknown_sizes = 1.0 if unknown else 0.0
        self.few = self.chance(0.3)
        self.unaligned = float(self.of_sizes.choice((0.0, 0.0, 0.3, 1.0)))  # of the arguments, how many are not aligned
        self.form = self.pick(("row", "row", "row", "two", "rows", "line", "middle"))

    def near(self, most=MOST):
        """A size at a bound."""
        of = self.of_sizes
        if self.bounds is None or of.random() < 0.03:
            return int(of.choice((1, 33, 100)))
        numbers, vectors = self.bounds
        fits = [n for n in numbers if n <= most] or [1]
        # Small ones are many, and large ones have more to go wrong.
        magnitudes = sorted({n.bit_length() for n in fits})
        magnitude = of.choice(magnitudes, p=np.array(magnitudes) / sum(magnitudes))
        n = int(of.choice([n for n in fits if n.bit_length() == magnitude]))
        if of.random() < 0.2:
            n *= int(of.integers(1, max(2, min(9, most // n + 1))))
        vector = int(of.choice(vectors))
        n += int(of.choice((0, 0, -1, 1, vector - 1, vector, vector + 1, -vector, 1 - vector, int(of.integers(-9, 10)))))
        return max(0 if of.random() < 0.02 else 1, min(n, most))

    def argument(self, kind, shape):
        of = super().argument(kind, shape)
        if self.of_sizes.random() < self.unaligned:
            self.nodes[of[0]].behind = int(self.of_sizes.choice((1, 2, 3, 4, 5, 8)))
        return of

    def small(self, most):
        return int(self.of_sizes.choice([n for n in SMALL if n <= max(most, 1)]))

    def shape(self):
        n = self.near()
        rest = MOST // max(n, 1)
        if self.form == "line":
            return (n,)
        if self.form == "row":
            return (self.small(rest), n)
        if self.form == "rows":
            return (n, self.small(rest))
        if self.form == "middle":
            first = self.small(rest)
            return (first, n, self.small(rest // first))
        n = self.near(4096)
        return (self.near(max(MOST // max(n, 1), 1)), n)

    def data(self, kind, shape):
        """Mostly such that one element more or less is seen: whole numbers, or few large ones."""
        of, draw = self.of_data, self.of_data.random()
        if not is_float(kind) or draw < 0.2:
            return elements.draw(of, kind, shape)
        if draw < 0.6:
            return elements.rounded(kind, of.integers(1, 4, shape).astype(np.float64) * of.choice((-1.0, 1.0), shape))
        data = np.full(shape, -6.0 if draw < 0.8 else 0.0)
        for axis, n in enumerate(shape):
            places = sorted({*range(min(n, 9)), *range(max(n - 9, 0), n), *of.integers(0, n, 9)}) if n else []
            line = np.zeros(n)
            line[places] = of.uniform(2.0, 6.0, len(places))
            data = data + line.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        return elements.rounded(kind, data)

    def sizes_of(self, letters, most=1 << 22, unknown=""):
        if unknown:  # plans are made for the others, which are those of the family
            sizes = {c: int(self.pick(OTHERS)) for c in letters}
            while np.prod([sizes[c] for c in letters if c != unknown], dtype=np.int64) > 1 << 19:
                sizes[self.pick(sorted(sizes))] = int(self.pick((1, 8, 33, 64)))
            others = np.prod([sizes[c] for c in letters if c != unknown], dtype=np.int64)
            return sizes | {unknown: self.near(int(max(min(4096, (1 << 23) // others), 33)))}
        sizes = {c: self.near(4096 if c in "nk" else 1024) for c in letters}
        if self.few:  # rows of a product, or queries
            sizes.update((c, self.small(17)) for c in letters if c in "mo")
        most = max(most, 1 << 16)
        while np.prod(list(sizes.values()), dtype=np.int64) > most:
            c = self.pick(sorted(sizes))
            sizes[c] = min(sizes[c], self.small(17))
        return sizes

    def norm_count(self, shape, axes):
        return self.count

    def grown(self):
        names = [name for name in FIRST if name in random_program.CLASSES] or list(FIRST)
        weights = np.array([FIRST[name] for name in names], dtype=float)
        first = str(self.random.choice(names, p=weights / weights.sum()))
        self.classes = ["convert"] if self.chance(0.5) else []
        if first not in ("contraction", "attention"):
            shape, kind = self.shape(), str(self.pick(self.kinds))
            if first in ("norm", "softmax", "argmax") and not is_float(kind):
                kind = str(self.pick(("f32", "bf16", "f16")))
            x = self.argument(kind, shape)
            # Several inputs, of several types, in front of it.
            for _ in range(int(self.pick((0, 0, 1, 1, 2)))):
                other = self.argument(str(self.pick(("f32", "bf16", "f16", "i8", kind))), shape)
                to = self.value(other).kind
                steps = [] if to == kind else self.between(to, kind)
                last = 2 if not steps else 1 + len(steps)
                add = "arith.addf" if is_float(kind) else "arith.xori" if kind == "i1" else "arith.addi"
                steps = [*steps, Step(add, kind, (0, last if steps else 1))]
                every = list(range(len(shape)))
                x = self.add(Elementwise((x, other), [every, every], shape, steps, [1 + len(steps)])), 0
        for name in (first, *(str(self.pick(BEHIND)) for _ in range(int(self.pick((0, 0, 1, 2)))))):
            getattr(self, name)()

    @staticmethod
    def between(kind, to):
        """A conversion of the second operand that is exact or rounds, and wraps nowhere."""
        if is_float(to) or not is_float(kind):
            return [Step("convert", to, (1,))]
        high = min(100.0, 2.0 ** (elements.width(to) - 1) - 1)
        return [Step("const", kind, extra=high), Step("const", kind, extra=-high), Step("arith.minimumf", kind, (1, 2)),
                Step("arith.maximumf", kind, (4, 3)), Step("convert", to, (5,))]


def grow(family, unknown, sizes=0, bounds=None):
    with np.errstate(all="ignore"):
        grower = EdgeGrower(family, unknown, sizes, bounds)
        grower.grown()
        return random_program.program_of(grower)


@functools.lru_cache(4)
def bounds_of(family):
    if BOUNDS:
        return BOUNDS[family]
    program = grow(family, True)
    if program is None:
        return None
    done = subprocess.run([READER[0], *PASSES, "-"], input=program.text(), capture_output=True, text=True, timeout=60, check=False)
    return numbers_of(done.stdout)


def write_bounds(path, seeds):
    """Of the families of some seeds."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({family: bounds_of(family) for family in sorted({seed // SIZES for seed in seeds})}, file)


def read_bounds(path):
    with open(path, encoding="utf-8") as file:
        BOUNDS.update((int(family), bounds) for family, bounds in json.load(file).items())


def generate(seed):
    """The program of a seed, or None where nothing was drawn that fits together."""
    bounded.LIKELY[0] = True
    family, number = divmod(seed, SIZES)
    bounds = bounds_of(family)
    if bounds is None:
        return None
    return grow(family, number % 2 == 1, number // 2, bounds)
