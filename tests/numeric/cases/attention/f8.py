# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention whose queries, keys and values are f8, which cross the boundary as bytes; weights are rounded to f16 or bf16, or not at all."""
import itertools

import numpy as np

import bounded
from cases.attention.forms import Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from cases.products.f8 import any_numbers, decoded
from nodes.program import Program

KINDS = ("f8E4M3FN", "f8E5M2")


class F8(Writer):
    """`operand`: what weights are rounded to; f32: they are not."""

    def wide(self, x, kind):
        if kind != "i8":
            return self.f.convert(x, kind, self.kind)
        narrow = self.f.fresh()
        self.f.line(f"{narrow} = arith.bitcast {x} : i8 to {self.stored}")
        return self.f.op("arith.extf", self.stored, narrow, to=self.kind)

    def plain_product(self, a, b, of_a, of_b, out):
        f = self.f
        loops = out + "".join(sorted(set(of_a + of_b) - set(out)))

        def body(x, y, total):
            return f.op("arith.addf", self.kind, total, f.op("arith.mulf", self.kind, self.wide(x, a.kind), self.wide(y, b.kind)))

        return f.generic([(t, [loops.index(c) for c in spec]) for t, spec in ((a, of_a), (b, of_b))],
                         [(f.fill(self.kind, self.shape(out), 0.0), range(len(out)))], "".join("p" if c in out else "r" for c in loops), body)[0]


def attention(layout, stored, weights, mask, softmax, lengths, depths, dynamic, many=False):
    size = dict(b=8 if many else 2, h=8 if many else 3, g=2, m=lengths[0], n=lengths[1], d=depths[0], e=depths[1])
    random = generator("attention of f8", layout, stored, weights, mask, softmax, lengths, depths, many)
    shapes = [x.shape for x in drawn(random, layout, "f32", size, "plain")]
    tensors = [any_numbers(random, stored, shape) for shape in shapes]
    given = [argument("i8", np.where(codes > 127, codes - 256, codes), dynamic) for codes in tensors]

    def write(f, *arrays):
        writer = F8(f, layout, weights, "multiplied", softmax, mask, size)
        writer.stored = stored
        return writer.write(*arrays)

    def evaluate(q, k, v):
        result, bound = reference(layout, "f16" if weights == "f32" else weights, "multiplied", softmax, mask, *(decoded(stored, x.v) for x in (q, k, v)), None)
        return bounded.finish(weights, result, bound, 2.0)

    program = Program([*given, Raw([(i, 0) for i in range(3)], write, evaluate)], [(3, 0)])
    return Case(f"attention of f8 {layout}, {mask}, {softmax}", f"{stored} {weights}", program)


def cases(sizes):
    whole = len(sizes) > 1
    forms = itertools.product(("bhmd", "grouped", "bmhd"), ("none", "causal", "window"), ("operation", "behind"), ((70, 130), (33, 31), (1, 300)), ((64, 64), (128, 128), (32, 64)))
    for number, (layout, mask, softmax, lengths, depths) in enumerate(forms):
        if number % (3 if whole else 17) == 0:
            yield attention(layout, KINDS[number % 2], ("f32", "f16", "bf16")[number // 2 % 3], mask, softmax, lengths, depths, number % 5 == 1)
    # Of so many rows, factors are widened before.
    for number, (layout, lengths, depths) in enumerate((("bhmd", (513, 40), (64, 64)), ("grouped", (300, 70), (128, 128)), ("bmhd", (512, 130), (32, 64)))):
        if whole or number == 0:
            yield attention(layout, KINDS[number % 2], ("bf16", "f32", "f16")[number], ("causal", "none", "window")[number], "operation", lengths, depths, False)
    for number, (mask, lengths, depths) in enumerate(itertools.product(("none", "causal"), ((129, 257), (64, 128)), ((64, 64), (128, 128)))):
        if whole or number in (0, 7):
            yield attention("bhmd", KINDS[number % 2], ("f32", "bf16")[number % 2], mask, "operation", lengths, depths, False, many=True)
