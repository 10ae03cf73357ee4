# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What moves elements: transposes, slices, pads, concatenations, gathers, scatters, reshapes; and programs of odd shapes, such as
rank 0 and hundreds of arguments. Every result is exact."""
import itertools

import numpy as np

import elements
from bounded import Bounded
from cases.case import SMALL, Case, Raw, argument, elementwise, forms, generator
from elements import KINDS
from mlir_text import Tensor
from nodes.movement import Broadcast, Collapse, Concat, Expand, Gather, InsertSlice, Pad, Slice, Transpose
from nodes.node import Elementwise, Reduce, Splat, Step
from nodes.program import Program


def one(*nodes):
    return Program(list(nodes), [(len(nodes) - 1, 0)])


def drawn(kind, shape, dynamic, *name):
    return argument(kind, elements.draw(generator(kind, shape, *name), kind, shape), dynamic)


def text(f, kind, shape, line, *operands):
    """A result by one line, in which {r} is its name and {t} its type."""
    result = Tensor(f.fresh(), kind, shape)
    f.line(line.format(*[o.name for o in operands], r=result.name, t=result.type, o=[o.type for o in operands]))
    return result


def transposes(kind, n, dynamic):
    for rank, shape in ((2, (n, 37)), (3, (5, n, 3)), (4, (2, 3, 5, n))):
        permutations = itertools.permutations(range(rank)) if rank < 4 else ((0, 2, 1, 3), (0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 3, 2))
        for permutation in permutations:
            yield "transpose " + "".join(map(str, permutation)), one(drawn(kind, shape, dynamic), Transpose((0, 0), list(permutation)))
    if n == 33 and dynamic and kind == "f32":  # two results, and a column's maximum in one kernel or by parts
        x = drawn(kind, (n, 100), dynamic)
        yield "transpose there and back", Program(
            [x, Transpose((0, 0), [1, 0]), Transpose((1, 0), [1, 0]), Reduce(((1, 0),), [0], ["arith.maximumf"]),
             Elementwise([(1, 0), (3, 0)], [[0, 1], [1]], (100, n), [Step("arith.subf", kind, (0, 1))], [2])], [(2, 0), (4, 0)])
    if n == SMALL[0]:  # sizes of whole vectors, of halves and of words, but not of whole tiles
        for shape, permutation in (((72, 136), (1, 0)), ((3, 40, 72), (0, 2, 1)), ((42, 3, 68), (2, 1, 0)), ((136, 8), (1, 0))):
            yield "transpose of vectors", one(drawn(kind, shape, dynamic), Transpose((0, 0), list(permutation)))
        if not dynamic:  # a short axis that is read, and one that is written
            for shape in ((40, 480, 9), (2, 7, 8320)):
                yield "transpose of a short axis", one(drawn(kind, shape, dynamic), Transpose((0, 0), [0, 2, 1]))
            for shape, added in (((2, 8320, 3), [2]), ((20, 2, 1024, 2), [1, 3]), ((8, 2080, 5, 2), [2, 3])):
                x = drawn(kind, [size for i, size in enumerate(shape) if i not in added], dynamic)
                yield "broadcast to a short axis", one(x, Broadcast((0, 0), shape, added))
        add = "arith.addf" if elements.is_float(kind) else "arith.addi" if kind != "i1" else "arith.xori"
        turned, straight = (136, 72), (72, 136)
        yield "sum of transposes", one(
            drawn(kind, turned, dynamic, "x"), drawn(kind, straight, dynamic, "y"), drawn(kind, turned, dynamic, "z"),
            Elementwise([(0, 0), (1, 0), (2, 0)], [[1, 0], [0, 1], [1, 0]], straight,
                        [Step(add, kind, (0, 1)), Step(add, kind, (3, 2))], [4]))


def slices(kind, n, dynamic):
    x = drawn(kind, (5, n), dynamic)
    if n:
        for offset, stride in ((0, 1), (n // 3, 1), (1 % n, 1), (0, 2), (n // 2, 3)):
            size = -(-(n - offset) // stride)
            yield f"slice stride {stride}", one(x, Slice((0, 0), [1, offset], [3, size], [1, stride]))
            part = drawn(kind, (3, size), dynamic)
            yield f"insert_slice stride {stride}", one(x, part, InsertSlice(((0, 0), (1, 0)), [1, offset], [1, stride], [3, size]))
        yield "slice of rows", one(x, Slice((0, 0), [0, n - 1], [3, 1], [2, 1]))
        yield "slice, then sum", one(x, Slice((0, 0), [1, n // 3], [3, n - n // 3], [1, 1]),
                                     Reduce(((1, 0),), [1], ["arith.addf" if elements.is_float(kind) else "arith.addi"
                                                             if kind != "i1" else "arith.xori"]))
    value = 3 if kind != "i1" else 1
    for low, high in (([1, 2], [0, 3]), ([0, 0], [0, 1]), ([3, 0], [2, 0])):
        yield "pad", one(x, Pad((0, 0), low, high, value))
    for axis in (0, 1):
        other = drawn(kind, (5, 3) if axis else (2, n), dynamic, "other")
        yield f"concat {axis}", one(x, other, Concat(((0, 0), (1, 0), (0, 0)), axis))
    if not dynamic:
        yield "expand", one(x, Expand((0, 0), 0, 5))
    yield "collapse", one(x, Collapse((0, 0), 0))
    yield "collapse, then transpose", one(drawn(kind, (3, 2, n), dynamic), Collapse((0, 0), 0), Transpose((1, 0), [1, 0]))
    for shape, added in (((7, 5, n), [0]), ((5, 7, n), [1]), ((5, n, 7), [2])):
        yield f"broadcast {added[0]}", one(x, Broadcast((0, 0), shape, added))
    yield "fill", one(Splat(kind, (5, n), value))


def row_cases():
    """Rows that are a multiple of half a vector long, or of none: of more than one block, moved, cut out and put together."""
    for kind in ("f32", "bf16", "i8", "f64"):
        add = "arith.addf" if elements.is_float(kind) else "arith.addi"
        for n, dynamic in itertools.product((100, 130, 132, 77), (False, True)):
            x, y = drawn(kind, (41, n), dynamic), drawn(kind, (43, n + 5), dynamic, "y")
            yield Case("rows in another order", kind, one(drawn(kind, (3, 9, 5, n), dynamic), Transpose((0, 0), [0, 2, 1, 3])))
            yield Case("rows of a slice", kind, one(x, y, Slice((1, 0), [1, 3], [41, n], [1, 1]), Elementwise(
                [(0, 0), (2, 0)], [[0, 1], [0, 1]], (41, n), [Step(add, kind, (0, 1))], [2])))
            yield Case("rows and a vector", kind, one(x, drawn(kind, (n,), dynamic, "v"), drawn(kind, (41,), dynamic, "w"), Elementwise(
                [(0, 0), (1, 0), (2, 0)], [[0, 1], [1], [0]], (41, n), [Step(add, kind, (0, 1)), Step(add, kind, (3, 2))], [4])))
            yield Case("rows put together", kind, one(x, drawn(kind, (41, 28), dynamic, "z"), Concat(((0, 0), (1, 0)), 1)))
            yield Case("rows put together", kind, one(x, Concat(((0, 0), (0, 0)), 1)))
            for row in (1, 3):  # begins in the middle of a vector, or does not
                yield Case("one row", kind, one(x, Slice((0, 0), [row, 0], [1, n], [1, 1]), Collapse((1, 0), 0), Elementwise(
                    [(2, 0)], [[0]], (n,), [Step(add, kind, (0, 0))], [1])))
            yield Case("padded rows", kind, one(x, Pad((0, 0), [1, 2], [0, 6], 3)))


def gathers(kind, n, dynamic):
    table = drawn(kind, (11, 7), dynamic)
    index = argument("i64", generator("index", n).integers(0, 11, (n,)), dynamic)
    yield "gather of rows", one(table, index, Gather((0, 0), (1, 0)))
    if n:
        row = drawn(kind, (n,), dynamic)
        where = argument("i32", generator("where", n).integers(0, n, (9,)), dynamic)
        yield "gather of elements", one(row, where, Gather((0, 0), (1, 0)))
        places = argument("i64", generator("place", n).integers(0, 11, (n, 1)), [dynamic, False])
        yield "tensor.gather", one(table, places, Raw(
            [(0, 0), (1, 0)], lambda f, t, i: text(f, kind, [i.shape[0], 1, t.shape[1]], "{r} = tensor.gather {0}[{1}] gather_dims([0]) : "
                                                   "({o[0]}, {o[1]}) -> {t}", t, i),
            lambda t, i: t.move(lambda array: array[i.v])))
        unique = argument("i64", generator("unique", n).permutation(n)[:, None][: max(n // 2, 1)], [dynamic, False])
        row_count = unique.data.shape[0]
        source = drawn(kind, (row_count, 1, 3), [dynamic, False, False])
        into = drawn(kind, (n, 3), [dynamic, False], "into")

        def scattered(values, target, places):
            v = target.v.copy()
            v[places.v[:, 0]] = values.v[:, 0]
            return Bounded(kind, v)

        yield "tensor.scatter", one(source, into, unique, Raw(
            [(0, 0), (1, 0), (2, 0)], lambda f, s, t, i: text(
                f, kind, t.shape, "{r} = tensor.scatter {0} into {1}[{2}] scatter_dims([0]) unique : ({o[0]}, {o[1]}, {o[2]}) -> {t}",
                s, t, i), scattered))


def odd_ones(kind, n, dynamic):
    scalar = drawn(kind, (), False, n)
    if not dynamic and n == 33:
        yield "rank 0", elementwise([scalar], [Step("const", kind, extra=1), Step({True: "arith.addf", False: "arith.xori"}[
            elements.is_float(kind)], kind, (0, 1))])
        yield "tensor.splat", one(scalar, Raw([(0, 0)], lambda f, x: splat(f, x, [5, n]), lambda x: x.move(
            lambda array: np.broadcast_to(array, (5, n)))))
    row = drawn(kind, (n,), dynamic)
    if n:
        yield "read backwards", one(row, Raw([(0, 0)], backwards, lambda x: x.move(lambda array: array[::-1])))
        if kind in ("i32", "i64"):
            divisors = argument(kind, generator("divisors", n).integers(0, 3, (n,)), dynamic)
            yield "branch in a body", one(row, divisors, Raw([(0, 0), (1, 0)], branch, lambda x, y: Bounded(
                kind, np.where(y.v != 0, divided(x.v, np.maximum(y.v, 1)), x.v[::-1]))))
        yield "diagonal", one(drawn(kind, (n, n) if n < 100 else (n, 3), dynamic), Raw([(0, 0)], diagonal, lambda x: x.move(
            lambda array: array[np.arange(n), np.arange(n) % array.shape[1]])))


def splat(f, x, shape):
    value = f.fresh()
    f.line(f"{value} = tensor.extract {x.name}[] : {x.type}")
    return text(f, x.kind, shape, "{r} = tensor.splat " + value + " : {t}")


def backwards(f, x):
    """Element n - 1 - i: read by tensor.extract, since an indexing map does not know a size."""
    last = f.index_op("arith.subi", f.size(x.shape[0]), 1)

    def body(_):
        return f.extract(x, f.op("arith.subi", "index", last, f.loop_index(0)))

    return f.generic([], [(f.empty(x.kind, x.shape), [0])], "p", body)[0]


def divided(x, y):
    """Towards zero; y is not negative."""
    return x // y + ((x % y != 0) & (x < 0))


def branch(f, x, y):
    """x / y where y is not 0, else element n - 1 - i."""
    last = f.index_op("arith.subi", f.size(x.shape[0]), 1)

    def body(a, b, _):
        place, zero, result = f.op("arith.subi", "index", last, f.loop_index(0)), f.fresh(), f.fresh()
        f.line(f"{zero} = arith.constant 0 : {x.kind}")
        condition = f.fresh()
        f.line(f"{condition} = arith.cmpi ne, {b}, {zero} : {x.kind}")
        f.line(f"{result} = scf.if {condition} -> ({x.kind}) {{")
        f.line(f"  scf.yield {f.op('arith.divsi', x.kind, a, b)} : {x.kind}")
        f.line("} else {")
        f.line(f"  scf.yield {f.extract(x, place)} : {x.kind}")
        f.line("}")
        return result

    return f.generic([(x, [0]), (y, [0])], [(f.empty(x.kind, x.shape), [0])], "p", body)[0]


def diagonal(f, x):
    def body(_):
        i = f.loop_index(0)
        return f.extract(x, i, f.op("arith.remui", "index", i, f.size(x.shape[1])))

    return f.generic([], [(f.empty(x.kind, x.shape[:1]), [0])], "p", body)[0]


def many_arguments(kind, count):
    """The sum of hundreds of tensors in one body."""
    arguments = [drawn(kind, (33,), False, i) for i in range(count)]
    add = "arith.addf" if elements.is_float(kind) else "arith.addi"
    steps = [Step(add, kind, (0, 1))] + [Step(add, kind, (count + i, i + 2)) for i in range(count - 2)]
    body = Elementwise([(i, 0) for i in range(count)], [[0]] * count, (33,), steps, [2 * count - 2])
    return Program([*arguments, body], [(count, 0)])


def cases(sizes):
    yield from row_cases()
    for kind in KINDS:
        for n, dynamic in forms(sizes):
            for group in (transposes, slices, gathers, odd_ones):
                for name, program in group(kind, n, dynamic):
                    yield Case(name, kind, program)
    for kind in ("f32", "i32", "f16"):
        for count in (20, 600):
            yield Case(f"sum of {count} arguments", kind, many_arguments(kind, count))
