# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of programs that move elements or contract tensors (nodes/node.py says what a node is)."""
import numpy as np

import bounded
import elements
from bounded import Bounded
from elements import is_float
from mlir_text import Tensor
from nodes.node import Node


class Transpose(Node):
    def __init__(self, operand, permutation):
        self.operands, self.permutation = (operand,), permutation

    def write(self, f, tensors):
        return [f.transpose(tensors[0], self.permutation)]

    def evaluate(self, values):
        return [values[0].move(lambda x: np.transpose(x, self.permutation))]


class Broadcast(Node):
    """linalg.broadcast to `shape`, which has new dimensions at `added`."""

    def __init__(self, operand, shape, added):
        self.operands, self.shape, self.added = (operand,), shape, added

    def write(self, f, tensors):
        old = iter(tensors[0].shape)
        sizes = [self.shape[i] if i in self.added else next(old) for i in range(len(self.shape))]
        empty = f.empty(tensors[0].kind, sizes)
        result = Tensor(f.fresh(), empty.kind, sizes)
        f.line(f"{result.name} = linalg.broadcast ins({tensors[0].name} : {tensors[0].type}) outs({empty.name} : {empty.type}) "
               f"dimensions = [{', '.join(map(str, self.added))}]")
        return [result]

    def evaluate(self, values):
        shape = [1 if i in self.added else n for i, n in enumerate(self.shape)]
        return [values[0].move(lambda x: np.broadcast_to(x.reshape(shape), self.shape))]


class Slice(Node):
    def __init__(self, operand, offsets, sizes, strides):
        self.operands, self.offsets, self.sizes, self.strides = (operand,), offsets, sizes, strides

    def write(self, f, tensors):
        return [f.slice(tensors[0], self.offsets, self.sizes, self.strides)]

    def evaluate(self, values):
        part = tuple(slice(o, o + n * s if n else o, s) for o, n, s in zip(self.offsets, self.sizes, self.strides))
        return [values[0].move(lambda x: x[part])]


class InsertSlice(Node):
    """The first operand with the second one written into it."""

    def __init__(self, operands, offsets, strides, sizes):
        self.operands, self.offsets, self.strides, self.sizes = operands, offsets, strides, sizes

    def write(self, f, tensors):
        into, part = tensors
        result = Tensor(f.fresh(), into.kind, into.shape)
        sizes = [size if isinstance(size, int) else size for size in part.shape]
        lists = ["[" + ", ".join(map(str, numbers)) + "]" for numbers in (self.offsets, sizes, self.strides)]
        f.line(f"{result.name} = tensor.insert_slice {part.name} into {into.name}{' '.join(lists)} : {part.type} into {into.type}")
        return [result]

    def evaluate(self, values):
        into, part = values
        at = tuple(slice(o, o + n * s if n else o, s) for o, n, s in zip(self.offsets, self.sizes, self.strides))
        v, e = into.v.copy(), into.e.copy()
        v[at], e[at] = part.v, part.e
        return [Bounded(into.kind, v, e)]


class Pad(Node):
    def __init__(self, operand, low, high, value):
        self.operands, self.low, self.high, self.value = (operand,), low, high, value

    def write(self, f, tensors):
        return [f.pad(tensors[0], self.low, self.high, self.value)]

    def evaluate(self, values):
        around = list(zip(self.low, self.high))
        x = values[0]
        return [Bounded(x.kind, np.pad(x.v, around, constant_values=self.value), np.pad(x.e, around))]


class Concat(Node):
    def __init__(self, operands, axis):
        self.operands, self.axis = operands, axis

    def write(self, f, tensors):
        return [f.concat(self.axis, *tensors)]

    def evaluate(self, values):
        return [Bounded(values[0].kind, np.concatenate([v.v for v in values], self.axis),
                        np.concatenate([v.e for v in values], self.axis))]


