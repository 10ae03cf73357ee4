# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nodes of random programs that the host decides: loops over tensors, and branches on a value that a kernel computed."""
import numpy as np

from bounded import Bounded
from mlir_text import Tensor
from nodes.node import Node


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


class Recurrence(Node):
    """scf.for: a matrix is multiplied by the same one again and again, and a body is applied to each product."""

    def __init__(self, x, weights, trips, product, body):
        self.operands, self.trips, self.product, self.body = (x, weights), trips, product, body

    def write(self, f, tensors):
        x, weights = tensors
        result, carried = Tensor(f.fresh(), x.kind, x.shape), Tensor(f.fresh().replace("%", "%t"), x.kind, x.shape)
        f.line(f"{result.name} = scf.for %i{carried.name[1:]} = {f.index(0)} to {f.index(self.trips)} step {f.index(1)} "
               f"iter_args({carried.name} = {x.name}) -> ({x.type}) {{")
        f.depth += 1
        made = self.body.write(f, self.product.write(f, [carried, weights]))[0]
        f.line(f"scf.yield {made.name} : {made.type}")
        f.depth -= 1
        f.line("}")
        return [result]

    def evaluate(self, values):
        value = values[0]
        for _ in range(self.trips):
            value = self.body.evaluate(self.product.evaluate([value, values[1]]))[0]
        return [value]


class Rows(Node):
    """scf.for over the rows of a tensor: a body of each row and of the row that was written before it is written into a second
    tensor, in place."""

    def __init__(self, x, into, body):
        self.operands, self.body = (x, into), body

    def place(self, x, row, at):
        """Where row `at` of a tensor is: offsets, sizes and strides."""
        sizes = ["1", *map(str, row.shape)]
        return f"{x.name}[{', '.join([at] + ['0'] * len(row))}] [{', '.join(sizes)}] [{', '.join('1' for _ in sizes)}]"

    def row(self, f, x, at):
        result = Tensor(f.fresh(), x.kind, x.shape[1:])
        f.line(f"{result.name} = tensor.extract_slice {self.place(x, result, at)} : {x.type} to {result.type}")
        return result

    def write(self, f, tensors):
        x, into = tensors
        result, carried = Tensor(f.fresh(), into.kind, into.shape), Tensor(f.fresh().replace("%", "%t"), into.kind, into.shape)
        at = f"%i{carried.name[1:]}"
        f.line(f"{result.name} = scf.for {at} = {f.index(1)} to {f.size(into.shape[0])} step {f.index(1)} "
               f"iter_args({carried.name} = {into.name}) -> ({into.type}) {{")
        f.depth += 1
        before = f.index_op("arith.subi", at, 1)
        made = self.body.write(f, [self.row(f, x, at), self.row(f, carried, before)])[0]
        last = Tensor(f.fresh(), into.kind, into.shape)
        f.line(f"{last.name} = tensor.insert_slice {made.name} into {self.place(carried, made, at)} : {made.type} into {into.type}")
        f.line(f"scf.yield {last.name} : {last.type}")
        f.depth -= 1
        f.line("}")
        return [result]

    def evaluate(self, values):
        x, into = values
        v, e = into.v.copy(), into.e.copy()
        for i in range(1, into.shape[0]):
            row, before = Bounded(x.kind, x.v[i], x.e[i]), Bounded(into.kind, v[i - 1], e[i - 1])
            made = self.body.evaluate([row, before])[0]
            v[i], e[i] = made.v, made.e
        return [Bounded(into.kind, v, e)]
