# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What moves elements in programs of users, as MLIR: caches, windows, borders, resizes and their gradients, tables, running sums. The other
side is user_workloads.py.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from everyday_programs import Scalars, apply  # noqa: E402
from mlir_text import Tensor  # noqa: E402
from uncommon_movement import pooled  # noqa: E402


def running(f, x, axis, operation, first):
    rest = [size for i, size in enumerate(x.shape) if i != axis]
    out, start = f.empty(x.kind, x.shape), f.fill(x.kind, rest, first)
    op, a, b, c = (f.fresh() for _ in range(4))
    f.line(f"{op}:2 = iree_linalg_ext.scan dimension({axis}) inclusive(true) ins({x.name} : {x.type}) "
           f"outs({out.name}, {start.name} : {out.type}, {start.type}) {{")
    f.line(f"^bb0({a}: {x.kind}, {b}: {x.kind}):")
    f.line(f"  {c} = {operation} {a}, {b} : {x.kind}")
    f.line(f"  iree_linalg_ext.yield {c} : {x.kind}")
    f.line(f"}} -> {out.type}, {start.type}")
    return Tensor(op + "#0", x.kind, x.shape)


def scattered(f, updates, index, into, body, unique):
    """updates of [count, ...] into rows that an index of [count, 1] names."""
    name, a, b = f.fresh(), f.fresh(), f.fresh()
    f.line(f"{name} = iree_linalg_ext.scatter dimension_map = [0] unique_indices({unique}) "
           f"ins({updates.name}, {index.name} : {updates.type}, {index.type}) outs({into.name} : {into.type}) {{")
    f.line(f"^bb0({a}: {into.kind}, {b}: {into.kind}):")
    f.line(f"  iree_linalg_ext.yield {body(a, b)} : {into.kind}")
    f.line(f"}} -> {into.type}")
    return Tensor(name, into.kind, into.shape)


# ---- Caches and tables ----

def cache_append(f, kind, shape):
    """Rows of [count, width] into a cache of [slots, width], where an index says."""
    slots, size, count = shape
    cache, new, index = f.argument(kind, slots, size), f.argument(kind, count, size), f.argument("i32", count, 1)
    f.give(scattered(f, new, index, cache, lambda a, b: a, "true"))


def looked_up(f, kind, shape):
    """Bytes through a table of 256."""
    x, table = f.argument("i8", *shape), f.argument(kind, 256)
    f.give(f.map(kind, lambda v: f.extract(table, f.op("arith.index_castui", "i8", v, to="index")), x))


def counts_of(f, x, bins):
    count, column = x.shape[0], Tensor(f.fresh(), "i32", [x.shape[0], 1])
    index = f.map("i32", lambda v: f.op("arith.extui", x.kind, v, to="i32") if x.kind != "i32" else v, x)
    f.line(f"{column.name} = tensor.expand_shape {index.name} [[0, 1]] output_shape [{count}, 1] : {index.type} into {column.type}")
    return scattered(f, f.fill("i32", [count], 1), column, f.fill("i32", [bins], 0), lambda a, b: f.op("arith.addi", "i32", a, b), "false")


def equalised(f, kind, shape):
    """Bytes so that each is as frequent as another: counts, their running sum, a table of it."""
    x, s = f.argument("i8", *shape), Scalars(f)
    sums = running(f, counts_of(f, x, 256), 0, "arith.addi", 0)
    table = f.map("i8", lambda v: f.op("arith.fptoui", "f32", s.mul(f.op("arith.sitofp", "i32", v, to="f32"), 255.0 / shape[0]), to="i8"), sums)
    f.give(f.map("i8", lambda v: f.extract(table, f.op("arith.index_castui", "i8", v, to="index")), x))


def counted(f, kind, shape):
    """How often each of [bins] numbers is there."""
    count, bins = shape
    f.give(counts_of(f, f.argument("i32", count), bins))


def segments(f, kind, shape):
    """Sums of rows of [count, width] by a rising index of [parts]."""
    parts, size, count = shape
    x, index = f.argument(kind, count, size), f.argument("i32", count, 1)
    f.give(scattered(f, x, index, f.fill(kind, [parts, size], 0.0), lambda a, b: f.op("arith.addf", kind, a, b), "false"))


# ---- Images ----

def planes_of_pixels(f, kind, shape):
    """[images, height, width, 3] bytes to planes, each without its mean and scaled."""
    n, h, w = shape
    x, mean, scale, s = f.argument("i8", n, h, w, 3), f.argument("f32", 3), f.argument("f32", 3), Scalars(f)
    out = f.empty(kind, [n, 3, h, w])
    f.give(f.generic([(x, [0, 2, 3, 1]), (mean, [1]), (scale, [1])], [(out, range(4))], "pppp", lambda v, m, q, _: f.convert(
        s.mul(s.sub(s.mul(f.op("arith.uitofp", "i8", v, to="f32"), 1 / 255), m), q), "f32", kind))[0])


