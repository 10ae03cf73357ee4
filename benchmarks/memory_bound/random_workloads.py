# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The groups of random_groups.py in PyTorch: inputs, and a function that is run eagerly, compiled, and in float64 as the reference."""
import torch
import torch.nn.functional as F

from everyday_programs import EPSILON
from random_groups import group

UNARY = {"relu": F.relu, "silu": F.silu, "tanh": torch.tanh, "square": torch.square, "abs": torch.abs,
         "scale": lambda v: v * 0.375 + 0.25, "root": lambda v: (v.abs() + 1.0).sqrt()}
BINARY = {"add": torch.add, "mul": torch.mul, "sub": torch.sub, "max": torch.maximum}
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.int8}


def spread_out(y, axes, rank):
    """y, whose dimensions are these axes of a tensor of so many."""
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    y = y.permute(order) if order != list(range(len(axes))) else y
    for axis in range(rank):
        if axis not in axes:
            y = y.unsqueeze(axis)
    return y


def norm(x, axes):
    if axes == tuple(range(x.dim() - len(axes), x.dim())):
        return F.layer_norm(x, x.shape[axes[0]:], eps=EPSILON)
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    mean, spread = wide.mean(axes, keepdim=True), wide.var(axes, keepdim=True, correction=0)
    return ((wide - mean) * (spread + EPSILON).rsqrt()).to(x.dtype)


def reduce(name, axes, x):
    return x.amax(axes) if name == "max" else x.mean(axes) if name == "mean" else x.sum(axes)


def pad(x, low, high):
    return F.pad(x, [n for pair in reversed(list(zip(low, high))) for n in pair])


def step(node, given, exact):
    x = given[0]
    if node.what == "convert":
        return x if exact else x.to(TYPES[node.kind])
    if node.what == "unary":
        return UNARY[node.given](x)
    if node.what == "binary":
        return BINARY[node.given[0]](x, spread_out(given[1], node.given[1], x.dim()))
    if node.what == "reduce":
        return reduce(*node.given, x)
    if node.what == "softmax":
        return torch.softmax(x, node.given)
    if node.what == "norm":
        return norm(x, node.given)
    if node.what == "transpose":
        return x.permute(node.given)
    if node.what == "concat":
        return torch.cat(given, node.given)
    if node.what == "pad":
        return pad(x, *node.given)
    if node.what == "slice":
        axis, offset, less = node.given
        return x.narrow(axis, offset, x.shape[axis] - offset - less)
    return x[given[1]]


def workload(name, Workload, uniform):
    drawn = group(name)

    def inputs(case, device):
        made = []
        for node in drawn.nodes:
            if node.what != "argument":
                continue
            if node.kind == "i64":
                made.append(torch.randint(0, node.given, node.shape, device=device))
            elif node.kind == "i8":
                made.append(torch.randint(0, 101, node.shape, device=device, dtype=torch.int8))
            else:
                made.append(uniform(case, device, *node.shape, kind=node.kind))
        return made

    def run(*tensors):
        left, values = list(tensors), []
        exact = any(t.dtype == torch.float64 for t in tensors)
        for node in drawn.nodes:
            values.append(left.pop(0) if node.what == "argument" else step(node, [values[i] for i in node.operands], exact))
        results = [values[i] for i in drawn.results]
        return tuple((r if exact else r.to(TYPES[drawn.kind])).contiguous() for r in results)

    def reference(*tensors):
        return run(*[t if t.dtype == torch.int64 or drawn.kind == "i8" else t.double() for t in tensors])
    return Workload(inputs, run, reference)
