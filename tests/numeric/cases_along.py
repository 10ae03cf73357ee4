# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations along a dimension (iree_linalg_ext): scans, along every kind of dimension, and with every kind of region."""
import numpy as np

import elements
from along_nodes import Scan
from cases import SMALL, Case, argument, forms, generator
from elements import FLOATS, INTEGERS, KINDS, is_float
from program import Program

# (shape by size, axis)
LAYOUTS = (("rows", lambda n: (5, n), 1), ("columns", lambda n: (n, 37), 0), ("middle", lambda n: (3, n, 5), 1),
           ("one line", lambda n: (n,), 0))
# What cuts lines in parts.
LONG = (70001,)
COMBINE = {"sum": ("arith.addf", "arith.addi"), "product": ("arith.mulf", "arith.muli"), "maximum": ("arith.maximumf", "arith.maxsi"),
           "xor": (None, "arith.xori"), "difference": (None, "arith.subi")}


def scan_program(kind, name, shape, axis, inclusive, dynamic, random):
    x = elements.draw(random, kind, shape)
    rest = [n for i, n in enumerate(shape) if i != axis]
    start = elements.draw(random, kind, rest)
    if name == "arith.mulf":
        x, start = random.uniform(0.999, 1.001, shape), random.uniform(0.5, 1, rest)
    return Program([argument(kind, x, dynamic), argument(kind, start, dynamic), Scan(((0, 0), (1, 0)), axis, name, inclusive)],
                   [(2, 0), (2, 1)])


def scan_cases(sizes):
    for word, (of_floats, of_integers) in COMBINE.items():
        for kind in FLOATS + INTEGERS + ("i1",):
            name = of_floats if is_float(kind) else of_integers
            if name is None or (kind == "i1" and word != "xor"):
                continue
            for layout, shape_of, axis in LAYOUTS:
                more = LONG if kind in ("f32", "i8", "bf16") and (sizes != SMALL or (word, kind) == ("sum", "f32")) else ()
                for n, dynamic in forms(tuple(sizes) + (more if layout in ("one line", "columns") else ())):
                    shape = shape_of(n) if n not in LONG or layout != "columns" else (n // 8, 3)
                    inclusive = (n + len(layout)) % 2 == 0
                    random = generator("scan", word, kind, layout, n)
                    torch = None
                    if word == "sum" and is_float(kind) and inclusive and n:
                        def torch(torch, x, _, axis=axis):
                            return x.cumsum(axis)
                    yield Case(f"scan {word} of {layout}", kind,
                               scan_program(kind, name, shape, axis, inclusive, dynamic, random), torch)


def cases(sizes):
    yield from scan_cases(sizes)
