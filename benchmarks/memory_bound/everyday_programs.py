# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What models compute between their products, as MLIR: masks, gates, residuals, groups, splits. Their sizes were drawn at
random, once, and nothing is tuned to them. The other side is everyday_workloads.py.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from mlir_text import Tensor  # noqa: E402

EPSILON = 1e-5


def best_of_rows(f, x, count):
    """The largest `count` of each row, in order, and their places."""
    kind = x.kind
    values, places = f.fill(kind, [x.shape[0], count], float("-inf")), f.fill("i32", [x.shape[0], count], 0)
    name, a, b, c = f.fresh(), f.fresh(), f.fresh(), f.fresh()
    f.line(f"{name}:2 = iree_linalg_ext.topk dimension(1) ins({x.name} : {x.type}) "
           f"outs({values.name}, {places.name} : {values.type}, {places.type}) {{")
    f.line(f"^bb0({a}: {kind}, {b}: {kind}):")
    f.line(f"  {c} = arith.cmpf ogt, {a}, {b} : {kind}")
    f.line(f"  iree_linalg_ext.yield {c} : i1")
    f.line(f"}} -> {values.type}, {places.type}")
    return Tensor(name + "#0", kind, values.shape), Tensor(name + "#1", "i32", places.shape)


class Scalars:
    """f32 arithmetic in a body: s.add(a, b); numbers become constants."""

    def __init__(self, f):
        self.f = f

    def __getattr__(self, name):
        operation = {"add": "arith.addf", "sub": "arith.subf", "mul": "arith.mulf", "div": "arith.divf", "exp": "math.exp",
                     "rsqrt": "math.rsqrt", "sqrt": "math.sqrt", "log": "math.log", "erf": "math.erf", "max": "arith.maximumf",
                     "abs": "math.absf", "round": "math.roundeven"}[name]
        return lambda *values: self.f.op(operation, "f32", *[self.f.constant("f32", v) if isinstance(v, float) else v for v in values])

    def number(self, size):
        if isinstance(size, int):
            return self.f.constant("f32", float(size))
        return self.f.op("arith.sitofp", "i64", self.f.op("arith.index_cast", "index", size, to="i64"), to="f32")


def wide(f, body):
    """A body whose scalars are f32, whatever the tensors hold."""
    return lambda kinds, to: lambda *v: f.convert(body(*[f.convert(x, kind, "f32") for x, kind in zip(v, kinds)]), "f32", to)


def apply(f, to, body, *tensors, along=None):
    """Elementwise in f32; along: {number of a tensor: its dimensions}."""
    return f.map(to, wide(f, body)([t.kind for t in tensors], to), *tensors, broadcast=along)


def total(f, x, dimensions, body, *vectors, operation="arith.addf", initial=0.0):
    """A reduction in f32 of body(x, *vectors); vectors: (tensor, dimensions)."""
    kept = [i for i in range(len(x)) if i not in dimensions]
    start = f.fill("f32", [x.shape[i] for i in kept], initial)
    tensors = [x] + [t for t, _ in vectors]

    def step(*values):
        given = [f.convert(v, t.kind, "f32") for v, t in zip(values, tensors)]
        return f.op(operation, "f32", values[-1], body(*given))

    loops = "".join("r" if i in dimensions else "p" for i in range(len(x)))
    return f.generic([(x, range(len(x)))] + list(vectors), [(start, kept)], loops, step)[0]


def identity(v):
    return v


def divided(f, x, *sizes):
    s = Scalars(f)

    def body(v):
        count = s.number(sizes[0])
        for size in sizes[1:]:
            count = s.mul(count, s.number(size))
        return s.div(v, count)
    return f.map("f32", body, x)


def exponentials(f, x, axis, logit=identity, *more):
    """Maxima and sums of exp of logit(x, ...) along an axis."""
    s, kept = Scalars(f), [i for i in range(len(x)) if i != axis]
    top = total(f, x, [axis], logit, *more, operation="arith.maximumf", initial=float("-inf"))
    return top, total(f, x, [axis], lambda *v: s.exp(s.sub(logit(*v[:-1]), v[-1])), *more, (top, kept)), kept


