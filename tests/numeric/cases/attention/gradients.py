# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What training asks of attention beside its result: the logarithm of each row's sum of exponentials, and the gradients by
queries, keys and values, with weights computed again from it. Programs say all of it by products, maps and reductions."""
import itertools

import numpy as np

import bounded
import elements
from cases.attention.forms import Writer
from cases.case import Case, Raw, argument, generator
from elements import EPS
from nodes.program import Program

LETTERS = {"q": "bmd", "k": "bnd", "v": "bne", "o": "bme"}


def hidden(mask, m, n):
    rows, keys = np.arange(m)[:, None], np.arange(n)[None, :]
    if mask == "none":
        return np.zeros((m, n), bool)
    if mask == "window":
        return (keys > rows) | (keys + 20 <= rows)
    return keys > rows + (3 if mask == "shifted causal" else 0)


class Gradients(Writer):
    """The program: log-sum-exp, result, and the three gradients."""

    def rounded(self, x, spec):
        if self.operand == self.kind:
            return x
        return self.each(spec, lambda e: self.f.op("arith.truncf", self.kind, e, to=self.operand), (x, spec), kind=self.operand)

    def write_all(self, q, k, v, given, by_weights_kept):
        """`by_weights_kept`: backward reads the weights that forward has made, and sums them, as derivatives of softmax do."""
        f, kind, s = self.f, self.kind, "bmn"
        self.size = dict(zip("bmd", q.shape)) | dict(zip("bne", v.shape))
        logits = self.logits(self.product(q, k, "bmd", "bnd", s), None)
        largest = self.reduced(logits, s, "bm", "arith.maximumf", -np.inf)
        powers = self.each(s, lambda x, y: f.op("math.exp", kind, f.op("arith.subf", kind, x, y)), (logits, s), (largest, "bm"))
        total = self.reduced(powers, s, "bm", "arith.addf", 0.0)
        lse = self.each("bm", lambda x, y: f.op("arith.addf", kind, x, f.op("math.log", kind, y)), (largest, "bm"), (total, "bm"))
        weights = self.each(s, lambda x, y: f.op("arith.divf", kind, x, y), (powers, s), (total, "bm"))
        result = self.product(self.rounded(weights, s), v, s, "bne", "bme")

        # Backward, from what forward keeps.
        by_weights = self.product(given, v, "bme", "bne", s)
        if by_weights_kept:
            again = weights
            both = self.each(s, lambda x, y: f.op("arith.mulf", kind, x, y), (weights, s), (by_weights, s))
        else:
            again = self.each(s, lambda x, y: f.op("math.exp", kind, f.op("arith.subf", kind, x, y)), (logits, s), (lse, "bm"))
            both = self.each("bme", lambda x, y: f.op("arith.mulf", kind, x, f.convert(y, given.kind, kind)), (result, "bme"), (given, "bme"))
        of_rows = f.generic([(both, range(3))], [(f.fill(kind, both.shape[:2], 0.0), [0, 1])], "ppr",
                            lambda e, t: f.op("arith.addf", kind, t, e))[0]

        def by_score(p, dp, row):
            return f.op("arith.mulf", kind, p, f.op("arith.mulf", kind, f.op("arith.subf", kind, dp, row), f.constant(kind, self.factor)))

        by_scores = self.rounded(self.each(s, by_score, (again, s), (by_weights, s), (of_rows, "bm")), s)
        return [lse, result, self.product(by_scores, k, s, "bnd", "bmd"), self.product(by_scores, q, s, "bmd", "bnd"),
                self.product(self.rounded(again, s), given, s, "bme", "bne")]


    def write_backward(self, q, k, v, o, given, lse, seen):
        """The three gradients alone, of the program's operands. `seen`: where a mask hides weights, and not logits."""
        f, kind, s = self.f, self.kind, "bmn"
        self.size = dict(zip("bmd", q.shape)) | dict(zip("bne", v.shape))
        logits = self.logits(self.product(q, k, "bmd", "bnd", s), None)

        def weight(x, y):
            made = f.op("math.exp", kind, f.op("arith.subf", kind, x, f.convert(y, lse.kind, kind)))
            return f.select(self.seen(s, seen), kind, made, f.constant(kind, 0.0)) if seen else made

        again = self.each(s, weight, (logits, s), (lse, "bm"))
        rows = f.generic([(o, range(3)), (given, range(3))], [(f.fill(kind, o.shape[:2], 0.0), [0, 1])], "ppr",
                         lambda x, y, t: f.op("arith.addf", kind, t, f.op("arith.mulf", kind, *(f.convert(e, given.kind, kind) for e in (x, y)))))[0]
        by_weights = self.product(given, v, "bme", "bne", s)

        def by_score(p, dp, row):
            return f.op("arith.mulf", kind, f.op("arith.mulf", kind, p, f.op("arith.subf", kind, dp, row)), f.constant(kind, self.factor))

        by_scores = self.rounded(self.each(s, by_score, (again, s), (by_weights, s), (rows, "bm")), s)
        return [self.rounded(made, spec) for made, spec in (
            (self.product(by_scores, k, s, "bnd", "bmd"), "bmd"), (self.product(by_scores, q, s, "bmd", "bnd"), "bnd"),
            (self.product(self.rounded(again, s), given, s, "bme", "bne"), "bne"))]


