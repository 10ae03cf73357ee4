# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors without elements, without dimensions, and other shapes of the same memory. usage: edges.py FOLDER [GROUP]"""
import itertools
import math

from arrays import STATIC, Array, draw, main, tensor

# MLIR's verifier refuses a slice of known place that begins where its tensor ends.
DYNAMIC = (True,)
# Sizes that make a tensor empty in one dimension or in all, and none that do.
SHAPES = [[0, 3], [3, 0], [0, 0], [2, 3]]


def empty(program):
    for shape in SHAPES:
        n, m = shape
        x, y, row = draw(shape), draw(shape), draw([m])
        r = Array(shape, "f32", lambda i, j: x[i, j] + 2 * y[i, j])
        program.case("chain", {"x": x, "y": y}, r, lambda d: (
            f"%a = arith.addf %x, %y : {x.type(d)}\n%r = arith.addf %a, %y : {x.type(d)}"))
        r = Array(shape, "f32", lambda i, j: row[j,])
        program.case("broadcast", {"x": row, "e": x}, r, lambda d: (
            f"%r = linalg.broadcast ins(%x : {row.type(d)}) outs(%e : {x.type(d)}) dimensions = [0]"))
        r = Array([m, n], "f32", lambda i, j: x[j, i])
        program.case("transpose", {"x": x, "e": r}, r, lambda d: (
            f"%r = linalg.transpose ins(%x : {x.type(d)}) outs(%e : {r.type(d)}) permutation = [1, 0]"))
        for dimensions in [[0], [1], [0, 1]]:
            kept = [size for dim, size in enumerate(shape) if dim not in dimensions]
            start = draw(kept)

            def reduced(*at):
                rest = iter(at)
                place = [None if dim in dimensions else next(rest) for dim in range(2)]
                return start[at] + sum(x[[k if p is None else p for p, k in zip(place, inner)]]
                                       for inner in itertools.product(*[range(s) if p is None else [0]
                                                                        for p, s in zip(place, shape)]))
            r = Array(kept, "f32", reduced)
            program.case("reduce", {"x": x, "s": start}, r, lambda d: (
                f"%r = linalg.reduce {{ arith.addf }} ins(%x : {x.type(d)}) outs(%s : {start.type(d)}) dimensions = "
                f"{dimensions}"))
        w, o = draw([m, 4]), draw([n, 4])
        r = Array([n, 4], "f32", lambda i, j: o[i, j] + sum(x[i, k] * w[k, j] for k in range(m)))
        program.case("matmul", {"x": x, "w": w, "o": o}, r, lambda d: (
            f"%r = linalg.matmul ins(%x, %w : {x.type(d)}, {w.type(d)}) outs(%o : {o.type(d)}) -> {o.type(d)}"))
        line = lambda i: [math.exp(x[i, k] - max(x[i, k] for k in range(m))) for k in range(m)]
        r = Array(shape, "f32", lambda i, j: line(i)[j] / sum(line(i)))
        program.case("softmax", {"x": x}, r, lambda d: (
            f"%r = linalg.softmax dimension(1) ins(%x : {x.type(d)}) outs(%x : {x.type(d)}) -> {x.type(d)}"), 2e-6)
        r = Array([n + 2, m + 1], "f32", lambda i, j: x[i - 1, j] if 1 <= i <= n and j < m else 7.0)
        program.case("pad", {"x": x, "l": 1, "h": 1, "z": 0}, r, lambda d: (
            f"%v = arith.constant 7.0 : f32\n%r = tensor.pad %x low[{'%l, %z' if d else '1, 0'}] high[{'%h, %h' if d else '1, 1'}]"
            f" {{\n^bb0(%i: index, %j: index):\n tensor.yield %v : f32\n}} : {x.type(d)} to {r.type(d)}"))
        other = draw([2, m])
        r = Array([n + 2, m], "f32", lambda i, j: x[i, j] if i < n else other[i - n, j])
        program.case("concat", {"x": x, "y": other}, r, lambda d: (
            f"%r = tensor.concat dim(0) %x, %y : ({x.type(d)}, {other.type(d)}) -> {r.type(d)}"))
        program.case("slice_nothing", {"x": x, "n": 0, "m": m}, Array([0, m], "f32", lambda *_: 0), lambda d: (
            f"%r = tensor.extract_slice %x[{n}, 0] [{'%n, %m' if d else f'0, {m}'}] [1, 1] : {x.type(d)} to "
            f"{tensor(['?', '?'] if d else [0, m], 'f32')}"), forms=DYNAMIC)
        big = draw([n + 2, m])
        r = Array(big.shape, "f32", lambda i, j: x[i - 1, j] if 1 <= i <= n else big[i, j])
        program.case("insert_slice", {"x": x, "y": big, "n": n, "m": m}, r, lambda d: (
            f"%r = tensor.insert_slice %x into %y[1, 0] [{'%n, %m' if d else f'{n}, {m}'}] [1, 1] : {x.type(d)} into "
            f"{big.type(d)}"), forms=(False, True) if m else DYNAMIC)
        at = Array([n, 1], "i32", lambda i, _: i % 2)
        table = draw([2, m])
        r = Array([n, m], "f32", lambda i, j: table[i % 2, j])
        program.case("gather", {"t": table, "at": at}, r, lambda d: (
            f"%c = tensor.cast %at : {at.type(d)} to {tensor(['?' if d else n, 1], 'i32')}\n"
            f"%r = tensor.gather %t[%c] gather_dims([0]) : ({table.type(d)}, {tensor(['?' if d else n, 1], 'i32')}) -> "
            f"{r.type(d)}"))
        u = draw([n, 1, m])
        if n <= 2:
            base = draw([2, m])
            r = Array([2, m], "f32", lambda i, j: u[i, 0, j] if i < n else base[i, j])
            unit = lambda d: tensor(['?', 1, '?'] if d else [n, 1, m], 'f32')
            program.case("scatter", {"y": base, "at": at, "u": u}, r, lambda d: (
                f"%c = tensor.cast %at : {at.type(d)} to {tensor(['?' if d else n, 1], 'i32')}\n"
                f"%v = tensor.cast %u : {u.type(d)} to {unit(d)}\n"
                f"%r = tensor.scatter %v into %y[%c] scatter_dims([0]) unique : ({unit(d)}, {base.type(d)}, "
                f"{tensor(['?' if d else n, 1], 'i32')}) -> {r.type(d)}"))
        r = Array([n * m], "f32", lambda i: x[i // m, i % m])
        program.case("collapse", {"x": x}, r, lambda d: (
            f"%r = tensor.collapse_shape %x [[0, 1]] : {x.type(d)} into {r.type(d)}"))
        r = Array([n, m, 1], "f32", lambda i, j, _: x[i, j])
        program.case("expand", {"x": x, "n": n, "m": m, "one": 1}, r, lambda d: (
            f"%r = tensor.expand_shape %x [[0], [1, 2]] output_shape [{'%n, %m, %one' if d else f'{n}, {m}, 1'}] : "
            f"{x.type(d)} into {r.type(d)}"))
        program.case("generate", {"n": n, "m": m}, Array(shape, "f32", lambda i, j: 1.5), lambda d: (
            f"%v = arith.constant 1.5 : f32\n%r = tensor.generate {'%n, %m' if d else ''} {{\n^bb0(%i: index, %j: index):\n"
            f" tensor.yield %v : f32\n}} : {x.type(d)}"))


def nothing(program):
    """What lies around or beside a tensor that has no elements, which only the host knows."""
    x, y = draw([0]), draw([2])
    around = Array([3], "f32", lambda i: 7.0)
    program.case("pad", {"x": x, "l": 1, "h": 2}, around, lambda d: (
        f"%v = arith.constant 7.0 : f32\n%r = tensor.pad %x low[%l] high[%h] {{\n^bb0(%i: index):\n tensor.yield %v : f32\n}}"
        f" : {x.type(d)} to {around.type(d)}"), forms=DYNAMIC)
    program.case("concat", {"x": x, "y": y}, y, lambda d: (
        f"%r = tensor.concat dim(0) %x, %y : ({x.type(d)}, {y.type(d)}) -> {y.type(d)}"), forms=DYNAMIC)
    program.case("insert_slice", {"x": x, "y": y, "n": 0}, y, lambda d: (
        f"%r = tensor.insert_slice %x into %y[1] [%n] [1] : {x.type(d)} into {y.type(d)}"), forms=DYNAMIC)


def scalars(program):
    x, y, many = draw([]), draw([]), draw([33])
    scalar = "tensor<f32>"
    program.case("add", {"x": x, "y": y}, Array([], "f32", lambda: x[()] + y[()]), lambda d: (
        f"%r = arith.addf %x, %y : {scalar}"), forms=STATIC)
    program.case("total", {"x": many, "y": y}, Array([], "f32", lambda: y[()] + sum(many.data)), lambda d: (
        f"%r = linalg.reduce {{ arith.addf }} ins(%x : {many.type(d)}) outs(%y : {scalar}) dimensions = [0]"))
    program.case("stretch", {"x": x, "e": many}, Array([33], "f32", lambda i: x[()]), lambda d: (
        f"%r = linalg.broadcast ins(%x : {scalar}) outs(%e : {many.type(d)}) dimensions = [0]"))
    program.case("stretch_sum", {"x": x, "y": many, "e": many}, Array([33], "f32", lambda i: x[()] + many[i,]), lambda d: (
        f"%b = linalg.broadcast ins(%x : {scalar}) outs(%e : {many.type(d)}) dimensions = [0]\n"
        f"%r = arith.addf %b, %y : {many.type(d)}"))
    program.case("normalise", {"x": many, "e": many}, Array([33], "f32", lambda i: many[i,] - sum(many.data)), lambda d: (
        f"%z = arith.constant dense<0.0> : {scalar}\n"
        f"%s = linalg.reduce {{ arith.addf }} ins(%x : {many.type(d)}) outs(%z : {scalar}) dimensions = [0]\n"
        f"%b = linalg.broadcast ins(%s : {scalar}) outs(%e : {many.type(d)}) dimensions = [0]\n"
        f"%r = arith.subf %x, %b : {many.type(d)}"))
    for expanded in ["1", "1x1"]:
        shape = [1] * len(expanded.split("x"))
        indices = str(list(range(len(shape)))) if len(shape) == 1 else "[0, 1]"
        program.case("expand", {"x": x}, Array(shape, "f32", lambda *_: x[()]), lambda d: (
            f"%r = tensor.expand_shape %x [] output_shape {shape} : {scalar} into tensor<{expanded}xf32>"), forms=STATIC)
        program.case("collapse", {"x": Array(shape, "f32", lambda *_: 3.5)}, Array([], "f32", lambda: 3.5), lambda d: (
            f"%r = tensor.collapse_shape %x [] : tensor<{expanded}xf32> into {scalar}"), forms=STATIC)
    program.case("generate", {}, Array([], "f32", lambda: 2.5), lambda d: (
        f"%v = arith.constant 2.5 : f32\n%r = tensor.generate {{\n tensor.yield %v : f32\n}} : {scalar}"), forms=STATIC)
    program.case("from_elements", {}, Array([], "f32", lambda: 2.5), lambda d: (
        f"%v = arith.constant 2.5 : f32\n%r = tensor.from_elements %v : {scalar}"), forms=STATIC)
    program.case("splat", {}, Array([], "f32", lambda: 2.5), lambda d: (
        f"%v = arith.constant 2.5 : f32\n%r = tensor.splat %v : {scalar}"), forms=STATIC)
    program.case("insert", {"x": x}, Array([], "f32", lambda: 2.5), lambda d: (
        f"%v = arith.constant 2.5 : f32\n%r = tensor.insert %v into %x[] : {scalar}"), forms=STATIC)
    program.case("pad", {"x": x}, x, lambda d: (
        f"%v = arith.constant 2.5 : f32\n%r = tensor.pad %x low[] high[] {{\n tensor.yield %v : f32\n}} : {scalar} to {scalar}"),
        forms=STATIC)
    program.case("slice", {"x": many, "at": 7}, Array([], "f32", lambda: many[7,]), lambda d: (
        f"%r = tensor.extract_slice %x[%at] [1] [1] : {many.type(d)} to {scalar}"))
    program.case("insert_slice", {"x": x, "y": many, "at": 7}, Array([33], "f32", lambda i: x[()] if i == 7 else many[i,]),
                 lambda d: f"%r = tensor.insert_slice %x into %y[%at] [1] [1] : {scalar} into {many.type(d)}")
    table = draw([5])
    program.case("extract", {"x": table, "y": Array([], "i32", lambda: 3)}, Array([], "f32", lambda: table[3,]), lambda d: (
        "%e = tensor.empty() : tensor<f32>\n"
        "%r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} "
        "ins(%y : tensor<i32>) outs(%e : tensor<f32>) {\n^bb0(%i: i32, %o: f32):\n %k = arith.index_cast %i : i32 to index\n"
        f" %v = tensor.extract %x[%k] : {table.type(d)}\n linalg.yield %v : f32\n}} -> tensor<f32>"))


def shapes(program):
    for n in [1, 33]:
        x = draw([n, 4, 3])
        r = Array([n * 4, 3], "f32", lambda i, j: 2 * x[i // 4, i % 4, j])
        program.case("collapse", {"x": x}, r, lambda d: (
            f"%a = tensor.collapse_shape %x [[0, 1], [2]] : {x.type(d)} into {r.type(d)}\n%r = arith.addf %a, %a : {r.type(d)}"))
        y = draw([4 * n])
        r = Array([2, n, 2], "f32", lambda i, j, k: y[((i * n + j) * 2 + k,)])
        program.case("expand", {"x": y, "n": n, "two": 2}, r, lambda d: (
            f"%r = tensor.expand_shape %x [[0, 1, 2]] output_shape [{'%two, %n, %two' if d else f'2, {n}, 2'}] : {y.type(d)} "
            f"into {r.type(d)}"))
        r = Array([4 * n], "f32", lambda i: -y[i,])
        program.case("there_and_back", {"x": y, "n": n, "two": 2}, r, lambda d: (
            f"%a = tensor.expand_shape %x [[0, 1, 2]] output_shape [{'%two, %n, %two' if d else f'2, {n}, 2'}] : {y.type(d)} "
            f"into {tensor(['?'] * 3 if d else [2, n, 2], 'f32')}\n"
            f"%b = arith.negf %a : {tensor(['?'] * 3 if d else [2, n, 2], 'f32')}\n"
            f"%r = tensor.collapse_shape %b [[0, 1, 2]] : {tensor(['?'] * 3 if d else [2, n, 2], 'f32')} into {y.type(d)}"))
        # A reduction of another shape, whose result is stretched again.
        total = Array([n], "f32", lambda i: sum(x[i, j, k] for j in range(4) for k in range(3)))
        r = Array([n, 12], "f32", lambda i, j: x[i, j // 3, j % 3] - total[i,])
        flat = lambda d: tensor(["?", "?"] if d else [n, 12], "f32")
        program.case("reduce_reshaped", {"x": x, "e": Array([n, 12], "f32", lambda *_: 0)}, r, lambda d: (
            f"%f = tensor.collapse_shape %x [[0], [1, 2]] : {x.type(d)} into {flat(d)}\n"
            + ("%c0 = arith.constant 0 : index\n%n = tensor.dim %f, %c0 : tensor<?x?xf32>\n" if d else "") +
            f"%z = arith.constant 0.0 : f32\n%t = tensor.empty({'%n' if d else ''}) : {total.type(d)}\n"
            f"%i = linalg.fill ins(%z : f32) outs(%t : {total.type(d)}) -> {total.type(d)}\n"
            f"%s = linalg.reduce {{ arith.addf }} ins(%f : {flat(d)}) outs(%i : {total.type(d)}) dimensions = [1]\n"
            f"%b = linalg.broadcast ins(%s : {total.type(d)}) outs(%e : {flat(d)}) dimensions = [1]\n"
            f"%r = arith.subf %f, %b : {flat(d)}"))


main(empty, nothing, scalars, shapes)
