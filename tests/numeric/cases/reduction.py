# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions alone: sums, products, extremes, bits, places of the largest; several at once; onto a tensor."""
import numpy as np

import elements
from cases.case import Case, argument, forms, generator
from elements import FLOATS, INTEGERS, is_float
from nodes.movement import Slice, Transpose
from nodes.node import ArgMax, Elementwise, Reduce, Step
from nodes.program import Program

COMBINE = {"sum": ("arith.addf", "arith.addi"), "product": ("arith.mulf", "arith.muli"), "maximum": ("arith.maximumf", "arith.maxsi"),
           "minimum": ("arith.minimumf", "arith.minsi"), "and": (None, "arith.andi"), "or": (None, "arith.ori"),
           "xor": (None, "arith.xori")}
# (shape by size, axes): rows, columns, the middle of few and of more results beside each other, all.
LAYOUTS = (("rows", lambda n: (5, n), [1]), ("columns", lambda n: (n, 37), [0]), ("middle", lambda n: (3, n, 5), [1]),
           ("middle of rows", lambda n: (2, n, 40), [1]), ("outer and inner", lambda n: (3, n, 5), [0, 2]), ("all", lambda n: (n,), [0]))


def whole_axes(torch, x, axes, name):
    wide = x if x.dtype == torch.float64 else x.float()  # the program widens as well
    return {"sum": lambda: wide.sum(axes), "maximum": lambda: wide.amax(axes), "minimum": lambda: wide.amin(axes)}[name]()


def reduction_cases(sizes):
    for name, (of_floats, of_integers) in COMBINE.items():
        for kind in FLOATS + INTEGERS + ("i1",):
            operation = of_floats if is_float(kind) else of_integers
            if operation is None or (kind == "i1" and name not in ("and", "or", "xor")):
                continue
            for layout, shape_of, axes in LAYOUTS:
                for n, dynamic in forms(sizes):
                    shape, random = shape_of(n), generator(name, kind, layout, n)
                    x = elements.draw(random, kind, shape)
                    if name == "product" and is_float(kind):
                        x = random.uniform(0.97, 1.03, shape)
                    torch = None
                    if name in ("sum", "maximum", "minimum") and is_float(kind) and n:
                        def torch(torch, t, axes=tuple(axes), name=name):
                            return whole_axes(torch, t, axes, name)
                    program = Program([argument(kind, x, dynamic), Reduce(((0, 0),), axes, [operation], wide=True)], [(1, 0)])
                    yield Case(f"{name} of {layout}", kind, program, torch)


def signed_extreme_cases(sizes):
    """The largest |x|, and the largest and smallest of x, -x and what was: what ptxas takes three at a time (ptxas_errors.h)."""
    for kind in ("i16", "i32", "i64"):
        negated = [Step("const", kind, extra=0), Step("arith.subi", kind, (1, 0))]
        either = negated + [Step("arith.maxsi", kind, (0, 2))]
        for layout, shape_of, axes in (LAYOUTS[0], LAYOUTS[1], LAYOUTS[5]):
            for n, dynamic in forms(sizes):
                shape = shape_of(n)
                x = argument(kind, elements.draw(generator("magnitude", kind, layout, n), kind, shape), dynamic)
                for name, steps, operation in (("magnitude", [Step("math.absi", kind, (0,))], "arith.maxsi"),
                                               ("either sign", either, "arith.maxsi"), ("other sign", negated, "arith.minsi")):
                    changed = Elementwise(((0, 0),), [list(range(len(shape)))], shape, steps, [len(steps)])
                    program = Program([x, changed, Reduce(((1, 0),), axes, [operation], wide=True)], [(2, 0)])
                    yield Case(f"{operation[6:]} of {name}, {layout}", kind, program)


def long_column_cases():
    """Columns in the middle of tensors, so long that they are parts: of unknown size, of few and many, of a slice, and where the program
    may read two dimensions as one; of a known size that nothing divides, sums and more."""
    for kind in ("f32", "bf16"):
        def reduced(data, axes, *between):
            nodes = [argument(kind, data, True), *between]
            return Program(nodes + [Reduce(((len(between), 0),), axes, ["arith.addf"], wide=True)], [(len(nodes), 0)])
        for columns in (5, 37, 40):
            x = elements.draw(generator("long columns", kind, columns), kind, (2, 1700, columns))
            yield Case("sum of long columns", kind, reduced(x, [1]))
            yield Case("sum of long columns", kind, reduced(x, [1], Slice((0, 0), [0, 112, 0], (2, 1500, columns), [1, 1, 1])))
            known = argument(kind, elements.draw(generator("known columns", kind, columns), kind, (2, 4099, columns)))
            yield Case("sum and maximum of long columns", kind, Program(
                [known, Reduce(((0, 0),), [1], ["arith.addf", "arith.maximumf"], wide=True)], [(1, 0), (1, 1)]))
            yield Case("argmax of long columns", kind, Program([known, ArgMax((0, 0), 1, "i64")], [(1, 0), (1, 1)]))
        x = elements.draw(generator("long columns", kind), kind, (2, 1100, 9, 4))
        yield Case("sum of long columns", kind, reduced(x, [0, 1]))
        yield Case("sum of long columns", kind, reduced(x, [2], Transpose((0, 0), [3, 0, 1, 2])))


