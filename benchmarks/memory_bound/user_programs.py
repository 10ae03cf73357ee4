# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What users write around their models, as MLIR: optimisers of many tensors, losses and their gradients, routing of experts, images, masks.
The other side is user_workloads.py; what moves elements is in user_movement.py.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from everyday_programs import EPSILON, Scalars, apply, best_of_rows, divided, exponentials, identity, total  # noqa: E402
from mlir_text import Tensor  # noqa: E402
import user_movement  # noqa: E402


def is_more(f, a, b):
    hit = f.fresh()
    f.line(f"{hit} = arith.cmpf ogt, {a}, {b} : f32")
    return hit


def choose(f, condition, yes, no):
    return f.select(condition, "f32", yes, no)


def sigmoid(s, v):
    return s.div(1.0, s.add(1.0, s.exp(s.sub(0.0, v))))


# ---- Optimisers ----

def parameter_sizes(shape):
    """Twenty tensors of a model, of this many elements and of parts of it."""
    count = shape[0]
    return [max(1, count // part) for part in (1, 4, 1000, 1, 4, 1000, 3, 7, 500, 100000) * 2]


def adam_clipped(f, kind, shape):
    """Adam with decay of weights of twenty tensors, whose gradients are clipped by their common length."""
    s, sizes = Scalars(f), parameter_sizes(shape)
    tensors = [[f.argument(kind, size) for _ in range(4)] for size in sizes]
    squares = [total(f, g, [0], lambda v: s.mul(v, v)) for _, g, _, _ in tensors]
    everything = f.map("f32", lambda *v: sum_of(s, v), *squares)
    factor = f.map("f32", lambda v: s.div(1.0, s.max(s.sqrt(v), 1.0)), everything)

    def body(p, g, m, v, c):
        p, g, m, v = (f.convert(value, kind, "f32") for value in (p, g, m, v))
        g = s.mul(g, c)
        m = s.add(s.mul(m, 0.9), s.mul(g, 0.1))
        v = s.add(s.mul(v, 0.99), s.mul(s.mul(g, g), 0.01))
        step = s.add(s.div(m, s.add(s.sqrt(v), 1e-3)), s.mul(p, 0.01))
        return [f.convert(value, "f32", kind) for value in (s.sub(p, s.mul(step, 0.01)), m, v)]
    given = []
    for p, g, m, v in tensors:
        given += f.map([kind] * 3, body, p, g, m, v, factor, broadcast={4: []})
    f.give(*given)


def sum_of(s, values):
    so_far = values[0]
    for value in values[1:]:
        so_far = s.add(so_far, value)
    return so_far


def averages(f, kind, shape):
    """Moving averages of twenty tensors."""
    s, given = Scalars(f), []
    for size in parameter_sizes(shape):
        a, p = f.argument(kind, size), f.argument(kind, size)
        given.append(apply(f, kind, lambda u, v: s.add(s.mul(u, 0.99), s.mul(v, 0.01)), a, p))
    f.give(*given)


# ---- Norms, gates and their gradients ----

def dropout_norm(f, kind, shape):
    """h = residual + x where a mask of bytes keeps it, scaled; gives h and its layer norm."""
    x, residual, mask = f.argument(kind, *shape), f.argument(kind, *shape), f.argument("i8", *shape)
    gamma, beta = (f.argument("f32", shape[1]) for _ in range(2))
    s = Scalars(f)

    def kept(v, r, m):
        on = f.fresh()
        f.line(f"{on} = arith.cmpi ne, {m}, {f.constant('i8', 0)} : i8")
        v = choose(f, on, s.mul(f.convert(v, kind, "f32"), 1.25), f.constant("f32", 0.0))
        return f.convert(s.add(f.convert(r, kind, "f32"), v), "f32", kind)
    h = f.map(kind, kept, x, residual, mask)
    mean = divided(f, total(f, h, [1], identity), shape[1])
    spread = divided(f, total(f, h, [1], lambda v, m: s.mul(s.sub(v, m), s.sub(v, m)), (mean, [0])), shape[1])
    f.give(h, apply(f, kind, lambda v, m, q, g, b: s.add(s.mul(s.mul(s.sub(v, m), s.rsqrt(s.add(q, EPSILON))), g), b),
                    h, mean, spread, gamma, beta, along={1: [0], 2: [0], 3: [1], 4: [1]}))


def rmsnorm_gradient(f, kind, shape):
    x, dy, gamma, s = f.argument(kind, *shape), f.argument(kind, *shape), f.argument("f32", shape[1]), Scalars(f)
    mean = divided(f, total(f, x, [1], lambda v: s.mul(v, v)), shape[1])
    root = f.map("f32", lambda q: s.rsqrt(s.add(q, EPSILON)), mean)
    dot = divided(f, total(f, x, [1], lambda v, d, g: s.mul(v, s.mul(d, g)), (dy, [0, 1]), (gamma, [1])), shape[1])
    dx = apply(f, kind, lambda v, d, g, r, t: s.mul(r, s.sub(s.mul(d, g), s.mul(v, s.mul(t, s.mul(r, r))))), x, dy, gamma, root, dot,
               along={2: [1], 3: [0], 4: [0]})
    f.give(dx, total(f, x, [0], lambda v, d, r: s.mul(d, s.mul(v, r)), (dy, [0, 1]), (root, [0])))


def group_norm_silu(f, kind, shape):
    """[images, groups, channels of a group, places]"""
    x, s, kept = f.argument(kind, *shape), Scalars(f), [0, 1]
    gamma, beta = (f.argument("f32", *shape[1:3]) for _ in range(2))
    mean = divided(f, total(f, x, [2, 3], identity), shape[2], shape[3])
    spread = divided(f, total(f, x, [2, 3], lambda v, m: s.mul(s.sub(v, m), s.sub(v, m)), (mean, kept)), shape[2], shape[3])

    def body(v, m, q, g, b):
        y = s.add(s.mul(s.mul(s.sub(v, m), s.rsqrt(s.add(q, EPSILON))), g), b)
        return s.mul(y, sigmoid(s, y))
    f.give(apply(f, kind, body, x, mean, spread, gamma, beta, along={1: kept, 2: kept, 3: [1, 2], 4: [1, 2]}))


def silu_gradient(f, kind, shape):
    """The gradient of silu(a) b by both, and of a bias of a."""
    a, b, dy, s = f.argument(kind, *shape), f.argument(kind, *shape), f.argument(kind, *shape), Scalars(f)

    def by_a(u, v, d):
        g = sigmoid(s, u)
        return s.mul(s.mul(d, v), s.mul(g, s.add(1.0, s.mul(u, s.sub(1.0, g)))))
    da = apply(f, kind, by_a, a, b, dy)
    db = apply(f, kind, lambda u, d: s.mul(d, s.mul(u, sigmoid(s, u))), a, dy)
    f.give(da, db, total(f, a, [0], by_a, (b, [0, 1]), (dy, [0, 1])))


def columns_normal(f, kind, shape):
    """Columns without their mean, of variance one."""
    x, s = f.argument(kind, *shape), Scalars(f)
    mean = divided(f, total(f, x, [0], identity), shape[0])
    spread = divided(f, total(f, x, [0], lambda v, m: s.mul(s.sub(v, m), s.sub(v, m)), (mean, [1])), shape[0])
    f.give(apply(f, kind, lambda v, m, q: s.mul(s.sub(v, m), s.rsqrt(s.add(q, EPSILON))), x, mean, spread, along={1: [1], 2: [1]}))


def weight_norm(f, kind, shape):
    """Columns divided by their length, times a weight of each."""
    x, g, s = f.argument(kind, *shape), f.argument("f32", shape[1]), Scalars(f)
    squares = total(f, x, [0], lambda v: s.mul(v, v))
    f.give(apply(f, kind, lambda v, q, w: s.mul(v, s.div(w, s.max(s.sqrt(q), 1e-6))), x, squares, g, along={1: [1], 2: [1]}))


def lstm_cell(f, kind, shape):
    """Four gates of [batch, 4, width] and a state."""
    batch, size = shape
    gates, c, s = f.argument(kind, batch, 4, size), f.argument(kind, batch, size), Scalars(f)
    outs = [(f.empty(kind, [batch, size]), [0, 1]) for _ in range(2)]
    parts = [(gates, [0, str(at), 1]) for at in range(4)]

    def body(i, g, o, r, state, *_):
        i, g, o, r, state = (f.convert(v, kind, "f32") for v in (i, g, o, r, state))
        new = s.add(s.mul(sigmoid(s, r), state), s.mul(sigmoid(s, i), s.sub(s.mul(sigmoid(s, s.mul(g, 2.0)), 2.0), 1.0)))
        h = s.mul(sigmoid(s, o), s.sub(s.mul(sigmoid(s, s.mul(new, 2.0)), 2.0), 1.0))
        return [f.convert(v, "f32", kind) for v in (new, h)]
    f.give(*f.generic(parts + [(c, [0, 1])], outs, "pp", body))


# ---- Quantisation ----

def swiglu_quantised(f, kind, shape):
    """Bytes of silu(a) b by the largest of each row, zero as 128, and the scales."""
    a, b, s = f.argument(kind, *shape), f.argument(kind, *shape), Scalars(f)

    def gated(u, v):
        return s.mul(s.mul(u, sigmoid(s, u)), v)
    largest = total(f, a, [1], lambda u, v: s.abs(gated(u, v)), (b, [0, 1]), operation="arith.maximumf")
    scale = f.map("f32", lambda m: s.div(s.max(m, 1e-8), 127.0), largest)

    def body(u, v, q):
        y = s.add(s.round(s.div(gated(f.convert(u, kind, "f32"), f.convert(v, kind, "f32")), q)), 128.0)
        return f.op("arith.fptoui", "f32", y, to="i8")
    f.give(f.map("i8", body, a, b, scale, broadcast={2: [0]}), scale)


def blocks_quantised(f, kind, shape):
    """Bytes of [rows, blocks, 32] by the largest of each block."""
    x, s = f.argument(kind, *shape, 32), Scalars(f)
    largest = total(f, x, [2], s.abs, operation="arith.maximumf")
    scale = f.map("f32", lambda m: s.div(s.max(m, 1e-8), 127.0), largest)
    f.give(f.map("i8", lambda v, q: f.op("arith.fptoui", "f32", s.add(s.round(s.div(f.convert(v, kind, "f32"), q)), 128.0), to="i8"),
                 x, scale, broadcast={1: [0, 1]}), scale)


def dequantised(f, kind, shape):
    """Bytes with a scale and a zero of each row."""
    x, scale, zero, s = f.argument("i8", *shape), f.argument("f32", shape[0]), f.argument("f32", shape[0]), Scalars(f)
    f.give(f.map(kind, lambda v, q, z: f.convert(s.mul(s.sub(f.op("arith.uitofp", "i8", v, to="f32"), z), q), "f32", kind),
                 x, scale, zero, broadcast={1: [0], 2: [0]}))


# ---- Losses ----

def smooth_gradient(f, kind, shape):
    """The gradient of the mean cross-entropy with smoothed labels: (softmax - 0.9 one hot - 0.1 / classes) / rows."""
    x, target, s = f.argument(kind, *shape), f.argument("i32", shape[0]), Scalars(f)
    top, sums, kept = exponentials(f, x, 1)

    def body(v, t, n, place):
        hit = f.fresh()
        f.line(f"{hit} = arith.cmpi eq, {f.loop_index(1, 'i32')}, {place} : i32")
        p = s.div(s.exp(s.sub(f.convert(v, kind, "f32"), t)), n)
        wanted = choose(f, hit, f.constant("f32", 0.9 + 0.1 / shape[1]), f.constant("f32", 0.1 / shape[1]))
        return f.convert(s.div(s.sub(p, wanted), float(shape[0])), "f32", kind)
    f.give(f.map(kind, body, x, top, sums, target, broadcast={1: kept, 2: kept, 3: kept}))


def divergence(f, kind, shape):
    """KL divergence of the softmax of two tensors, by row."""
    x, y, s = f.argument(kind, *shape), f.argument(kind, *shape), Scalars(f)
    xt, xs, _ = exponentials(f, x, 1)
    yt, ys, _ = exponentials(f, y, 1)

    def body(u, v, a, b, c, d):
        logs = s.sub(s.sub(u, a), s.log(b))
        return s.mul(s.exp(logs), s.sub(logs, s.sub(s.sub(v, c), s.log(d))))
    f.give(total(f, x, [1], body, (y, [0, 1]), (xt, [0]), (xs, [0]), (yt, [0]), (ys, [0])))


def dice(f, kind, shape):
    """Overlap of [images, classes, places] with a mask of bytes: three sums, one number each."""
    x, mask, s = f.argument(kind, *shape), f.argument("i8", *shape), Scalars(f)
    both = total_of_bytes(f, x, mask, lambda v, m: s.mul(v, m))
    left = total(f, x, [2], identity)
    right = total_of_bytes(f, x, mask, lambda v, m: m)
    f.give(f.map("f32", lambda b, u, v: s.div(s.add(s.mul(b, 2.0), 1.0), s.add(s.add(u, v), 1.0)), both, left, right))


def total_of_bytes(f, x, mask, body):
    start = f.fill("f32", x.shape[:2], 0.0)
    return f.generic([(x, range(3)), (mask, range(3))], [(start, [0, 1])], "ppr", lambda v, m, t: f.op(
        "arith.addf", "f32", t, body(f.convert(v, x.kind, "f32"), f.op("arith.uitofp", "i8", m, to="f32"))))[0]


def focal(f, kind, shape):
    """A loss of logits and bytes, averaged over everything."""
    x, target, s = f.argument(kind, *shape), f.argument("i8", *shape), Scalars(f)
    start = f.fill("f32", [], 0.0)

    def body(v, t, so_far):
        v = f.convert(v, kind, "f32")
        on = f.fresh()
        f.line(f"{on} = arith.cmpi ne, {t}, {f.constant('i8', 0)} : i8")
        p = sigmoid(s, choose(f, on, v, s.sub(0.0, v)))
        left = s.sub(1.0, p)
        return s.add(so_far, s.mul(s.mul(left, left), s.sub(0.0, s.log(s.max(p, 1e-12)))))
    axes = list(range(len(x)))
    f.give(divided(f, f.generic([(x, axes), (target, axes)], [(start, [])], "r" * len(x), body)[0], *shape))


def cosines(f, kind, shape):
    """The cosine of rows of two tensors."""
    x, y, s = f.argument(kind, *shape), f.argument(kind, *shape), Scalars(f)
    dot = total(f, x, [1], lambda u, v: s.mul(u, v), (y, [0, 1]))
    xs, ys = (total(f, t, [1], lambda v: s.mul(v, v)) for t in (x, y))
    f.give(f.map("f32", lambda d, a, b: s.mul(d, s.rsqrt(s.max(s.mul(a, b), 1e-12))), dot, xs, ys))


def traces(f, kind, shape):
    """Sums of the diagonals of [count, n, n]."""
    x = f.argument(kind, shape[0], shape[1], shape[1])
    start, of = f.fill("f32", [shape[0]], 0.0), f.empty(kind, [shape[1]])
    f.give(f.generic([(x, [0, 1, 1]), (of, [1])], [(start, [0])], "pr", lambda v, _, t: f.op("arith.addf", "f32", t, f.convert(v, kind, "f32")))[0])


# ---- Experts, beams and boxes ----

def routing(f, kind, shape):
    """Softmax of each token's experts, the two best and their shares."""
    x, s = f.argument(kind, *shape), Scalars(f)
    top, sums, kept = exponentials(f, x, 1)
    p = apply(f, "f32", lambda v, t, n: s.div(s.exp(s.sub(v, t)), n), x, top, sums, along={1: kept, 2: kept})
    values, places = best_of_rows(f, p, 2)
    whole = total(f, values, [1], identity)
    f.give(apply(f, "f32", s.div, values, whole, along={1: [0]}), places)


def places_of_experts(f, kind, shape):
    """How many tokens before each one chose the same expert: one hot, a running sum, and what it says."""
    tokens, experts = shape
    chosen = f.argument("i32", tokens)
    hot = f.empty("i32", [tokens, experts])

    def body(e, _):
        hit = f.fresh()
        f.line(f"{hit} = arith.cmpi eq, {f.loop_index(1, 'i32')}, {e} : i32")
        return f.op("arith.extui", "i1", hit, to="i32")
    hot = f.generic([(chosen, [0])], [(hot, [0, 1])], "pp", body)[0]
    sums = user_movement.running(f, hot, 0, "arith.addi", 0)
    f.give(f.map("i32", lambda e: f.op("arith.subi", "i32", f.extract(sums, f.loop_index(0), f.op("arith.index_cast", "i32", e, to="index")),
                                       f.constant("i32", 1)), chosen))


def combined(f, kind, shape):
    """Rows of two experts of each token, weighted: [rows, width] by i32 [tokens, 2]."""
    rows, size, tokens = shape
    y, place, weight, s = f.argument(kind, rows, size), f.argument("i32", tokens, 2), f.argument("f32", tokens, 2), Scalars(f)
    start = f.fill("f32", [tokens, size], 0.0)

    def body(i, w, t):
        v = f.extract(y, f.op("arith.index_cast", "i32", i, to="index"), f.loop_index(1))
        return s.add(t, s.mul(w, f.convert(v, kind, "f32")))
    out = f.generic([(place, [0, 2]), (weight, [0, 2])], [(start, [0, 1])], "ppr", body)[0]
    f.give(f.map(kind, lambda v: f.convert(v, "f32", kind), out))


def bag(f, kind, shape):
    """Sums of 20 rows of a table for each place: [entries, width] by i32 [count, 20]."""
    entries, size, count = shape
    table, index = f.argument(kind, entries, size), f.argument("i32", count, 20)
    start = f.fill("f32", [count, size], 0.0)
    out = f.generic([(index, [0, 2])], [(start, [0, 1])], "ppr", lambda i, t: f.op("arith.addf", "f32", t, f.convert(
        f.extract(table, f.op("arith.index_cast", "i32", i, to="index"), f.loop_index(1)), kind, "f32")))[0]
    f.give(f.map(kind, lambda v: f.convert(v, "f32", kind), out))


def beams(f, kind, shape):
    """Scores of [batch, beams] and log softmax of [batch, beams, words]: the five best of each batch."""
    batch, count, words = shape
    x, scores, s = f.argument(kind, *shape), f.argument("f32", batch, count), Scalars(f)
    top, sums, kept = exponentials(f, x, 2)
    y = apply(f, "f32", lambda v, t, n, a: s.add(a, s.sub(s.sub(v, t), s.log(n))), x, top, sums, scores, along={1: kept, 2: kept, 3: kept})
    flat = Tensor(f.fresh(), "f32", [batch, count * words])
    f.line(f"{flat.name} = tensor.collapse_shape {y.name} [[0], [1, 2]] : {y.type} into {flat.type}")
    f.give(*best_of_rows(f, flat, 5))


def overlaps(f, kind, shape):
    """The largest overlap of each box with an earlier one: boxes are [count, 4] corners."""
    x, s, count = f.argument("f32", shape[0], 4), Scalars(f), shape[0]
    start = f.fill("f32", [count], 0.0)
    corners = [(x, [at, str(i)]) for at in (0, 1) for i in range(4)]

    def body(a, b, c, d, p, q, r, t, so_far):
        wide = s.max(s.sub(least(c, r), s.max(a, p)), 0.0)
        high = s.max(s.sub(least(d, t), s.max(b, q)), 0.0)
        both = s.mul(wide, high)
        sides = s.add(s.mul(s.sub(c, a), s.sub(d, b)), s.mul(s.sub(r, p), s.sub(t, q)))
        earlier = f.fresh()
        f.line(f"{earlier} = arith.cmpi ult, {f.loop_index(1)}, {f.loop_index(0)} : index")
        return s.max(so_far, choose(f, earlier, s.div(both, s.sub(sides, both)), f.constant("f32", 0.0)))

    def least(u, v):
        return f.op("arith.minimumf", "f32", u, v)
    f.give(f.generic(corners, [(start, [0])], "pr", body)[0])


def guesses(f, kind, shape):
    """How many rows have their largest where a label says."""
    x, label, rows = f.argument(kind, *shape), f.argument("i64", shape[0]), shape[0]
    top, place = f.fill(kind, [rows], float("-inf")), f.fill("i64", [rows], 0)

    def best(v, so_far, at):
        larger = f.fresh()
        f.line(f"{larger} = arith.cmpf ogt, {v}, {so_far} : {kind}")
        return [f.select(larger, kind, v, so_far), f.select(larger, "i64", f.loop_index(1, "i64"), at)]
    found = f.generic([(x, [0, 1])], [(top, [0]), (place, [0])], "pr", best)[1]

    def right(a, b, so_far):
        same = f.fresh()
        f.line(f"{same} = arith.cmpi eq, {a}, {b} : i64")
        return f.op("arith.addi", "i32", so_far, f.op("arith.extui", "i1", same, to="i32"))
    f.give(f.generic([(found, [0]), (label, [0])], [(f.fill("i32", [], 0), [])], "r", right)[0])


OPERATIONS = {f.__name__: f for f in (
    adam_clipped, averages, dropout_norm, rmsnorm_gradient, group_norm_silu, silu_gradient, columns_normal, weight_norm, lstm_cell,
    swiglu_quantised, blocks_quantised, dequantised, smooth_gradient, divergence, dice, focal, cosines, traces, routing,
    places_of_experts, combined, bag, beams, overlaps, guesses)} | user_movement.OPERATIONS
