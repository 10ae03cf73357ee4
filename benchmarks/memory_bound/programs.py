# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of the benchmark as MLIR, each with fixed and with unknown sizes. No PyTorch here: workloads.py has the other side.

`OPERATIONS` holds a function of (Function, kind, shape) for each operation of cases.py. What MLIR itself has no operation for
(scan, top-k, scatter with a sum) is written in iree_linalg_ext, as users of IREE do.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from cases import KNOWN  # noqa: E402
import everyday_programs  # noqa: E402
from mlir_text import Function, Tensor  # noqa: E402
import random_programs  # noqa: E402
import uncommon_programs  # noqa: E402
import user_programs  # noqa: E402

EPSILON = 1e-5
DROPOUT = 0.1
DROPPED = int(DROPOUT * 2**32)  # hashes below are dropped
ADAM = {"lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "step": 10}
TOP = 50
BINS = 256

# ---- Elementwise ----

def add(f, kind, shape):
    x, y = f.argument(kind, *shape), f.argument(kind, *shape)
    f.give(f.tensor_op("arith.addf", x, y))


def chain10(f, kind, shape):
    """Ten operations, each a linalg.generic of its own: what is fused is the compiler's doing."""
    x = f.argument(kind, *shape)

    def step(value, operation, number):
        return f.map(kind, lambda v: f.op(operation, kind, v, f.constant(kind, number)), value)

    t = step(x, "arith.mulf", 1.5)
    t = step(t, "arith.addf", 0.25)
    t = step(t, "arith.maximumf", -2.0)
    t = f.map(kind, lambda a, b: f.op("arith.mulf", kind, a, b), t, x)
    t = step(t, "arith.subf", 0.5)
    t = step(t, "arith.minimumf", 3.0)
    t = f.map(kind, lambda a, b: f.op("arith.addf", kind, a, b), t, x)
    t = step(t, "arith.mulf", 0.75)
    t = f.map(kind, lambda v: f.op("math.absf", kind, v), t)
    t = step(t, "arith.addf", 1.0)
    f.give(t)


def dropout(f, kind, shape):
    """Element i is kept where a hash of i and the seed says so: the finaliser of MurmurHash3, twice keyed."""
    x = f.argument(kind, *shape)
    seed = f.scalar_argument("i32")

    def body(value):
        h = f.loop_index(0, "i32")
        h = f.op("arith.muli", "i32", h, f.constant("i32", -1640531535))
        h = f.op("arith.xori", "i32", h, seed)
        for shift, factor in ((16, -2048144789), (13, -1028477387), (16, None)):
            h = f.op("arith.xori", "i32", h, f.op("arith.shrui", "i32", h, f.constant("i32", shift)))
            if factor:
                h = f.op("arith.muli", "i32", h, f.constant("i32", factor))
        kept = f.fresh()
        f.line(f"{kept} = arith.cmpi uge, {h}, {f.constant('i32', DROPPED)} : i32")
        scaled = f.op("arith.mulf", kind, value, f.constant(kind, 1 / (1 - DROPOUT)))
        return f.select(kept, kind, scaled, f.constant(kind, 0.0))

    f.give(f.map(kind, body, x))


def adam(f, kind, shape):
    """A step of Adam: new parameters and both moments; arithmetic in f32."""
    p, g, m, v = (f.argument(kind, *shape) for _ in range(4))
    a = ADAM
    correction1, correction2 = 1 - a["beta1"] ** a["step"], 1 - a["beta2"] ** a["step"]

    def body(*values):
        def c(number):
            return f.constant("f32", number)

        p, g, m, v = (f.convert(value, kind, "f32") for value in values)
        m = f.op("arith.addf", "f32", f.op("arith.mulf", "f32", m, c(a["beta1"])), f.op("arith.mulf", "f32", g, c(1 - a["beta1"])))
        gg = f.op("arith.mulf", "f32", g, g)
        v = f.op("arith.addf", "f32", f.op("arith.mulf", "f32", v, c(a["beta2"])), f.op("arith.mulf", "f32", gg, c(1 - a["beta2"])))
        root = f.op("math.sqrt", "f32", f.op("arith.mulf", "f32", v, c(1 / correction2)))
        step = f.op("arith.divf", "f32", m, f.op("arith.addf", "f32", root, c(a["eps"])))
        p = f.op("arith.subf", "f32", p, f.op("arith.mulf", "f32", step, c(a["lr"] / correction1)))
        return [f.convert(value, "f32", kind) for value in (p, m, v)]

    f.give(*f.map([kind] * 3, body, p, g, m, v))


# ---- Reductions ----

def narrow(f, x, kind):
    return x if x.kind == kind else f.map(kind, lambda v: f.convert(v, x.kind, kind), x)


def row_sum(f, kind, shape):
    f.give(narrow(f, f.reduce(f.argument(kind, *shape), [1], "arith.addf", 0.0, kind="f32"), kind))


def column_sum(f, kind, shape):
    f.give(narrow(f, f.reduce(f.argument(kind, *shape), [0], "arith.addf", 0.0, kind="f32"), kind))


def all_sum(f, kind, shape):
    f.give(narrow(f, f.reduce(f.argument(kind, *shape), [0], "arith.addf", 0.0, kind="f32"), kind))


def row_max(f, kind, shape):
    f.give(f.reduce(f.argument(kind, *shape), [1], "arith.maximumf", float("-inf")))


def rows(f, kind, body, x, *by_row):
    """Elementwise over a matrix in f32, with vectors by row."""
    return f.map(kind, body, x, *by_row, broadcast={i + 1: [0] for i in range(len(by_row))})


def exponentials(f, x):
    """Row maxima, and the sums of exp(x - maximum)."""
    def wide(v):
        return f.convert(v, x.kind, "f32")

    m = f.reduce(x, [1], "arith.maximumf", float("-inf"), kind="f32")
    start = f.fill("f32", x.shape[:1], 0.0)

    def body(v, top, total):
        e = f.op("math.exp", "f32", f.op("arith.subf", "f32", wide(v), top))
        return f.op("arith.addf", "f32", total, e)

    return m, f.generic([(x, [0, 1]), (m, [0])], [(start, [0])], "pr", body)[0]


def softmax(f, kind, shape):
    x = f.argument(kind, *shape)
    m, s = exponentials(f, x)

    def body(v, top, total):
        e = f.op("math.exp", "f32", f.op("arith.subf", "f32", f.convert(v, kind, "f32"), top))
        return f.convert(f.op("arith.divf", "f32", e, total), "f32", kind)

    f.give(rows(f, kind, body, x, m, s))


def log_softmax(f, kind, shape):
    x = f.argument(kind, *shape)
    m, s = exponentials(f, x)

    def body(v, top, total):
        d = f.op("arith.subf", "f32", f.convert(v, kind, "f32"), top)
        return f.convert(f.op("arith.subf", "f32", d, f.op("math.log", "f32", total)), "f32", kind)

    f.give(rows(f, kind, body, x, m, s))


def as_float(f, size):
    """A size as an f32 value."""
    if isinstance(size, int):
        return f.constant("f32", float(size))
    return f.op("arith.sitofp", "i64", f.op("arith.index_cast", "index", size, to="i64"), to="f32")


def scaled_by_count(f, vector, columns):
    """vector / columns. The division stands in a body, where sizes are values like others."""
    return f.map("f32", lambda v: f.op("arith.divf", "f32", v, as_float(f, columns)), vector)


def layernorm(f, kind, shape):
    x, gamma, beta = f.argument(kind, *shape), f.argument(kind, shape[1]), f.argument(kind, shape[1])
    mean = scaled_by_count(f, f.reduce(x, [1], "arith.addf", 0.0, kind="f32"), x.shape[1])
    start = f.fill("f32", x.shape[:1], 0.0)

    def square(v, mu, total):
        d = f.op("arith.subf", "f32", f.convert(v, kind, "f32"), mu)
        return f.op("arith.addf", "f32", total, f.op("arith.mulf", "f32", d, d))

    variance = scaled_by_count(f, f.generic([(x, [0, 1]), (mean, [0])], [(start, [0])], "pr", square)[0], x.shape[1])

    def body(v, mu, var, weight, bias):
        d = f.op("arith.subf", "f32", f.convert(v, kind, "f32"), mu)
        r = f.op("math.rsqrt", "f32", f.op("arith.addf", "f32", var, f.constant("f32", EPSILON)))
        y = f.op("arith.mulf", "f32", f.op("arith.mulf", "f32", d, r), f.convert(weight, kind, "f32"))
        return f.convert(f.op("arith.addf", "f32", y, f.convert(bias, kind, "f32")), "f32", kind)

    f.give(f.map(kind, body, x, mean, variance, gamma, beta, broadcast={1: [0], 2: [0], 3: [1], 4: [1]}))


def variance(f, kind, shape):
    x = f.argument(kind, *shape)
    mean = scaled_by_count(f, f.reduce(x, [1], "arith.addf", 0.0, kind="f32"), x.shape[1])
    start = f.fill("f32", x.shape[:1], 0.0)

    def square(v, mu, total):
        d = f.op("arith.subf", "f32", f.convert(v, kind, "f32"), mu)
        return f.op("arith.addf", "f32", total, f.op("arith.mulf", "f32", d, d))

    f.give(narrow(f, scaled_by_count(f, f.generic([(x, [0, 1]), (mean, [0])], [(start, [0])], "pr", square)[0], x.shape[1]), kind))


def normalised_by_channel(f, kind, x, channel):
    """Batch norm in training: mean and variance over all dimensions but `channel`."""
    loops = "".join("p" if i == channel else "r" for i in range(len(x)))
    every, c = list(range(len(x))), x.shape[channel]
    gamma, beta = (f.argument(kind, c if isinstance(c, int) else 1) for _ in range(2))
    count = 1
    for i in every:
        count = count if i == channel else f.multiply_sizes(count, x.shape[i])

    def total(body, *vectors):
        inputs = [(x, every)] + [(v, [channel]) for v in vectors]
        return scaled_by_count(f, f.generic(inputs, [(f.fill("f32", [c], 0.0), [channel])], loops, body)[0], count)

    mean = total(lambda v, so_far: f.op("arith.addf", "f32", so_far, f.convert(v, kind, "f32")))

    def square(v, mu, so_far):
        d = f.op("arith.subf", "f32", f.convert(v, kind, "f32"), mu)
        return f.op("arith.addf", "f32", so_far, f.op("arith.mulf", "f32", d, d))

    spread = total(square, mean)

    def body(v, mu, var, weight, bias):
        d = f.op("arith.subf", "f32", f.convert(v, kind, "f32"), mu)
        r = f.op("math.rsqrt", "f32", f.op("arith.addf", "f32", var, f.constant("f32", EPSILON)))
        y = f.op("arith.mulf", "f32", f.op("arith.mulf", "f32", d, r), f.convert(weight, kind, "f32"))
        return f.convert(f.op("arith.addf", "f32", y, f.convert(bias, kind, "f32")), "f32", kind)

    f.give(f.map(kind, body, x, mean, spread, gamma, beta, broadcast={i: [channel] for i in range(1, 5)}))


def batch_norm(f, kind, shape):
    """[batch, channels, positions]"""
    normalised_by_channel(f, kind, f.argument(kind, *shape), 1)


def batch_norm_last(f, kind, shape):
    """[batch and positions, channels]"""
    normalised_by_channel(f, kind, f.argument(kind, *shape), 1)


def rmsnorm_residual(f, kind, shape):
    """h = x + residual; gives h and its RMS norm."""
    x, residual, gamma = f.argument(kind, *shape), f.argument(kind, *shape), f.argument(kind, shape[1])
    h = f.tensor_op("arith.addf", x, residual)
    start = f.fill("f32", h.shape[:1], 0.0)

    def square(v, total):
        w = f.convert(v, kind, "f32")
        return f.op("arith.addf", "f32", total, f.op("arith.mulf", "f32", w, w))

    mean = scaled_by_count(f, f.generic([(h, [0, 1])], [(start, [0])], "pr", square)[0], h.shape[1])

    def body(v, ms, weight):
        r = f.op("math.rsqrt", "f32", f.op("arith.addf", "f32", ms, f.constant("f32", EPSILON)))
        y = f.op("arith.mulf", "f32", f.convert(v, kind, "f32"), r)
        return f.convert(f.op("arith.mulf", "f32", y, f.convert(weight, kind, "f32")), "f32", kind)

    f.give(h, f.map(kind, body, h, mean, gamma, broadcast={1: [0], 2: [1]}))


def cross_entropy(f, kind, shape):
    """Mean over the rows of log(sum(exp(x))) - x[target]."""
    x, target = f.argument(kind, *shape), f.argument("i64", shape[0])
    m, s = exponentials(f, x)
    start = f.fill("f32", x.shape[:1], 0.0)

    def pick(v, t, total):
        here = f.fresh()
        f.line(f"{here} = arith.cmpi eq, {f.loop_index(1, 'i64')}, {t} : i64")
        value = f.select(here, "f32", f.convert(v, kind, "f32"), f.constant("f32", 0.0))
        return f.op("arith.addf", "f32", total, value)

    picked = f.generic([(x, [0, 1]), (target, [0])], [(start, [0])], "pr", pick)[0]

    def loss(top, total, value):
        return f.op("arith.subf", "f32", f.op("arith.addf", "f32", f.op("math.log", "f32", total), top), value)

    total = f.reduce(f.map("f32", loss, m, s, picked), [0], "arith.addf", 0.0)
    f.give(scaled_by_count(f, total, x.shape[0]))


# ---- What moves ----

def transpose(f, kind, shape):
    f.give(f.transpose(f.argument(kind, *shape), [1, 0]))


def permute0213(f, kind, shape):
    f.give(f.transpose(f.argument(kind, *shape), [0, 2, 1, 3]))


def permute0231(f, kind, shape):
    """Channels last."""
    f.give(f.transpose(f.argument(kind, *shape), [0, 2, 3, 1]))


def permute0312(f, kind, shape):
    """Channels first."""
    f.give(f.transpose(f.argument(kind, *shape), [0, 3, 1, 2]))


def permute210(f, kind, shape):
    f.give(f.transpose(f.argument(kind, *shape), [2, 1, 0]))


def rope(f, kind, shape):
    """Rotary embedding of [batch, heads, positions, width], halves rotated: cos and sin are [positions, width / 2]."""
    batch, heads, positions, size = shape
    half = size // 2
    x = f.argument(kind, *shape, dynamic=[f.dynamic and axis not in KNOWN["rope"] for axis in range(4)])
    cos, sin = (f.argument("f32", positions, half, dynamic=[f.dynamic, False]) for _ in range(2))
    sizes = list(x.shape[:3]) + [half]
    a, b = f.slice(x, [0, 0, 0, 0], sizes), f.slice(x, [0, 0, 0, half], sizes)

    def rotate(sign):
        def body(u, v, c, s):
            u, v = f.convert(u, kind, "f32"), f.convert(v, kind, "f32")
            return f.convert(f.op(sign, "f32", f.op("arith.mulf", "f32", u, c), f.op("arith.mulf", "f32", v, s)), "f32", kind)
        return body

    by_position = {2: [2, 3], 3: [2, 3]}
    low = f.map(kind, rotate("arith.subf"), a, b, cos, sin, broadcast=by_position)
    high = f.map(kind, rotate("arith.addf"), b, a, cos, sin, broadcast=by_position)
    f.give(f.concat(3, low, high))


def embedding(f, kind, shape):
    """Rows of a table [entries, width] by an index of [count]."""
    entries, size, count = shape
    table, index = f.argument(kind, entries, size), f.argument("i64", count)
    out = f.empty(kind, [index.shape[0], table.shape[1]])

    def body(i, _):
        return f.extract(table, f.op("arith.index_cast", "i64", i, to="index"), f.loop_index(1))

    f.give(f.generic([(index, [0])], [(out, [0, 1])], "pp", body)[0])


def concat(f, kind, shape):
    f.give(f.concat(1, f.argument(kind, *shape), f.argument(kind, *shape)))


def pad(f, kind, shape):
    f.give(f.pad(f.argument(kind, *shape), [1, 3], [2, 5], 0.0))


# ---- What iree_linalg_ext has an operation for ----

def running_sum(f, kind, shape, axis):
    x = f.argument(kind, *shape)
    rest = [size for i, size in enumerate(x.shape) if i != axis]
    out, total = f.empty(kind, x.shape), f.fill(kind, rest, 0.0)
    name, a, b, c = f.fresh(), f.fresh(), f.fresh(), f.fresh()
    f.line(f"{name}:2 = iree_linalg_ext.scan dimension({axis}) inclusive(true) ins({x.name} : {x.type}) "
           f"outs({out.name}, {total.name} : {out.type}, {total.type}) {{")
    f.line(f"^bb0({a}: {kind}, {b}: {kind}):")
    f.line(f"  {c} = arith.addf {a}, {b} : {kind}")
    f.line(f"  iree_linalg_ext.yield {c} : {kind}")
    f.line(f"}} -> {out.type}, {total.type}")
    f.give(Tensor(name + "#0", kind, x.shape))


def cumsum(f, kind, shape):
    running_sum(f, kind, shape, 1)


def cumsum_line(f, kind, shape):
    running_sum(f, kind, shape, 0)


def cumsum_columns(f, kind, shape):
    running_sum(f, kind, shape, 0)


def sort(f, kind, shape):
    """Along the last dimension, ascending, with the positions that elements came from."""
    x = f.argument(kind, *shape)
    axis = len(shape) - 1
    index = f.generic([], [(f.empty("i32", x.shape), range(len(shape)))], "p" * len(shape), lambda _: f.loop_index(axis, "i32"))[0]
    name, a, b, c, d, e = (f.fresh() for _ in range(6))
    f.line(f"{name}:2 = iree_linalg_ext.sort dimension({axis}) outs({x.name}, {index.name} : {x.type}, {index.type}) {{")
    f.line(f"^bb0({a}: {kind}, {b}: {kind}, {c}: i32, {d}: i32):")
    f.line(f"  {e} = arith.cmpf olt, {a}, {b} : {kind}")
    f.line(f"  iree_linalg_ext.yield {e} : i1")
    f.line(f"}} -> {x.type}, {index.type}")
    f.give(Tensor(name + "#0", kind, x.shape), Tensor(name + "#1", "i32", x.shape))


def sort_line(f, kind, shape):
    sort(f, kind, shape)


def topk(f, kind, shape):
    f.give(*everyday_programs.best_of_rows(f, f.argument(kind, *shape), TOP))


def histogram(f, kind, shape):
    """Counts of the values 0 to 255: ones scattered with a sum."""
    x = f.argument(kind, *shape)
    bins = f.fill("i32", [BINS], 0)
    ones = f.fill("i32", x.shape, 1)
    name, a, b, c = f.fresh(), f.fresh(), f.fresh(), f.fresh()
    column = Tensor(f.fresh(), "i32", [x.shape[0], 1])
    index = f.map("i32", lambda v: f.op("arith.extui", kind, v, to="i32") if kind != "i32" else v, x)
    f.line(f"{column.name} = tensor.expand_shape {index.name} [[0, 1]] output_shape [{x.shape[0]}, 1] : {index.type} into {column.type}")
    f.line(f"{name} = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) "
           f"ins({ones.name}, {column.name} : {ones.type}, {column.type}) outs({bins.name} : {bins.type}) {{")
    f.line(f"^bb0({a}: i32, {b}: i32):")
    f.line(f"  {c} = arith.addi {a}, {b} : i32")
    f.line(f"  iree_linalg_ext.yield {c} : i32")
    f.line(f"}} -> {bins.type}")
    f.give(Tensor(name, "i32", [BINS]))


OPERATIONS = {f.__name__: f for f in (add, chain10, row_sum, column_sum, all_sum, row_max, transpose, permute0213, permute0231,
                                      permute0312, permute210, softmax,
                                      log_softmax, layernorm, variance, batch_norm, batch_norm_last,
                                      rmsnorm_residual, cross_entropy, dropout, rope, adam, topk,
                                      cumsum, cumsum_line, cumsum_columns, sort, sort_line, embedding, histogram, concat, pad)}
OPERATIONS.update(everyday_programs.OPERATIONS)
OPERATIONS.update(uncommon_programs.OPERATIONS)
OPERATIONS.update(user_programs.OPERATIONS)


def program(case, dynamic):
    f = Function("run", dynamic)
    if case.operation.startswith("random_"):
        random_programs.program(f, case.operation)
    else:
        OPERATIONS[case.operation](f, case.kind, case.shape)
    return str(f)