def masked_softmax(f, kind, shape):
    """softmax(x / 8 + mask) over keys: [batch, heads, queries, keys] and [batch, keys]."""
    x, mask, s = f.argument(kind, *shape), f.argument("f32", shape[0], shape[3]), Scalars(f)

    def logit(v, m):
        return s.add(s.mul(v, 0.125), m)
    top, sums, kept = exponentials(f, x, 3, logit, (mask, [0, 3]))
    f.give(apply(f, kind, lambda v, m, t, n: s.div(s.exp(s.sub(logit(v, m), t)), n), x, mask, top, sums, along={1: [0, 3], 2: kept, 3: kept}))


def causal_softmax(f, kind, shape):
    """Of keys that are no later than the query."""
    x, s = f.argument(kind, *shape), Scalars(f)

    def logit(v):
        seen = f.fresh()
        row, column = f.loop_index(1), f.loop_index(2)
        f.line(f"{seen} = arith.cmpi ule, {column}, {row} : index")
        return f.select(seen, "f32", v, f.constant("f32", float("-inf")))
    top, sums, kept = exponentials(f, x, 2, logit)
    f.give(apply(f, kind, lambda v, t, n: s.div(s.exp(s.sub(logit(v), t)), n), x, top, sums, along={1: kept, 2: kept}))


def channel_softmax(f, kind, shape):
    """Over the middle axis: [images, classes, places]; there are as many classes in every call."""
    x, s = f.argument(kind, *shape, dynamic=[f.dynamic, False, f.dynamic]), Scalars(f)
    top, sums, kept = exponentials(f, x, 1)
    f.give(apply(f, kind, lambda v, t, n: s.div(s.exp(s.sub(v, t)), n), x, top, sums, along={1: kept, 2: kept}))


def logsumexp(f, kind, shape):
    s = Scalars(f)
    top, sums, _ = exponentials(f, f.argument(kind, *shape), 1)
    f.give(apply(f, kind, lambda t, n: s.add(t, s.log(n)), top, sums))


def bias_gelu(f, kind, shape):
    x, bias, s = f.argument(kind, *shape), f.argument(kind, shape[1]), Scalars(f)

    def body(v, b):
        v = s.add(v, b)
        return s.mul(s.mul(v, 0.5), s.add(s.erf(s.mul(v, 2.0 ** -0.5)), 1.0))
    f.give(apply(f, kind, body, x, bias, along={1: [1]}))


def swiglu(f, kind, shape):
    """silu of the first half of each row, times the second: [rows, 2 * columns], of which `columns` is known."""
    rows, columns = shape
    x, s = f.argument(kind, rows, 2 * columns, dynamic=[f.dynamic, False]), Scalars(f)
    a, b = (f.slice(x, [0, at], [x.shape[0], columns]) for at in (0, columns))
    f.give(apply(f, kind, lambda u, v: s.mul(s.div(u, s.add(s.exp(s.sub(0.0, u)), 1.0)), v), a, b))


def norm_residual_bias(f, kind, shape):
    """h = x + bias + residual; gives h and its layer norm."""
    x, residual = f.argument(kind, *shape), f.argument(kind, *shape)
    bias, gamma, beta = (f.argument(kind, shape[1]) for _ in range(3))
    s = Scalars(f)
    h = apply(f, kind, lambda u, v, b: s.add(s.add(u, b), v), x, residual, bias, along={2: [1]})
    f.give(h, normalised(f, kind, h, [1], gamma, beta, [1]))


def normalised(f, kind, x, dimensions, gamma, beta, of_weights):
    s, kept = Scalars(f), [i for i in range(len(x)) if i not in dimensions]
    sizes = [x.shape[i] for i in dimensions]
    mean = divided(f, total(f, x, dimensions, identity), *sizes)
    spread = divided(f, total(f, x, dimensions, lambda v, m: s.mul(s.sub(v, m), s.sub(v, m)), (mean, kept)), *sizes)

    def body(v, m, q, g, b):
        return s.add(s.mul(s.mul(s.sub(v, m), s.rsqrt(s.add(q, EPSILON))), g), b)
    return apply(f, kind, body, x, mean, spread, gamma, beta, along={1: kept, 2: kept, 3: of_weights, 4: of_weights})


def group_norm(f, kind, shape):
    """[images, groups, channels of a group, places]"""
    x = f.argument(kind, *shape)
    gamma, beta = (f.argument(kind, *shape[1:3]) for _ in range(2))
    f.give(normalised(f, kind, x, [2, 3], gamma, beta, [1, 2]))


