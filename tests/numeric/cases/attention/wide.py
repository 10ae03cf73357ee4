# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of few queries whose keys have more than 256 elements, or values more than 256 columns; values that are elements of the
keys, as those of latent attention are: the first ones, or others."""
import itertools

import numpy as np

import bounded
import elements
from cases.attention.forms import INPUTS, LAYOUTS, MASKS, SOFTMAXES, Writer, drawn, reference
from cases.case import Case, Raw, argument, generator
from nodes.program import Program


def attention(layout, operand, softmax, mask, inputs, lengths, depths, first, dynamic, behind=0, heads=2):
    """first: element of a key with which its values begin; None: they are another tensor. dynamic: as in forward.py.
    behind: so many operands begin inside of a vector."""
    size = dict(b=2, h=heads, g=2, m=lengths[0], n=lengths[1], d=depths[0], e=depths[1])
    random = generator("wide attention", layout, operand, softmax, mask, inputs, lengths, depths, first)
    tensors = drawn(random, layout, operand, size, inputs)
    if first is not None:
        tensors = tensors[:2]
    given = [argument(operand, x, [c in dynamic for c in spec] if isinstance(dynamic, str) else dynamic) for x, spec in zip(tensors, LAYOUTS[layout])]
    for tensor in given[:behind]:
        tensor.behind = 1
    if mask == "bias":
        given.append(argument(operand, elements.rounded(operand, random.uniform(-3, 3, (size["m"], size["n"]))), dynamic is True))
    elif mask in ("chosen", "chosen, none", "chosen, large", "causal and chosen"):
        seen = random.integers(0, 3, (size["b"], size["m"], size["n"])) > 0
        if mask == "chosen, none":
            seen[:, ::3] = False
        given.append(argument("i1", seen, dynamic is True))
    elif mask == "lengths":
        given.append(argument("i32", random.integers(0, size["n"] + 1, size["b"]), dynamic is True))

    def operands(arrays):
        """Queries, keys, values, and what the mask reads."""
        q, k, *rest = arrays
        if first is None:
            return [q, k, *rest, None][:4]
        return [q, k, k[..., first:first + size["e"]], *rest, None][:4]

    def write(f, q, k, *rest):
        if first is not None:
            v = f.slice(k, [0] * (len(k) - 1) + [first], [*k.shape[:-1], size["e"]])
            rest = (v, *rest)
        return Writer(f, layout, operand, "multiplied", softmax, mask, size).write(q, k, *rest)

    def evaluate(*values):
        result, bound = reference(layout, operand, "multiplied", softmax, mask, *operands([x.v for x in values]))
        return bounded.finish(operand, result, bound, 2.0)

    def raw(*values):
        arrays = [np.asarray(x, np.float64) for x in values[:2 if first is not None else 3]]
        return reference(layout, operand, "multiplied", softmax, mask, *operands([*arrays, *values[len(arrays):]]))[0]

    program = Program([*given, Raw([(i, 0) for i in range(len(given))], write, evaluate)], [(len(given), 0)])
    values = "values apart" if first is None else "values of the keys" if first == 0 else f"values from {first} on"
    return Case(f"attention of wide {layout}, {values}, {mask}, {softmax}, {inputs}", operand, program, raw=raw)


# Depths of latent attention, and others that tiles and warps' columns are not whole of.
DEPTHS = (((576, 512), 0), ((576, 512), None), ((320, 264), None), ((264, 512), None), ((512, 512), 0), ((640, 136), 0), ((64, 512), None), ((288, 264), 0), ((576, 512), 64),
          ((272, 64), None))
# One of a block's groups of eight queries, two, four; more blocks; groups that lack some.
ROWS = (1, 8, 9, 16, 17, 32, 33, 71)
# A step, a key more and one less, several; more than there are stages.
KEYS = (1, 31, 32, 33, 64, 65, 129, 300)


def cases(sizes):
    whole = len(sizes) > 1
    forms = itertools.product(DEPTHS, ROWS, KEYS)
    for number, ((depths, first), rows, keys) in enumerate(forms):
        if number % 7 == 0 if whole else number % 41 == 0:
            yield attention(("bmd", "one head of keys", "bhmd", "grouped")[number % 4], ("bf16", "f16")[number % 2], SOFTMAXES[number % 7], MASKS[number * 5 % len(MASKS)],
                            INPUTS[number % 6], (rows, keys), depths, first, (False, "n", True)[number % 3], behind=number % 4, heads=1 + number % 3)
    # Many keys, whose blocks leave parts.
    parts = (("bmd", 16, 1100, "none", "dominating key", False), ("one head of keys", 5, 1031, "chosen, none", "plain", False), ("bmd", 33, 700, "lengths", "growing keys", "n"))
    for number, (layout, rows, keys, mask, inputs, dynamic) in enumerate(parts):
        for depths, first in DEPTHS[:3 if whole else 1]:
            yield attention(layout, ("bf16", "f16")[number % 2], "operation", mask, inputs, (rows, keys), depths, first, dynamic)
