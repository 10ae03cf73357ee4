# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The groups of random_groups.py as MLIR: each node an operation of its own, with bodies in f32 that round once, as PyTorch does."""
from everyday_programs import EPSILON, Scalars, apply, divided, exponentials, identity, total
from random_groups import group


def unary(f, name, x, kind):
    s = Scalars(f)
    body = {"relu": lambda v: s.max(v, 0.0), "silu": lambda v: s.div(v, s.add(s.exp(s.sub(0.0, v)), 1.0)),
            "tanh": lambda v: f.op("math.tanh", "f32", v), "square": lambda v: s.mul(v, v), "abs": s.abs,
            "scale": lambda v: s.add(s.mul(v, 0.375), 0.25), "root": lambda v: s.sqrt(s.add(s.abs(v), 1.0))}[name]
    return apply(f, kind, body, x)


def binary(f, name, axes, x, y, kind):
    if kind == "i8":
        return f.map(kind, lambda u, v: f.op("arith.maxsi", kind, u, v), x, y, broadcast={1: axes})
    return apply(f, kind, getattr(Scalars(f), name), x, y, along={1: axes})


def reduce(f, name, axes, x, kind):
    if kind == "i8":
        return f.reduce(x, axes, "arith.maxsi", -128)
    if name == "max":
        return f.reduce(x, axes, "arith.maximumf", float("-inf"))
    sums = total(f, x, axes, identity)
    if name == "mean":
        sums = divided(f, sums, *[x.shape[a] for a in axes])
    return sums if kind == "f32" else f.map(kind, lambda v: f.convert(v, "f32", kind), sums)


def softmax(f, axis, x, kind):
    s = Scalars(f)
    top, sums, kept = exponentials(f, x, axis)
    return apply(f, kind, lambda v, t, n: s.div(s.exp(s.sub(v, t)), n), x, top, sums, along={1: kept, 2: kept})


def norm(f, axes, x, kind):
    s, kept = Scalars(f), [a for a in range(len(x)) if a not in axes]
    sizes = [x.shape[a] for a in axes]
    mean = divided(f, total(f, x, axes, identity), *sizes)
    spread = divided(f, total(f, x, axes, lambda v, m: s.mul(s.sub(v, m), s.sub(v, m)), (mean, kept)), *sizes)
    return apply(f, kind, lambda v, m, q: s.mul(s.sub(v, m), s.rsqrt(s.add(q, EPSILON))), x, mean, spread, along={1: kept, 2: kept})


def part(f, given, x):
    axis, offset, less = given
    sizes = list(x.shape)
    gone = offset + less
    sizes[axis] = sizes[axis] - gone if isinstance(sizes[axis], int) else f.index_op("arith.subi", sizes[axis], gone)
    return f.slice(x, [offset if a == axis else 0 for a in range(len(x))], sizes)


def gather(f, x, index):
    out = f.empty(x.kind, (index.shape[0],) + x.shape[1:])

    def body(i, _):
        row = f.op("arith.index_cast", "i64", i, to="index")
        return f.extract(x, row, *[f.loop_index(a) for a in range(1, len(x))])
    return f.generic([(index, [0])], [(out, range(len(x)))], "p" * len(x), body)[0]


def program(f, name):
    """Writes the group that `name` draws."""
    drawn, values = group(name), []
    for node in drawn.nodes:
        given = [values[i] for i in node.operands]
        if node.what == "argument":
            value = f.argument(node.kind, *node.shape)
        elif node.what == "convert":
            x = given[0]
            value = f.map(node.kind, lambda v, x=x, to=node.kind: f.convert(v, x.kind, to), x)
        elif node.what in ("unary", "softmax", "norm"):
            value = {"unary": unary, "softmax": softmax, "norm": norm}[node.what](f, node.given, given[0], node.kind)
        elif node.what in ("binary", "reduce"):
            value = {"binary": binary, "reduce": reduce}[node.what](f, *node.given, *given, node.kind)
        elif node.what == "transpose":
            value = f.transpose(given[0], node.given)
        elif node.what == "concat":
            value = f.concat(node.given, *given)
        elif node.what == "pad":
            value = f.pad(given[0], *node.given, 0)
        elif node.what == "slice":
            value = part(f, node.given, given[0])
        else:
            value = gather(f, *given)
        values.append(value)
    results = [values[i] for i in drawn.results]
    f.give(*[r if r.kind == drawn.kind else f.map(drawn.kind, lambda v, r=r: f.convert(v, r.kind, drawn.kind), r) for r in results])
