# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the suite of operations runs: a case is one operation on one type at one shape, with its inputs.

The sizes are those where kernels change their ways; each comes with sizes that the program knows and with ones that it does not.
"""
import zlib

import numpy as np

import elements
from elements import is_float
from nodes.node import Argument, Elementwise, Node, Step
from nodes.program import Program

SIZES = (0, 1, 31, 33, 4095, 4097)
SMALL = (33,)


class Case:
    """operation: what errors are reported by; torch(torch, *tensors): PyTorch's way to the same results, where it has one;
    raw(*arrays): the result by NumPy alone, for what becomes of infinities and NaNs."""

    def __init__(self, operation, kind, program, torch=None, raw=None):
        self.operation, self.kind, self.program, self.torch, self.raw = operation, kind, program, torch, raw


def generator(*name):
    """Random numbers that depend on the case alone."""
    return np.random.default_rng(zlib.crc32(repr(name).encode()))


class Raw(Node):
    """An operation by two functions: write(f, *tensors) gives the tensors of its results, evaluate(*values) their values."""

    def __init__(self, operands, write, evaluate):
        self.operands, self.to_text, self.to_values = tuple(operands), write, evaluate

    def write(self, f, tensors):
        made = self.to_text(f, *tensors)
        return made if isinstance(made, list) else [made]

    def evaluate(self, values):
        made = self.to_values(*values)
        return made if isinstance(made, list) else [made]


def argument(kind, data, dynamic=False):
    data = elements.rounded(kind, data) if is_float(kind) else elements.wrap(kind, data)
    return Argument(kind, data, [dynamic] * data.ndim if not isinstance(dynamic, (list, tuple)) else list(dynamic))


def elementwise(arguments, steps):
    """A program of one body over whole tensors of one shape."""
    rank = arguments[0].data.ndim
    count = len(arguments)
    body = Elementwise([(i, 0) for i in range(count)], [list(range(rank))] * count, arguments[0].data.shape, steps,
                       [count + len(steps) - 1])
    return Program([*arguments, body], [(count, 0)])


def scalar(template, kind, operands, function, units=0):
    """A step that is written by a template: {r} is the result, {0} the first operand."""
    return Step("template", kind, operands, (template, function, units))


def forms(sizes):
    """(size, is it unknown to the program) of each form of a case."""
    for dynamic in (False, True):
        for n in sizes:
            yield n, dynamic
