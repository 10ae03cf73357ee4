# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs ask for now and then, as MLIR: reductions over any axes, gradients of norms and losses, thin products; what moves elements
is in uncommon_movement.py. The other side is uncommon_workloads.py.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from everyday_programs import EPSILON, Scalars, apply, divided, exponentials, identity, total  # noqa: E402
from mlir_text import is_float  # noqa: E402
import uncommon_movement  # noqa: E402

REDUCED = ["sum_0", "sum_1", "sum_01", "sum_02", "sum_13", "max_0", "max_01", "max_1", "prod_1", "any_1", "all_01", "count_0", "count_1"]


def narrow(f, x, kind):
    return x if x.kind == kind else f.map(kind, lambda v: f.convert(v, x.kind, kind), x)


# ---- Reductions ----

def reduction(name):
    """sum_02: sums over the axes 0 and 2. Sums of bytes are i32, of half precision f32 until they are stored."""
    word, axes = name.split("_")
    axes = [int(axis) for axis in axes]

    def write(f, kind, shape):
        x = f.argument(kind, *shape)
        if word in ("any", "all", "count"):
            to, operation, start = ("i32", "arith.addi", 0) if word == "count" else ("i1", "arith.ori" if word == "any" else "arith.andi", word == "all")
            first = f.fill(to, [size for i, size in enumerate(x.shape) if i not in axes], start)

            def step(value, sum_so_far):
                bit = f.fresh()
                f.line(f"{bit} = arith.cmpi ne, {value}, {f.constant(kind, 0)} : {kind}")
                return f.op(operation, to, sum_so_far, bit if to == "i1" else f.op("arith.extui", "i1", bit, to="i32"))
            kept = [i for i in range(len(x)) if i not in axes]
            loops = "".join("r" if i in axes else "p" for i in range(len(x)))
            out = f.generic([(x, range(len(x)))], [(first, kept)], loops, step)[0]
            f.give(out if to == "i32" else f.map("i8", lambda v: f.op("arith.extui", "i1", v, to="i8"), out))
            return
        if word == "max":
            f.give(f.reduce(x, axes, "arith.maximumf" if is_float(kind) else "arith.maxsi", float("-inf") if is_float(kind) else -128))
            return
        to = "f32" if kind in ("f16", "bf16") else "i32" if kind == "i8" else kind
        operation = ("arith.addf" if is_float(kind) else "arith.addi") if word == "sum" else "arith.mulf"
        out = f.reduce(x, axes, operation, 0 if word == "sum" else 1, kind=to)
        f.give(out if kind == "i8" else narrow(f, out, kind))
    write.__name__ = name
    return write


def argmax(axis):
    def write(f, kind, shape):
        x = f.argument(kind, *shape)
        kept = [i for i in range(len(x)) if i != axis]
        rest = [x.shape[i] for i in kept]
        top, place = f.fill(kind, rest, float("-inf")), f.fill("i64", rest, 0)

        def body(v, best, at):
            larger = f.fresh()
            f.line(f"{larger} = arith.cmpf ogt, {v}, {best} : {kind}")
            return [f.select(larger, kind, v, best), f.select(larger, "i64", f.loop_index(axis, "i64"), at)]
        loops = "".join("p" if i != axis else "r" for i in range(len(x)))
        f.give(*f.generic([(x, range(len(x)))], [(top, kept), (place, kept)], loops, body))
    write.__name__ = f"argmax_{axis}"
    return write


def moments(f, kind, shape):
    """Means and variances of rows in one pass over them."""
    x, s = f.argument(kind, *shape), Scalars(f)
    start = [(f.fill("f32", [x.shape[0]], 0.0), [0]) for _ in range(2)]

    def body(v, a, b):
        v = f.convert(v, kind, "f32")
        return [s.add(a, v), s.add(b, s.mul(v, v))]
    sums, squares = f.generic([(x, [0, 1])], start, "pr", body)
    mean = divided(f, sums, x.shape[1])
    f.give(mean, f.map("f32", lambda q, m: s.sub(q, s.mul(m, m)), divided(f, squares, x.shape[1]), mean))