def patches(f, kind, shape):
    """[images, channels, rows, 16, columns, 16] to [images, rows, columns, channels, 16, 16]."""
    n, c, h, w = shape
    f.give(f.transpose(f.argument(kind, n, c, h, 16, w, 16), [0, 2, 4, 1, 3, 5]))


def pixel_unshuffle(f, kind, shape):
    """[images, channels, height, 2, width, 2] to [images, channels, 2, 2, height, width]."""
    n, c, h, w = shape
    f.give(f.transpose(f.argument(kind, n, c, h, 2, w, 2), [0, 1, 3, 5, 2, 4]))


def reflected(f, kind, shape):
    """A border of three that mirrors [images, channels, height, width]."""
    n, c, h, w = shape
    x, out = f.argument(kind, *shape), f.empty(kind, [n, c, h + 6, w + 6])

    def mirrored(at, size):
        i = f.index_op("arith.subi", f.loop_index(at), 3)
        i = f.index_op("arith.maxsi", i, f.index_op("arith.subi", 0, i))
        return f.index_op("arith.minsi", i, f.index_op("arith.subi", 2 * size - 2, i))
    f.give(f.generic([], [(out, range(4))], "pppp", lambda _: f.extract(x, f.loop_index(0), f.loop_index(1), mirrored(2, h), mirrored(3, w)))[0])


