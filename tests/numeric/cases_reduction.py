# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, alone and with what reads them back: sums, extremes, softmax, norms, losses."""
import numpy as np

import elements
from cases import Case, argument, forms, generator
from elements import FLOATS, INTEGERS, is_float
from movement_nodes import Slice, Transpose
from nodes import ArgMax, Elementwise, Reduce, ReduceBody, Softmax, Step
from program import Program

COMBINE = {"sum": ("arith.addf", "arith.addi"), "product": ("arith.mulf", "arith.muli"), "maximum": ("arith.maximumf", "arith.maxsi"),
           "minimum": ("arith.minimumf", "arith.minsi"), "and": (None, "arith.andi"), "or": (None, "arith.ori"),
           "xor": (None, "arith.xori")}
# (shape by size, axes): rows, columns, the middle of few and of more results beside each other, all.
LAYOUTS = (("rows", lambda n: (5, n), [1]), ("columns", lambda n: (n, 37), [0]), ("middle", lambda n: (3, n, 5), [1]),
           ("middle of rows", lambda n: (2, n, 40), [1]), ("outer and inner", lambda n: (3, n, 5), [0, 2]), ("all", lambda n: (n,), [0]))


def whole_axes(torch, x, axes, name):
    wide = x if x.dtype == torch.float64 else x.float()  # the program widens as well
    return {"sum": lambda: wide.sum(axes), "maximum": lambda: wide.amax(axes), "minimum": lambda: wide.amin(axes)}[name]()


def reduction_cases(sizes):
    for name, (of_floats, of_integers) in COMBINE.items():
        for kind in FLOATS + INTEGERS + ("i1",):
            operation = of_floats if is_float(kind) else of_integers
            if operation is None or (kind == "i1" and name not in ("and", "or", "xor")):
                continue
            for layout, shape_of, axes in LAYOUTS:
                for n, dynamic in forms(sizes):
                    shape, random = shape_of(n), generator(name, kind, layout, n)
                    x = elements.draw(random, kind, shape)
                    if name == "product" and is_float(kind):
                        x = random.uniform(0.97, 1.03, shape)
                    torch = None
                    if name in ("sum", "maximum", "minimum") and is_float(kind) and n:
                        def torch(torch, t, axes=tuple(axes), name=name):
                            return whole_axes(torch, t, axes, name)
                    program = Program([argument(kind, x, dynamic), Reduce(((0, 0),), axes, [operation], wide=True)], [(1, 0)])
                    yield Case(f"{name} of {layout}", kind, program, torch)


def signed_extreme_cases(sizes):
    """The largest |x|, and the largest and smallest of x, -x and what was: what ptxas takes three at a time (ptxas_errors.h)."""
    for kind in ("i16", "i32", "i64"):
        negated = [Step("const", kind, extra=0), Step("arith.subi", kind, (1, 0))]
        either = negated + [Step("arith.maxsi", kind, (0, 2))]
        for layout, shape_of, axes in (LAYOUTS[0], LAYOUTS[1], LAYOUTS[5]):
            for n, dynamic in forms(sizes):
                shape = shape_of(n)
                x = argument(kind, elements.draw(generator("magnitude", kind, layout, n), kind, shape), dynamic)
                for name, steps, operation in (("magnitude", [Step("math.absi", kind, (0,))], "arith.maxsi"),
                                               ("either sign", either, "arith.maxsi"), ("other sign", negated, "arith.minsi")):
                    changed = Elementwise(((0, 0),), [list(range(len(shape)))], shape, steps, [len(steps)])
                    program = Program([x, changed, Reduce(((1, 0),), axes, [operation], wide=True)], [(2, 0)])
                    yield Case(f"{operation[6:]} of {name}, {layout}", kind, program)