class Collapse(Node):
    """Dimensions `axis` and `axis + 1` become one."""

    def __init__(self, operand, axis):
        self.operands, self.axis = (operand,), axis

    def write(self, f, tensors):
        x, a = tensors[0], self.axis
        known = isinstance(x.shape[a], int) and isinstance(x.shape[a + 1], int)
        one = x.shape[a] * x.shape[a + 1] if known else f.multiply_sizes(x.shape[a], x.shape[a + 1])
        result = Tensor(f.fresh(), x.kind, list(x.shape[:a]) + [one] + list(x.shape[a + 2:]))
        groups = [[i] for i in range(a)] + [[a, a + 1]] + [[i] for i in range(a + 2, len(x))]
        f.line(f"{result.name} = tensor.collapse_shape {x.name} {groups} : {x.type} into {result.type}")
        return [result]

    def evaluate(self, values):
        s, a = values[0].shape, self.axis
        return [values[0].move(lambda x: x.reshape(s[:a] + (s[a] * s[a + 1],) + s[a + 2:]))]


class Expand(Node):
    """Dimension `axis` becomes two, of which the inner has `inner` elements."""

    def __init__(self, operand, axis, inner):
        self.operands, self.axis, self.inner = (operand,), axis, inner

    def write(self, f, tensors):
        x, a = tensors[0], self.axis
        outer = x.shape[a] // self.inner if isinstance(x.shape[a], int) else f.index_op("arith.divui", x.shape[a], self.inner)
        result = Tensor(f.fresh(), x.kind, list(x.shape[:a]) + [outer, self.inner] + list(x.shape[a + 1:]))
        groups = [[i] for i in range(a)] + [[a, a + 1]] + [[i + 1] for i in range(a + 1, len(x))]
        f.line(f"{result.name} = tensor.expand_shape {x.name} {groups} output_shape [{', '.join(map(str, result.shape))}] : "
               f"{x.type} into {result.type}")
        return [result]

    def evaluate(self, values):
        s, a = values[0].shape, self.axis
        return [values[0].move(lambda x: x.reshape(s[:a] + (s[a] // self.inner, self.inner) + s[a + 1:]))]


class Gather(Node):
    """Rows of a table by an integer tensor, whose values are taken modulo the number of rows: tensor.extract in a body."""

    def __init__(self, table, index):
        self.operands = (table, index)

    def write(self, f, tensors):
        table, index = tensors
        rank = len(index)
        sizes = list(index.shape) + list(table.shape[1:])
        rows = f.size(table.shape[0])

        def body(i, _):
            wide = i if index.kind == "i64" else f.op("arith.extui", index.kind, i, to="i64")
            row = f.op("arith.remui", "index", f.op("arith.index_cast", "i64", wide, to="index"), rows)
            return f.extract(table, row, *[f.loop_index(rank + d) for d in range(len(table) - 1)])

        return f.generic([(index, range(rank))], [(f.empty(table.kind, sizes), range(len(sizes)))], "p" * len(sizes), body)

    def evaluate(self, values):
        table, index = values
        rows = (elements.unsigned(index.kind, index.v) % np.uint64(table.shape[0])).astype(np.int64)
        unknown = np.isinf(index.e).reshape(index.shape + (1,) * (len(table.shape) - 1))
        return [Bounded(table.kind, table.v[rows], np.where(unknown, np.inf, table.e[rows]))]


class Matmul(Node):
    def __init__(self, a, b):
        self.operands = (a, b)

    def write(self, f, tensors):
        a, b = tensors
        start = f.fill(a.kind, [a.shape[0], b.shape[1]], 0)
        result = Tensor(f.fresh(), a.kind, start.shape)
        f.line(f"{result.name} = linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) outs({start.name} : {start.type}) "
               f"-> {start.type}")
        return [result]

    def evaluate(self, values):
        a, b = (v.move(lambda x, i=i: np.expand_dims(x, 2 - 2 * i)) for i, v in enumerate(values))
        products = (bounded.float_operation("arith.mulf", a.kind, [a, b]) if is_float(a.kind)
                    else bounded.integer_operation("arith.muli", a.kind, [a, b]))
        return [bounded.reduce_sum(products, [1], a.kind)]
