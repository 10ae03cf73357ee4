# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a program's results are those of the model.

The reference is the model in f32 on the weights and inputs of the case's type; what counts is the norm of the difference over
the norm of the reference. A result may be four times as far from it as PyTorch's own in that type is, beside what sums of f32
in another order come to.
"""
import dataclasses

import torch

import models

TIMES_PEER, OTHER_ORDER = 4, 16 * 2.0 ** -23


def as_tuple(made):
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


def called(case, net, shapes, kind, device):
    """What PyTorch computes in the type of another case."""
    given = [tensor.to(models.KINDS[kind]) for tensor in models.weights(case, shapes, device)]
    tensors = [tensor.to(models.KINDS[kind]) if tensor.is_floating_point() else tensor for tensor in models.inputs(case, device)]
    made = models.function(dataclasses.replace(case, kind=kind), net, list(shapes))(given, *tensors)
    return tuple(tensor.detach().float() for tensor in as_tuple(made))


def distance(found, wanted):
    """The worst of all results."""
    worst = 0.0
    for each, exact in zip(found, wanted, strict=True):
        if each.shape != exact.shape or not torch.isfinite(each).all():
            return float("inf")
        scale = exact.norm().item()
        worst = max(worst, (each.float() - exact).norm().item() / (scale if scale > 0 else 1.0))
    return worst


def allowed(peer):
    """@param peer the distance of PyTorch's result in the case's type"""
    return TIMES_PEER * peer + OTHER_ORDER
