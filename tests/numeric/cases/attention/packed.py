# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention whose queries, keys and values are slices of one tensor, as products of all three leave them: side by side in each row,
or one behind the other. Slices that are whole parts of the tensor, that begin at a head, and inside of one."""
import itertools

import numpy as np

import bounded
from cases.attention.forms import INPUTS, LAYOUTS, Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from nodes.program import Program

# The layout of the parts; how many heads of queries share one of keys.
FORMS = {"in rows": ("bmhd", 1), "in rows, grouped": ("packed grouped", 2), "in rows, uneven": ("packed grouped", 3), "behind each other": ("middle", 1),
         "in rows, inside of heads": ("bmhd", 1)}


def parts_of(form, size):
    """Elements of a row that queries, keys and values have, and those in front of them."""
    each = size["h"] * size["d"]
    return [each * size["g"], each, each], 8 if "inside" in form else 0


def pack(form, size, tensors):
    if form == "behind each other":
        return np.stack([t.reshape(*t.shape[:2], -1) for t in tensors])
    _, front = parts_of(form, size)
    rows = [t.reshape(*t.shape[:2], -1) for t in tensors]
    return np.concatenate([np.zeros((*rows[0].shape[:2], front), rows[0].dtype), *rows, np.zeros((*rows[0].shape[:2], front), rows[0].dtype)], axis=-1)


def unpack(form, size, x):
    spec = LAYOUTS[FORMS[form][0]]
    shapes = [[dict(size, n=size["m"], e=size["d"])[c] for c in each] for each in spec[:3]]
    if form == "behind each other":
        return [x[i].reshape(shape) for i, shape in enumerate(shapes)]
    sizes, front = parts_of(form, size)
    ends = front + np.cumsum([0, *sizes])
    return [x[..., first:end].reshape(shape) for first, end, shape in zip(ends, ends[1:], shapes)]


def packed(form, operand, mask, inputs, size, number):
    layout, group = FORMS[form]
    size = dict(size, g=group, n=size["m"], e=size["d"])
    tensors = drawn(generator("packed", form, operand, mask, inputs, number), layout, operand, size, inputs)
    given = argument(operand, pack(form, size, tensors), False)

    def write(f, x):
        writer = Writer(f, layout, operand, "multiplied", "operation", mask, size)
        made = []
        sizes, first = parts_of(form, size)
        for part, (spec, elements) in enumerate(zip(LAYOUTS[layout][:3], sizes)):
            shape = [size[c] for c in spec]
            if form == "behind each other":
                row = size["h"] * size["d"]
                sliced = f.slice(x, [part, 0, 0, 0], [1, size["m"], size["b"], row])
                flat = writer.reshaped(sliced, "collapse_shape", [size["m"], size["b"] * row], [[0, 1], [2, 3]])
                made.append(writer.reshaped(flat, "expand_shape", shape, [[0], [1, 2, 3]]))
                continue
            sliced = f.slice(x, [0, 0, first], [size["b"], size["m"], elements])
            first += elements
            groups = [[0], [1], list(range(2, len(shape)))]
            made.append(writer.reshaped(sliced, "expand_shape", shape, groups))
        return writer.write(*made)

    def evaluate(x):
        result, bound = reference(layout, operand, "multiplied", "operation", mask, *unpack(form, size, x.v), None)
        return bounded.finish(operand, result, bound, 2.0)

    def raw(x):
        return reference(layout, operand, "multiplied", "operation", mask, *unpack(form, size, np.asarray(x, np.float64)), None)[0]

    program = Program([given, Raw([(0, 0)], write, evaluate)], [(1, 0)])
    return Case(f"attention packed {form}, {mask}, {inputs}", operand, program, raw=raw)


def cases(sizes):
    whole = len(sizes) > 1
    shapes = (dict(b=2, m=70, h=3, d=64), dict(b=8, m=130, h=8, d=80), dict(b=4, m=129, h=16, d=64), dict(b=3, m=40, h=2, d=40), dict(b=2, m=9, h=2, d=128))
    for number, (form, mask, size) in enumerate(itertools.product(FORMS, ("none", "causal", "causal, added", "window"), shapes)):
        if whole or number % 9 in (0, 1):
            yield packed(form, ("f16", "bf16")[number % 2], mask, INPUTS[number % 6], size, number)