def by_operands(operand, away, q, k, v, given, lse, rows, of_rows, inexact):
    """Gradients in float64, and how far right ones may be from them. `away`: which keys are hidden. `rows` are subtracted from gradients by weights, `of_rows` is
    their size, `inexact` how far a weight may be off, relatively."""
    factor = q.shape[-1] ** -0.5
    eps, narrow = (EPS["f64"] if operand == "f64" else EPS["f32"]), EPS[operand]
    with np.errstate(over="ignore"):
        weights = np.where(away, 0, np.exp(np.einsum("bmd,bnd->bmn", q, k) * factor - lse))
    by_scores = weights * (np.einsum("bme,bne->bmn", given, v) - rows) * factor
    # Sums of what is subtracted, as they would be without a sign.
    apart = np.einsum("bme,bne->bmn", np.abs(given), np.abs(v)) + of_rows
    doubt = weights * apart * factor * (inexact + (v.shape[-1] + 8) * eps)
    more = (q.shape[1] + k.shape[1] + 16) * eps
    size = np.abs(by_scores) * (narrow + more)
    return [(np.einsum("bmn,bnd->bmd", by_scores, k), np.einsum("bmn,bnd->bmd", doubt + size, np.abs(k))),
            (np.einsum("bmn,bmd->bnd", by_scores, q), np.einsum("bmn,bmd->bnd", doubt + size, np.abs(q))),
            (np.einsum("bmn,bme->bne", weights, given), np.einsum("bmn,bme->bne", weights * (inexact + more), np.abs(given)))]


def reference(operand, mask, q, k, v, given):
    """Each result in float64, and how far a right one may be from it."""
    factor = q.shape[-1] ** -0.5
    away = hidden(mask, q.shape[1], k.shape[1])
    scores = np.where(away, -np.inf, np.einsum("bmd,bnd->bmn", q, k) * factor)
    size = np.einsum("bmd,bnd->bmn", np.abs(q), np.abs(k)) * factor
    eps, narrow = (EPS["f64"] if operand == "f64" else EPS["f32"]), EPS[operand]
    gap = ((q.shape[-1] + 12) * eps * size).max(-1, keepdims=True)
    largest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - largest)
    lse = largest + np.log(powers.sum(-1, keepdims=True))
    weights = np.exp(scores - lse)
    inexact = 4 * gap + (k.shape[1] + 32) * eps * (1 + np.abs(lse)) + 2 * narrow  # of a weight, relatively
    result = np.einsum("bmn,bne->bme", weights, v)
    wide = np.einsum("bmn,bne->bme", weights, np.abs(v))
    rows, of_rows = (given * result).sum(-1, keepdims=True), (np.abs(given) * wide).sum(-1, keepdims=True)
    return [(lse[..., 0], (gap + (k.shape[1] + 16) * eps + 8 * eps * np.abs(lse))[..., 0]),
            (result, np.einsum("bmn,bne->bme", weights * inexact, np.abs(v))),
            *by_operands(operand, away, q, k, v, given, lse, rows, of_rows, inexact)]


def gradients(operand, mask, size, dynamic, by_weights=False):
    random = generator("attention gradients", operand, mask, size)
    shapes = [[dict(zip("bmnde", size))[c] for c in spec] for spec in LETTERS.values()]
    tensors = [elements.rounded(operand, random.uniform(-2, 2, shape)) for shape in shapes]
    given = [argument(operand, x, dynamic) for x in tensors]

    def write(f, *arrays):
        return Gradients(f, "bmd", operand, "multiplied", "steps", mask, dict(zip("bmnde", size))).write_all(*arrays, by_weights)

    def evaluate(*values):
        kind = "f64" if operand == "f64" else "f32"
        return [bounded.finish(kind, value, bound, 4.0) for value, bound in reference(operand, mask, *[x.v for x in values])]

    program = Program([*given, Raw([(i, 0) for i in range(4)], write, evaluate)], [(4, number) for number in range(5)])
    return Case(f"attention gradients, {mask}" + (", by weights" if by_weights else ""), operand, program)


