# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What moves elements now and then, as MLIR: image layouts, interleaved and reversed tensors, rows by index, scatters and scans along short
axes, pools and resizes. The other side is uncommon_workloads.py.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from everyday_programs import Scalars, apply, best_of_rows  # noqa: E402
from mlir_text import Tensor, is_float  # noqa: E402

TURNS = ["10", "021", "102", "0231", "0312", "0321", "1032", "2103", "41302"]
# Pieces of a concatenation of many.
PIECES = [1, 3, 17, 64, 5, 100, 33, 2, 7, 31, 12, 128]


# ---- Movement ----

def permuted(order):
    def write(f, kind, shape):
        f.give(f.transpose(f.argument(kind, *shape), [int(axis) for axis in order]))
    write.__name__ = "turn" + order
    return write


def concat_many(f, kind, shape):
    """Rows of PIECES columns beside each other."""
    f.give(f.concat(1, *[f.argument(kind, shape[0], piece) for piece in PIECES]))


def stack_last(f, kind, shape):
    """Two tensors element by element in turn."""
    x, y = f.argument(kind, *shape), f.argument(kind, *shape)
    rank = len(shape)
    sides = []
    for t in (x, y):
        wide = Tensor(f.fresh(), kind, list(t.shape) + [1])
        groups = ", ".join(f"[{i}]" if i < rank - 1 else f"[{i}, {i + 1}]" for i in range(rank))
        f.line(f"{wide.name} = tensor.expand_shape {t.name} [{groups}] output_shape [{', '.join(map(str, wide.shape))}] : {t.type} into {wide.type}")
        sides.append(wide)
    f.give(f.concat(rank, *sides))


