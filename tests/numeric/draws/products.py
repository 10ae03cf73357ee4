# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random programs draw of products: contractions with code before and behind them, attention, convolutions, and loops
around products and rows."""
import numpy as np

import elements
from nodes.control import Recurrence, Rows
from draws.draw import Draws, reductions
from elements import is_float
from nodes.movement import Pad, Slice, Transpose
from nodes.node import Elementwise, Softmax, Step
from nodes.products import CONVOLUTIONS, WINDOW, Contract, Convolve, KeptReduce, sums_of

FACTORS = ("f16", "f16", "bf16", "bf16", "f32", "f32", "f64", "i8", "i32")
EDGES = (1, 2, 3, 5, 8, 16, 17, 24, 31, 32, 33, 48, 64, 65, 100, 128, 129)
WORK = 1 << 20  # multiplications of one product


class Products(Draws):
    def factor(self, kind, shape):
        """An argument of small numbers, so that sums of many products stay within their type."""
        of = self.argument(kind, shape)
        node = self.nodes[of[0]]
        if is_float(kind) and self.chance(0.7):
            node.data = elements.rounded(kind, node.data / 8)
        self.made[of[0]] = node.evaluate([])
        return of

    def bodied(self, operands, shape, indices, kind, count):
        """Elementwise over `shape`; its result has type `kind`, by a conversion where that is needed."""
        kinds, steps = [self.value(o).kind for o in operands], []
        self.grow_body(kinds, len(shape), steps, count)
        last = len(kinds) - 1
        if kinds[last] != kind:
            same = [i for i, k in enumerate(kinds) if k == kind and i >= len(operands)]
            if same:
                last = same[-1]
            elif is_float(kinds[last]) and is_float(kind):
                steps.append(Step("convert", kind, (last,)))
                last = len(operands) + len(steps) - 1
            else:
                return None
        outputs = [last]
        if self.chance(0.15) and len(steps) > 1:
            outputs.append(int(self.random.integers(len(operands), len(operands) + len(steps))))
        return self.add(Elementwise(tuple(operands), indices, shape, steps, outputs)), 0

    def before(self, of):
        """What is computed from a factor in front of a product: scales of rows or columns, other types, any body."""
        value = self.value(of)
        rank, draw = len(value.shape), self.random.random()
        every = list(range(rank))
        if draw < 0.55 or not is_float(value.kind):
            return of
        if draw < 0.7:  # weights of integers, with a scale
            narrow = self.argument("i8", value.shape)
            kept = [i for i in every if self.chance(0.5)]
            scale = self.factor(value.kind, tuple(value.shape[i] for i in kept))
            steps = [Step("convert", value.kind, (0,)), Step("arith.mulf", value.kind, (2, 1))]
            return self.add(Elementwise((narrow, scale), [every, kept], value.shape, steps, [3])), 0
        operands, indices = [of], [every]
        if self.chance(0.6):
            kept = [i for i in every if self.chance(0.6)]
            operands.append(self.factor(value.kind, tuple(value.shape[i] for i in kept)))
            indices.append(kept)
        return self.bodied(operands, value.shape, indices, value.kind, int(self.random.integers(1, 3))) or of

    def behind(self, of, count):
        """Some of: biases, residuals, activations and other types; reductions; other orders; parts."""
        for _ in range(count):
            value = self.value(of)
            shape, rank = value.shape, len(value.shape)
            every, draw = list(range(rank)), self.random.random()
            if draw < 0.6:
                operands, indices = [of], [every]
                for _ in range(int(self.random.integers(0, 3))):
                    kept = [i for i in every if self.chance(0.6)]
                    kind = value.kind if self.chance(0.7) else str(self.pick(("f32", "f16"))) if is_float(value.kind) else "i32"
                    operands.append(self.factor(kind, tuple(shape[i] for i in kept)))
                    indices.append(kept)
                kind = value.kind if self.chance(0.5) or not is_float(value.kind) else str(self.pick(("f16", "bf16", "f32")))
                of = self.bodied(operands, shape, indices, kind, int(self.random.integers(1, 5))) or of
            elif draw < 0.75 and rank:
                axes = self.axes(rank)
                operation = str(self.pick(reductions(value.kind)))
                made = self.add(KeptReduce((of,), axes, [operation], bool(self.chance(0.7)))), 0
                if self.chance(0.6) and self.value(made).kind == value.kind:  # and read back
                    places = [None if i in axes else i for i in every]
                    of = self.bodied([of, made], shape, [every, places], value.kind, 2) or of
            elif draw < 0.85 and rank > 1:
                of = self.add(Transpose(of, [int(i) for i in self.random.permutation(rank)])), 0
            elif draw < 0.92 and rank and value.v.size:
                of = self.add(Slice(of, *self.part(shape))), 0
            elif rank and is_float(value.kind) and value.v.size:
                of = self.add(Softmax(of, int(self.random.integers(rank)))), 0
        return of

    def sizes_of(self, letters, most=WORK, unknown=""):
        """@param unknown the one that the program does not know, if there is one"""
        sizes = {c: int(self.pick(EDGES)) for c in letters}
        while np.prod(list(sizes.values()), dtype=np.int64) > most:
            sizes[self.pick(sorted(sizes))] = int(self.pick((1, 2, 3, 8, 16, 17, 33)))
        if self.chance(0.02):
            sizes[self.pick(sorted(sizes))] = 0
        return sizes

    def contraction(self):
        kind = str(self.pick(FACTORS))
        batch, rows = "bc"[:int(self.pick((0, 0, 0, 1, 1, 2)))], "mo"[:int(self.pick((0, 1, 1, 1, 2)))]
        columns, inner = "np"[:int(self.pick((0, 1, 1, 1, 2)))], "kl"[:int(self.pick((1, 1, 1, 2)))]
        unknown = str(self.pick(list(batch + rows + columns + inner))) if self.chance(0.4) else ""
        sizes = self.sizes_of(batch + rows + columns + inner, unknown=unknown)
        of_a = batch + rows + inner
        of_b = (batch if self.chance(0.8) else "") + inner + columns
        out = batch + rows + columns
        if self.chance(0.5):
            of_a, of_b = ("".join(self.random.permutation(list(s))) for s in (of_a, of_b))
        if self.chance(0.2):
            out = "".join(self.random.permutation(list(out)))
        spec = f"{of_a},{of_b}->{out}"
        a, b = (self.factor(kind, tuple(sizes[c] for c in of)) for of in (of_a, of_b))
        if unknown and self.unknown_sizes != 0:
            self.nodes[a[0]].dynamic, self.nodes[b[0]].dynamic = ([c == unknown for c in of] for of in (of_a, of_b))
        a, b = self.before(a), self.before(b)
        sums = sums_of(kind) if self.chance(0.9) else kind
        operands = [a, b]
        if self.chance(0.15):
            operands.append(self.factor(sums, tuple(sizes[c] for c in out)))
        made = self.add(Contract(operands, spec, sums, str(self.pick(("", "named", "contract"))))), 0
        made = self.behind(made, int(self.random.integers(0, 4)))
        value = self.value(made)
        if self.chance(0.25) and len(value.shape) == 2 and value.v.size and value.kind in FACTORS:  # another product
            width = int(self.pick((1, 8, 17, 32, 64)))
            other = self.before(self.factor(value.kind, (value.shape[1], width)))
            made = self.add(Contract((made, other), "mk,kn->mn", sums_of(value.kind), str(self.pick(("", "named"))))), 0
            self.behind(made, int(self.random.integers(0, 3)))

    def attention(self):
        """Two products with something of a softmax between."""
        kind = str(self.pick(("f16", "bf16", "f32")))
        batch = "bh"[:int(self.pick((0, 1, 2, 2)))]
        sizes = self.sizes_of(batch + "mn", 1 << 13) | {"d": int(self.pick((8, 16, 32, 33, 64, 64, 320))), "e": int(self.pick((16, 32, 64, 20, 64, 288)))}
        shared = batch[:int(self.random.integers(0, len(batch) + 1))] if self.chance(0.3) else batch
        q = self.before(self.factor(kind, tuple(sizes[c] for c in batch + "md")))
        turned = "nd" if self.chance(0.7) else "dn"
        k = self.before(self.factor(kind, tuple(sizes[c] for c in shared + turned)))
        v = self.before(self.factor(kind, tuple(sizes[c] for c in shared + "ne")))
        scores = self.add(Contract((q, k), f"{batch}md,{shared}{turned}->{batch}mn", "f32")), 0
        shape, rank = self.value(scores).shape, len(batch) + 2
        every = list(range(rank))
        steps, operands, indices = [Step("const", "f32", extra=0.25)], [scores], [every]
        draw = self.random.random()
        if draw < 0.4:  # a bias, or any body of the score
            kept = [i for i in every if self.chance(0.7)]
            operands.append(self.factor("f32", tuple(shape[i] for i in kept)))
            indices.append(kept)
            steps = [Step("const", "f32", extra=0.25), Step("arith.mulf", "f32", (0, 2)), Step("arith.addf", "f32", (3, 1))]
        else:
            steps.append(Step("arith.mulf", "f32", (0, 1)))
            if draw < 0.8:  # a mask by places
                at = len(steps)
                away = float(self.pick((-1e30, -1e9, -65504.0)))
                steps += [Step("index", "i32", extra=rank - 2), Step("index", "i32", extra=rank - 1),
                          Step("cmp " + str(self.pick(("sge", "sge", "slt", "ne"))), "i1", (at + 1, at + 2)),
                          Step("const", "f32", extra=away), Step("select", "f32", (at + 3, at, at + 4))]
        logits = self.add(Elementwise(tuple(operands), indices, shape, steps, [len(operands) + len(steps) - 1])), 0
        if self.chance(0.5):
            weights = self.add(Softmax(logits, rank - 1)), 0
        else:
            places = [*range(rank - 1), None]
            top = self.add(KeptReduce((logits,), [rank - 1], ["arith.maximumf"])), 0
            e = self.add(Elementwise((logits, top), [every, places], shape,
                                     [Step("arith.subf", "f32", (0, 1)), Step("math.exp", "f32", (2,))], [3])), 0
            total = self.add(KeptReduce((e,), [rank - 1], ["arith.addf"])), 0
            weights = self.add(Elementwise((e, total), [every, places], shape, [Step("arith.divf", "f32", (0, 1))], [2])), 0
        if self.chance(0.1):
            weights = self.behind(weights, 1)
            if self.value(weights).shape != shape:
                return
        if kind != "f32" and self.value(weights).kind == "f32" and self.chance(0.8):
            weights = self.add(Elementwise((weights,), [every], shape, [Step("convert", kind, (0,))], [1])), 0
        self.behind((self.add(Contract((weights, v), f"{batch}mn,{shared}ne->{batch}me", "f32")), 0), int(self.random.integers(0, 3)))

    def convolution(self):
        layout = str(self.pick(sorted(CONVOLUTIONS)))
        _, of_image, of_filter, out = CONVOLUTIONS[layout]
        kind = str(self.pick(("f16", "bf16", "f32", "f32", "i8")))
        sizes = {"n": int(self.pick((1, 2, 3))), "c": int(self.pick((1, 3, 4, 8, 16, 17, 32))), "f": int(self.pick((1, 2, 8, 16, 33))),
                 "g": int(self.pick((1, 2, 3)))}
        steps, around = {}, {}
        for axis in [c for c in out if c in WINDOW]:
            window, stride, dilation = (int(self.pick(n)) for n in ((1, 2, 3, 3, 5), (1, 1, 2, 3), (1, 1, 1, 2)))
            reach = (window - 1) * dilation + 1
            around[axis] = (int(self.random.integers(0, 3)), int(self.random.integers(0, 3))) if self.chance(0.6) else (0, 0)
            sizes[axis] = max(int(self.pick((1, 4, 7, 8, 13, 16))), reach - sum(around[axis]), 1)
            sizes[WINDOW[axis]], steps[axis] = window, (stride, dilation)
        image = self.before(self.factor(kind, tuple(sizes[c] for c in of_image)))
        if any(sum(a) for a in around.values()):
            low, high = ([around.get(c, (0, 0))[side] for c in of_image] for side in (0, 1))
            image = self.add(Pad(image, low, high, 0.0 if is_float(kind) else 0)), 0
        filters = self.before(self.known(self.factor(kind, tuple(sizes[c] for c in of_filter))))
        made = self.add(Convolve(image, filters, layout, steps, sums_of(kind), bool(self.chance(0.4)))), 0
        self.behind(made, int(self.random.integers(0, 4)))

    def known(self, of):
        """An argument whose sizes the program knows."""
        node = self.nodes[of[0]]
        node.dynamic = [False] * len(node.dynamic)
        return of

    def recurrence(self):
        kind = str(self.pick(("f16", "f32", "f64")))
        rows, width = int(self.pick((1, 3, 16, 33))), int(self.pick((1, 8, 17, 32)))
        x, w = self.factor(kind, (rows, width)), self.known(self.factor(kind, (width, width)))
        self.known(x)
        product = Contract((x, w), "mk,kn->mn", sums_of(kind), str(self.pick(("", "named"))))
        kinds, steps = [sums_of(kind)], []
        self.grow_body(kinds, 2, steps, int(self.random.integers(1, 4)))
        last = max(i for i, k in enumerate(kinds) if is_float(k))
        if kinds[last] != kind:
            steps.append(Step("convert", kind, (last,)))
            last = len(steps)
        body = Elementwise((x,), [[0, 1]], (rows, width), steps, [last])
        self.add(Recurrence(x, w, int(self.random.integers(0, 4)), product, body))

    def rows(self):
        x = self.operand(lambda v: 2 <= len(v.shape) <= 3 and 1 <= v.shape[0] <= 40 and v.v.size)
        if x is None:
            return
        kind, shape = self.value(x).kind, self.value(x).shape
        into = self.existing(lambda v: v.kind == kind and v.shape == shape) or self.argument(kind, shape)
        kinds, steps = [kind, kind], []
        self.grow_body(kinds, len(shape) - 1, steps, int(self.random.integers(1, 4)))
        last = max(i for i, k in enumerate(kinds) if k == kind)
        every = list(range(len(shape) - 1))
        self.add(Rows(x, into, Elementwise((x, into), [every, every], shape[1:], steps, [last])))
