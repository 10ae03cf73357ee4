# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that read back what they have reduced: softmax, norms, losses. `NORMS` has each by its name, with what torch calls it."""
import numpy as np

from cases.case import argument
from nodes.node import Elementwise, Reduce, ReduceBody, Step
from nodes.program import Program


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