def logsumexp_0(f, kind, shape):
    s = Scalars(f)
    top, sums, _ = exponentials(f, f.argument(kind, *shape), 0)
    f.give(apply(f, kind, lambda t, n: s.add(t, s.log(n)), top, sums))


def length(f, kind, shape):
    """The root of the sum of squares of everything."""
    x, s = f.argument(kind, *shape), Scalars(f)
    f.give(apply(f, kind, s.sqrt, total(f, x, list(range(len(x))), lambda v: s.mul(v, v))))


# ---- Softmax, norms, losses, and their gradients ----

def softmax_along(f, kind, shape, axis):
    x, s = f.argument(kind, *shape), Scalars(f)
    top, sums, kept = exponentials(f, x, axis)
    f.give(apply(f, kind, lambda v, t, n: s.div(s.exp(s.sub(v, t)), n), x, top, sums, along={1: kept, 2: kept}))


def softmax_0(f, kind, shape):
    softmax_along(f, kind, shape, 0)


def softmax_last(f, kind, shape):
    softmax_along(f, kind, shape, len(shape) - 1)


def softmax_gradient(f, kind, shape):
    """y (dy - sum of y dy over the row)."""
    y, dy, s = f.argument(kind, *shape), f.argument(kind, *shape), Scalars(f)
    dot = total(f, y, [1], lambda a, b: s.mul(a, b), (dy, [0, 1]))
    f.give(apply(f, kind, lambda a, b, d: s.mul(a, s.sub(b, d)), y, dy, dot, along={2: [0]}))


def statistics(f, x, axes):
    s, kept = Scalars(f), [i for i in range(len(x)) if i not in axes]
    sizes = [x.shape[i] for i in axes]
    mean = divided(f, total(f, x, axes, identity), *sizes)
    spread = divided(f, total(f, x, axes, lambda v, m: s.mul(s.sub(v, m), s.sub(v, m)), (mean, kept)), *sizes)
    return mean, f.map("f32", lambda q: s.rsqrt(s.add(q, EPSILON)), spread), kept


def norm_last(f, kind, shape):
    """A layer norm without weights."""
    x, s = f.argument(kind, *shape), Scalars(f)
    mean, root, kept = statistics(f, x, [len(shape) - 1])
    f.give(apply(f, kind, lambda v, m, r: s.mul(s.sub(v, m), r), x, mean, root, along={1: kept, 2: kept}))


def norm_gradient(f, kind, shape, axes, of_weight):
    """Gradients of a norm over these axes with weights: by its input, its weight, its bias."""
    x, dy = f.argument(kind, *shape), f.argument(kind, *shape)
    gamma, s = f.argument("f32", *[shape[i] for i in of_weight]), Scalars(f)
    mean, root, kept = statistics(f, x, axes)
    sizes, rank = [x.shape[i] for i in axes], len(x)

    def normal(v, m, r):
        return s.mul(s.sub(v, m), r)
    by_row = [(dy, range(rank)), (gamma, of_weight), (mean, kept), (root, kept)]
    first = divided(f, total(f, x, axes, lambda v, d, g, m, r: s.mul(d, g), *by_row), *sizes)
    second = divided(f, total(f, x, axes, lambda v, d, g, m, r: s.mul(s.mul(d, g), normal(v, m, r)), *by_row), *sizes)

    def body(v, d, g, m, r, a, b):
        return s.mul(r, s.sub(s.sub(s.mul(d, g), a), s.mul(normal(v, m, r), b)))
    dx = apply(f, kind, body, x, dy, gamma, mean, root, first, second, along={2: of_weight, 3: kept, 4: kept, 5: kept, 6: kept})
    others = [i for i in range(rank) if i not in of_weight]
    dgamma = total(f, x, others, lambda v, d, m, r: s.mul(d, normal(v, m, r)), (dy, range(rank)), (mean, kept), (root, kept))
    f.give(dx, dgamma, total(f, dy, others, identity))


def layernorm_gradient(f, kind, shape):
    norm_gradient(f, kind, shape, [1], [1])


def batch_norm_gradient(f, kind, shape):
    """[images, channels, places]"""
    norm_gradient(f, kind, shape, [0, 2], [1])


