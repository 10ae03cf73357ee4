# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of attention whose heads share keys and values in groups: those by keys and by values sum over the heads of a group.
Also heads that share keys and have values of their own, and the contrary."""
import itertools

import numpy as np

import bounded
import elements
from cases.attention.forms import Writer
from cases.case import Case, Raw, argument, generator
from cases.attention.forward import attention
from cases.attention.gradients import by_operands, hidden
from elements import EPS
from nodes.program import Program

# Queries, keys, scores; values and gradients lie as keys and queries do. g: heads that share their keys.
LAYOUTS = {"bhgmd": ("bhgmd", "bhnd", "bhgmn"), "bmhgd": ("bmhgd", "bnhd", "bhgmn"), "hgmd": ("hgmd", "hnd", "hgmn")}

# Depths that are not side by side: no tensor map, and none of Hopper's kernels for it.
ALL_LAYOUTS = LAYOUTS | {"bhgdm": ("bhgdm", "bhnd", "bhgmn")}


def document(length):
    return np.arange(length) * 4 // length


def away(mask, m, n):
    return document(m)[:, None] != document(n)[None, :] if mask == "documents" else hidden(mask, m, n)


class Shared(Writer):
    def __init__(self, f, layout, operand, mask, size):
        super().__init__(f, "bmd", operand, "multiplied", "steps", mask, size)
        self.of_q, self.of_k, scores = ALL_LAYOUTS[layout]
        self.specs = (self.of_q, self.of_k, self.of_k, scores, self.of_q)
        self.size = size | {"e": size["d"]}

    def logits(self, scores, extra):
        f, kind, spec = self.f, self.kind, self.specs[3]
        if self.how[2] != "documents":
            return super().logits(scores, extra)

        def seen(x, row, key):
            is_same = f.fresh()
            f.line(f"{is_same} = arith.cmpi eq, {row}, {key} : i32")
            return f.select(is_same, kind, f.op("arith.mulf", kind, x, f.constant(kind, self.factor)), f.constant(kind, -np.inf))

        return self.each(spec, seen, (scores, spec), (self.numbers[0], "m"), (self.numbers[1], "n"))

    def rounded(self, x, spec):
        if self.operand == self.kind:
            return x
        return self.each(spec, lambda e: self.f.op("arith.truncf", self.kind, e, to=self.operand), (x, spec), kind=self.operand)

    def write_backward(self, q, k, v, o, given, lse):
        f, kind, (of_q, of_k, _, s, _) = self.f, self.kind, self.specs
        row = s.replace("n", "")
        of_v, of_o = of_k.replace("d", "e"), of_q.replace("d", "e")
        logits = self.logits(self.product(q, k, of_q, of_k, s), None)
        weights = self.each(s, lambda x, y: f.op("math.exp", kind, f.op("arith.subf", kind, x, y)), (logits, s), (lse, row))
        loops = row + "e"
        sums = f.generic([(t, [loops.index(c) for c in of_o]) for t in (o, given)], [(f.fill(kind, self.shape(row), 0.0), range(len(row)))], "p" * len(row) + "r",
                         lambda x, y, t: f.op("arith.addf", kind, t, f.op("arith.mulf", kind, *(f.convert(e, given.kind, kind) for e in (x, y)))))[0]
        by_weights = self.product(given, v, of_o, of_v, s)

        def by_score(p, dp, each):
            return f.op("arith.mulf", kind, f.op("arith.mulf", kind, p, f.op("arith.subf", kind, dp, each)), f.constant(kind, self.factor))

        by_scores = self.rounded(self.each(s, by_score, (weights, s), (by_weights, s), (sums, row)), s)
        return [self.rounded(made, spec) for made, spec in (
            (self.product(by_scores, k, s, of_k, of_q), of_q), (self.product(by_scores, q, s, of_q, of_k), of_k),
            (self.product(self.rounded(weights, s), given, s, of_o, of_v), of_v))]


def backward(layout, operand, mask, size, dynamic):
    """`dynamic`: whether the program knows no size, or the letters of those that it does not know."""
    of_q, of_k, s = ALL_LAYOUTS[layout]
    size = dict(zip("bhgmnd", size))
    random = generator("attention of shared heads backward", layout, operand, mask, size)
    q, given, k, v = (elements.rounded(operand, random.uniform(-2, 2, [size[c] for c in spec])) for spec in (of_q, of_q, of_k, of_k))
    batch = [size[c] for c in s[:-2]]

    def flat(x, spec):
        """[all heads, length, depth] in float64, keys repeated for each of a group."""
        order = s[:-2] + ("m" if "m" in spec else "n") + "d"
        wide = np.einsum(f"{spec}->{''.join(c for c in order if c in spec)}", np.asarray(x, np.float64))
        if "g" not in spec:
            wide = np.repeat(np.expand_dims(wide, len(batch) - 1), size["g"], axis=len(batch) - 1)
        return wide.reshape(-1, *wide.shape[-2:])

    def back(x, spec):
        order = s[:-2] + ("m" if "m" in spec else "n") + "d"
        wide = x.reshape(*batch, *x.shape[-2:])
        return np.einsum(f"{order}->{spec}", wide)

    wide = [flat(x, spec) for x, spec in ((q, of_q), (k, of_k), (v, of_k), (given, of_q))]
    scores = np.where(away(mask, size["m"], size["n"]), -np.inf, np.einsum("bmd,bnd->bmn", *wide[:2]) * size["d"] ** -0.5)
    largest = scores.max(-1, keepdims=True)
    lse = largest + np.log(np.exp(scores - largest).sum(-1, keepdims=True))
    o = elements.rounded(operand, back(np.einsum("bmn,bne->bme", np.exp(scores - lse), wide[2]), of_q))
    kept = "f64" if operand == "f64" else "f32"
    unknown = [[dynamic is True or (dynamic and c in dynamic) for c in spec] for spec in (of_q, of_k, of_k, of_q, of_q, s.replace("n", ""))]
    arguments = [argument(operand, x, which) for x, which in zip((q, k, v, o, given), unknown)]
    arguments.append(argument(kept, elements.rounded(kept, lse[..., 0].reshape(*batch, -1)), unknown[5]))
    if mask == "documents":
        arguments += [argument("i32", document(size[c])) for c in "mn"]

    def write(f, *arrays):
        writer = Shared(f, layout, operand, mask, size)
        writer.numbers = arrays[6:]
        if isinstance(dynamic, str):
            writer.size.update((c, size) for c, size in zip(of_q, arrays[0].shape) if c in dynamic)
        return writer.write_backward(*arrays[:6])

    def evaluate(*values):
        q, k, v, o, given = (flat(x.v, spec) for x, spec in zip(values, (of_q, of_k, of_k, of_q, of_q)))
        lse = np.asarray(values[5].v).reshape(len(q), -1, 1)
        eps, narrow = EPS[kept], EPS[operand]
        gap = ((q.shape[-1] + 12) * eps * np.einsum("bmd,bnd->bmn", np.abs(q), np.abs(k)) * q.shape[-1] ** -0.5).max(-1, keepdims=True)
        inexact = 4 * gap + 32 * eps * (1 + np.abs(lse)) + 2 * narrow
        made = by_operands(operand, away(mask, q.shape[1], k.shape[1]), q, k, v, given, lse, (given * o).sum(-1, keepdims=True), np.abs(given * o).sum(-1, keepdims=True), inexact)
        return [bounded.finish(operand, back(value, spec), back(bound, spec), 4.0) for (value, bound), spec in zip(made, (of_q, of_k, of_k))]

    program = Program([*arguments, Raw([(i, 0) for i in range(len(arguments))], write, evaluate)], [(len(arguments), number) for number in range(3)])
    return Case(f"attention backward of shared heads {layout}, {mask}", operand, program)


# Of unknown batches, so that there may be enough tiles for sums of all heads in one kernel, however few there are here.
TOGETHER = (("bhgmd", "bf16", "causal", (1, 1, 2, 256, 200, 64), "b"), ("bmhgd", "f16", "none", (1, 1, 2, 256, 193, 64), "b"),
            ("bhgmd", "bf16", "none", (1, 2, 3, 384, 385, 128), "b"), ("bmhgd", "bf16", "window", (2, 1, 2, 256, 321, 64), "bn"),
            ("hgmd", "f16", "causal", (1, 3, 2, 384, 512, 128), "h"), ("bhgmd", "f16", "window", (1, 1, 4, 384, 400, 128), "bh"),
            ("bhgmd", "bf16", "documents", (1, 2, 2, 512, 512, 64), "b"), ("bmhgd", "f16", "documents", (1, 1, 3, 384, 400, 128), "b"),
            ("bhgdm", "bf16", "causal", (1, 1, 2, 256, 193, 64), "b"), ("bmhgd", "bf16", "causal", (1, 3, 2, 300, 300, 64), "b"),
            # Of no whole blocks of keys: of each head the last one ends early, or is all that there is.
            ("bhgmd", "f16", "causal", (1, 1, 3, 333, 200, 64), "b"), ("bhgmd", "bf16", "none", (1, 2, 3, 65, 130, 128), "b"), ("bmhgd", "f16", "window", (1, 1, 2, 191, 321, 64), "b"),
            ("bhgmd", "bf16", "causal", (1, 1, 4, 17, 17, 128), "b"), ("bhgmd", "bf16", "shifted causal", (1, 1, 2, 31, 190, 16), "b"), ("bmhgd", "bf16", "none", (1, 2, 3, 129, 127, 40), "b"),
            # Fewer scores than elements that they are computed from.
            ("bhgmd", "bf16", "causal", (2, 2, 2, 33, 33, 64), ""), ("bhgmd", "f16", "none", (3, 2, 4, 100, 77, 64), ""), ("bhgmd", "bf16", "causal", (16, 2, 2, 192, 192, 80), ""),
            ("bmhgd", "f16", "window", (22, 1, 3, 64, 64, 128), ""))


# Weights are stored for the gradient by queries: of one sum of all heads, of one of each head, and where rows do not lie side by side they are not.
KEPT = (("bhgmd", "bf16", "none", (2, 8, 3, 128, 392, 128), ""), ("bhgmd", "f16", "none", (3, 8, 2, 192, 388, 128), ""), ("bmhgd", "bf16", "none", (2, 8, 3, 128, 392, 128), ""),
        ("bhgmd", "bf16", "none", (2, 8, 3, 136, 392, 128), ""), ("bhgmd", "f16", "none", (2, 8, 2, 200, 384, 104), ""), ("hgmd", "bf16", "none", (1, 22, 3, 72, 392, 128), ""),
        ("bhgmd", "bf16", "none", (2, 17, 2, 130, 384, 128), ""))


def cases(sizes):
    whole = len(sizes) > 1
    for layout, operand, mask, size, unknown in (*TOGETHER, *KEPT) if whole else (*TOGETHER[:2], KEPT[0]):
        yield backward(layout, operand, mask, size, unknown)
    shapes = ((1, 2, 2, 130, 200, 32), (2, 8, 2, 256, 256, 64), (1, 2, 3, 257, 300, 64), (1, 8, 4, 200, 390, 128), (2, 1, 2, 300, 385, 40))
    for number, (layout, mask, size) in enumerate(itertools.product(LAYOUTS, ("none", "causal", "window"), shapes)):
        if whole or number % 8 == 1:
            if layout == "hgmd":
                size = (1, *size[1:])
            yield backward(layout, ("bf16", "f16")[number % 2], mask, size, number % 4 == 2 and size[3] != 256)
    alone = itertools.product(("keys of all heads", "values of all heads"), ("none", "causal", "lengths"),
                              (((70, 130), (64, 64)), ((2, 300), (64, 64)), ((33, 31), (7, 5)), ((129, 257), (128, 128))))
    for number, (layout, mask, (lengths, depths)) in enumerate(alone):
        if whole or number % 5 == 0:
            yield attention(layout, ("bf16", "f16", "f32")[number % 3], "multiplied", "operation", mask, "plain", lengths, depths, number % 4 == 2, many=lengths[0] == 129)
    for operand in ("f32", "f64"):
        if whole or operand == "f32":
            yield backward("bhgmd", operand, "causal", (1, 2, 2, 70, 290, 16), True)