def long_column_cases():
    """Columns in the middle of tensors of unknown size, so long that they are parts: of few and many, of a slice, and where the program
    may read two dimensions as one."""
    for kind in ("f32", "bf16"):
        def reduced(data, axes, *between):
            nodes = [argument(kind, data, True), *between]
            return Program(nodes + [Reduce(((len(between), 0),), axes, ["arith.addf"], wide=True)], [(len(nodes), 0)])
        for columns in (5, 37, 40):
            x = elements.draw(generator("long columns", kind, columns), kind, (2, 1700, columns))
            yield Case("sum of long columns", kind, reduced(x, [1]))
            yield Case("sum of long columns", kind, reduced(x, [1], Slice((0, 0), [0, 112, 0], (2, 1500, columns), [1, 1, 1])))
        x = elements.draw(generator("long columns", kind), kind, (2, 1100, 9, 4))
        yield Case("sum of long columns", kind, reduced(x, [0, 1]))
        yield Case("sum of long columns", kind, reduced(x, [2], Transpose((0, 0), [3, 0, 1, 2])))


def argmax_cases(sizes):
    for kind in FLOATS:
        for n, dynamic in forms(sizes):
            if n == 0:
                continue
            for axis, shape in ((1, (5, n)), (0, (n, 37))):
                x = elements.rounded(kind, generator("argmax", kind, n).integers(-50, 50, shape).astype(np.float64))
                program = Program([argument(kind, x, dynamic), ArgMax((0, 0), axis, "i64")], [(1, 0), (1, 1)])
                yield Case("argmax", kind, program)


class Builder:
    """Nodes over a matrix, by row; arithmetic in f32 where the type is narrower."""

    def __init__(self, kind, shape, dynamic, random, low=-4.0, high=4.0):
        self.nodes, self.kind, self.shape, self.dynamic, self.random = [], kind, shape, dynamic, random
        self.wide = "f64" if kind == "f64" else "f32"
        self.axes, self.count = [len(shape) - 1], float(max(shape[-1], 1))
        self.x = self.add(argument(kind, random.uniform(low, high, shape), dynamic))

    def add(self, node):
        self.nodes.append(node)
        return len(self.nodes) - 1, 0

    def more(self, kind, data):
        return self.add(argument(kind, data, self.dynamic))

    def places(self, operand, by_column=()):
        every = list(range(len(self.shape)))
        if operand in by_column:
            return list(self.axes)
        node = self.nodes[operand[0]]
        if isinstance(node, Reduce) or (isinstance(node, Elementwise) and len(node.shape) < len(every)) or \
                isinstance(node, ReduceBody):
            return [i for i in every if i not in self.axes]
        return every

    def widened(self):
        if self.kind != self.wide:
            self.x = self.add(Elementwise((self.x,), [list(range(len(self.shape)))], self.shape, [Step("convert", self.wide, (0,))], [1]))
        return self.x

    def over(self, operands, steps, by_column=()):
        steps = list(steps)
        if self.kind != self.wide:  # the last step narrows
            steps.append(Step("convert", self.kind, (len(operands) + len(steps) - 1,)))
        return self.add(Elementwise(tuple(operands), [self.places(o, by_column) for o in operands], self.shape, steps,
                                    [len(operands) + len(steps) - 1]))

    def combine(self, operands, steps, operation):
        if not steps:
            return self.add(Reduce(tuple(operands), self.axes, [operation]))
        return self.add(ReduceBody(tuple(operands), [self.places(o) for o in operands], self.shape, steps,
                                   [len(operands) + len(steps) - 1], self.axes, operation))

    def by_row(self, operand, steps):
        rest = [n for i, n in enumerate(self.shape) if i not in self.axes]
        return self.add(Elementwise((operand,), [list(range(len(rest)))], tuple(rest), steps, [len(steps)]))

    def mean(self, total):
        return self.by_row(total, [Step("const", self.wide, extra=self.count), Step("arith.divf", self.wide, (0, 1))])

    def program(self, *outputs):
        return Program(self.nodes, list(outputs) or [(len(self.nodes) - 1, 0)])


def op(name, b, *operands):
    return Step(name, b.wide, operands)


def softmax(b):
    x = b.widened()
    top = b.combine([x], [], "arith.maximumf")
    total = b.combine([x, top], [op("arith.subf", b, 0, 1), op("math.exp", b, 2)], "arith.addf")
    b.over([x, top, total], [op("arith.subf", b, 0, 1), op("math.exp", b, 3), op("arith.divf", b, 4, 2)])
    return b.program()


