# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention whose last product adds to numbers that were there, such as what a layer's input was: in front of a division by the sum of
the exponentials, which divides these numbers too, or behind it."""
import itertools

import numpy as np

import bounded
from cases.attention.forms import LAYOUTS, Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from elements import EPS
from nodes.program import Program

LAYOUT = "bmd"


class Started(Writer):
    def plain_product(self, a, b, of_a, of_b, out):
        if out != self.specs[4]:
            return super().plain_product(a, b, of_a, of_b, out)
        f = self.f
        loops = out + "n"

        def body(x, y, total):
            x, y = f.convert(x, a.kind, self.kind), f.convert(y, b.kind, self.kind)
            return f.op("arith.addf", self.kind, total, f.op("arith.mulf", self.kind, x, y))

        return f.generic([(t, [loops.index(c) for c in spec]) for t, spec in ((a, of_a), (b, of_b))], [(self.start, range(len(out)))],
                         "".join("p" if c in out else "r" for c in loops), body)[0]

    def write_from(self, start, *arrays):
        self.start = start
        return self.write(*arrays)


def attention(operand, softmax, lengths, depths, many):
    size = dict(b=8 if many else 2, m=lengths[0], n=lengths[1], d=depths[0], e=depths[1])
    random = generator("attention starts", operand, softmax, lengths, depths, many)
    tensors = drawn(random, LAYOUT, operand, size, "plain")
    kind = "f64" if operand == "f64" else "f32"
    start = random.uniform(-2, 2, [size[c] for c in LAYOUTS[LAYOUT][4]])
    given = [argument(operand, x) for x in tensors] + [argument(kind, start)]

    def write(f, q, k, v, start):
        return Started(f, LAYOUT, operand, "multiplied", softmax, "none", size).write_from(start, q, k, v)

    def evaluate(q, k, v, start):
        result, bound = reference(LAYOUT, operand, "multiplied", softmax, "none", q.v, k.v, v.v, None)
        scores = np.einsum("bmd,bnd->bmn", q.v, k.v) * size["d"] ** -0.5
        total = np.exp(scores - scores.max(-1, keepdims=True)).sum(-1, keepdims=True) if softmax == "behind" else 1.0
        return bounded.finish(operand, result + start.v / total, bound + np.abs(start.v) * EPS[operand], 2.0)

    program = Program([*given, Raw([(i, 0) for i in range(4)], write, evaluate)], [(4, 0)])
    return Case(f"attention that adds to a tensor, {softmax}", operand, program)


def cases(sizes):
    whole = len(sizes) > 1
    forms = itertools.product(("f16", "bf16", "f32", "f64"), ("behind", "steps", "reciprocal"), (((70, 130), (64, 64), False), ((2, 257), (64, 64), False),
                                                                                                 ((129, 64), (128, 128), True), ((33, 31), (7, 5), False)))
    for number, (operand, softmax, (lengths, depths, many)) in enumerate(forms):
        if whole or number % 7 == 0:
            yield attention(operand, softmax, lengths, depths, many)
