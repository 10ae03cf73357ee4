# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How workloads make their inputs, and compute what half precision rounds once."""
import torch


def whole(shape):
    return shape


def axes(*which):
    return lambda shape: tuple(shape[i] for i in which)


def several(uniform, *shapes):
    """Inputs: for each a function from the case's shape to its own, or that and its type."""
    def make(case, device):
        given = [shape if isinstance(shape, tuple) else (shape, case.kind) for shape in shapes]
        return [uniform(case, device, *own(case.shape), kind=kind) for own, kind in given]
    return make


def as_f32(function):
    """What half precision computes in f32 and rounds once."""
    def run(*tensors):
        out = function(*[t.float() if t.dtype in (torch.bfloat16, torch.float16) else t for t in tensors])
        kind = tensors[0].dtype
        return out if kind == torch.float64 else tuple(o.to(kind) for o in out) if isinstance(out, tuple) else out.to(kind)
    return run