def log_softmax(b):
    x = b.widened()
    top = b.combine([x], [], "arith.maximumf")
    total = b.combine([x, top], [op("arith.subf", b, 0, 1), op("math.exp", b, 2)], "arith.addf")
    log = b.by_row(total, [op("math.log", b, 0)])
    b.over([x, top, log], [op("arith.subf", b, 0, 1), op("arith.subf", b, 3, 2)])
    return b.program()


def variance(b):
    x = b.widened()
    mean = b.mean(b.combine([x], [], "arith.addf"))
    b.mean(b.combine([x, mean], [op("arith.subf", b, 0, 1), op("arith.mulf", b, 2, 2)], "arith.addf"))
    return b.program()


def layernorm(b):
    gamma, beta = (b.more(b.wide, b.random.uniform(-1, 1, b.shape[-1:])) for _ in range(2))
    x = b.widened()
    mean = b.mean(b.combine([x], [], "arith.addf"))
    spread = b.mean(b.combine([x, mean], [op("arith.subf", b, 0, 1), op("arith.mulf", b, 2, 2)], "arith.addf"))
    b.over([x, mean, spread, gamma, beta],
           [op("arith.subf", b, 0, 1), Step("const", b.wide, extra=2.0 ** -16), op("arith.addf", b, 2, 6), op("math.rsqrt", b, 7),
            op("arith.mulf", b, 5, 8), op("arith.mulf", b, 9, 3), op("arith.addf", b, 10, 4)], by_column=(gamma, beta))
    return b.program()


def rmsnorm(b):
    gamma = b.more(b.wide, b.random.uniform(-1, 1, b.shape[-1:]))
    x = b.widened()
    mean = b.mean(b.combine([x], [op("arith.mulf", b, 0, 0)], "arith.addf"))
    b.over([x, mean, gamma], [Step("const", b.wide, extra=2.0 ** -16), op("arith.addf", b, 1, 3), op("math.rsqrt", b, 4),
                              op("arith.mulf", b, 0, 5), op("arith.mulf", b, 6, 2)], by_column=(gamma,))
    return b.program()


def normalised(b, axes):
    b.axes, b.count = axes, float(max(np.prod([b.shape[i] for i in axes]), 1))
    x = b.widened()
    mean = b.mean(b.combine([x], [], "arith.addf"))
    spread = b.mean(b.combine([x, mean], [op("arith.subf", b, 0, 1), op("arith.mulf", b, 2, 2)], "arith.addf"))
    b.over([x, mean, spread], [op("arith.subf", b, 0, 1), Step("const", b.wide, extra=2.0 ** -16), op("arith.addf", b, 2, 4),
                               op("math.rsqrt", b, 5), op("arith.mulf", b, 3, 6)])
    return b.program()


def batch_norm(b):
    """Over all but the middle of three dimensions."""
    return normalised(b, [0, 2])


def batch_norm_last(b):
    """Down columns."""
    return normalised(b, [0])


def cross_entropy(b):
    """log(sum(exp(x))) - x[target], by row."""
    target = b.more("i64", b.random.integers(0, max(b.shape[-1], 1), b.shape[:1]))
    x = b.widened()
    top = b.combine([x], [], "arith.maximumf")
    total = b.combine([x, top], [op("arith.subf", b, 0, 1), op("math.exp", b, 2)], "arith.addf")
    picked = b.add(ReduceBody((x, target), [[0, 1], [0]], b.shape, [
        Step("index", "i64", extra=1), Step("cmp eq", "i1", (2, 1)), Step("const", b.wide, extra=0.0),
        Step("select", b.wide, (3, 0, 4))], [5], [1], "arith.addf"))
    b.add(Elementwise((top, total, picked), [[0]] * 3, b.shape[:1], [op("math.log", b, 1), op("arith.addf", b, 0, 3),
                                                                     op("arith.subf", b, 4, 2)], [5]))
    return b.program()


def norm_of(torch, x, *more, epsilon=2.0 ** -16):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], *[t.to(x.dtype) for t in more], epsilon)


