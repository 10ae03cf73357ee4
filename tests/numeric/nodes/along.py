# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations along a dimension (iree_linalg_ext), each as MLIR and as a reference: scans."""
import numpy as np

import elements
from bounded import Bounded, finish
from elements import is_float, wrap
from mlir_text import Tensor
from nodes.node import Node


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
            lines = np.moveaxis(np.broadcast_to(x.e, x.v.shape), self.axis, -1)
            if not self.inclusive:
                lines = np.concatenate([np.broadcast_to(start.e, start.v.shape)[..., None], lines[..., :-1]], -1)
            if self.name == "arith.addf":
                e = np.add.accumulate(np.abs(line), axis=-1) * count * elements.EPS[x.kind] + np.add.accumulate(lines, axis=-1)
            elif self.name == "arith.maximumf":
                e = np.maximum.accumulate(lines, axis=-1)
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
        # Sums of floats may be taken in any order, and each rounded.
        is_sum, sizes, count = is_float(kind) and self.name == "arith.addf", np.abs(v), np.zeros(v.shape)
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
                elif is_sum:
                    v[place] += value
                    e[place] += updates.e[(u, *at)]
                    sizes[place] += abs(value)
                    count[place] += 1
                elif is_float(kind):
                    v[place] = elements.rounded(kind, COMBINED[self.name](v[place], value))
                    e[place] += updates.e[(u, *at)]
                else:
                    v[place] = wrap(kind, COMBINED[self.name](v[place], value))
        if is_sum:
            return [finish(kind, v, e + sizes * count * elements.EPS[kind], 1.0)]
        return [Bounded(kind, v, e)]


def sorted_places(line, greatest):
    """Places of a line in order, NaN behind all, equal ones as they stood."""
    key = np.where(np.isnan(line), np.inf, -line if greatest else line) if line.dtype.kind == "f" else (~line if greatest else line)
    rank = np.argsort(key, kind="stable")
    return rank if line.dtype.kind != "f" else rank[np.argsort(np.isnan(line[rank]), kind="stable")]


def numbers(kind, v):
    """What is no number is not compared: the places that came with it are."""
    return Bounded(kind, v) if not is_float(kind) else Bounded(kind, np.where(np.isnan(v), 0, v), np.where(np.isnan(v), np.inf, 0.0))


def comparison(f, kind, names, greatest):
    word = ("ogt" if greatest else "olt") if is_float(kind) else ("u" if kind == "i1" else "s") + ("gt" if greatest else "lt")
    result = f.fresh()
    f.line(f"{result} = arith.{'cmpf' if is_float(kind) else 'cmpi'} {word}, {names[0]}, {names[1]} : {kind}")
    return result


class TopK(Node):
    """The first k of each line of the first operand; the second and third are what the results begin with, a fourth gives indices."""

    def __init__(self, operands, axis, greatest=True, version=""):
        self.operands, self.axis, self.greatest, self.version = tuple(operands), axis, greatest, version

    def write(self, f, tensors):
        x, values, indices, *given = tensors
        return operation(f, "topk" + self.version, f"dimension({self.axis})", [x, *given], [values, indices], [x.kind] * 2,
                         lambda names: comparison(f, x.kind, names, self.greatest), "i1")

    def evaluate(self, operands):
        x, values, indices, *given = [np.moveaxis(o.v, self.axis, -1) for o in operands]
        k = values.shape[-1]
        out, where = np.empty_like(values), np.empty_like(indices)
        for line in np.ndindex(*x.shape[:-1]):
            named = given[0][line] if given else wrap(operands[2].kind, np.arange(x.shape[-1]))
            all_values, all_indices = np.concatenate([values[line], x[line]]), np.concatenate([indices[line], named])
            best = sorted_places(all_values, self.greatest)[:k]
            out[line], where[line] = all_values[best], all_indices[best]
        return [numbers(o.kind, np.moveaxis(v, -1, self.axis)) for o, v in zip(operands[1:], (out, where))]


class Sort(Node):
    """Lines of the first operand in order, and the others with them; what is equal keeps its order."""

    def __init__(self, operands, axis, greatest=False):
        self.operands, self.axis, self.greatest = tuple(operands), axis, greatest

    def write(self, f, tensors):
        kinds = [t.kind for t in tensors for _ in range(2)]
        return operation(f, "sort", f"dimension({self.axis})", [], list(tensors), kinds,
                         lambda names: comparison(f, kinds[0], names, self.greatest), "i1")

    def evaluate(self, operands):
        lines = [np.moveaxis(o.v, self.axis, -1).copy() for o in operands]
        for line in np.ndindex(*lines[0].shape[:-1]):
            places = sorted_places(lines[0][line], self.greatest)
            for values in lines:
                values[line] = values[line][places]
        return [numbers(o.kind, np.moveaxis(v, -1, self.axis)) for o, v in zip(operands, lines)]