def every_second(f, kind, shape):
    """Columns 1, 3, 5, ..."""
    x = f.argument(kind, *shape)
    f.give(f.slice(x, [0, 1], [x.shape[0], shape[1] // 2], [1, 2]))


def every_third_row(f, kind, shape):
    x = f.argument(kind, *shape)
    f.give(f.slice(x, [1, 0], [shape[0] // 3, x.shape[1]], [3, 1]))


def backwards(f, kind, shape):
    """Rows read from their end."""
    x = f.argument(kind, *shape)
    out = f.empty(kind, x.shape)

    def body(_):
        at = f.index_op("arith.subi", shape[1] - 1, f.loop_index(1))
        return f.extract(x, f.loop_index(0), at)
    f.give(f.generic([], [(out, [0, 1])], "pp", body)[0])


def rolled(f, kind, shape):
    """Rows turned round by 5 columns."""
    x = f.argument(kind, *shape)
    f.give(f.concat(1, f.slice(x, [0, shape[1] - 5], [x.shape[0], 5]), f.slice(x, [0, 0], [x.shape[0], shape[1] - 5])))


def repeated(f, kind, shape):
    """Each row three times, one behind the other (heads of grouped attention)."""
    x = f.argument(kind, *shape)
    out = f.empty(kind, [x.shape[0], 3, x.shape[1]])
    f.give(f.generic([(x, [0, 2])], [(out, [0, 1, 2])], "ppp", lambda v, _: v)[0])


def doubled_image(f, kind, shape):
    """Nearest neighbours: [images, channels, height, width] to twice the height and width."""
    x = f.argument(kind, *shape)
    n, c, h, w = x.shape
    out = f.empty(kind, [n, c, h, 2, w, 2])
    f.give(f.generic([(x, [0, 1, 2, 4])], [(out, range(6))], "pppppp", lambda v, _: v)[0])


def rope_pairs(f, kind, shape):
    """Rotary embedding of [batch, positions, heads, width / 2, 2], neighbours rotated."""
    x = f.argument(kind, *shape, 2)
    cos, sin = (f.argument("f32", shape[1], shape[3]) for _ in range(2))
    s, parts = Scalars(f), []
    sizes = list(x.shape[:4]) + [1]
    a, b = (f.slice(x, [0, 0, 0, 0, at], sizes) for at in (0, 1))
    for first, second, operation in ((a, b, s.sub), (b, a, s.add)):
        parts.append(apply(f, kind, lambda u, v, c, n: operation(s.mul(u, c), s.mul(v, n)), first, second, cos, sin, along={2: [1, 3], 3: [1, 3]}))
    f.give(f.concat(4, *parts))


# ---- By index ----

def rows_by_index(f, kind, shape):
    """[entries, width] by an i32 index of [count]."""
    entries, size, count = shape
    table, index = f.argument(kind, entries, size), f.argument("i32", count)
    out = f.empty(kind, [index.shape[0], table.shape[1]])
    f.give(f.generic([(index, [0])], [(out, [0, 1])], "pp",
                     lambda i, _: f.extract(table, f.op("arith.index_cast", "i32", i, to="index"), f.loop_index(1)))[0])


def columns_by_index(f, kind, shape):
    """[rows, width] by an i32 index of [count] columns."""
    rows, size, count = shape
    table, index = f.argument(kind, rows, size), f.argument("i32", count)
    out = f.empty(kind, [table.shape[0], index.shape[0]])
    f.give(f.generic([(index, [1])], [(out, [0, 1])], "pp",
                     lambda i, _: f.extract(table, f.loop_index(0), f.op("arith.index_cast", "i32", i, to="index")))[0])


def along_rows(f, kind, shape):
    """x[i, index[i, j]]: [rows, width] by [rows, count]."""
    rows, size, count = shape
    x, index = f.argument(kind, rows, size), f.argument("i64", rows, count)
    f.give(f.map(kind, lambda i: f.extract(x, f.loop_index(0), f.op("arith.index_cast", "i64", i, to="index")), index))


def scattered_rows(f, kind, shape):
    """The gradient of an embedding: rows of [count, width] added up where an index says."""
    entries, size, count = shape
    updates, index = f.argument(kind, count, size), f.argument("i32", count, 1)
    into = f.fill(kind, [entries, size], 0.0)
    name, a, b, c = f.fresh(), f.fresh(), f.fresh(), f.fresh()
    f.line(f"{name} = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) "
           f"ins({updates.name}, {index.name} : {updates.type}, {index.type}) outs({into.name} : {into.type}) {{")
    f.line(f"^bb0({a}: {kind}, {b}: {kind}):")
    f.line(f"  {c} = arith.addf {a}, {b} : {kind}")
    f.line(f"  iree_linalg_ext.yield {c} : {kind}")
    f.line(f"}} -> {into.type}")
    f.give(Tensor(name, kind, into.shape))


def one_hot(f, kind, shape):
    index = f.argument("i64", shape[0])
    out = f.empty(kind, list(shape))

    def body(place, _):
        hit = f.fresh()
        f.line(f"{hit} = arith.cmpi eq, {f.loop_index(1, 'i64')}, {place} : i64")
        return f.select(hit, kind, f.constant(kind, 1.0), f.constant(kind, 0.0))
    f.give(f.generic([(index, [0])], [(out, [0, 1])], "pp", body)[0])


def scan(name, axis, operation):
    def write(f, kind, shape):
        x = f.argument(kind, *shape)
        rest = [size for i, size in enumerate(x.shape) if i != axis]
        first = float("-inf") if "max" in operation else 0
        out, start = f.empty(kind, x.shape), f.fill(kind, rest, first)
        op, a, b, c = f.fresh(), f.fresh(), f.fresh(), f.fresh()
        word = operation if is_float(kind) else "arith.addi"
        f.line(f"{op}:2 = iree_linalg_ext.scan dimension({axis}) inclusive(true) ins({x.name} : {x.type}) "
               f"outs({out.name}, {start.name} : {out.type}, {start.type}) {{")
        f.line(f"^bb0({a}: {kind}, {b}: {kind}):")
        f.line(f"  {c} = {word} {a}, {b} : {kind}")
        f.line(f"  iree_linalg_ext.yield {c} : {kind}")
        f.line(f"}} -> {out.type}, {start.type}")
        f.give(Tensor(op + "#0", kind, x.shape))
    write.__name__ = name
    return write


def experts(f, kind, shape):
    """The eight best of each row, with their places."""
    f.give(*best_of_rows(f, f.argument(kind, *shape), 8))


def sorted_rows(f, kind, shape):
    x = f.argument(kind, *shape)
    name, a, b, e = (f.fresh() for _ in range(4))
    f.line(f"{name} = iree_linalg_ext.sort dimension(1) outs({x.name} : {x.type}) {{")
    f.line(f"^bb0({a}: {kind}, {b}: {kind}):")
    f.line(f"  {e} = arith.cmpf olt, {a}, {b} : {kind}")
    f.line(f"  iree_linalg_ext.yield {e} : i1")
    f.line(f"}} -> {x.type}")
    f.give(Tensor(name, kind, x.shape))


# ---- Windows ----

def pooled(f, x, operation, start, window, steps, dimensions):
    """A reduction over windows along some dimensions, which come without borders."""
    rank, count = len(x), len(dimensions)
    sizes, indices = list(x.shape), []
    for i in range(rank):
        if i in dimensions:
            k = dimensions.index(i)
            sizes[i] = (x.shape[i] - window[k]) // steps[k] + 1
            indices.append(f"d{i} * {steps[k]} + d{rank + k}")
        else:
            indices.append(i)
    out, of_window = f.fill(x.kind, sizes, start), f.empty(x.kind, window)
    return f.generic([(x, indices), (of_window, range(rank, rank + count))], [(out, range(rank))], "p" * rank + "r" * count,
                     lambda v, _, so_far: f.op(operation, x.kind, so_far, v))[0]


def max_pool_last(f, kind, shape):
    """3 x 3 in steps of 2, a border of one: [images, height, width, channels]."""
    x = f.pad(f.argument(kind, *shape), [0, 1, 1, 0], [0, 1, 1, 0], float("-inf"))
    f.give(pooled(f, x, "arith.maximumf", float("-inf"), [3, 3], [2, 2], [1, 2]))


def max_pool_first(f, kind, shape):
    """The same of [images, channels, height, width]."""
    x = f.pad(f.argument(kind, *shape), [0, 0, 1, 1], [0, 0, 1, 1], float("-inf"))
    f.give(pooled(f, x, "arith.maximumf", float("-inf"), [3, 3], [2, 2], [2, 3]))


def max_pool_volume(f, kind, shape):
    """2 x 2 x 2 of [images, channels, depth, height, width]."""
    f.give(pooled(f, f.argument(kind, *shape), "arith.maximumf", float("-inf"), [2, 2, 2], [2, 2, 2], [2, 3, 4]))


def mean_pool_first(f, kind, shape):
    """5 x 5 in steps of 3 of [images, channels, height, width]."""
    out = pooled(f, f.argument(kind, *shape), "arith.addf", 0.0, [5, 5], [3, 3], [2, 3])
    f.give(f.map(kind, lambda v: f.op("arith.mulf", kind, v, f.constant(kind, 0.04)), out))


def line_max(f, kind, shape):
    """Windows of 7 along the last dimension, in steps of one."""
    f.give(pooled(f, f.argument(kind, *shape), "arith.maximumf", float("-inf"), [7], [1], [1]))


def bilinear(f, kind, shape):
    """To twice the height and width: [images, height, width, channels]."""
    x = f.argument(kind, *shape)
    n, h, w, c = shape
    out = Tensor(f.fresh(), kind, [n, 2 * h, 2 * w, c])
    scale, offset, border = f.fresh(), f.fresh(), f.fresh()
    f.line(f"{scale} = tosa.const_shape {{values = dense<[4, 2, 4, 2]> : tensor<4xindex>}} : () -> !tosa.shape<4>")
    f.line(f"{offset} = tosa.const_shape {{values = dense<[-1, -1]> : tensor<2xindex>}} : () -> !tosa.shape<2>")
    f.line(f"{border} = tosa.const_shape {{values = dense<[1, 1]> : tensor<2xindex>}} : () -> !tosa.shape<2>")
    f.line(f"{out.name} = tosa.resize {x.name}, {scale}, {offset}, {border} {{mode = BILINEAR}} : ({x.type}, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> {out.type}")
    f.give(out)


OPERATIONS = {f.__name__: f for f in (
    *map(permuted, TURNS), concat_many, stack_last, every_second, every_third_row, backwards, rolled, repeated, doubled_image, rope_pairs,
    rows_by_index, columns_by_index, along_rows, scattered_rows, one_hot, scan("running_0", 0, "arith.addf"), scan("running_1", 1, "arith.addf"),
    scan("running_max_1", 1, "arith.maximumf"), experts, sorted_rows, max_pool_last, max_pool_first, max_pool_volume, mean_pool_first, line_max,
    bilinear)}