def argmax_cases(sizes):
    for kind in FLOATS:
        for n, dynamic in forms(sizes):
            if n == 0:
                continue
            for axis, shape in ((1, (5, n)), (0, (n, 37))):
                x = elements.rounded(kind, generator("argmax", kind, n).integers(-50, 50, shape).astype(np.float64))
                program = Program([argument(kind, x, dynamic), ArgMax((0, 0), axis, "i64")], [(1, 0), (1, 1)])
                yield Case("argmax", kind, program)


def several_results(sizes):
    """Sum, maximum and product of one tensor at once; a sum on top of what a tensor holds."""
    for kind in FLOATS + INTEGERS:
        place = 0 if is_float(kind) else 1
        for n, dynamic in forms(sizes):
            random = generator("several", kind, n)
            x = argument(kind, elements.draw(random, kind, (5, n)) if not is_float(kind) else random.uniform(0.99, 1.01, (5, n)), dynamic)
            names = [COMBINE[name][place] for name in ("sum", "maximum", "product")]
            yield Case("three reductions at once", kind, Program([x, Reduce(((0, 0),), [1], names, wide=True)], [(1, i) for i in range(3)]))
            start = argument(kind, elements.draw(random, kind, (5,)), dynamic)
            yield Case("sum onto a tensor", kind, Program([x, start, Reduce(((0, 0), (1, 0)), [1], [COMBINE["sum"][place]])], [(2, 0)]))


def long_cases():
    """Rows that no block holds in its registers, and as many columns' elements."""
    for kind in ("f32", "bf16", "i64"):
        for n, dynamic in forms((16385, 65536, 70001)):
            random = generator("long", kind, n)
            for layout, shape, axes in (("rows", (3, n), [1]), ("columns", (n, 3), [0]), ("wide columns", (n // 9, 37), [0]),
                                       ("all", (3, n), [0, 1]), ("vectors", (n,), [0])):
                x = argument(kind, elements.draw(random, kind, shape), dynamic)
                operations = ["arith.addf", "arith.maximumf"] if is_float(kind) else ["arith.addi", "arith.maxsi"]
                yield Case(f"sum and maximum of long {layout}", kind, Program([x, Reduce(((0, 0),), axes, operations, wide=True)],
                                                                             [(1, 0), (1, 1)]))


def odd_column_cases():
    """Odd numbers of columns that tiles would not have threads for: of few rows and of many, known and not, in the middle, read again."""
    for kind in ("f32", "bf16", "f64", "i8"):
        operations = ["arith.addf", "arith.maximumf"] if is_float(kind) else ["arith.addi", "arith.maxsi"]
        for number, columns in enumerate((33, 41, 65, 77, 85)):
            for shape, axis in (((20, columns), 0), ((63, columns), 0), ((300, columns), 0), ((4099, columns), 0), ((3, 1100, columns), 1)):
                unknown = [i == axis and number % 2 == 1 for i in range(len(shape))]
                x = argument(kind, elements.draw(generator("odd columns", kind, shape), kind, shape), unknown)
                yield Case("sum and maximum of odd columns", kind, Program([x, Reduce(((0, 0),), [axis], operations, wide=True)], [(1, 0), (1, 1)]))
        if is_float(kind):
            x = argument(kind, elements.draw(generator("odd columns", kind), kind, (700, 77)))
            yield Case("argmax of odd columns", kind, Program([x, ArgMax((0, 0), 0, "i64")], [(1, 0), (1, 1)]))


def few_row_cases():
    """Few rows, so long that blocks have parts of them, of a length that nothing divides, or an unknown one."""
    for kind, dynamic in (("f32", False), ("f32", True), ("bf16", True), ("f32", [False, True])):
        x = argument(kind, elements.draw(generator("few rows", kind), kind, (2, 524309)), dynamic)
        yield Case("sum and maximum of few long rows", kind, Program([x, Reduce(((0, 0),), [1], ["arith.addf", "arith.maximumf"], wide=True)],
                                                                     [(1, 0), (1, 1)]))
        yield Case("argmax of few long rows", kind, Program([x, ArgMax((0, 0), 1, "i64")], [(1, 0), (1, 1)]))


def ragged_cases():
    """Rows that start anywhere between vectors, by one thread of a warp and by all of a block."""
    for kind in ("f32", "bf16", "f64", "i8"):
        for n in (37, 143, 1001, 2050, 4095):
            random = generator("ragged", kind, n)
            x = argument(kind, elements.draw(random, kind, (7, n)), False)
            operations = ["arith.addf", "arith.maximumf"] if is_float(kind) else ["arith.addi", "arith.maxsi"]
            yield Case("sum and maximum of ragged rows", kind, Program([x, Reduce(((0, 0),), [1], operations, wide=True)],
                                                                       [(1, 0), (1, 1)]))


def cases(sizes):
    if len(sizes) > 1:
        yield from long_cases()
    yield from long_column_cases()
    yield from few_row_cases()
    yield from odd_column_cases()
    yield from ragged_cases()
    yield from reduction_cases(sizes)
    yield from signed_extreme_cases(sizes)
    yield from argmax_cases(sizes)
    yield from several_results(sizes)
