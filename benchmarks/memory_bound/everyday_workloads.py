# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other side of everyday_programs.py in PyTorch: inputs, function, reference in float64."""
import functools

import torch
import torch.nn.functional as F

from everyday_programs import EPSILON
import input_makers
from input_makers import as_f32, axes, whole


def workloads(Workload, uniform):
    several = functools.partial(input_makers.several, uniform)

    def masked_softmax(x, mask):
        return torch.softmax(x * 0.125 + mask[:, None, None, :], -1)

    def causal_softmax(x):
        n = x.shape[-1]
        seen = torch.ones(n, n, dtype=torch.bool, device=x.device).tril()
        return torch.softmax(x.masked_fill(~seen, float("-inf")), -1)

    def swiglu(x):
        a, b = x.chunk(2, -1)
        return F.silu(a) * b

    def norm_residual_bias(x, residual, bias, gamma, beta):
        h = x + bias + residual
        return h, F.layer_norm(h, h.shape[-1:], gamma, beta, EPSILON)

    def norm_reference(x, residual, bias, gamma, beta):
        h = (x.float() + bias.float() + residual.float()).to(x.dtype).double()  # normalised is what was stored
        return (x.double() + bias.double() + residual.double(),
                F.layer_norm(h, h.shape[-1:], gamma.double(), beta.double(), EPSILON))

    def group_norm(x, gamma, beta):
        n, groups, channels, places = x.shape
        return F.group_norm(x.reshape(n, groups * channels, places), groups, gamma.reshape(-1), beta.reshape(-1),
                            EPSILON).reshape(x.shape)

    def channel_norm(x, gamma, beta):
        mean, spread = x.mean(1, keepdim=True), x.var(1, keepdim=True, correction=0)
        return (x - mean) * (spread + EPSILON).rsqrt() * gamma[:, None] + beta[:, None]

    def head_norm(x, gamma):
        return F.rms_norm(x, x.shape[-1:], gamma, EPSILON)

    def quantised(x):
        wide = x if x.dtype == torch.float64 else x.float()
        scale = wide.abs().amax(1).clamp_min(1e-8) / 127.0
        return ((wide / scale[:, None]).round() + 128.0).to(torch.uint8), scale

    def split_heads(x):
        return tuple(part.squeeze(2).permute(0, 2, 1, 3).contiguous() for part in x.split(1, 2))

    def rope(x, cos, sin):
        a, b = x.chunk(2, -1)
        cos, sin = cos[:, None, :], sin[:, None, :]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def permuted(*order):
        return lambda x: x.permute(*order).contiguous()

    def rope_inputs(case, device):
        x = uniform(case, device, *case.shape)
        angle = uniform(case, device, case.shape[1], case.shape[3] // 2, kind="f32")
        return [x, angle.cos(), angle.sin()]

    one, two = several(whole), several(whole, whole)
    weights = several(whole, axes(1), axes(1))
    return {
        "masked_softmax": Workload(several(whole, (axes(0, 3), "f32")), as_f32(masked_softmax)),
        "causal_softmax": Workload(one, causal_softmax),
        "channel_softmax": Workload(one, lambda x: torch.softmax(x, 1)),
        "logsumexp": Workload(one, lambda x: torch.logsumexp(x, 1)),
        "bias_gelu": Workload(several(whole, axes(1)), as_f32(lambda x, bias: F.gelu(x + bias))),
        "swiglu": Workload(several(lambda shape: (shape[0], 2 * shape[1])), as_f32(swiglu)),
        "norm_residual_bias": Workload(several(whole, whole, axes(1), axes(1), axes(1)), norm_residual_bias, norm_reference),
        "group_norm": Workload(several(whole, axes(1, 2), axes(1, 2)), group_norm),
        "channel_norm": Workload(weights, as_f32(channel_norm)),
        "head_norm": Workload(several(whole, axes(3)), head_norm),
        "unit_rows": Workload(one, as_f32(lambda x: F.normalize(x, dim=1))),
        "quantised_rows": Workload(one, quantised),
        "middle_mean": Workload(one, lambda x: x.mean(1)),
        "places_mean": Workload(one, lambda x: x.mean((1, 2))),
        "middle_max": Workload(one, lambda x: x.amax(1)),
        "square_error": Workload(two, lambda x, y: F.mse_loss(x.float(), y.float()) if x.dtype != torch.float64 else F.mse_loss(x, y)),
        "argmax": Workload(one, lambda x: x.argmax(1), lambda x: x.argmax(1)),
        "permute0321": Workload(one, permuted(0, 3, 2, 1)),
        "permute102": Workload(one, permuted(1, 0, 2)),
        "split_heads": Workload(one, split_heads),
        "windows": Workload(one, permuted(0, 1, 3, 2, 4, 5)),
        "pixel_shuffle": Workload(one, permuted(0, 1, 4, 2, 5, 3)),
        "concat_middle": Workload(several(whole, lambda shape: (shape[0], 53, shape[2])), lambda x, y: torch.cat((x, y), 1)),
        "affine_relu": Workload(several(whole, whole, (axes(1), "f32"), (axes(1), "f32")),
                                as_f32(lambda x, r, a, b: F.relu(x * a[:, None] + b[:, None] + r))),
        "rope_rows": Workload(rope_inputs, as_f32(rope)),
        "add_transposed": Workload(several(whole, axes(1, 0)), lambda x, y: x + y.t()),
        "cumsum_middle": Workload(one, lambda x: x.cumsum(1)),
    }