def backward(operand, mask, size, dynamic):
    """Of what forward kept; kernels for the three gradients that store no scores (compiler/dispatch/attention/chain.h, chains/twins.h)."""
    random = generator("attention backward", operand, mask, size)
    shapes = [[dict(zip("bmnde", size))[c] for c in spec] for spec in LETTERS.values()]
    q, k, v, given = (elements.rounded(operand, random.uniform(-2, 2, shape)) for shape in shapes)
    away = mask.split(",")[0]
    scores = np.where(hidden(away, size[1], size[2]), -np.inf, np.einsum("bmd,bnd->bmn", *(np.asarray(x, np.float64) for x in (q, k))) * size[3] ** -0.5)
    largest = scores.max(-1, keepdims=True)
    lse = largest + np.log(np.exp(scores - largest).sum(-1, keepdims=True))
    o = elements.rounded(operand, np.einsum("bmn,bne->bme", np.exp(scores - lse), np.asarray(v, np.float64)))
    kept = "f64" if operand == "f64" else "f32"
    arguments = [argument(operand, x, dynamic) for x in (q, k, v, o, given)] + [argument(kept, elements.rounded(kept, lse[..., 0]), dynamic)]

    def write(f, *arrays):
        how = "none" if mask.endswith("weights") else away
        return Gradients(f, "bmd", operand, "multiplied", "steps", how, dict(zip("bmnde", size))).write_backward(
            *arrays, away if mask.endswith("weights") else "")

    def evaluate(*values):
        q, k, v, o, given, lse = (x.v for x in values)
        eps, narrow = EPS[kept], EPS[operand]
        gap = ((q.shape[-1] + 12) * eps * np.einsum("bmd,bnd->bmn", np.abs(q), np.abs(k)) * q.shape[-1] ** -0.5).max(-1, keepdims=True)
        inexact = 4 * gap + 32 * eps * (1 + np.abs(lse[..., None])) + 2 * narrow
        made = by_operands(operand, hidden(away, q.shape[1], k.shape[1]), q, k, v, given, lse[..., None], (given * o).sum(-1, keepdims=True),
                           np.abs(given * o).sum(-1, keepdims=True), inexact)
        return [bounded.finish(operand, value, bound, 4.0) for value, bound in made]

    program = Program([*arguments, Raw([(i, 0) for i in range(6)], write, evaluate)], [(6, number) for number in range(3)])
    return Case(f"attention backward{', short' * (size[2] < 256 and size[1] < 256)}, {mask}", operand, program)


def cases(sizes):
    whole = len(sizes) > 1
    # Tiles for warpgroups (enough of them) and for warps, ragged ones and whole ones.
    alone = ((64, 90, 200, 64, 64), (1, 400, 419, 64, 64), (2, 256, 385, 32, 48), (32, 256, 256, 64, 64), (22, 390, 400, 128, 128), (23, 385, 386, 64, 128),
             (64, 390, 65, 128, 128),
             (22, 392, 390, 128, 128), (16, 400, 501, 128, 128),  # weights that twins store for the gradient by queries
             # Depths that fill no tiles of 64.
             (22, 390, 400, 96, 96), (64, 130, 200, 32, 32), (23, 385, 386, 40, 40), (22, 392, 400, 72, 72), (24, 256, 300, 104, 104), (64, 200, 390, 24, 24),
             (22, 264, 392, 120, 120), (22, 300, 300, 96, 64), (22, 300, 300, 64, 32),
             # Tiles of at least eight blocks of keys, more than run at once, for which blocks stay.
             (34, 449, 451, 72, 72), (17, 897, 1001, 64, 64),
             # Depths that are a quarter of a tile.
             (33, 257, 200, 16, 16), (66, 129, 130, 16, 16),
             # Of two or three blocks of keys, for which blocks stay, too.
             (67, 150, 257, 64, 64), (67, 257, 129, 128, 128))
    # Fewer scores than elements that they are computed from.
    short = ((40, 77, 77, 64, 64), (5, 17, 31, 128, 128), (3, 16, 16, 32, 32), (36, 131, 130, 96, 96), (64, 64, 64, 128, 128), (9, 200, 33, 40, 40), (2, 15, 64, 64, 64))
    masks = ("none", "causal", "causal, weights", "shifted causal", "window, weights")
    for number, (size, operand, mask) in enumerate(itertools.product(alone, ("bf16", "f16"), masks)):
        if whole or number in (1, 9, 12, 23, 63, 70, 85, 90, 106, 112, 128, 134, 140, 156, 160, 171, 180, 200, 211, 220, 235):
            yield backward(operand, mask, size, number % 3 == 2 and size[0] < 8)
    for number, (size, operand, mask) in enumerate(itertools.product(short, ("bf16", "f16"), masks)):
        if whole or number in (0, 8, 11, 17, 24, 31, 43, 52, 63):
            yield backward(operand, mask, size, number % 3 == 2 and size[0] < 8)
    for operand in ("f32", "f64"):
        if whole or operand == "f64":
            yield backward(operand, "causal", (1, 70, 290, 16, 24), True)
    shapes = ((2, 33, 33, 32, 32), (3, 64, 64, 64, 64), (2, 70, 130, 40, 24), (1, 1, 1, 8, 8), (2, 129, 257, 64, 128))
    for number, (operand, mask, size) in enumerate(itertools.product(("f32", "bf16", "f16", "f64"), ("none", "causal"), shapes)):
        if whole or number % 7 == 0:
            yield gradients(operand, mask, size, number % 3 == 2)
    # A kernel for the result and the logarithms, and one for each gradient, none of which stores a score.
    together = ((2, 200, 270, 32, 48), (32, 256, 256, 64, 64), (1, 400, 419, 128, 128))
    for number, (operand, mask, size) in enumerate(itertools.product(("bf16", "f16"), ("none", "causal"), together)):
        for by_weights in (False, True):
            if whole or (number, by_weights) in ((1, True), (3, False)):
                yield gradients(operand, mask, size, number % 3 == 0, by_weights)