def channel_norm(f, kind, shape):
    """A layer norm over channels that come first: [images, channels, places]; the model has its number of channels."""
    x = f.argument(kind, *shape, dynamic=[f.dynamic, False, f.dynamic])
    gamma, beta = (f.argument(kind, shape[1], dynamic=[False]) for _ in range(2))
    f.give(normalised(f, kind, x, [1], gamma, beta, [1]))


def head_norm(f, kind, shape):
    """RMS norm of each head: [batch, positions, heads, width]."""
    x, gamma, s = f.argument(kind, *shape), f.argument(kind, shape[3]), Scalars(f)
    mean = divided(f, total(f, x, [3], lambda v: s.mul(v, v)), x.shape[3])
    f.give(apply(f, kind, lambda v, m, g: s.mul(s.mul(v, s.rsqrt(s.add(m, EPSILON))), g), x, mean, gamma, along={1: [0, 1, 2], 2: [3]}))


def unit_rows(f, kind, shape):
    """Rows divided by their length."""
    x, s = f.argument(kind, *shape), Scalars(f)
    squares = total(f, x, [1], lambda v: s.mul(v, v))
    f.give(apply(f, kind, lambda v, q: s.div(v, s.max(s.sqrt(q), 1e-12)), x, squares, along={1: [0]}))


def quantised_rows(f, kind, shape):
    """Bytes of each row by its largest, zero as 128, and the scales."""
    x, s = f.argument(kind, *shape), Scalars(f)
    largest = total(f, x, [1], s.abs, operation="arith.maximumf", initial=0.0)
    scale = f.map("f32", lambda m: s.div(s.max(m, 1e-8), 127.0), largest)
    out = f.map("i8", lambda v, q: f.op("arith.fptoui", "f32", s.add(s.round(s.div(f.convert(v, kind, "f32"), q)), 128.0), to="i8"),
                x, scale, broadcast={1: [0]})
    f.give(out, scale)


def middle_mean(f, kind, shape):
    """[batch, positions, channels]"""
    x = f.argument(kind, *shape)
    mean = divided(f, total(f, x, [1], identity), x.shape[1])
    f.give(f.map(kind, lambda v: f.convert(v, "f32", kind), mean))


def places_mean(f, kind, shape):
    """[images, height, width, channels], over both of the middle."""
    x = f.argument(kind, *shape)
    mean = divided(f, total(f, x, [1, 2], identity), x.shape[1], x.shape[2])
    f.give(f.map(kind, lambda v: f.convert(v, "f32", kind), mean))


def middle_max(f, kind, shape):
    f.give(f.reduce(f.argument(kind, *shape), [1], "arith.maximumf", float("-inf")))


def square_error(f, kind, shape):
    """The mean of (x - y)^2."""
    x, y, s = f.argument(kind, *shape), f.argument(kind, *shape), Scalars(f)
    sums = total(f, x, [0, 1], lambda u, v: s.mul(s.sub(u, v), s.sub(u, v)), (y, [0, 1]))
    f.give(divided(f, sums, x.shape[0], x.shape[1]))


def argmax(f, kind, shape):
    """The first largest of each row."""
    x = f.argument(kind, *shape)
    top, place = f.fill(kind, [x.shape[0]], float("-inf")), f.fill("i64", [x.shape[0]], 0)

    def body(v, best, at):
        larger = f.fresh()
        f.line(f"{larger} = arith.cmpf ogt, {v}, {best} : {kind}")
        return [f.select(larger, kind, v, best), f.select(larger, "i64", f.loop_index(1, "i64"), at)]
    f.give(f.generic([(x, [0, 1])], [(top, [0]), (place, [0])], "pr", body)[1])


def permute0321(f, kind, shape):
    f.give(f.transpose(f.argument(kind, *shape), [0, 3, 2, 1]))


def permute102(f, kind, shape):
    f.give(f.transpose(f.argument(kind, *shape), [1, 0, 2]))