NORMS = {
    "softmax": (softmax, lambda torch, x: torch.softmax(x, -1)),
    "log_softmax": (log_softmax, lambda torch, x: torch.log_softmax(x, -1)),
    "variance": (variance, lambda torch, x: x.float().var(-1, correction=0) if x.dtype != torch.float64 else x.var(-1, correction=0)),
    "layernorm": (layernorm, norm_of),
    "rmsnorm": (rmsnorm, lambda torch, x, g: torch.nn.functional.rms_norm(x, x.shape[-1:], g.to(x.dtype), 2.0 ** -16)),
    "batch_norm": (batch_norm, lambda torch, x: torch.nn.functional.batch_norm(x, None, None, training=True, eps=2.0 ** -16)),
    "cross_entropy": (cross_entropy, lambda torch, x, t: torch.nn.functional.cross_entropy(
        x if x.dtype == torch.float64 else x.float(), t, reduction="none")),
}


def norm_cases(sizes):
    for name, (build, torch) in NORMS.items():
        for kind in FLOATS:
            for n, dynamic in forms(sizes):
                if n:
                    shape = (3, 5, n) if name == "batch_norm" else (5, n)
                    program = build(Builder(kind, shape, dynamic, generator(name, kind, n)))
                    yield Case(name, kind, program, torch if n > 1 or name != "batch_norm" else None)
    for kind in FLOATS:
        for n, dynamic in forms(sizes):
            for axis, shape in ((1, (5, n)), (0, (n, 37))) if n else ():
                x = generator("linalg.softmax", kind, n).uniform(-4, 4, shape)
                yield Case("linalg.softmax", kind, Program([argument(kind, x, dynamic), Softmax((0, 0), axis)], [(1, 0)]),
                           lambda torch, t, axis=axis: torch.softmax(t, axis))


def several_results(sizes):
    """Sum, maximum and product of one tensor at once; a sum on top of what a tensor holds."""
    for kind in FLOATS + INTEGERS:
        place = 0 if is_float(kind) else 1
        for n, dynamic in forms(sizes):
            random = generator("several", kind, n)
            x = argument(kind, elements.draw(random, kind, (5, n)) if not is_float(kind) else random.uniform(0.99, 1.01, (5, n)), dynamic)
            names = [COMBINE[name][place] for name in ("sum", "maximum", "product")]
            yield Case("three reductions at once", kind, Program([x, Reduce(((0, 0),), [1], names, wide=True)], [(1, i) for i in range(3)]))
            start = argument(kind, elements.draw(random, kind, (5,)), dynamic)
            yield Case("sum onto a tensor", kind, Program([x, start, Reduce(((0, 0), (1, 0)), [1], [COMBINE["sum"][place]])], [(2, 0)]))


