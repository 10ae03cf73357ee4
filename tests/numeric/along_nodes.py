# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations along a dimension (iree_linalg_ext), each as MLIR and as a reference: scans."""
import numpy as np

import elements
from bounded import Bounded, finish
from elements import is_float, wrap
from mlir_text import Tensor
from nodes import Node


def region(f, kinds, body, to):
    """Lines of a region whose arguments are of these kinds; body(names) gives the value of type `to` that it yields."""
    names = [f.fresh() for _ in kinds]
    f.line(f"^bb0({', '.join(f'{name}: {kind}' for name, kind in zip(names, kinds))}):")
    f.depth += 1
    f.line(f"iree_linalg_ext.yield {body(names)} : {to}")
    f.depth -= 1


def operation(f, name, words, inputs, outs, kinds, body, to):
    """One operation of the dialect; the tensors of its results."""
    def part(word, tensors):
        return f"{word}({', '.join(t.name for t in tensors)} : {', '.join(t.type for t in tensors)})" if tensors else ""
    result = f.fresh()
    count = f":{len(outs)}" if len(outs) > 1 else ""
    f.line(f"{result}{count} = iree_linalg_ext.{name} {words} {part('ins', inputs)} {part('outs', outs)} {{")
    region(f, kinds, body, to)
    f.line("} -> " + ", ".join(t.type for t in outs))
    return [Tensor(f"{result}#{i}" if count else result, t.kind, t.shape) for i, t in enumerate(outs)]


COMBINED = {
    "arith.addf": np.add, "arith.addi": np.add, "arith.mulf": np.multiply, "arith.muli": np.multiply,
    "arith.maximumf": np.maximum, "arith.maxsi": np.maximum, "arith.minsi": np.minimum, "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor, "arith.subi": np.subtract,
}


class Scan(Node):
    """Running results of `name` along `axis`, from the second operand: out[0] is x[0], or that where it is exclusive. Results: all of
    them, and the last of each line."""

    def __init__(self, operands, axis, name, inclusive=True):
        self.operands, self.axis, self.name, self.inclusive = tuple(operands), axis, name, inclusive

    def write(self, f, tensors):
        x, start = tensors
        out = f.empty(x.kind, x.shape)
        return operation(f, "scan", f"dimension({self.axis}) inclusive({'true' if self.inclusive else 'false'})", [x], [out, start],
                         [x.kind] * 2, lambda names: f.op(self.name, x.kind, *names), x.kind)

    def evaluate(self, values):
        x, start = values
        line = np.moveaxis(x.v, self.axis, -1)
        if not self.inclusive:
            line = np.concatenate([start.v[..., None], line[..., :-1]], -1) if line.shape[-1] else line
        function = COMBINED[self.name]
        if line.shape[-1] == 0:
            v = line
        elif is_float(x.kind):
            v = function.accumulate(line, axis=-1)
        else:  # modulo the type at the end: bits above it never come down
            v = wrap(x.kind, function.accumulate(line.astype(np.int64), axis=-1))
        e = np.zeros(v.shape)
        if is_float(x.kind) and v.size:
            count = np.arange(1, v.shape[-1] + 1)
            if self.name == "arith.addf":
                e = np.add.accumulate(np.abs(line), axis=-1) * count * elements.EPS[x.kind]
                lines = np.moveaxis(np.broadcast_to(x.e, x.v.shape), self.axis, -1)
                if not self.inclusive:
                    lines = np.concatenate([np.broadcast_to(start.e, start.v.shape)[..., None], lines[..., :-1]], -1)
                e = e + np.add.accumulate(lines, axis=-1)
            elif self.name == "arith.mulf":
                e = np.abs(v) * count * elements.EPS[x.kind]
        last = v[..., -1] if v.shape[-1] else start.v
        bound = e[..., -1] if v.shape[-1] else start.e
        return [self.made(x.kind, np.moveaxis(v, -1, self.axis), np.moveaxis(e, -1, self.axis)), self.made(x.kind, last, bound)]

    def made(self, kind, v, e):
        return finish(kind, v, e, 1.0) if is_float(kind) and self.name in ("arith.addf", "arith.mulf") else Bounded(kind, v, e)


class Scatter(Node):
    """updates [u, slice...] into a tensor at indices [u, depth], in order; `name`: combined with what is there, or None: written over it."""

    def __init__(self, operands, name, unique, dimensions=(0,), depth=True):
        self.operands, self.name, self.unique, self.dimensions, self.depth = tuple(operands), name, unique, tuple(dimensions), depth

    def write(self, f, tensors):
        updates, indices, into = tensors
        words = (f"dimension_map = [{', '.join(map(str, self.dimensions))}] unique_indices({'true' if self.unique else 'false'})")
        return operation(f, "scatter", words, [updates, indices], [into], [updates.kind, into.kind],
                         lambda names: f.op(self.name, into.kind, *names) if self.name else names[0], into.kind)

    def evaluate(self, values):
        updates, indices, into = values
        kind, v, e = into.kind, into.v.copy(), np.array(np.broadcast_to(into.e, into.v.shape), dtype=np.float64)
        slice_shape = updates.v.shape[1:]
        for u in range(updates.v.shape[0]):
            named = indices.v[u] if self.depth else [indices.v[u]]
            for at in np.ndindex(*slice_shape):
                place = [0] * (v.ndim - len(slice_shape)) + list(at)
                for index, dimension in zip(named, self.dimensions):
                    place[dimension] += int(index)
                if not all(0 <= p < n for p, n in zip(place, v.shape)):
                    continue
                place, value = tuple(place), updates.v[(u, *at)]
                if self.name is None:
                    v[place], e[place] = value, updates.e[(u, *at)]
                elif is_float(kind):
                    v[place] = elements.rounded(kind, COMBINED[self.name](v[place], value))
                    e[place] += updates.e[(u, *at)]
                else:
                    v[place] = wrap(kind, COMBINED[self.name](v[place], value))
        return [Bounded(kind, v, e)]