def group_norm_gradient(f, kind, shape):
    """[images, groups, channels of a group, places]"""
    norm_gradient(f, kind, shape, [2, 3], [1, 2])


def loss_gradient(f, kind, shape):
    """Cross-entropy of each row and the gradient of its mean: (softmax - one hot) / rows."""
    x, target, s = f.argument(kind, *shape), f.argument("i64", shape[0]), Scalars(f)
    top, sums, kept = exponentials(f, x, 1)

    def loss(place, t, n):
        taken = f.extract(x, f.loop_index(0), f.op("arith.index_cast", "i64", place, to="index"))
        return s.sub(s.add(t, s.log(n)), f.convert(taken, kind, "f32"))

    def body(v, t, n, place):
        hit = f.fresh()
        f.line(f"{hit} = arith.cmpi eq, {f.loop_index(1, 'i64')}, {place} : i64")
        p = s.div(s.exp(s.sub(f.convert(v, kind, "f32"), t)), n)
        less = s.sub(p, f.select(hit, "f32", f.constant("f32", 1.0), f.constant("f32", 0.0)))
        return f.convert(s.div(less, s.number(shape[0])), "f32", kind)
    f.give(f.map("f32", loss, target, top, sums), f.map(kind, body, x, top, sums, target, broadcast={1: kept, 2: kept, 3: kept}))


# ---- Elementwise ----

def sum_of_many(f, kind, shape):
    """Twelve tensors added up."""
    tensors = [f.argument(kind, *shape) for _ in range(12)]
    s = Scalars(f)

    def body(*values):
        so_far = values[0]
        for value in values[1:]:
            so_far = s.add(so_far, value)
        return so_far
    f.give(apply(f, kind, body, *tensors))


def both_sides(f, kind, shape):
    """x scaled by row, shifted by column, masked by bytes: three types."""
    x, mask = f.argument(kind, *shape), f.argument("i8", *shape)
    by_row, by_column, s = f.argument("f32", shape[0]), f.argument("bf16", shape[1]), Scalars(f)

    def body(v, m, r, c):
        on = f.fresh()
        f.line(f"{on} = arith.cmpi ne, {m}, {f.constant('i8', 0)} : i8")
        wide = s.add(s.mul(f.convert(v, kind, "f32"), r), f.convert(c, "bf16", "f32"))
        return f.convert(f.select(on, "f32", wide, f.constant("f32", 0.0)), "f32", kind)
    f.give(f.map(kind, body, x, mask, by_row, by_column, broadcast={2: [0], 3: [1]}))


def outer_sum(f, kind, shape):
    x, y = f.argument(kind, shape[0]), f.argument(kind, shape[1])
    out = f.empty(kind, [x.shape[0], y.shape[0]])
    f.give(f.generic([(x, [0]), (y, [1])], [(out, [0, 1])], "pp", lambda u, v, _: f.op("arith.addf", kind, u, v))[0])


def nibbles(f, kind, shape):
    """Two 4-bit numbers of each byte, scaled by group of 32: [rows, groups, 16] bytes to [rows, groups, 16, 2]."""
    rows, groups = shape
    x, scale, s = f.argument("i8", rows, groups, 16), f.argument("f32", rows, groups), Scalars(f)
    out = f.empty(kind, [rows, groups, 16, 2])

    def body(v, q, _):
        wide = f.op("arith.extui", "i8", v, to="i32")
        shift = f.op("arith.muli", "i32", f.loop_index(3, "i32"), f.constant("i32", 4))
        part = f.op("arith.andi", "i32", f.op("arith.shrui", "i32", wide, shift), f.constant("i32", 15))
        number = s.sub(f.op("arith.sitofp", "i32", part, to="f32"), 8.0)
        return f.convert(s.mul(number, q), "f32", kind)
    f.give(f.generic([(x, [0, 1, 2]), (scale, [0, 1])], [(out, range(4))], "pppp", body)[0])


