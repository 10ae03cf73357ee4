# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random programs draw: shapes, values, operands, bodies.

Sizes are the ones where kernels change their ways: 0, 1, around powers of two, ragged, a row of some thousands.
"""
import numpy as np

import bounded
import elements
from elements import INTEGERS, is_float
from nodes.node import Argument, Step

SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 100, 127, 128, 129)
LONGEST = (8191, 16385, 33001, 70001)  # a row that does not fit the registers of a block
LONG = (255, 256, 257, 1000, 1001, 1024, 2049, 4095, 4097)
MOST = 1 << 14  # elements of a tensor


def reductions(kind):
    """Operations that combine elements of a kind; sums come more often."""
    if is_float(kind):
        return ("arith.addf", "arith.addf", "arith.addf", "arith.maximumf", "arith.minimumf", "arith.mulf")
    if kind == "i1":
        return ("arith.andi", "arith.ori", "arith.xori")
    return ("arith.addi", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.andi", "arith.ori", "arith.xori")


class Draws:
    def __init__(self, seed, classes):
        self.random = np.random.default_rng(seed)
        self.nodes, self.made = [], []
        self.classes = list(self.random.choice(classes, size=min(int(self.random.integers(1, 5)), len(classes)), replace=False))
        self.kinds = list(self.random.choice(elements.KINDS, size=int(self.random.integers(1, 4)), replace=False))
        if not any(is_float(kind) for kind in self.kinds) and self.chance(0.7):
            self.kinds.append("f32")
        self.unknown_sizes = self.random.choice([0.0, 0.5, 1.0])

    # ---- Small draws ----

    def chance(self, share):
        return self.random.random() < share

    def pick(self, options):
        return options[int(self.random.integers(len(options)))]

    def shape(self):
        if self.chance(0.02):
            n = int(self.pick(LONGEST))
            return self.pick(((n,), (n,), (2, n), (3, n), (n, 2)))
        rank = self.pick((0, 1, 1, 2, 2, 2, 3, 3, 4))
        shape = [int(self.pick(SIZES)) for _ in range(rank)]
        if rank and self.chance(0.25):
            shape[int(self.random.integers(rank))] = int(self.pick(LONG))
        if rank and self.chance(0.03):
            shape[int(self.random.integers(rank))] = 0
        while np.prod(shape, dtype=np.int64) > MOST:
            shape[int(np.argmin([-n if n < 255 else 0 for n in shape]))] = int(self.random.integers(1, 4))
            if min(shape) >= 255:
                shape[0] = 1
        return tuple(shape)

    def data(self, kind, shape):
        if is_float(kind):
            style = self.random.random()
            if style < 0.2:  # whole numbers: ties, and sums that are exact
                return elements.rounded(kind, self.random.integers(-8, 9, shape).astype(np.float64))
            if style < 0.4:
                return elements.draw(self.random, kind, shape, 0.0, 1.0)
        return elements.draw(self.random, kind, shape)

    def add(self, node):
        """The number of the node, whose values are computed at once."""
        self.nodes.append(node)
        self.made.append(node.evaluate([self.made[n][r] for n, r in node.operands]))
        return len(self.nodes) - 1

    def argument(self, kind, shape):
        return self.add(Argument(kind, self.data(kind, shape), [bool(self.chance(self.unknown_sizes)) for _ in shape])), 0

    def value(self, of):
        return self.made[of[0]][of[1]]

    def existing(self, good=lambda value: True):
        """A result there is, rather a late one; None where none is good."""
        found = [(n, r) for n, results in enumerate(self.made) for r, value in enumerate(results) if good(value)]
        if not found:
            return None
        return found[-1 - int(self.random.integers(min(3, len(found))))] if self.chance(0.7) else self.pick(found)

    def operand(self, good=lambda value: True, kind=None, shape=None):
        found = self.existing(good)
        if found is None or self.chance(0.1):
            kind, shape = kind or str(self.pick(self.kinds)), self.shape() if shape is None else shape
            found = self.argument(kind, shape)
            if not good(self.value(found)):
                return None
        return found

    # ---- Bodies ----

    def constant(self, kind):
        if is_float(kind):
            return float(self.pick((-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)))
        return int(self.random.integers(-4, 8)) if kind != "i1" else int(self.random.integers(2))

    def grow_body(self, kinds, rank, steps, count):
        """Adds `count` random operations to `steps`, over values of `kinds` (which grows with it)."""
        for _ in range(count):
            kind = str(self.pick(kinds))
            same = [i for i, k in enumerate(kinds) if k == kind]
            a, b, c = (self.pick(same) for _ in range(3))

            def put(name, result, operands=(), extra=None):
                steps.append(Step(name, result, operands, extra))
                kinds.append(result)
                return len(kinds) - 1

            draw = self.random.random()
            if draw < 0.1 and rank and kind in INTEGERS:
                put("index", kind, extra=int(self.random.integers(rank)))
            elif draw < 0.2:
                b = put("const", kind, extra=self.constant(kind))
                name = {True: "arith.mulf", False: "arith.addi" if kind != "i1" else "arith.xori"}[is_float(kind)]
                put(name, kind, (a, b))
            elif draw < 0.3:
                predicate = str(self.pick(list(bounded.FLOAT_PREDICATES if is_float(kind) else bounded.INTEGER_PREDICATES)))
                condition = put("cmp " + predicate, "i1", (a, b))
                if self.chance(0.8):
                    put("select", kind, (condition, a, c))
            elif draw < 0.36 and "convert" in self.classes:
                other = str(self.pick(elements.KINDS))
                if other != kind and not (other == "i1") and not (kind == "i1" and is_float(other)):
                    if is_float(kind) and not is_float(other):  # within the integer's range
                        high = put("const", kind, extra=float(min(100, 2 ** (elements.width(other) - 1) - 1)))
                        low = put("const", kind, extra=-float(min(100, 2 ** (elements.width(other) - 1) - 1)))
                        a = put("arith.maximumf", kind, (put("arith.minimumf", kind, (a, high)), low))
                    put("convert", other, (a,))
            elif is_float(kind):
                if draw < 0.66:
                    put(str(self.pick(list(bounded.FLOAT_BINARY))), kind, (a, b))
                elif draw < 0.7:
                    put("math.fma", kind, (a, b, c))
                else:
                    put(str(self.pick(list(bounded.FLOAT_UNARY))), kind, (a,))
            elif kind == "i1":
                put(str(self.pick(("arith.andi", "arith.ori", "arith.xori"))), kind, (a, b))
            elif draw < 0.7:
                put(str(self.pick(list(bounded.INTEGER_BINARY))), kind, (a, b))
            elif draw < 0.8:
                one = put("const", kind, extra=1)
                put(str(self.pick(list(bounded.DIVISIONS))), kind, (a, put("arith.ori", kind, (b, one))))
            elif draw < 0.9:
                mask = put("const", kind, extra=elements.width(kind) - 1)
                put(str(self.pick(list(bounded.SHIFTS))), kind, (a, put("arith.andi", kind, (b, mask))))
            else:
                put(str(self.pick(list(bounded.INTEGER_UNARY))), kind, (a,))

    def indices_for(self, shape, loops):
        """Which loop each dimension of `shape` can be, with every loop at most once; None where it does not fit."""
        free, chosen = list(range(len(loops))), []
        for n in shape:
            fits = [loop for loop in free if loops[loop] == n]
            if not fits and n != 1:
                return None
            # In order rather than permuted, where both are possible.
            loop = None if not fits else (fits[-1] if self.chance(0.8) and len(fits) == 1 else self.pick(fits))
            if loop is not None:
                free.remove(loop)
            chosen.append(loop)
        return chosen
