# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention whose masks compare indices in types that do not hold all of them, or differences as numbers without a sign: which keys a
tile sees does not follow from where they lie."""
import itertools

import numpy as np

import bounded
import elements
from cases.attention.forms import LAYOUTS, Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from nodes.program import Program

LAYOUT = "bmd"
WINDOW = 40
# i8, i16: both as such a number. behind, before: the difference of key and row, or of row and key, which is less than a window, as
# one of 64 bits that has no sign. limits: the key's index as an i8, which a row compares with an i8 of its own.
MASKS = ("i8", "i16", "behind", "before", "limits")


class Indices(Writer):
    def logits(self, scores, limits):
        f, kind, spec, mask = self.f, self.kind, self.specs[3], self.how[2]

        def seen(predicate, x, y, of):
            result = f.fresh()
            f.line(f"{result} = arith.cmpi {predicate}, {x}, {y} : {of}")
            return result

        def narrow(letter, to):
            return f.op("arith.trunci", "i32", f.loop_index(spec.index(letter), "i32"), to=to)

        def body(x, limit=None):
            by = f.op("arith.mulf", kind, x, f.constant(kind, self.factor))
            if mask in ("i8", "i16"):
                condition = seen("sle", narrow("n", mask), narrow("m", mask), mask)
            elif mask == "limits":
                condition = seen("slt", f.loop_index(spec.index("n"), "i8"), limit, "i8")
            else:
                row, key = (f.loop_index(spec.index(letter), "i32") for letter in "mn")
                pair = (key, row) if mask == "behind" else (row, key)
                condition = seen("slt", f.op("arith.extui", "i32", f.op("arith.subi", "i32", *pair), to="i64"), f.constant("i64", WINDOW), "i64")
            return f.select(condition, kind, by, f.constant(kind, -np.inf))

        tensors = [(scores, spec)] + ([(limits, "bm")] if mask == "limits" else [])
        return self.each(spec, body, *tensors)


def hidden(mask, m, n, limits):
    rows, keys = np.arange(m)[None, :, None], np.arange(n)[None, None, :]
    if mask in ("i8", "i16"):
        return elements.wrap(mask, keys) > elements.wrap(mask, rows)
    if mask == "limits":
        return elements.wrap("i8", keys) >= limits[:, :, None]
    return ~((keys >= rows) & (keys < rows + WINDOW) if mask == "behind" else (keys <= rows) & (rows < keys + WINDOW))


def attention(operand, mask, lengths, depth, dynamic):
    size = dict(b=1, m=lengths[0], n=lengths[1], d=depth, e=depth)
    random = generator("attention indices", operand, mask, lengths, depth)
    tensors = drawn(random, LAYOUT, operand, size, "plain")
    given = [argument(operand, x, [c in dynamic for c in spec]) for x, spec in zip(tensors, LAYOUTS[LAYOUT])]
    if mask == "limits":
        given.append(argument("i8", random.integers(-120, 128, (size["b"], size["m"]))))

    def write(f, *arrays):
        return Indices(f, LAYOUT, operand, "multiplied", "operation", mask, size).write(*arrays)

    def evaluate(q, k, v, limits=None):
        seen = np.broadcast_to(~hidden(mask, size["m"], size["n"], None if limits is None else limits.v), (size["b"], size["m"], size["n"]))
        result, bound = reference(LAYOUT, operand, "multiplied", "operation", "chosen", q.v, k.v, v.v, seen)
        return bounded.finish(operand, result, bound, 2.0)

    program = Program([*given, Raw([(i, 0) for i in range(len(given))], write, evaluate)], [(len(given), 0)])
    return Case(f"attention, indices compared as {mask}", operand, program)


def cases(sizes):
    whole = len(sizes) > 1
    forms = itertools.product(("f16", "f32", "bf16"), MASKS, ((130, 290), (3, 290)), ("", "n"))
    for number, (operand, mask, lengths, dynamic) in enumerate(forms):
        if whole or number % 7 == 0:
            yield attention(operand, mask, lengths, 16 if operand == "f32" else 64, dynamic)
