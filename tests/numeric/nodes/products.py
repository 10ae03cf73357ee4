# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nodes of random programs that multiply: contractions of any dimensions, and convolutions, as generics and by their names."""
import numpy as np

import bounded
import elements
from bounded import Bounded
from elements import EPS, is_float
from mlir_text import Tensor
from nodes.node import Node, Reduce


def sums_of(kind):
    """The type that products of a type are summed in."""
    return {"f16": "f32", "bf16": "f32", "i8": "i32", "i16": "i32"}.get(kind, kind)


def einsum(spec, a, b):
    return np.einsum(spec, a, b, optimize=True)


def multiplied(spec, a, b, kind):
    """The sum of products of bounded operands, in type `kind`; spec: as einsum takes it."""
    inputs, out = spec.split("->")
    of_a, of_b = inputs.split(",")
    if not is_float(kind):
        unknown = einsum(spec, np.isinf(a.e) * 1.0, np.ones(b.shape)) + einsum(spec, np.ones(a.shape), np.isinf(b.e) * 1.0)
        with np.errstate(all="ignore"):
            return Bounded(kind, elements.wrap(kind, np.einsum(spec, a.v, b.v)), np.where(unknown > 0, np.inf, 0.0))
    sizes = dict(zip(of_a + of_b, a.shape + b.shape))
    count = int(np.prod([sizes[c] for c in set(of_a + of_b) - set(out)], dtype=np.int64))
    with np.errstate(all="ignore"):
        v, high_a, high_b = einsum(spec, a.v, b.v), np.abs(a.v) + a.e, np.abs(b.v) + b.e
        e = einsum(spec, a.e, high_b) + einsum(spec, np.abs(a.v), b.e) + (count + 2) * EPS[kind] * einsum(spec, high_a, high_b)
        return bounded.finish(kind, v, np.where(np.isnan(e), np.inf, e), 1.0)


class Contract(Node):
    """A sum of products. spec: as einsum takes it; kind: of the sums. start: a third operand that the sums are added to. style:
    'named' as linalg.matmul or linalg.batch_matmul, where it is one; 'contract' as linalg.contract."""

    def __init__(self, operands, spec, kind, style=""):
        self.operands, self.spec, self.kind, self.style = tuple(operands), spec, kind, style

    def write(self, f, tensors):
        inputs, out = self.spec.split("->")
        specs, sizes = inputs.split(","), {}
        for tensor, letters in zip(tensors, specs):
            for letter, size in zip(letters, tensor.shape):
                if not isinstance(sizes.get(letter), int):
                    sizes[letter] = size
        start = tensors[2] if len(tensors) > 2 else f.fill(self.kind, [sizes[c] for c in out], 0)
        names = {"mk,kn->mn": "linalg.matmul", "bmk,bkn->bmn": "linalg.batch_matmul"}
        a, b = tensors[:2]
        loops = out + "".join(c for c in dict.fromkeys(specs[0] + specs[1]) if c not in out)
        operation = names.get(self.spec) if self.style == "named" else None
        if self.style == "contract":
            dims = ", ".join(loops)
            maps = ", ".join(f"affine_map<({dims}) -> ({', '.join(s)})>" for s in (*specs, out))
            operation = f"linalg.contract indexing_maps = [{maps}]"
        if operation:
            result = Tensor(f.fresh(), self.kind, start.shape)
            f.line(f"{result.name} = {operation} ins({a.name}, {b.name} : {a.type}, {b.type}) outs({start.name} : {start.type}) "
                   f"-> {start.type}")
            return [result]

        def body(x, y, total):
            x, y = f.convert(x, a.kind, self.kind), f.convert(y, b.kind, self.kind)
            multiply, add = ("arith.mulf", "arith.addf") if is_float(self.kind) else ("arith.muli", "arith.addi")
            return f.op(add, self.kind, total, f.op(multiply, self.kind, x, y))

        return f.generic([(t, [loops.index(c) for c in s]) for t, s in zip(tensors, specs)], [(start, range(len(out)))],
                         "".join("p" if c in out else "r" for c in loops), body)

    def evaluate(self, values):
        a, b = (bounded.convert(v, self.kind) for v in values[:2])
        made = multiplied(self.spec, a, b, self.kind)
        if len(values) > 2:
            add = bounded.float_operation if is_float(self.kind) else bounded.integer_operation
            made = add("arith.addf" if is_float(self.kind) else "arith.addi", self.kind, [made, values[2]])
            if is_float(self.kind):  # it is the first of the terms, and rounds with each of them
                inner = set("".join(self.spec.split("->")[0])) - set(self.spec.split("->")[1]) - {","}
                sizes = dict(zip(self.spec.split("->")[0].replace(",", ""), values[0].shape + values[1].shape))
                made.e = made.e + (np.prod([sizes[c] for c in inner]) + 1) * EPS[self.kind] * np.abs(values[2].v)
        return [made]

    def __repr__(self):
        return f"{self.style or 'generic'} {self.spec} in {self.kind}"


# Layout: (operation, of images, of filters, of results); i and j are the window's dimensions, y and x the results'.
CONVOLUTIONS = {
    "nhwc": ("conv_2d_nhwc_hwcf", "nyxc", "ijcf", "nyxf"), "nchw": ("conv_2d_nchw_fchw", "ncyx", "fcij", "nfyx"),
    "depthwise nhwc": ("depthwise_conv_2d_nhwc_hwc", "nyxc", "ijc", "nyxc"),
    "depthwise nchw": ("depthwise_conv_2d_nchw_chw", "ncyx", "cij", "ncyx"),
    "nwc": ("conv_1d_nwc_wcf", "nxc", "jcf", "nxf"), "ncw": ("conv_1d_ncw_fcw", "ncx", "fcj", "nfx"),
    "groups": ("conv_2d_ngchw_fgchw", "ngcyx", "fgcij", "ngfyx"),
}
WINDOW = {"y": "i", "x": "j"}


