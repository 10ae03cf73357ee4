# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations of programs that compute: each is written as MLIR and evaluated with bounds (bounded.py).

A node has operands (other nodes' results, as (node, result)), and what is fixed when it is drawn. `write(f, tensors)` adds it
to a Function, `evaluate(values)` gives its results; both give lists.
"""
import numpy as np

import bounded
import elements
from bounded import Bounded
from elements import is_float
from mlir_text import Tensor


class Node:
    operands = ()

    def __repr__(self):
        return type(self).__name__


class Argument(Node):
    """data: the values of this run; dynamic: which sizes the program does not know; behind: elements in front of it in its
    memory, so that it is not aligned."""
    behind = 0

    def __init__(self, kind, data, dynamic):
        self.kind, self.data, self.dynamic = kind, data, dynamic

    def write(self, f, _):
        return [f.argument(self.kind, *self.data.shape, dynamic=self.dynamic)]

    def evaluate(self, _):
        return [Bounded(self.kind, self.data)]


class Splat(Node):
    """A constant tensor of one value."""

    def __init__(self, kind, shape, value):
        self.kind, self.shape, self.value = kind, shape, value

    def write(self, f, _):
        return [f.fill(self.kind, self.shape, self.value)]

    def evaluate(self, _):
        return [Bounded(self.kind, np.full(self.shape, self.value))]


class Step:
    """One scalar operation of a body. name: an operation, or 'const', 'index', 'select', 'convert', 'cmp PREDICATE', 'template';
    operands: numbers of earlier values of the body (its inputs come first); kind: of the result; extra: the constant or
    dimension, or (text with {r} and {0}, function, rounding in ulps)."""

    def __init__(self, name, kind, operands=(), extra=None):
        self.name, self.kind, self.operands, self.extra = name, kind, tuple(operands), extra

    def write(self, f, names, kinds):
        given = [names[i] for i in self.operands]
        if self.name == "const":
            return f.constant(self.kind, self.extra)
        if self.name == "index":
            return f.loop_index(self.extra, self.kind)
        if self.name == "select":
            return f.select(given[0], self.kind, given[1], given[2])
        if self.name == "convert":
            return f.convert(given[0], kinds[self.operands[0]], self.kind)
        if self.name == "template":
            result = f.fresh()
            f.line(self.extra[0].format(*given, r=result))
            return result
        if self.name.startswith("cmp "):
            of = kinds[self.operands[0]]
            result = f.fresh()
            f.line(f"{result} = arith.cmp{'f' if is_float(of) else 'i'} {self.name[4:]}, {given[0]}, {given[1]} : {of}")
            return result
        return f.op(self.name, self.kind, *given)

    def evaluate(self, values, shape):
        given = [values[i] for i in self.operands]
        if self.name == "const":
            return Bounded(self.kind, np.full((), elements.rounded(self.kind, np.array(self.extra))))
        if self.name == "index":
            n = np.arange(shape[self.extra]).reshape([-1 if i == self.extra else 1 for i in range(len(shape))])
            return Bounded(self.kind, elements.wrap(self.kind, n))
        if self.name == "select":
            return bounded.select(*given)
        if self.name == "convert":
            return bounded.convert(given[0], self.kind)
        if self.name == "template":
            _, function, units = self.extra
            return bounded.apply(function, self.kind, given, units)
        if self.name.startswith("cmp "):
            return bounded.compare(self.name[4:], *given)
        if is_float(self.kind):
            return bounded.float_operation(self.name, self.kind, given)
        return bounded.integer_operation(self.name, self.kind, given)


def write_steps(f, steps, names, kinds):
    for step in steps:
        names.append(step.write(f, names, kinds))
        kinds.append(step.kind)
    return names


def placed(value, indices, rank):
    """A tensor as its loops see it: axes in the loops' order, 1 where it does not depend on one. An index of None is a
    dimension of size 1 that is read at 0."""
    kept = [i for i, loop in enumerate(indices) if loop is not None]
    array = value.move(lambda x: x.reshape([x.shape[i] for i in kept]))
    loops = [indices[i] for i in kept]
    order = sorted(range(len(loops)), key=lambda i: loops[i])
    shape = [1] * rank
    for i in order:
        shape[loops[i]] = array.shape[i]
    return array.move(lambda x: np.transpose(x, order).reshape(shape))


class Elementwise(Node):
    """linalg.generic over parallel loops. indices: of each operand, a loop or None (read at 0) for each dimension; shape: of the
    loops; outputs: the values of the body that are yielded. style: 'outs', where the last operand is what the first result is
    written over; 'tensor' and 'map', where it is one operation on operands of one shape."""

    def __init__(self, operands, indices, shape, steps, outputs, style=""):
        self.operands, self.indices, self.shape, self.steps, self.outputs = operands, indices, shape, steps, outputs
        self.style = style

    def plain(self):
        """Is it one operation, on whole operands, in their order?"""
        every = list(range(len(self.shape)))
        return (len(self.steps) == 1 and self.outputs == [len(self.operands)] and all(i == every for i in self.indices) and
                self.steps[0].operands == tuple(range(len(self.operands))) and
                self.steps[0].name.startswith(("arith.", "math.")))

    def loop_sizes(self, tensors):
        """Numbers where any operand knows one."""
        sizes = list(self.shape)
        for loop in range(len(sizes)):
            found = [t.shape[i] for t, indices in zip(tensors, self.indices) for i, at in enumerate(indices) if at == loop]
            if found and not any(isinstance(size, int) for size in found):
                sizes[loop] = found[0]
        return sizes

    def write(self, f, tensors):
        types = {t.type for t in tensors}
        if self.style == "tensor" and len(types) == 1:
            return [f.tensor_op(self.steps[0].name, *tensors)]
        if self.style == "map" and len(types) == 1:
            return [f.linalg_map(self.steps[0].name, *tensors)]
        sizes = self.loop_sizes(tensors)
        maps = [["0" if at is None else at for at in indices] for indices in self.indices]
        kinds = [t.kind for t in tensors] + [step.kind for step in self.steps]
        outputs = [(f.empty(kinds[i], sizes), range(len(sizes))) for i in self.outputs]
        inputs = list(zip(tensors, maps))
        if self.style == "outs":
            outputs[0] = (tensors[-1], range(len(sizes)))
            inputs.pop()

        def body(*scalars):
            names = write_steps(f, self.steps, list(scalars[:len(tensors)]), [t.kind for t in tensors])
            return [names[i] for i in self.outputs]

        return f.generic(inputs, outputs, "p" * len(sizes), body)

    def inside(self, values):
        """Every value of the body, over the loops."""
        made = [placed(v, indices, len(self.shape)) for v, indices in zip(values, self.indices)]
        for step in self.steps:
            made.append(step.evaluate(made, self.shape))
        return [Bounded(v.kind, np.broadcast_to(v.v, self.shape), np.broadcast_to(v.e, self.shape)) for v in made]

    def evaluate(self, values):
        made = self.inside(values)
        return [made[i] for i in self.outputs]

    def __repr__(self):
        return f"{self.style or 'generic'}[" + " ".join(step.name for step in self.steps) + "]"


class ReduceBody(Elementwise):
    """A reduction over some loops of one value of a body: what computes a variance or a loss in one operation."""

    def __init__(self, operands, indices, shape, steps, outputs, axes, operation):
        super().__init__(operands, indices, shape, steps, outputs)
        self.axes, self.operation = tuple(axes), operation

    def write(self, f, tensors):
        sizes = self.loop_sizes(tensors)
        kept = [i for i in range(len(sizes)) if i not in self.axes]
        kind = ([t.kind for t in tensors] + [step.kind for step in self.steps])[self.outputs[0]]
        start = f.fill(kind, [sizes[i] for i in kept], start_of(self.operation, kind))
        maps = [["0" if at is None else at for at in indices] for indices in self.indices]

        def body(*scalars):
            names = write_steps(f, self.steps, list(scalars[:-1]), [t.kind for t in tensors])
            return f.op(self.operation, kind, names[self.outputs[0]], scalars[-1])

        loops = "".join("r" if i in self.axes else "p" for i in range(len(sizes)))
        return f.generic(list(zip(tensors, maps)), [(start, kept)], loops, body)

    def evaluate(self, values):
        value = self.inside(values)[self.outputs[0]]
        return [reduced(value, self.axes, self.operation, start_of(self.operation, value.kind))]

    def __repr__(self):
        return f"reduce{list(self.axes)}[{' '.join(step.name for step in self.steps)} -> {self.operation}]"


STARTS = {"arith.addf": 0.0, "arith.mulf": 1.0, "arith.maximumf": -np.inf, "arith.minimumf": np.inf, "arith.addi": 0,
          "arith.muli": 1, "arith.andi": -1, "arith.ori": 0, "arith.xori": 0}


def start_of(operation, kind):
    if operation in ("arith.maxsi", "arith.minsi"):
        end = 1 << (elements.width(kind) - 1)
        return -end if operation == "arith.maxsi" else end - 1
    return STARTS[operation] & 1 if kind == "i1" else STARTS[operation]


def reduced(x, axes, operation, start):
    """A sum in a narrow type may round after every addition."""
    if operation in ("arith.addf", "arith.addi"):
        return bounded.reduce_sum(x, axes, x.kind)
    if operation in ("arith.mulf", "arith.muli"):
        return bounded.reduce_product(x, axes, x.kind)
    if operation in ("arith.maximumf", "arith.minimumf", "arith.maxsi", "arith.minsi"):
        return bounded.reduce_extreme(x, axes, "max" in operation, start)
    ufunc = {"arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor}[operation]
    return bounded.reduce_bits(x, axes, ufunc, start)


class Reduce(Node):
    """Operations over `axes`, one result each, of the operand. wide: f16 and bf16 are reduced in f32 by the program itself;
    named: as linalg.reduce. Results start from a second operand, where there is one, else from the constant `scale`, where there
    is one, else from the operation's neutral element."""

    def __init__(self, operands, axes, operations, wide=False, named=False, scale=None):
        self.operands, self.axes, self.operations = tuple(operands), tuple(axes), operations
        self.wide, self.named, self.scale = wide, named, scale

    def kind_of(self, kind):
        return "f32" if self.wide and kind in ("f16", "bf16") else kind

    def first(self, operation, kind):
        return start_of(operation, kind) if self.scale is None else self.scale

    def write(self, f, tensors):
        x = tensors[0]
        kind = self.kind_of(x.kind)
        kept = [i for i in range(len(x)) if i not in self.axes]
        starts = list(tensors[1:]) or [f.fill(kind, [x.shape[i] for i in kept], self.first(o, kind)) for o in self.operations]
        # Of a linalg.reduce the types have to agree in what they know of sizes.
        if self.named and len(starts) == 1 and starts[0].type == Tensor("", x.kind, [x.shape[i] for i in kept]).type:
            result = Tensor(f.fresh(), kind, starts[0].shape)
            f.line(f"{result.name} = linalg.reduce {{ {self.operations[0]} }} ins({x.name} : {x.type}) "
                   f"outs({starts[0].name} : {starts[0].type}) dimensions = [{', '.join(map(str, self.axes))}]")
            return [result]

        def body(element, *sums):
            value = f.convert(element, x.kind, kind)
            return [f.op(o, kind, value, so_far) for o, so_far in zip(self.operations, sums)]

        loops = "".join("r" if i in self.axes else "p" for i in range(len(x)))
        return f.generic([(x, range(len(x)))], [(start, kept) for start in starts], loops, body)

    def evaluate(self, values):
        x = bounded.convert(values[0], self.kind_of(values[0].kind))
        starts = values[1:] or [None if self.scale is None else Bounded(x.kind, np.full((), self.scale))] * len(self.operations)
        return [self.one(x, operation, start) for operation, start in zip(self.operations, starts)]

    def one(self, x, operation, start):
        result = reduced(x, self.axes, operation, start_of(operation, x.kind))
        if start is not None:
            function = bounded.float_operation if is_float(x.kind) else bounded.integer_operation
            result = function(operation, x.kind, [result, start])
            if operation == "arith.addf":  # it is the first of the terms, and rounds with them
                count = int(np.prod([x.shape[i] for i in self.axes], dtype=np.int64))
                result.e = result.e + count * elements.EPS[x.kind] * np.abs(start.v)
        return result

    def __repr__(self):
        return f"reduce{list(self.axes)}[{' '.join(self.operations)}]"


class Softmax(Node):
    """linalg.softmax: what it becomes is the compiler's doing, in the type of its operand."""

    def __init__(self, operand, axis):
        self.operands, self.axis = (operand,), axis

    def write(self, f, tensors):
        x = tensors[0]
        empty = f.empty(x.kind, x.shape)
        result = Tensor(f.fresh(), x.kind, x.shape)
        f.line(f"{result.name} = linalg.softmax dimension({self.axis}) ins({x.name} : {x.type}) outs({empty.name} : {empty.type}) "
               f"-> {empty.type}")
        return [result]

    def evaluate(self, values):
        x, axis = values[0], self.axis

        def spread(v):
            return v.move(lambda array: np.expand_dims(array, axis))

        top = spread(bounded.reduce_extreme(x, [axis], True, -np.inf))
        e = bounded.float_operation("math.exp", x.kind, [bounded.float_operation("arith.subf", x.kind, [x, top])])
        total = spread(bounded.reduce_sum(e, [axis], x.kind))
        return [bounded.float_operation("arith.divf", x.kind, [e, total])]


class ArgMax(Node):
    """The largest element of an axis and its first index, as one operation with two results."""

    def __init__(self, operand, axis, index_kind):
        self.operands, self.axis, self.index_kind = (operand,), axis, index_kind

    def write(self, f, tensors):
        x = tensors[0]
        kept = [i for i in range(len(x)) if i != self.axis]
        sizes = [x.shape[i] for i in kept]
        values, places = f.fill(x.kind, sizes, -np.inf), f.fill(self.index_kind, sizes, 0)

        def body(element, best, where):
            here = f.loop_index(self.axis, self.index_kind)
            better = f.fresh()
            f.line(f"{better} = arith.cmpf ogt, {element}, {best} : {x.kind}")
            return [f.select(better, x.kind, element, best), f.select(better, self.index_kind, here, where)]

        loops = "".join("r" if i == self.axis else "p" for i in range(len(x)))
        return f.generic([(x, range(len(x)))], [(values, kept), (places, kept)], loops, body)

    def evaluate(self, values):
        top, index, known = bounded.reduce_argmax(values[0], self.axis)
        return [top, Bounded(self.index_kind, index, known)]
