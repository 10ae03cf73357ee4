# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What reads back what was reduced (cases/norm_programs.py): of rows, columns and groups, short ones and ones that several blocks take."""
import numpy as np

import elements
from cases.case import Case, argument, forms, generator
from elements import FLOATS
from nodes.node import Softmax
from cases.norm_programs import NORMS, Builder, batch_norm, batch_norm_last, group_norm, normalised, residual_norm, softmax, variance
from nodes.program import Program


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


def long_row_cases():
    """Rows that no block holds in its registers."""
    for kind in ("f32", "bf16"):
        for n, dynamic in forms((16385, 65536, 70001)):
            for name in ("softmax", "layernorm", "cross_entropy"):
                build, torch = NORMS[name]
                yield Case(f"{name} of long rows", kind, build(Builder(kind, (3, n), dynamic, generator("long", name, kind, n))), torch)


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
        yield from long_row_cases()
        yield from cluster_cases()
    yield from long_group_cases()
    yield from full_cluster_cases()
    yield from kept_column_cases()
    yield from special_cases(sizes)
    yield from column_norm_cases()
    yield from channel_norm_cases()
    yield from group_norm_cases()
    yield from norm_cases(sizes)