class Convolve(Node):
    """layout: of CONVOLUTIONS. steps: {'y': (stride, dilation), 'x': ..}. generic: not by its name."""

    def __init__(self, image, filters, layout, steps, kind, generic=False):
        self.operands, self.layout, self.steps, self.kind, self.generic = (image, filters), layout, steps, kind, generic

    def result_size(self, image, window, axis):
        stride, dilation = self.steps[axis]
        return (image - (window - 1) * dilation - 1) // stride + 1

    def reach(self, f, window, dilation):
        """The elements from the first to the last that a window reads."""
        if isinstance(window, int):
            return (window - 1) * dilation + 1
        return f.index_op("arith.addi", f.index_op("arith.muli", f.index_op("arith.subi", window, 1), dilation), 1)

    def write(self, f, tensors):
        name, of_image, of_filter, out = CONVOLUTIONS[self.layout]
        image, filters = tensors
        sizes = dict(zip(of_image, image.shape)) | dict(zip(of_filter, filters.shape))
        for axis in self.steps:
            stride, dilation = self.steps[axis]
            if isinstance(sizes[axis], int) and isinstance(sizes[WINDOW[axis]], int):
                sizes[axis] = self.result_size(sizes[axis], sizes[WINDOW[axis]], axis)
            else:
                less = f.index_op("arith.subi", sizes[axis], self.reach(f, sizes[WINDOW[axis]], dilation))
                sizes[axis] = f.index_op("arith.addi", f.index_op("arith.divui", less, stride), 1)
        start = f.fill(self.kind, [sizes[c] for c in out], 0)
        if not self.generic:
            result, count = Tensor(f.fresh(), self.kind, start.shape), len(self.steps)
            numbers = [", ".join(str(self.steps[axis][which]) for axis in self.steps) for which in (0, 1)]
            strides, dilations = (f"dense<[{n}]> : tensor<{count}xi64>" for n in numbers)
            f.line(f"{result.name} = linalg.{name} {{dilations = {dilations}, strides = {strides}}} ins({image.name}, {filters.name} : "
                   f"{image.type}, {filters.type}) outs({start.name} : {start.type}) -> {start.type}")
            return [result]
        loops = out + "".join(c for c in dict.fromkeys(of_filter + of_image) if c not in out)

        def place(c):
            if c not in self.steps:
                return loops.index(c)
            stride, dilation = self.steps[c]
            return f"d{loops.index(c)} * {stride} + d{loops.index(WINDOW[c])} * {dilation}"

        def body(x, y, total):
            x, y = f.convert(x, image.kind, self.kind), f.convert(y, filters.kind, self.kind)
            multiply, add = ("arith.mulf", "arith.addf") if is_float(self.kind) else ("arith.muli", "arith.addi")
            return f.op(add, self.kind, total, f.op(multiply, self.kind, x, y))

        return f.generic([(image, [place(c) for c in of_image]), (filters, [loops.index(c) for c in of_filter])],
                         [(start, range(len(out)))], "".join("p" if c in out else "r" for c in loops), body)

    def evaluate(self, values):
        """As a contraction of the windows."""
        _, of_image, of_filter, out = CONVOLUTIONS[self.layout]
        image, filters = (bounded.convert(v, self.kind) for v in values)
        window = [filters.shape[of_filter.index(WINDOW[axis])] for axis in self.steps]
        axes = [of_image.index(axis) for axis in self.steps]

        def windows(x):
            for axis, size, (stride, dilation) in zip(axes, window, self.steps.values()):
                count = (x.shape[axis] - (size - 1) * dilation - 1) // stride + 1
                at = np.arange(count)[:, None] * stride + np.arange(size) * dilation
                x = np.moveaxis(np.take(x, at, axis=axis), axis + 1, -1)
            return x

        spec = of_image + "".join(WINDOW[axis] for axis in self.steps)
        return [multiplied(f"{spec},{of_filter}->{out}", image.move(windows), filters, self.kind)]

    def __repr__(self):
        return f"{'generic ' if self.generic else ''}convolution {self.layout} {self.steps} in {self.kind}"


class KeptReduce(Reduce):
    """A reduction whose result keeps each dimension that it takes, as one of size 1."""

    def write(self, f, tensors):
        x = tensors[0]
        kind = self.kind_of(x.kind)
        sizes = [1 if i in self.axes else size for i, size in enumerate(x.shape)]
        starts = [f.fill(kind, sizes, self.first(o, kind)) for o in self.operations]

        def body(element, *sums):
            value = f.convert(element, x.kind, kind)
            return [f.op(o, kind, value, so_far) for o, so_far in zip(self.operations, sums)]

        loops = "".join("r" if i in self.axes else "p" for i in range(len(x)))
        places = ["0" if i in self.axes else i for i in range(len(x))]
        return f.generic([(x, range(len(x)))], [(start, places) for start in starts], loops, body)

    def evaluate(self, values):
        shape = [1 if i in self.axes else n for i, n in enumerate(values[0].shape)]
        return [made.move(lambda v: v.reshape(shape)) for made in super().evaluate(values)]

    def __repr__(self):
        return "kept " + super().__repr__()