def shifted_windows(f, kind, shape):
    """[images, height, width, channels] rolled by three both ways, then windows of seven behind each other."""
    n, h, w, c = shape
    x = f.argument(kind, *shape)
    for axis, size in ((1, h), (2, w)):
        low, high = list(shape), list(shape)
        low[axis], high[axis] = 3, size - 3
        x = f.concat(axis, f.slice(x, [0 if i != axis else 3 for i in range(4)], high), f.slice(x, [0] * 4, low))
    split = Tensor(f.fresh(), kind, [n, h // 7, 7, w // 7, 7, c])
    f.line(f"{split.name} = tensor.expand_shape {x.name} [[0], [1, 2], [3, 4], [5]] output_shape {list(split.shape)} : {x.type} into {split.type}")
    f.give(f.transpose(split, [0, 1, 3, 2, 4, 5]))


def columns_of_image(f, kind, shape):
    """im2col of 3 x 3: [images, channels, 3, 3, height - 2, width - 2]."""
    n, c, h, w = shape
    x, out = f.argument(kind, *shape), f.empty(kind, [n, c, 3, 3, h - 2, w - 2])
    f.give(f.generic([(x, [0, 1, "d2 + d4", "d3 + d5"])], [(out, range(6))], "pppppp", lambda v, _: v)[0])


def image_of_columns(f, kind, shape):
    """col2im of 3 x 3, the gradient of im2col: sums of [images, channels, 3, 3, height, width] into a border of one each side."""
    n, c, h, w = shape
    x = f.argument(kind, n, c, 3, 3, h, w)
    wide = f.pad(x, [0, 0, 0, 0, 2, 2], [0, 0, 0, 0, 2, 2], 0.0)
    start = f.fill("f32", [n, c, h + 2, w + 2], 0.0)
    out = f.generic([(wide, [0, 1, 4, 5, "d2 - d4 + 2", "d3 - d5 + 2"])], [(start, [0, 1, 2, 3])], "pppprr",
                    lambda v, t: f.op("arith.addf", "f32", t, f.convert(v, kind, "f32")))[0]
    f.give(out if kind == "f32" else f.map(kind, lambda v: f.convert(v, "f32", kind), out))


def mean_pool_gradient(f, kind, shape):
    """Each of [images, channels, height, width] to four, a quarter of it."""
    n, c, h, w = shape
    dy, s = f.argument(kind, *shape), Scalars(f)
    out = f.empty(kind, [n, c, h, 2, w, 2])
    f.give(f.generic([(dy, [0, 1, 2, 4])], [(out, range(6))], "pppppp", lambda v, _: f.convert(s.mul(f.convert(v, kind, "f32"), 0.25), "f32", kind))[0])


def max_pool_gradient(f, kind, shape):
    """[images, channels, height, 2, width, 2]: the gradient goes where the largest of four is."""
    n, c, h, w = shape
    x, y, dy = f.argument(kind, n, c, h, 2, w, 2), f.argument(kind, *shape), f.argument(kind, *shape)

    def body(v, m, d):
        same = f.fresh()
        f.line(f"{same} = arith.cmpf oge, {v}, {m} : {kind}")
        return f.select(same, kind, d, f.constant(kind, 0.0))
    f.give(f.map(kind, body, x, y, dy, broadcast={1: [0, 1, 2, 4], 2: [0, 1, 2, 4]}))


def resized(f, kind, shape):
    """Bilinear, by 3 / 2: [images, channels, height, width]."""
    n, c, h, w = shape
    x, s, rows, columns = f.argument(kind, *shape), Scalars(f), h * 3 // 2, w * 3 // 2
    out = f.empty(kind, [n, c, rows, columns])

    def place(at, size):
        i = f.op("arith.uitofp", "i32", f.loop_index(at, "i32"), to="f32")
        p = s.max(s.sub(s.mul(s.add(i, 0.5), size / (size * 3 // 2)), 0.5), 0.0)
        low = f.op("arith.index_cast", "i32", f.op("arith.fptosi", "f32", p, to="i32"), to="index")
        share = s.sub(p, f.op("math.floor", "f32", p))
        return low, f.index_op("arith.minsi", f.index_op("arith.addi", low, 1), size - 1), share

    def body(_):
        top, bottom, down = place(2, h)
        left, right, over = place(3, w)
        a, b, p, q = (f.convert(f.extract(x, f.loop_index(0), f.loop_index(1), i, j), kind, "f32") for i in (top, bottom) for j in (left, right))
        upper, lower = s.add(a, s.mul(over, s.sub(b, a))), s.add(p, s.mul(over, s.sub(q, p)))
        return f.convert(s.add(upper, s.mul(down, s.sub(lower, upper))), "f32", kind)
    f.give(f.generic([], [(out, range(4))], "pppp", body)[0])


def moving_mean(f, kind, shape):
    """Means of 32 elements along rows."""
    x = f.argument(kind, *shape)
    out = pooled(f, x, "arith.addf", 0.0, [32], [1], [1])
    f.give(f.map(kind, lambda v: f.op("arith.mulf", kind, v, f.constant(kind, 1 / 32)), out))


# ---- Pairs, halves and triangles ----

def complex_product(f, kind, shape):
    """[rows, columns, 2] by [rows, columns, 2]: real and imaginary beside each other."""
    x, y, s = f.argument(kind, *shape, 2), f.argument(kind, *shape, 2), Scalars(f)
    sizes = [*shape, 1]
    a, b, c, d = (f.slice(t, [0, 0, at], sizes) for t in (x, y) for at in (0, 1))
    real = apply(f, kind, lambda a, b, c, d: s.sub(s.mul(a, c), s.mul(b, d)), a, b, c, d)
    f.give(f.concat(2, real, apply(f, kind, lambda a, b, c, d: s.add(s.mul(a, d), s.mul(b, c)), a, b, c, d)))


def butterfly(f, kind, shape):
    """Halves of rows: their sum, and their difference turned; real and imaginary parts apart. [rows, 2, half]"""
    rows, half = shape
    re, im = f.argument(kind, rows, 2, half), f.argument(kind, rows, 2, half)
    cos, sin, s = f.argument("f32", half), f.argument("f32", half), Scalars(f)
    outs = [(f.empty(kind, [rows, half]), [0, 1]) for _ in range(4)]
    parts = [(t, [0, str(at), 1]) for t in (re, im) for at in (0, 1)]

    def body(a, b, c, d, u, v, *_):
        a, b, c, d = (f.convert(t, kind, "f32") for t in (a, b, c, d))
        x, y = s.sub(a, b), s.sub(c, d)
        values = s.add(a, b), s.add(c, d), s.sub(s.mul(x, u), s.mul(y, v)), s.add(s.mul(x, v), s.mul(y, u))
        return [f.convert(t, "f32", kind) for t in values]
    f.give(*f.generic(parts + [(cos, [1]), (sin, [1])], outs, "pp", body))


def lower_triangle(f, kind, shape):
    """[count, n, n] with zeroes above the diagonal, scaled."""
    x, s = f.argument(kind, shape[0], shape[1], shape[1]), Scalars(f)

    def body(v):
        seen = f.fresh()
        f.line(f"{seen} = arith.cmpi ule, {f.loop_index(2)}, {f.loop_index(1)} : index")
        return f.convert(f.select(seen, "f32", s.mul(f.convert(v, kind, "f32"), 0.125), f.constant("f32", 0.0)), "f32", kind)
    f.give(f.map(kind, body, x))


def chosen(f, kind, shape):
    """A chain of conditions: three tensors and a mask of bytes."""
    x, y, z, mask = *(f.argument(kind, *shape) for _ in range(3)), f.argument("i8", *shape)

    def body(u, v, w, m):
        on, more, less = f.fresh(), f.fresh(), f.fresh()
        f.line(f"{on} = arith.cmpi ne, {m}, {f.constant('i8', 0)} : i8")
        f.line(f"{more} = arith.cmpf ogt, {u}, {v} : {kind}")
        f.line(f"{less} = arith.cmpf olt, {u}, {f.constant(kind, 0.0)} : {kind}")
        inner = f.select(more, kind, u, f.select(less, kind, w, v))
        return f.select(on, kind, inner, f.constant(kind, -1.0))
    f.give(f.map(kind, body, x, y, z, mask))


def discounted(f, kind, shape):
    """Running products of [batch, steps, width] along steps."""
    f.give(running(f, f.argument(kind, *shape), 1, "arith.mulf", 1.0))


OPERATIONS = {f.__name__: f for f in (
    cache_append, looked_up, equalised, counted, segments, planes_of_pixels, patches, pixel_unshuffle, reflected, shifted_windows,
    columns_of_image, image_of_columns, mean_pool_gradient, max_pool_gradient, resized, moving_mean, complex_product, butterfly,
    lower_triangle, chosen, discounted)}
