# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nodes of random programs that the host decides: loops over tensors, and branches on a value that a kernel computed."""
import numpy as np

from bounded import Bounded
from mlir_text import Tensor
from nodes import Node


class Loop(Node):
    """scf.for that applies a body to a tensor again and again. trips: a number, or (dimension, modulus) of the operand's size."""

    def __init__(self, operand, trips, body):
        self.operands, self.trips, self.body = (operand,), trips, body

    def write(self, f, tensors):
        x = tensors[0]
        if isinstance(self.trips, int):
            last = f.index(self.trips)
        else:
            last = f.index_op("arith.remui", x.shape[self.trips[0]], self.trips[1])
        result, carried = Tensor(f.fresh(), x.kind, x.shape), Tensor(f.fresh().replace("%", "%t"), x.kind, x.shape)
        f.line(f"{result.name} = scf.for %i{carried.name[1:]} = {f.index(0)} to {last} step {f.index(1)} "
               f"iter_args({carried.name} = {x.name}) -> ({x.type}) {{")
        write_region(f, self.body, carried)
        f.line("}")
        return [result]

    def evaluate(self, values):
        value = values[0]
        for _ in range(self.trips if isinstance(self.trips, int) else value.shape[self.trips[0]] % self.trips[1]):
            value = self.body.evaluate([value])[0]
        return [value]


class Branch(Node):
    """scf.if on an element of i1, which has to come back from the device: one of two bodies over a tensor, or the tensor."""

    def __init__(self, condition, operand, yes, no):
        self.operands, self.yes, self.no = (condition, operand), yes, no

    def write(self, f, tensors):
        condition, x = tensors
        bit = f.extract(condition)
        result = Tensor(f.fresh(), x.kind, x.shape)
        f.line(f"{result.name} = scf.if {bit} -> ({x.type}) {{")
        write_region(f, self.yes, x)
        f.line("} else {")
        write_region(f, self.no, x)
        f.line("}")
        return [result]

    def evaluate(self, values):
        condition, x = values
        chosen = self.yes if condition.v else self.no
        result = chosen.evaluate([x])[0] if chosen else x
        return [result if np.isfinite(condition.e) else Bounded(result.kind, result.v, np.full(result.shape, np.inf))]


def write_region(f, body, x):
    f.depth += 1
    result = body.write(f, [x])[0] if body else x
    f.line(f"scf.yield {result.name} : {result.type}")
    f.depth -= 1