def long_cases():
    """Rows that no block holds in its registers, and as many columns' elements."""
    for kind in ("f32", "bf16", "i64"):
        for n, dynamic in forms((16385, 65536, 70001)):
            random = generator("long", kind, n)
            for layout, shape, axes in (("rows", (3, n), [1]), ("columns", (n, 3), [0]), ("wide columns", (n // 9, 37), [0]),
                                       ("all", (3, n), [0, 1]), ("vectors", (n,), [0])):
                x = argument(kind, elements.draw(random, kind, shape), dynamic)
                operations = ["arith.addf", "arith.maximumf"] if is_float(kind) else ["arith.addi", "arith.maxsi"]
                yield Case(f"sum and maximum of long {layout}", kind, Program([x, Reduce(((0, 0),), axes, operations, wide=True)],
                                                                             [(1, 0), (1, 1)]))
            for name in ("softmax", "layernorm", "cross_entropy") if is_float(kind) else ():
                build, torch = NORMS[name]
                yield Case(f"{name} of long rows", kind, build(Builder(kind, (3, n), dynamic, random)), torch)


def long_group_cases():
    """What is read again when its sum is known, longer than a cluster keeps: of unknown size it is there whole and in parts. And
    sums over several dimensions side by side, of few results."""
    for kind in ("f32", "bf16"):
        for shape, axes in (((140001,), [0]), ((2, 3, 45001), [1, 2]), ((300, 5, 37), [0, 1]), ((4, 3, 37), [0, 1])):
            for dynamic in (False, True):
                for name, build in (("softmax", softmax), ("norm", lambda b: normalised(b, b.axes))):
                    b = Builder(kind, shape, dynamic, generator("long group", name, kind, shape))
                    b.axes = axes
                    yield Case(f"{name} of long groups", kind, build(b))


def cluster_cases():
    """Rows that take several blocks, and are too many to be split: as long as whole vectors are, and not."""
    for kind, n in (("f32", 32772), ("f32", 33001), ("bf16", 40968), ("f32", 82000)):
        for name in ("softmax", "layernorm"):
            build, torch = NORMS[name]
            yield Case(f"{name} of rows of a cluster", kind, build(Builder(kind, (256, n), False, generator(name, kind, n))), torch)


def residual_norm(b):
    """Rows less their mean, each the sum of two."""
    other = b.more(b.kind, b.random.uniform(-4, 4, b.shape))
    first = b.widened()
    b.x = other
    b.x = b.over([first, b.widened()], [op("arith.addf", b, 0, 1)])
    x = b.widened()
    mean = b.mean(b.combine([x], [], "arith.addf"))
    b.over([x, mean], [op("arith.subf", b, 0, 1)])
    return b.program()


def full_cluster_cases():
    """Rows of two tensors that take several blocks, the second of them from inside a vector on: which the vectors of all
    threads hold, and which have an element or two more."""
    for kind, n in (("f32", 33001), ("f32", 36866), ("f32", 65537), ("bf16", 65537)):
        yield Case("residual norm of rows of a cluster", kind, residual_norm(Builder(kind, (2, n), False, generator("residual", kind, n))))


def kept_column_cases():
    """Down columns so short that they are kept, as many as a block has, one less and more; not of whole vectors, too."""
    for kind in ("f32", "bf16", "f64"):
        for shape, axis in (((3, 21, 40), 1), ((2, 64, 33), 1), ((65, 18), 0), ((2, 1, 260), 1), ((256, 9), 0), ((257, 9), 0)):
            for name, build in (("softmax", softmax), ("norm", lambda b: normalised(b, b.axes))):
                b = Builder(kind, shape, False, generator(name, kind, shape))
                b.axes = [axis]
                yield Case(f"{name} of kept columns", kind, build(b))


def ragged_cases():
    """Rows that start anywhere between vectors, by one thread of a warp and by all of a block."""
    for kind in ("f32", "bf16", "f64", "i8"):
        for n in (37, 143, 1001, 2050, 4095):
            random = generator("ragged", kind, n)
            x = argument(kind, elements.draw(random, kind, (7, n)), False)
            operations = ["arith.addf", "arith.maximumf"] if is_float(kind) else ["arith.addi", "arith.maxsi"]
            yield Case("sum and maximum of ragged rows", kind, Program([x, Reduce(((0, 0),), [1], operations, wide=True)],
                                                                       [(1, 0), (1, 1)]))


def column_norm_cases():
    """Columns whose mean and variance take one pass: of few rows, and of parts; their mean is far from 0."""
    for kind in ("f32", "bf16", "f64"):
        for shape in ((1, 5), (33, 37), (1031, 6), (2048, 36), (4099, 12)):
            for n, dynamic in forms(shape[:1]):
                program = batch_norm_last(Builder(kind, shape, dynamic, generator("columns", kind, n), 40.0, 50.0))
                yield Case("batch_norm of columns", kind, program)
    for kind in ("f32", "f64"):
        for n, dynamic in forms((100, 2048)):
            data = elements.rounded(kind, special_row(n).T)
            builder = Builder(kind, data.shape, dynamic, generator("columns", kind, n))
            builder.nodes[0] = argument(kind, data, dynamic)
            builder.axes, builder.count = [0], float(n)
            yield Case("variance of special columns", kind, variance(builder), raw=lambda x: x.var(0))


def group_norm(b):
    """Over the channels of a group and their places, with weights for each channel: [groups, channels, places]."""
    gamma, beta = (b.more(b.wide, b.random.uniform(-1, 1, b.shape[1:2])) for _ in range(2))
    b.axes, b.count = [1, 2], float(max(b.shape[1] * b.shape[2], 1))
    x = b.widened()
    mean = b.mean(b.combine([x], [], "arith.addf"))
    spread = b.mean(b.combine([x, mean], [op("arith.subf", b, 0, 1), op("arith.mulf", b, 2, 2)], "arith.addf"))
    b.axes = [1]  # of the weights
    steps = [op("arith.subf", b, 0, 1), Step("const", b.wide, extra=2.0 ** -16), op("arith.addf", b, 2, 6), op("math.rsqrt", b, 7),
             op("arith.mulf", b, 5, 8), op("arith.mulf", b, 9, 3), op("arith.addf", b, 10, 4)]
    if b.kind != b.wide:
        steps.append(Step("convert", b.kind, (11,)))
    b.add(Elementwise((x, mean, spread, gamma, beta), [[0, 1, 2], [0], [0], [1], [1]], b.shape, steps, [4 + len(steps)]))
    return b.program()


def group_norm_cases():
    """Vectors that lie in two channels, in one, or in many, since places are fewer than a vector has elements."""
    for kind, shape, dynamic in (("bf16", (2, 3, 9), False), ("f32", (2, 70, 143), False), ("bf16", (3, 4, 7), True),
                                 ("bf16", (2, 9, 241), True)):
        yield Case("group norm", kind, group_norm(Builder(kind, shape, dynamic, generator("groups", kind, shape))))


def channel_norm_cases():
    """Mean and variance over the first and the last of three dimensions, whose parts are rows where sizes are unknown; the mean
    is far from 0, or rows hold what is no number."""
    for kind in ("f32", "bf16", "f64"):
        for shape in ((1, 5, 7), (9, 3, 1), (5, 4, 33), (8, 3, 257), (3, 2, 1365), (64, 3, 257), (3, 300, 31)):
            for _, dynamic in forms(shape[:1]):
                program = batch_norm(Builder(kind, shape, dynamic, generator("channels", kind, shape), 40.0, 50.0))
                yield Case("batch_norm of channels", kind, program)
    for kind in ("f32", "f64"):
        rows = elements.rounded(kind, special_row(100))  # [rows, 100] as [batch, rows, positions]
        data = np.ascontiguousarray(rows.reshape(rows.shape[0], 4, 25).transpose(1, 0, 2))
        builder = Builder(kind, data.shape, True, generator("channels", kind))
        builder.nodes[0] = argument(kind, data, True)
        builder.axes, builder.count = [0, 2], 100.0
        yield Case("variance of special channels", kind, variance(builder), raw=lambda x: x.var((0, 2)))
    for shape in ((4, 3, 0), (0, 3, 4)):
        builder = Builder("f32", shape, True, generator("channels", shape))
        builder.axes, builder.count = [0, 2], 1.0
        yield Case("variance of no positions", "f32", variance(builder))


def special_row(n):
    """Rows on which one pass over a softmax or a variance may differ from two: infinities in every place, NaNs, numbers
    that grow, numbers far from 0."""
    rise = np.linspace(0, 60, n)
    rows = [rise, rise[::-1], rise - 1000, np.full(n, -np.inf), np.full(n, 100.0), np.where(np.arange(n) % 2, -np.inf, -50.0)]
    for place in (0, n // 2, n - 1):
        for special in (np.inf, -np.inf, np.nan):
            rows.append(np.where(np.arange(n) == place, special, rise))
    rows.append(np.where(np.arange(n) < n // 2, -np.inf, 1.0))
    rows.append(np.where(np.arange(n) < n // 2, 1.0, -np.inf))
    return np.stack(rows)


def softmax_of(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def special_cases(sizes):
    for name, raw in (("softmax", softmax_of), ("variance", lambda x: x.var(-1))):
        for kind in ("f16", "f32", "f64"):
            for n, dynamic in forms([*sizes, *([40961] if len(sizes) > 1 else [])]):
                if n:
                    data = elements.rounded(kind, special_row(n))
                    builder = Builder(kind, data.shape, dynamic, generator(name, kind, n))
                    builder.nodes[0] = argument(kind, data, dynamic)
                    yield Case(f"{name} of special rows", kind, NORMS[name][0](builder), raw=raw)


def cases(sizes):
    if len(sizes) > 1:
        yield from long_cases()
        yield from cluster_cases()
    yield from long_group_cases()
    yield from full_cluster_cases()
    yield from kept_column_cases()
    yield from long_column_cases()
    yield from special_cases(sizes)
    yield from ragged_cases()
    yield from column_norm_cases()
    yield from channel_norm_cases()
    yield from group_norm_cases()
    yield from reduction_cases(sizes)
    yield from signed_extreme_cases(sizes)
    yield from argmax_cases(sizes)
    yield from norm_cases(sizes)
    yield from several_results(sizes)
