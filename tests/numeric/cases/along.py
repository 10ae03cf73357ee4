# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations along a dimension (iree_linalg_ext): scans, along every kind of dimension, and with every kind of region."""
import numpy as np

import elements
from nodes.along import Scan, Scatter, Sort, TopK
from cases.case import SMALL, Case, argument, forms, generator
from elements import FLOATS, INTEGERS, KINDS, is_float
from nodes.program import Program

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
                for n, dynamic in forms(tuple(sizes) + (more if layout != "middle" else ())):
                    shape = shape_of(n) if n not in LONG or layout != "columns" else (n, 3) if kind == "f32" else (n // 8, 3)
                    inclusive = (n + len(layout)) % 2 == 0
                    random = generator("scan", word, kind, layout, n)
                    torch = None
                    if word == "sum" and is_float(kind) and inclusive and n:
                        def torch(torch, x, _, axis=axis):
                            return x.cumsum(axis)
                    yield Case(f"scan {word} of {layout}", kind,
                               scan_program(kind, name, shape, axis, inclusive, dynamic, random), torch)


def scattered(kind, operation, updates, indices, into, dynamic, unique=False, dimensions=(0,)):
    known = [dynamic] * (indices.ndim - 1) + [False if indices.ndim > 1 else dynamic]
    return Program([argument(kind, updates, dynamic), argument("i32", indices, known), argument(kind, into, dynamic),
                    Scatter(((0, 0), (1, 0), (2, 0)), operation, unique, dimensions, indices.ndim > 1)], [(3, 0)])


def scatter_cases(sizes):
    for kind in KINDS:
        sums = {"sum": "arith.addf" if is_float(kind) else "arith.addi", "written over": None,
                "maximum": "arith.maximumf" if is_float(kind) else "arith.maxsi"}
        if kind == "i1":
            sums = {"xor": "arith.xori", "written over": None}
        for n, dynamic in forms(sizes):
            random = generator("scatter", kind, n, dynamic)
            for word, operation in sums.items():
                def data(*shape):
                    return elements.rounded(kind, elements.draw(random, kind, shape))
                few = random.integers(-1, 8, (n, 1))  # outside of the tensor, too
                yield Case(f"scatter {word}, repeated rows", kind, scattered(kind, operation, data(n, 5), few, data(7, 5), dynamic))
                yield Case(f"scatter {word}, elements", kind, scattered(kind, operation, data(n), few[:, 0], data(7), dynamic))
                yield Case(f"scatter {word}, many places", kind,
                           scattered(kind, operation, data(n), random.integers(0, 20011, (n, 1)), data(20011), dynamic))
                if n <= 33:
                    yield Case(f"scatter {word}, windows", kind, scattered(
                        kind, operation, data(n, 2, 2), random.integers(0, 5, (n, 2)), data(6, 5), dynamic, False, (1, 0)))
                    yield Case(f"scatter {word}, slices longer than the tensor", kind,
                               scattered(kind, operation, data(n, 5), few, data(7, 3), dynamic))
                if n == 33 and not dynamic and kind in ("bf16", "f32", "i16"):  # so many that they are sorted; most name a few
                    often = (random.random((8200, 1)) ** 4 * 1003).astype(np.int64) - 1
                    yield Case(f"scatter {word}, many updates", kind, scattered(
                        kind, operation, data(8200, 3), often, data(1001, 3), dynamic))
            places = random.permutation(n + 3)[:n, None]
            yield Case("scatter of unique rows", kind, scattered(kind, None, data(n, 5), places, data(n + 3, 5), dynamic, True))
            yield Case("scatter of unique columns", kind, scattered(kind, None, data(n, 5, 1), places, data(5, n + 3), dynamic, True, (1,))
                       if n else scattered(kind, None, data(n, 5), places, data(3, 5), dynamic, True))


def with_ties(random, kind, shape):
    """Elements of which many are equal, and some are no number."""
    x = random.integers(-40, 40, shape) if kind != "i1" else random.integers(0, 2, shape)
    if not is_float(kind):
        return x
    return np.where(random.random(shape) < 0.02, np.nan, x.astype(np.float64))


def topk_cases(sizes):
    for kind in KINDS:
        low = -1000.0 if is_float(kind) else 0 if kind == "i1" else -(1 << (elements.width(kind) - 1))
        for n, dynamic in forms(tuple(sizes) + (LONG if kind in ("f32", "bf16") else ())):
            if sizes == SMALL and n in LONG and (kind != "f32" or dynamic):
                continue
            for layout, shape_of, axis in LAYOUTS[:2] if n in SMALL and sizes == SMALL else LAYOUTS if n not in LONG else LAYOUTS[3:]:
                for k in ((5, 50) if sizes == SMALL else (1, 5, 50)) + ((2500,) if n > 5000 or (n > 4000 and kind == "f32") else ()):
                    shape = shape_of(n)
                    random = generator("topk", kind, layout, n, k)
                    x = with_ties(random, kind, shape) if k != 5 else elements.draw(random, kind, shape)
                    if k == 50 and n in LONG:  # the best come last: a bound from the first of the line keeps all of them
                        x = -np.sort(-x, axis)
                    ends = [k if i == axis else size for i, size in enumerate(shape)]
                    greatest = kind == "i1" or k != 50
                    fill = low if greatest else -low - (not is_float(kind))
                    given = [argument("i32", random.integers(0, 1000, shape), dynamic)] if k == 5 else []
                    known = [dynamic and i != axis for i in range(len(shape))] if n % 2 else dynamic
                    program = Program([argument(kind, x, dynamic), argument(kind, np.full(ends, fill), known),
                                       argument("i32", np.full(ends, 7), known), *given,
                                       TopK([(i, 0) for i in range(3 + len(given))], axis, greatest)],
                                      [(3 + len(given), 0), (3 + len(given), 1)])
                    yield Case(f"topk of {layout}", kind, program)


def sort_cases(sizes):
    for kind in KINDS:
        more = (20011,) if kind in ("f32", "i64", "bf16") else ()
        for n, dynamic in forms(tuple(sizes) + more):
            for layout, shape_of, axis in LAYOUTS if n not in more else LAYOUTS[3:]:
                shape, random = shape_of(n), generator("sort", kind, layout, n)
                data = [argument(kind, with_ties(random, kind, shape), dynamic),
                        argument("i32", np.broadcast_to(np.arange(n).reshape([-1 if i == axis else 1 for i in range(len(shape))]),
                                                        shape), dynamic)]
                if n % 2:
                    data.append(argument("f16", random.uniform(-4, 4, shape), dynamic))
                count = len(data)
                program = Program([*data, Sort([(i, 0) for i in range(count)], axis, n % 3 == 0)], [(count, i) for i in range(count)])
                yield Case(f"sort of {layout}", kind, program)


def cases(sizes):
    yield from sort_cases(sizes)
    yield from topk_cases(sizes)
    yield from scatter_cases(sizes)
    yield from scan_cases(sizes)
