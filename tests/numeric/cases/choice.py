# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions that choose an element by a rule, beside a loop over the elements in order: which of equal ones, what NaNs do,
what they start from."""
import numpy as np

import elements
from bounded import Bounded
from cases.case import Case, Raw, argument, forms, generator
from elements import FLOATS, is_float
from nodes.program import Program

# name: (lines that give {c} from the element {x} and the accumulator {m}, the same in Python); which types take it.
RULES = {
    "first largest": ("{c} = arith.cmpf ogt, {x}, {m} : {k}", lambda x, m: x > m, True),
    "last largest": ("{c} = arith.cmpf oge, {x}, {m} : {k}", lambda x, m: x >= m, True),
    "first smallest": ("{c} = arith.cmpf ogt, {m}, {x} : {k}", lambda x, m: m > x, True),
    "first NaN or largest": ("{a} = arith.cmpf ugt, {x}, {m} : {k}\n{b} = arith.cmpf ord, {m}, {m} : {k}\n"
                             "{c} = arith.andi {a}, {b} : i1", lambda x, m: not x <= m and m == m, True),
    "last NaN or smallest": ("{a} = arith.cmpf uno, {x}, {x} : {k}\n{b} = arith.cmpf ole, {x}, {m} : {k}\n"
                             "{c} = arith.ori {a}, {b} : i1", lambda x, m: x != x or x <= m, True),
    "largest before a NaN": ("{c} = arith.cmpf ogt, {x}, {m} : {k}", lambda x, m: x > m, True),  # with arith.maximumf
    "what is not smaller": ("{c} = arith.cmpf uge, {x}, {m} : {k}", lambda x, m: not x < m, True),  # in order only
    "first largest integer": ("{c} = arith.cmpi sgt, {x}, {m} : {k}", lambda x, m: x > m, False),
    "last smallest integer": ("{c} = arith.cmpi sle, {x}, {m} : {k}", lambda x, m: x <= m, False),
}


ENDS = "largest before a NaN"


def in_order(x, axes, name, value, place):
    """Both results, of a loop over the reduced elements of each row in row-major order."""
    rule, ends = RULES[name][1], name == ENDS
    kept = [i for i in range(x.ndim) if i not in axes]
    rows = np.transpose(x, kept + list(axes)).reshape([x.shape[i] for i in kept] + [-1])
    values, places = np.full(rows.shape[:-1], value, dtype=x.dtype), np.full(rows.shape[:-1], place)
    for at in np.ndindex(rows.shape[:-1]):
        m, where = value, place
        for i, element in enumerate(rows[at].tolist()):
            if rule(element, m):
                m, where = element, i
            elif ends and element != element:
                m = element
        values[at], places[at] = m, where
    return values, places


def choice(kind, axes, rule, start, place):
    lines = RULES[rule][0]

    def write(f, x):
        kept = [i for i in range(len(x)) if i not in axes]
        sizes = [x.shape[i] for i in kept]
        values, places = f.fill(kind, sizes, start), f.fill("i64", sizes, place)

        def body(element, best, where):
            here = f.loop_index(axes[0], "i64")
            for axis in axes[1:]:
                here = f.op("arith.addi", "i64", f.op("arith.muli", "i64", here, f.constant("i64", x.sizes[axis])),
                            f.loop_index(axis, "i64"))
            better = f.fresh()
            for line in lines.format(a=f.fresh(), b=f.fresh(), c=better, x=element, m=best, k=kind).split("\n"):
                f.line(line)
            extreme = f.op("arith.maximumf", kind, element, best) if rule == ENDS else f.select(better, kind, element, best)
            return [extreme, f.select(better, "i64", here, where)]

        loops = "".join("r" if i in axes else "p" for i in range(len(x)))
        return f.generic([(x, range(len(x)))], [(values, kept), (places, kept)], loops, body)

    def evaluate(x):
        values, places = in_order(x.v, axes, rule, start, place)
        return [Bounded(kind, values, np.where(np.isfinite(values), 0, np.inf)), Bounded("i64", places)]

    return Raw([(0, 0)], write, evaluate)


def draw(random, kind, shape, dense):
    """Many equal elements, zeros of both signs, infinities; NaNs in some rows."""
    if not is_float(kind):
        return random.integers(-3, 4, shape)
    x = random.integers(-3, 4, shape).astype(np.float64)
    x = np.where((x == 0) & (random.random(shape) < 0.5), -0.0, x)
    x = np.where(random.random(shape) < dense / 4, np.inf, x)
    x = np.where(random.random(shape) < dense / 4, -np.inf, x)
    return np.where((random.random(shape) < dense) & (np.arange(shape[0]) % 2 == 0).reshape([-1] + [1] * (len(shape) - 1)), np.nan, x)


def cases(sizes):
    for rule, (_, _, ofFloats) in RULES.items():
        for kind in FLOATS if ofFloats else ("i8", "i16", "i32", "i64"):
            for n, dynamic in forms(sizes):
                for shape, axes in (((6, n), [1]), ((n, 9), [0])):
                    random = generator("choice", rule, kind, n, len(shape))
                    data = draw(random, kind, shape, 2 / max(n, 1))
                    start = {"f": float(random.choice([-np.inf, 0, 2, np.inf])), "i": int(random.integers(-3, 3))}[kind[0].replace("b", "f")]
                    program = Program([argument(kind, data, dynamic), choice(kind, axes, rule, start, -7)], [(1, 0), (1, 1)])
                    yield Case(f"choice of {rule}", kind, program,
                               raw=lambda x, axes=axes, rule=rule, start=start: in_order(x, axes, rule, start, -7)[0])
    parts = [("f32", (20011,), [0]), ("bf16", (20011,), [0])]  # rows that take parts
    if len(sizes) > 1:  # and places that take more bits
        parts += [("f32", (1 << 20,), [0]), ("bf16", (3, 70001), [1]), ("i8", (2, 1 << 17), [1]), ("f64", (2, 1 << 15), [1]),
                  ("f32", (40000, 5), [0])]
    for kind, shape, axes in parts:
        rule = "first largest" if is_float(kind) else "first largest integer"
        data = elements.draw(generator("long choice", kind), kind, shape) if is_float(kind) else draw(generator("long", kind), kind, shape, 0)
        for dynamic in (False, True):
            start = -np.inf if is_float(kind) else -128
            yield Case(f"choice of {rule}", kind, Program([argument(kind, data, dynamic), choice(kind, axes, rule, start, 0)],
                                                         [(1, 0), (1, 1)]))