def momentum(f, kind, shape):
    """SGD: m = 0.9 m + g; p = p - 0.01 m; and an average of p."""
    p, g, m, a = (f.argument(kind, *shape) for _ in range(4))
    s = Scalars(f)

    def body(*values):
        p, g, m, a = (f.convert(value, kind, "f32") for value in values)
        m = s.add(s.mul(m, 0.9), g)
        p = s.sub(p, s.mul(m, 0.01))
        return [f.convert(value, "f32", kind) for value in (p, m, s.add(s.mul(a, 0.99), s.mul(p, 0.01)))]
    f.give(*f.map([kind] * 3, body, p, g, m, a))


def counters(f, kind, shape):
    """Numbers of a counter-based generator: six rounds of a product of 32 bits and its high half."""
    out = f.empty("i32", list(shape))

    def body(_):
        a, b = f.loop_index(0, "i32"), f.constant("i32", 77)
        factor, step = f.constant("i32", -766435501), f.constant("i32", -1640531527)
        key = f.constant("i32", 12345)
        for _ in range(6):
            low, high = f.fresh(), f.fresh()
            f.line(f"{low}, {high} = arith.mului_extended {a}, {factor} : i32")
            a, b = f.op("arith.xori", "i32", f.op("arith.xori", "i32", high, key), b), low
            key = f.op("arith.addi", "i32", key, step)
        return f.op("arith.xori", "i32", a, b)
    f.give(f.generic([], [(out, [0])], "p", body)[0])


# ---- Thin products ----

def product(f, kind, sides, loops, a, b, out):
    """A sum of products in f32, stored as `kind`."""
    start = f.fill("f32", [sides[i] for i in out], 0.0)
    result = f.generic([(a[0], a[1]), (b[0], b[1])], [(start, out)], loops,
                       lambda u, v, t: f.op("arith.addf", "f32", t, f.op("arith.mulf", "f32", f.convert(u, kind, "f32"), f.convert(v, kind, "f32"))))[0]
    f.give(narrow(f, result, kind))


def dot(f, kind, shape):
    x, y = f.argument(kind, *shape), f.argument(kind, *shape)
    product(f, kind, x.shape, "r", (x, [0]), (y, [0]), [])


def matrix_vector(f, kind, shape):
    x, y = f.argument(kind, *shape), f.argument(kind, shape[1])
    product(f, kind, x.shape, "pr", (x, [0, 1]), (y, [1]), [0])


def vector_matrix(f, kind, shape):
    x, y = f.argument(kind, *shape), f.argument(kind, shape[0])
    product(f, kind, x.shape, "rp", (y, [0]), (x, [0, 1]), [1])


def tiny_products(f, kind, shape):
    """[count, n, n] by [count, n, n]."""
    count, n = shape
    x, y = f.argument(kind, count, n, n), f.argument(kind, count, n, n)
    product(f, kind, [x.shape[0], n, n, n], "pppr", (x, [0, 1, 3]), (y, [0, 3, 2]), [0, 1, 2])


def tiny_vectors(f, kind, shape):
    """[count, n, n] by [count, n]."""
    count, n = shape
    x, y = f.argument(kind, count, n, n), f.argument(kind, count, n)
    product(f, kind, [x.shape[0], n, n], "ppr", (x, [0, 1, 2]), (y, [0, 2]), [0, 1])


def pair_distances(f, kind, shape):
    """Squared distances of [count] points of three to [others]."""
    x, y, s = f.argument(kind, shape[0], 3), f.argument(kind, shape[1], 3), Scalars(f)
    start = f.fill(kind, [x.shape[0], y.shape[0]], 0.0)
    f.give(f.generic([(x, [0, 2]), (y, [1, 2])], [(start, [0, 1])], "ppr",
                     lambda u, v, t: s.add(t, s.mul(s.sub(u, v), s.sub(u, v))))[0])


OPERATIONS = {f.__name__: f for f in (
    *map(reduction, REDUCED), *map(argmax, range(3)), moments, logsumexp_0, length, softmax_0, softmax_last, softmax_gradient, norm_last,
    layernorm_gradient, batch_norm_gradient, group_norm_gradient, loss_gradient, sum_of_many, both_sides, outer_sum, nibbles, momentum, counters,
    dot, matrix_vector, vector_matrix, tiny_products, tiny_vectors, pair_distances)} | uncommon_movement.OPERATIONS
