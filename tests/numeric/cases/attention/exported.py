# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of one token, or a few, as exporters write it: everything turned and reshaped to products of three dimensions, keys that
are repeated for the heads that share them, dimensions of one that come and go, a maximum with its place beside it."""
import itertools

import numpy as np

import bounded
from cases.attention.forms import INPUTS, Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from nodes.program import Program

# turned: queries of grouped heads, one product behind the other with all operands turned. flat: the same of repeated keys, by way of
# one dimension. repeated: keys repeated in front of the heads' dimension; a maximum with its place, hidden by a number that is added.
FORMS = ("turned", "flat", "repeated")
WINDOW = 20  # keys in front of the end of a sequence that its tokens see, hidden by a large negative number
NEAR = {"f16": -6e4, "bf16": -3e38, "f32": -3e38}


class Exported(Writer):
    def copy(self, spec, x, of_x):
        return self.each(spec, lambda e: e, (x, of_x), kind=x.kind)

    def matrices(self, a, b, kind):
        """Of each of a batch: [x, i, k] times [x, k, j]."""
        f = self.f
        start = f.fill(kind, [a.shape[0], a.shape[1], b.shape[2]], 0.0)
        result = type(start)(f.fresh(), kind, start.shape)
        f.line(f"{result.name} = linalg.batch_matmul ins({a.name}, {b.name} : {a.type}, {b.type}) outs({start.name} : {start.type}) -> {result.type}")
        return result

    def joined(self, x, groups):
        shape = []
        for group in groups:
            size = 1
            for dimension in group:
                size = self.f.multiply_sizes(size, x.shape[dimension]) if size != 1 else x.shape[dimension]
            shape.append(size)
        return self.reshaped(x, "collapse_shape", shape, groups)

    def seen_keys(self, spec, scores, lengths):
        f = self.f

        def body(x, length):
            seen, n = f.fresh(), f.loop_index(spec.index("n"), "i32")
            f.line(f"{seen} = arith.cmpi slt, {n}, {length} : i32")
            if not self.is_window:
                return f.select(seen, "f32", x, f.constant("f32", -np.inf))
            late, by, first = f.fresh(), f.fresh(), f.fresh()
            f.line(f"{by} = arith.constant {WINDOW} : i32")
            f.line(f"{first} = arith.subi {length}, {by} : i32")
            f.line(f"{late} = arith.cmpi sge, {n}, {first} : i32")
            return f.select(f.op("arith.andi", "i1", seen, late), "f32", x, f.constant("f32", -2.38e38))
        return self.each(spec, body, (scores, spec), (lengths, "b"))

    def scaled(self, spec, x):
        return self.each(spec, lambda e: self.f.op("arith.mulf", "f32", e, self.f.constant("f32", self.factor)), (x, spec))

    def weigh(self, spec, logits, largest, of_largest, turned):
        """Weights [turned], each step an operation."""
        f = self.f
        apart = self.each(turned, lambda x, y: f.op("arith.subf", "f32", x, y), (self.copy(turned, logits, spec), turned), (self.copy(turned, largest, of_largest), turned))
        powers = self.each(turned, lambda x: f.op("math.exp", "f32", x), (apart, turned))
        total = self.copy(turned, self.reduced(powers, turned, turned.replace("n", ""), "arith.addf", 0.0), turned.replace("n", ""))
        weights = self.each(turned, lambda x, y: f.op("arith.divf", "f32", x, y), (powers, turned), (total, turned))
        return self.each(turned, lambda x: f.op("arith.truncf", "f32", x, to=self.operand), (weights, turned), kind=self.operand) if self.operand != "f32" else weights

    def turned(self, q, k, v, lengths):
        """q: [b, m, h g, d], k and v: [b, n, h, d]."""
        size = self.size
        heads = size["b"] * size["h"]
        flat = self.reshaped(q, "collapse_shape", [int(np.prod(q.shape))], [[0, 1, 2, 3]])
        rows = self.reshaped(flat, "expand_shape", [heads, size["g"], size["d"]], [[0, 1, 2]])
        scores = self.matrices(rows, self.joined(self.copy("bhdn", k, "bnhd"), [[0, 1], [2], [3]]), "f32")
        scores = self.reshaped(scores, "expand_shape", self.shape("bhmgn"), [[0, 1], [2, 3], [4]])
        logits = self.seen_keys("bhmgn", self.scaled("bhmgn", scores), lengths)
        largest = self.reduced(logits, "bhmgn", "bhmg", "arith.maximumf", -np.inf)
        weights = self.weigh("bhmgn", logits, largest, "bhmg", "gbhmn")
        columns = self.joined(self.copy("bhngm", weights, "gbhmn"), [[0, 1], [2], [3, 4]])
        made = self.matrices(self.joined(self.copy("bhdn", v, "bnhd"), [[0, 1], [2], [3]]), columns, self.operand)
        made = self.reshaped(made, "expand_shape", self.shape("bhdgm"), [[0, 1], [2], [3, 4]])
        return self.joined(self.copy("bmhgd", self.copy("gbmhd", made, "bhdgm"), "gbmhd"), [[0], [1], [2, 3], [4]])

    def flat(self, q, k, v, lengths):
        size = self.size
        heads = [size["b"] * size["h"] * size["g"]]
        flat = self.reshaped(q, "collapse_shape", [int(np.prod(q.shape))], [[0, 1, 2, 3]])
        rows = self.reshaped(flat, "expand_shape", [*heads, 1, size["d"]], [[0, 1, 2]])
        scores = self.matrices(rows, self.joined(self.copy("bhgdn", k, "bnhd"), [[0, 1, 2], [3], [4]]), "f32")
        scores = self.reshaped(scores, "expand_shape", self.shape("bhgmn"), [[0, 1, 2], [3], [4]])
        logits = self.seen_keys("bhgmn", self.scaled("bhgmn", scores), lengths)
        weights = self.weigh("bhgmn", logits, self.reduced(logits, "bhgmn", "bhgm", "arith.maximumf", -np.inf), "bhgm", "bhgmn")
        flat = self.reshaped(weights, "collapse_shape", [int(np.prod(weights.shape))], [[0, 1, 2, 3, 4]])
        columns = self.reshaped(flat, "expand_shape", [*heads, size["n"], 1], [[0, 1, 2]])
        made = self.matrices(self.joined(self.copy("bhgdn", v, "bnhd"), [[0, 1, 2], [3], [4]]), columns, self.operand)
        flat = self.reshaped(made, "collapse_shape", [int(np.prod(made.shape))], [[0, 1, 2]])
        return self.reshaped(flat, "expand_shape", [size["b"], 1, size["h"] * size["g"], size["d"]], [[0, 1, 2, 3]])

    def repeated(self, q, k, v, lengths):
        """q: [b, h g, m, d], k and v: [b, h, n, d], of a number of keys that may be unknown."""
        f, size, heads = self.f, self.size, [[0, 1], [2], [3]]
        k, v = (self.joined(self.joined(self.copy("bhgnd", x, "bhnd"), [[0], [1, 2], [3], [4]]), heads) for x in (k, v))
        turned = f.transpose(k, [0, 2, 1])
        scores = self.matrices(self.joined(q, heads), turned, "f32")
        scores = self.reshaped(scores, "expand_shape", [size["b"], size["h"] * size["g"], size["m"], size["n"]], heads)
        size["x"], spec = size["h"] * size["g"], "bxmn"

        def added(length):
            result = f.fresh()
            f.line(f"{result} = arith.cmpi slt, {f.loop_index(1, 'i32')}, {length} : i32")
            return f.select(result, self.operand, f.constant(self.operand, 0.0), f.constant(self.operand, NEAR[self.operand]))
        away = self.reshaped(self.each("bn", added, (lengths, "b"), kind=self.operand), "expand_shape", [size["b"], 1, 1, size["n"]], [[0], [1, 2, 3]])
        logits = self.each(spec, lambda x, y: f.op("arith.addf", "f32", x, f.convert(y, self.operand, "f32")), (self.scaled(spec, scores), spec), (away, "b11n"))

        def with_place(x, largest, place):
            here, number = f.fresh(), f.loop_index(3, "i64")
            f.line(f"{here} = arith.cmpf ogt, {x}, {largest} : f32")
            return f.op("arith.maximumf", "f32", x, largest), f.select(here, "i64", number, place)
        starts = [(f.fill("f32", self.shape("bxm"), -np.inf), range(3)), (f.fill("i64", self.shape("bxm"), 0), range(3))]
        largest = f.generic([(logits, range(4))], starts, "pppr", with_place)[0]
        kept = self.reshaped(largest, "expand_shape", [*self.shape("bxm"), 1], [[0], [1], [2, 3]])
        powers = self.each(spec, lambda x, y: f.op("math.exp", "f32", f.op("arith.subf", "f32", x, y)), (logits, spec), (kept, "bxm1"))
        total = self.reduced(powers, spec, "bxm1", "arith.addf", 0.0)
        weights = self.each(spec, lambda x, y: f.convert(f.op("arith.divf", "f32", x, y), "f32", self.operand), (powers, spec), (total, "bxm1"), kind=self.operand)
        made = self.matrices(self.joined(weights, heads), v, "f32")
        made = self.each("ymd", lambda x: f.convert(x, "f32", self.operand), (made, "ymd"), kind=self.operand) if self.operand != "f32" else made
        return self.reshaped(made, "expand_shape", [size["b"], size["x"], size["m"], size["d"]], heads)


def exported(form, operand, inputs, size, unknown, is_window=False):
    b, h, g, m, n, d = size
    dims = dict(zip("bhgmnd", size)) | {"e": d, "y": b * h * g}
    random = generator("attention exported", form, operand, inputs, size)
    layout = "grouped" if form == "repeated" else "packed grouped"
    q, k, v = drawn(random, layout, operand, dims, inputs)
    lengths = random.integers(1, n + 1, b)
    joined = q.reshape(b, h * g, m, d) if form == "repeated" else q.reshape(b, m, h * g, d)
    given = [argument(operand, joined, False), *(argument(operand, x, [unknown and c == "n" for c in ("bhnd" if form == "repeated" else "bnhd")]) for x in (k, v)),
             argument("i32", lengths, False)]

    def write(f, q, k, v, lengths):
        writer = Exported(f, layout, operand, "multiplied", "steps", "lengths", dims)
        writer.is_window = is_window
        writer.size = dims | {"n": k.shape[2 if form == "repeated" else 1]}
        return getattr(writer, form)(q, k, v, lengths)

    def evaluate(q, k, v, lengths):
        rows = q.v.reshape(b, h, g, m, d) if form == "repeated" else q.v.reshape(b, m, h, g, d)
        mask, extra = "lengths", lengths.v
        if is_window:
            apart = np.asarray(lengths.v)[:, None, None] - np.arange(n)[None, None, :] + np.zeros((b, m, 1))
            mask, extra = "chosen, large", (apart > 0) & (apart <= WINDOW)
        result, bound = reference(layout, operand, "multiplied", "steps", mask, rows, k.v, v.v, extra)
        return bounded.finish(operand, result.reshape(q.v.shape), np.reshape(bound, q.v.shape), 2.0)

    program = Program([*given, Raw([(i, 0) for i in range(4)], write, evaluate)], [(4, 0)])
    return Case(f"attention exported, {form}{', unknown' if unknown else ''}{', window' if is_window else ''}", operand, program)


def cases(sizes):
    whole = len(sizes) > 1
    shapes = ((2, 2, 4, 1, 200, 64), (1, 2, 2, 1, 130, 128), (3, 2, 1, 1, 65, 64), (1, 3, 8, 1, 31, 80), (2, 1, 2, 1, 1, 32))
    several = ((2, 2, 2, 3, 70, 64), (1, 2, 4, 1, 257, 128))
    for number, (form, operand, size) in enumerate(itertools.product(FORMS, ("bf16", "f16", "f32"), shapes)):
        if whole or number % 4 == 0:
            yield exported(form, operand, INPUTS[number % 5], size, form == "repeated" and number % 2 == 1)
    for number, (operand, size, unknown) in enumerate(itertools.product(("bf16", "f32"), several, (False, True))):
        yield exported("repeated", operand, INPUTS[number % 5], size, unknown)
    for number, (form, operand, size) in enumerate(itertools.product(FORMS[:2], ("bf16", "f32"), shapes[:4])):
        if whole or number % 3 == 0:
            yield exported(form, operand, INPUTS[number % 5], size, False, is_window=True)
