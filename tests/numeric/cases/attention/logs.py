# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention together with the logarithm of each row's sum of exponentials, which gradients are computed from: in base e and 2, in
the forms that softmax has, and for queries that see no key, where the program says what it is."""
import itertools
import math

import numpy as np

import bounded
from cases.attention.forms import BATCHED, GUARDED, INPUTS, LAYOUTS, Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from elements import EPS
from nodes.program import Program

SOFTMAXES = ("steps", "reciprocal", "behind", "kept dimensions", "powers of two", "scaled powers of two", "guarded", "guarded behind")


class WithLogarithms(Writer):
    """`early`: they stand in front of the last product."""

    def logarithms(self):
        f, kind, (largest, total, kept) = self.f, self.kind, self.of_rows
        softmax = self.how[1]

        def sum_of(x, y):
            if softmax in ("powers of two", "scaled powers of two"):
                return f.op("arith.addf", kind, f.op("arith.mulf", kind, x, f.constant(kind, math.log2(math.e))), f.op("math.log2", kind, y))
            if softmax == "guarded behind":
                x, y = self.guarded(x, -np.inf, 0.0), self.guarded(y, 0.0, 1.0)
            return f.op("arith.addf", kind, x, f.op("math.log", kind, y))

        spec = kept.replace("1", "")
        start = f.empty(kind, self.shape(spec))
        inputs = [(t, ["0" if c == "1" else spec.index(c) for c in kept]) for t in (largest, total)]
        return f.generic(inputs, [(start, range(len(spec)))], "p" * len(spec), lambda *x: sum_of(*x[:-1]))[0]

    def weights(self, logits):
        made = super().weights(logits)
        if self.early:
            self.logs = self.logarithms()
        return made

    def write_both(self, early, *arrays):
        self.early = early
        result = self.write(*arrays)
        return [result, self.logs if early else self.logarithms()]


def logarithms(layout, scale, softmax, hidden, q, k):
    """Of each row in float64, in the order of the scores without keys, and how far right ones may be from them."""
    of_q, of_k, _, of_scores, _ = LAYOUTS[layout]
    factor = q.shape[of_q.index("d")] ** -0.5 if scale != "none" else 1.0
    rows = of_scores.replace("n", "")
    scores = np.einsum(f"{of_q},{of_k}->{rows}n", q, k) * factor
    size = np.einsum(f"{of_q},{of_k}->{rows}n", np.abs(q), np.abs(k)) * factor
    if hidden is not None:
        shape = dict(zip("bmn", hidden.shape))
        scores = np.where(hidden.transpose(["bmn".index(c) for c in rows + "n" if c in "bmn"]).reshape(
            [shape.get(c, 1) for c in rows + "n"]), -np.inf, scores)
    with np.errstate(all="ignore"):
        largest = scores.max(-1, initial=-np.inf)
        logs = np.where(largest == -np.inf, -np.inf if softmax in GUARDED else np.nan,
                        largest + np.log(np.exp(scores - np.where(largest == -np.inf, 0, largest)[..., None]).sum(-1)))
    if softmax == "guarded behind":
        logs = np.where(largest == -np.inf, 0.0, logs)
    return logs, size.max(-1, initial=0)


def case(layout, operand, scale, softmax, mask, inputs, lengths, depths, dynamic, tiles="", early=False):
    dynamic = dynamic and "flat" not in layout
    size = dict(b=8 if tiles == "many" else 2, h=8 if tiles == "many" else 3, g=2, m=lengths[0], n=lengths[1], d=depths[0], e=depths[1])
    random = generator("attention logarithms", layout, operand, scale, softmax, mask, inputs, lengths, depths, tiles)
    given = [argument(operand, x, dynamic) for x in drawn(random, layout, operand, size, inputs)]
    if mask == "chosen, none":
        seen = random.integers(0, 3, (size["b"], size["m"], size["n"])) > 0
        seen[:, ::3] = False
        given.append(argument("i1", seen, dynamic))

    def write(f, *arrays):
        return WithLogarithms(f, layout, operand, scale, softmax, mask, size).write_both(early, *arrays)

    def evaluate(q, k, v, extra=None):
        result, bound = reference(layout, operand, scale, softmax, mask, q.v, k.v, v.v, None if extra is None else extra.v)
        m, n = np.arange(size["m"])[:, None], np.arange(size["n"])[None, :]
        hidden = (n > m)[None] if mask == "causal" else ~np.asarray(extra.v, bool) if extra is not None else None
        logs, scores = logarithms(layout, scale, softmax, hidden, q.v, k.v)
        kind = "f64" if operand == "f64" else "f32"
        eps = EPS[kind]
        with np.errstate(all="ignore"):
            near = (size["d"] + 16) * eps * scores + (EPS[operand] * scores if scale == "queries before" else 0) + \
                (size["n"] + 32) * eps + 8 * eps * np.abs(np.where(np.isfinite(logs), logs, 0))
        if "powers" in softmax:
            logs, near = logs * math.log2(math.e), near * 2
        return [bounded.finish(operand, result, bound, 2.0), bounded.finish(kind, logs, near, 2.0)]

    program = Program([*given, Raw([(i, 0) for i in range(len(given))], write, evaluate)], [(len(given), 0), (len(given), 1)])
    named = f"of {tiles} " if tiles else ""
    return Case(f"attention with logarithms {named}{layout}, {mask}, {softmax}, {inputs}", operand, program)


def cases(sizes):
    whole = len(sizes) > 1
    kinds = ("bf16", "f16", "f32", "f64")
    masks = ("none", "causal", "chosen, none")
    forms = itertools.product(BATCHED, SOFTMAXES, masks, (((70, 130), (32, 32)), ((33, 31), (7, 5)), ((64, 64), (64, 64)), ((40, 70), (192, 128))))
    for number, (layout, softmax, mask, (lengths, depths)) in enumerate(forms):
        if number % (7 if whole else 97) == 0:
            yield case(layout, kinds[number % 4 if number % 3 == 0 else number % 2], ("multiplied", "none", "queries before")[number % 3], softmax, mask,
                       INPUTS[number % 6], lengths, depths, number % 5 == 3, early=number % 2 == 1)
    # Large tiles, and few queries.
    tiles = itertools.product((("many", (129, 257)), ("many", (64, 40)), ("few", (2, 300)), ("few", (1, 31))), SOFTMAXES, masks, ((64, 64), (128, 128)))
    for number, ((name, lengths), softmax, mask, depths) in enumerate(tiles):
        if number % (5 if whole else 41) == 0:
            yield case(("bhmd", "grouped", "bmhd")[number % 3], kinds[number % 2], "multiplied", softmax, mask, INPUTS[number % 6], lengths, depths,
                       number % 5 == 3, tiles=name, early=number % 3 == 1)
    # Few tiles of many keys, which blocks have parts of.
    parted = itertools.product(((70, 1100), (129, 2049)), ("steps", "guarded"), masks)
    for number, (lengths, softmax, mask) in enumerate(parted):
        if whole or number % 5 == 1:
            yield case(("grouped", "bhmd", "bmhd")[number % 3], kinds[number % 2], "multiplied", softmax, mask, INPUTS[number % 6], lengths, (64, 64), number % 5 == 3,
                       tiles="parted", early=number % 2 == 1)
