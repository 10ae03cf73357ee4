# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What training asks of attention beside its result: the logarithm of each row's sum of exponentials, and the gradients by
queries, keys and values, with weights computed again from it. Programs say all of it by products, maps and reductions."""
import itertools

import numpy as np

import bounded
import elements
from cases import Case, Raw, argument, generator
from cases_attention import Writer
from elements import EPS
from program import Program

LETTERS = {"q": "bmd", "k": "bnd", "v": "bne", "o": "bme"}


def hidden(mask, m, n):
    return np.arange(n)[None, :] > np.arange(m)[:, None] if mask == "causal" else np.zeros((m, n), bool)


class Gradients(Writer):
    """The program: log-sum-exp, result, and the three gradients."""

    def rounded(self, x, spec):
        if self.operand == self.kind:
            return x
        return self.each(spec, lambda e: self.f.op("arith.truncf", self.kind, e, to=self.operand), (x, spec), kind=self.operand)

    def write_all(self, q, k, v, given):
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
        again = self.each(s, lambda x, y: f.op("math.exp", kind, f.op("arith.subf", kind, x, y)), (logits, s), (lse, "bm"))
        both = self.each("bme", lambda x, y: f.op("arith.mulf", kind, x, f.convert(y, given.kind, kind)), (result, "bme"), (given, "bme"))
        of_rows = f.generic([(both, range(3))], [(f.fill(kind, both.shape[:2], 0.0), [0, 1])], "ppr",
                            lambda e, t: f.op("arith.addf", kind, t, e))[0]
        by_weights = self.product(given, v, "bme", "bne", s)

        def by_score(p, dp, row):
            return f.op("arith.mulf", kind, p, f.op("arith.mulf", kind, f.op("arith.subf", kind, dp, row), f.constant(kind, self.factor)))

        by_scores = self.rounded(self.each(s, by_score, (again, s), (by_weights, s), (of_rows, "bm")), s)
        return [lse, result, self.product(by_scores, k, s, "bnd", "bmd"), self.product(by_scores, q, s, "bmd", "bnd"),
                self.product(self.rounded(again, s), given, s, "bme", "bne")]


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
    by_weights = np.einsum("bme,bne->bmn", given, v)
    rows = (given * result).sum(-1, keepdims=True)
    by_scores = weights * (by_weights - rows) * factor
    # Sums of what is subtracted, as they would be without a sign.
    apart = np.einsum("bme,bne->bmn", np.abs(given), np.abs(v)) + (np.abs(given) * wide).sum(-1, keepdims=True)
    doubt = weights * apart * factor * (inexact + (v.shape[-1] + 8) * eps)
    more = (q.shape[1] + k.shape[1] + 16) * eps
    size = np.abs(by_scores) * (narrow + more)
    return [(lse[..., 0], (gap + (k.shape[1] + 16) * eps + 8 * eps * np.abs(lse))[..., 0]),
            (result, np.einsum("bmn,bne->bme", weights * inexact, np.abs(v))),
            (np.einsum("bmn,bnd->bmd", by_scores, k), np.einsum("bmn,bnd->bmd", doubt + size, np.abs(k))),
            (np.einsum("bmn,bmd->bnd", by_scores, q), np.einsum("bmn,bmd->bnd", doubt + size, np.abs(q))),
            (np.einsum("bmn,bme->bne", weights, given), np.einsum("bmn,bme->bne", weights * (inexact + more), np.abs(given)))]


def gradients(operand, mask, size, dynamic):
    random = generator("attention gradients", operand, mask, size)
    shapes = [[dict(zip("bmnde", size))[c] for c in spec] for spec in LETTERS.values()]
    tensors = [elements.rounded(operand, random.uniform(-2, 2, shape)) for shape in shapes]
    given = [argument(operand, x, dynamic) for x in tensors]

    def write(f, *arrays):
        return Gradients(f, "bmd", operand, "multiplied", "steps", mask, dict(zip("bmnde", size))).write_all(*arrays)

    def evaluate(*values):
        kind = "f64" if operand == "f64" else "f32"
        return [bounded.finish(kind, value, bound, 4.0) for value, bound in reference(operand, mask, *[x.v for x in values])]

    program = Program([*given, Raw([(i, 0) for i in range(4)], write, evaluate)], [(4, number) for number in range(5)])
    return Case(f"attention gradients, {mask}", operand, program)


def cases(sizes):
    whole = len(sizes) > 1
    shapes = ((2, 33, 33, 32, 32), (3, 64, 64, 64, 64), (2, 70, 130, 40, 24), (1, 1, 1, 8, 8), (2, 129, 257, 64, 128))
    for number, (operand, mask, size) in enumerate(itertools.product(("f32", "bf16", "f16", "f64"), ("none", "causal"), shapes)):
        if whole or number % 7 == 0:
            yield gradients(operand, mask, size, number % 3 == 2)