def split_heads(f, kind, shape):
    """[batch, positions, 3, heads, width] to three of [batch, heads, positions, width]."""
    x = f.argument(kind, *shape, dynamic=[f.dynamic, f.dynamic, False, f.dynamic, f.dynamic])
    batch, positions, _, heads, size = x.shape
    given = []
    for part in range(3):
        out = f.empty(kind, [batch, heads, positions, size])
        given += f.generic([(x, [0, 2, str(part), 1, 3])], [(out, range(4))], "pppp", lambda v, _: v)
    f.give(*given)


def windows(f, kind, shape):
    """[images, rows, 7, columns, 7, channels]: windows one behind the other."""
    f.give(f.transpose(f.argument(kind, *shape), [0, 1, 3, 2, 4, 5]))


def pixel_shuffle(f, kind, shape):
    """[images, channels, 2, 2, height, width]"""
    known = [f.dynamic, f.dynamic, False, False, f.dynamic, f.dynamic]
    f.give(f.transpose(f.argument(kind, *shape, dynamic=known), [0, 1, 4, 2, 5, 3]))


def concat_middle(f, kind, shape):
    """[batch, positions, channels], and 53 positions more."""
    x = f.argument(kind, *shape)
    y = f.argument(kind, shape[0], 53, shape[2])
    f.give(f.concat(1, x, y))


def affine_relu(f, kind, shape):
    """relu(x * scale + shift + residual), by channel: [images, channels, places]."""
    x, residual = f.argument(kind, *shape), f.argument(kind, *shape)
    scale, shift = (f.argument("f32", shape[1]) for _ in range(2))
    s = Scalars(f)
    f.give(apply(f, kind, lambda v, r, a, b: s.max(s.add(s.add(s.mul(v, a), b), r), 0.0), x, residual, scale, shift, along={2: [1], 3: [1]}))


def rope_rows(f, kind, shape):
    """Rotary embedding of [batch, positions, heads, width], halves rotated; the width is known."""
    batch, positions, heads, size = shape
    half, s = size // 2, Scalars(f)
    x = f.argument(kind, *shape, dynamic=[f.dynamic] * 3 + [False])
    cos, sin = (f.argument("f32", positions, half, dynamic=[f.dynamic, False]) for _ in range(2))
    a, b = (f.slice(x, [0, 0, 0, at], list(x.shape[:3]) + [half]) for at in (0, half))
    by_position = {2: [1, 3], 3: [1, 3]}
    low = apply(f, kind, lambda u, v, c, n: s.sub(s.mul(u, c), s.mul(v, n)), a, b, cos, sin, along=by_position)
    high = apply(f, kind, lambda u, v, c, n: s.add(s.mul(u, c), s.mul(v, n)), b, a, cos, sin, along=by_position)
    f.give(f.concat(3, low, high))


def add_transposed(f, kind, shape):
    x, y = f.argument(kind, *shape), f.argument(kind, *shape[::-1])
    out = f.empty(kind, x.shape)
    f.give(f.generic([(x, [0, 1]), (y, [1, 0])], [(out, [0, 1])], "pp", lambda u, v, _: f.op("arith.addf", kind, u, v))[0])


def cumsum_middle(f, kind, shape):
    """[batch, positions, channels], along positions."""
    x = f.argument(kind, *shape)
    out, start = f.empty(kind, x.shape), f.fill(kind, [x.shape[0], x.shape[2]], 0.0)
    name, a, b, c = f.fresh(), f.fresh(), f.fresh(), f.fresh()
    f.line(f"{name}:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins({x.name} : {x.type}) "
           f"outs({out.name}, {start.name} : {out.type}, {start.type}) {{")
    f.line(f"^bb0({a}: {kind}, {b}: {kind}):")
    f.line(f"  {c} = arith.addf {a}, {b} : {kind}")
    f.line(f"  iree_linalg_ext.yield {c} : {kind}")
    f.line(f"}} -> {out.type}, {start.type}")
    f.give(Tensor(name + "#0", kind, x.shape))


OPERATIONS = {f.__name__: f for f in (
    masked_softmax, causal_softmax, channel_softmax, logsumexp, bias_gelu, swiglu, norm_residual_bias, group_norm, channel_norm,
    head_norm, unit_rows, quantised_rows, middle_mean, places_mean, middle_max, square_error, argmax, permute0321, permute102,
    split_heads, windows, pixel_shuffle, concat_middle, affine_relu, rope_rows, add_transposed, cumsum_middle)}
