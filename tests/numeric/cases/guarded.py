# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads outside of a tensor that a select throws away: gathers that fill, whose select is in the body that reads, in another one
behind it, or a branch; windows of which a part lies outside; borders that are asked for element by element. Every result is
exact; on the emulator a read outside is an error."""
import numpy as np

import elements
from bounded import Bounded
from cases.case import Case, Raw, argument, forms, generator
from elements import is_float
from mlir_text import Tensor
from nodes.program import Program

KINDS = ("f32", "bf16", "f64", "i8", "i32", "i1")
FILL = 1
ROWS = 11


def exact(kind, v):
    return Bounded(kind, np.asarray(v), np.zeros(np.shape(v))) if is_float(kind) else Bounded(kind, elements.wrap(kind, np.asarray(v)))


def compare(f, predicate, kind, a, b):
    result = f.fresh()
    f.line(f"{result} = arith.cmpi {predicate}, {a}, {b} : {kind}")
    return result


def is_inside(f, index, size):
    return f.op("arith.andi", "i1", compare(f, "sge", "index", index, f.index(0)), compare(f, "slt", "index", index, f.size(size)))


def index_of(f, value):
    return f.op("arith.index_cast", "i32", value, to="index")


def choose(f, kind, form, inside, read):
    """What `read` writes where `inside` holds, in one of the ways to say so."""
    fill = f.constant(kind, FILL)
    if form != "branch":
        return f.select(inside, kind, read(), fill)
    result = f.fresh()
    f.line(f"{result} = scf.if {inside} -> ({kind}) {{")
    f.line(f"  scf.yield {read()} : {kind}")
    f.line("} else {")
    f.line(f"  scf.yield {fill} : {kind}")
    f.line("}")
    return result


def rows(kind, form):
    """x[i[n], :] or FILL."""

    def one_body(f, x, i):
        def body(place, _):
            index, column = index_of(f, place), f.loop_index(1)
            return choose(f, kind, form, is_inside(f, index, x.shape[0]), lambda: f.extract(x, index, column))

        return f.generic([(i, [0])], [(f.empty(kind, [i.shape[0], x.shape[1]]), [0, 1])], "pp", body)

    def apart(f, x, i):
        n, w = i.shape[0], x.shape[1]
        mask = f.generic([(i, [0])], [(f.empty("i1", [n]), [0])], "p",
                         lambda place, _: is_inside(f, index_of(f, place), x.shape[0]))[0]
        shape, last = ([n, 1, w], 2) if form == "kept" else ([n, w], 1)

        def read(place, _):
            return f.extract(x, index_of(f, place), f.loop_index(last))

        gathered = f.generic([(i, [0])], [(f.empty(kind, shape), range(len(shape)))], "p" * len(shape), read)[0]
        if form == "kept":
            joined = Tensor(f.fresh(), kind, [n, w])
            f.line(f"{joined.name} = tensor.collapse_shape {gathered.name} [[0], [1, 2]] : {gathered.type} into {joined.type}")
            gathered = joined
        results = f.generic([(mask, [0]), (gathered, [0, 1])], [(f.empty(kind, [n, w]), [0, 1])], "pp",
                            lambda inside, element, _: f.select(inside, kind, element, f.constant(kind, FILL)))
        if form == "read twice":
            two = f.generic([(mask, [0]), (gathered, [0, 1])], [(f.empty(kind, [n, w]), [0, 1])], "pp",
                            lambda inside, element, _: f.select(inside, kind, element, f.constant(kind, 0)))
            results += two
        return results

    def evaluate(x, i):
        inside = (i.v >= 0) & (i.v < ROWS)
        read = x.v[np.clip(i.v, 0, ROWS - 1)]
        results = [exact(kind, np.where(inside[:, None], read, FILL))]
        return results + [exact(kind, np.where(inside[:, None], read, 0))] * (form == "read twice")

    return Raw([(0, 0), (1, 0)], one_body if form in ("body", "branch") else apart, evaluate)


def two_indices(kind, form):
    """x[i[n], j[n]] or FILL."""

    def write(f, x, i, j):
        def body(place, other, _):
            row, column = index_of(f, place), index_of(f, other)
            inside = f.op("arith.andi", "i1", is_inside(f, row, x.shape[0]), is_inside(f, column, x.shape[1]))
            return choose(f, kind, form, inside, lambda: f.extract(x, row, column))

        return f.generic([(i, [0]), (j, [0])], [(f.empty(kind, i.shape), [0])], "p", body)

    def evaluate(x, i, j):
        inside = (i.v >= 0) & (i.v < x.v.shape[0]) & (j.v >= 0) & (j.v < x.v.shape[1])
        return [exact(kind, np.where(inside, x.v[np.clip(i.v, 0, x.v.shape[0] - 1), np.clip(j.v, 0, x.v.shape[1] - 1)], FILL))]

    return Raw([(0, 0), (1, 0), (2, 0)], write, evaluate)


def windows(kind, form):
    """x[i[n] + k], k < 5, where all of the window is inside."""

    def write(f, x, i):
        def body(place, _):
            begin = index_of(f, place)
            inside = f.op("arith.andi", "i1", is_inside(f, begin, x.shape[0]),
                          compare(f, "sle", "index", f.index_op("arith.addi", begin, 5), f.size(x.shape[0])))
            at = f.op("arith.addi", "index", begin, f.loop_index(1))
            return choose(f, kind, form, inside, lambda: f.extract(x, at))

        return f.generic([(i, [0])], [(f.empty(kind, [i.shape[0], 5]), [0, 1])], "pp", body)

    def evaluate(x, i):
        n = x.v.shape[0]
        inside = (i.v >= 0) & (i.v + 5 <= n)
        return [exact(kind, np.where(inside[:, None], x.v[np.clip(i.v[:, None] + np.arange(5), 0, n - 1)], FILL))]

    return Raw([(0, 0), (1, 0)], write, evaluate)


def border(kind, form):
    """x[i - 3] of i < n + 5, by the loop alone."""

    def write(f, x):
        def body(_):
            place = f.index_op("arith.subi", f.loop_index(0), 3)
            return choose(f, kind, form, is_inside(f, place, x.shape[0]), lambda: f.extract(x, place))

        return f.generic([], [(f.empty(kind, [f.add_sizes(x.shape[0], 5)]), [0])], "p", body)

    return Raw([(0, 0)], write, lambda x: [exact(kind, np.pad(x.v, (3, 2), constant_values=FILL))])


def batched(kind, form):
    """The sum, or the conjunction, of x[b, i[b, n], :] or FILL over the last dimension, or over n."""

    def write(f, x, i):
        b, n, w = i.shape[0], i.shape[1], x.shape[2]

        def body(place, _):
            index = index_of(f, place)
            return choose(f, kind, "body", is_inside(f, index, x.shape[1]), lambda: f.extract(x, f.loop_index(0), index, f.loop_index(2)))

        made = f.generic([(i, [0, 1])], [(f.empty(kind, [b, n, w]), [0, 1, 2])], "ppp", body)[0]
        return [f.reduce(made, [2 if form == "rows" else 1], "arith.andi" if kind == "i1" else
                         "arith.maximumf" if is_float(kind) else "arith.maxsi", 1)]

    def evaluate(x, i):
        inside = (i.v >= 0) & (i.v < ROWS)
        read = np.take_along_axis(x.v, np.clip(i.v, 0, ROWS - 1)[:, :, None], 1)
        chosen = np.where(inside[:, :, None], read, FILL)
        axis = 2 if form == "rows" else 1
        return [exact(kind, chosen.min(axis, initial=1) if kind == "i1" else chosen.max(axis, initial=1))]

    return Raw([(0, 0), (1, 0)], write, evaluate)


def loop(kind):
    """The largest of x[i[n] + k] that are inside, of k < 4, and 1."""

    def write(f, x, i):
        def body(place, _):
            begin, result, turn, most = index_of(f, place), f.fresh(), f.fresh(), f.fresh()
            start = f.constant(kind, FILL)
            count = index_of(f, f.op("arith.andi", "i32", place, f.constant("i32", 3)))
            f.line(f"{result} = scf.for {turn} = {f.index(0)} to {count} step {f.index(1)} iter_args({most} = {start}) -> ({kind}) {{")
            f.depth += 1
            at = f.op("arith.addi", "index", begin, turn)
            element = choose(f, kind, "branch", is_inside(f, at, x.shape[0]), lambda: f.extract(x, at))
            f.line(f"scf.yield {f.op('arith.maximumf' if is_float(kind) else 'arith.maxsi', kind, most, element)} : {kind}")
            f.depth -= 1
            f.line("}")
            return result

        return f.generic([(i, [0])], [(f.empty(kind, i.shape), [0])], "p", body)

    def evaluate(x, i):
        n = x.v.shape[0]
        at = i.v[:, None] + np.arange(3)
        taken = (at >= 0) & (at < n) & (np.arange(3) < (i.v & 3)[:, None])
        return [exact(kind, np.where(taken, x.v[np.clip(at, 0, n - 1)], FILL).max(1, initial=FILL))]

    return Raw([(0, 0), (1, 0)], write, evaluate)


def drawn(kind, shape, dynamic, *name):
    return argument(kind, elements.draw(generator(kind, shape, *name), kind, shape), dynamic)


def cases(sizes):
    for kind in KINDS:
        for n, dynamic in forms(sizes):
            random = generator("guarded", kind, n)
            places = argument("i32", random.integers(-2 * ROWS, 3 * ROWS, n), dynamic)
            for width in (1, 40, 33) if n < 100 else (5,):
                x = drawn(kind, (ROWS, width), dynamic)
                for form in ("body", "branch", "apart", "kept", "read twice"):
                    yield Case(f"guarded rows, {form}", kind, Program([x, places, rows(kind, form)], [(2, 0)] + [(2, 1)] * (form == "read twice")))
            others = argument("i32", random.integers(-60, 90, n), dynamic)
            for form in ("body", "branch"):
                x = drawn(kind, (ROWS, 33), dynamic)
                yield Case(f"guarded indices, {form}", kind, Program([x, places, others, two_indices(kind, form)], [(3, 0)]))
                if n:
                    row = drawn(kind, (n,), dynamic)
                    begins = argument("i32", random.integers(-n - 3, 2 * n, 9), dynamic)
                    yield Case(f"guarded windows, {form}", kind, Program([row, begins, windows(kind, form)], [(2, 0)]))
                    yield Case(f"guarded border, {form}", kind, Program([row, border(kind, form)], [(1, 0)]))
                    if kind != "i1" and form == "branch":
                        yield Case("guarded reads in a loop", kind, Program([row, begins, loop(kind)], [(2, 0)]))
            if n < 100:
                x = drawn(kind, (3, ROWS, 40), dynamic)
                many = argument("i32", random.integers(-2 * ROWS, 3 * ROWS, (3, n)), dynamic)
                for form in ("rows", "columns"):
                    yield Case(f"guarded and reduced, {form}", kind, Program([x, many, batched(kind, form)], [(2, 0)]))
