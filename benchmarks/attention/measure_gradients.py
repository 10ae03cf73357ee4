# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races the gradients of attention, alone and together with it: Tenon beside the backward kernels of cuDNN and FlashAttention, as PyTorch calls them."""
import math
import os

import racing  # puts what follows on the path
import torch

from gradients import AttentionStep
from measure import Tenon, Torch

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16}
EPS = {"f16": 2.0 ** -10, "bf16": 2.0 ** -7}


def forward(case, q, k, v):
    """Result, logarithms and weights in float64 of some heads of one batch, or of all heads that share the same keys."""
    q, k, v = (t.double() for t in (q, k, v))
    scores = q @ k.mT / math.sqrt(case.depth)
    if case.causal:
        rows = torch.arange(case.length, device=q.device)
        scores = scores.masked_fill(rows[None, :] > rows[:, None], -math.inf)
    logarithms = torch.logsumexp(scores, -1)
    weights = torch.exp(scores - logarithms[..., None])
    return weights @ v, logarithms, weights


def peer(forward_of, backward_of, is_step):
    """Backward alone, from what forward has made before, or both."""
    made = forward_of()
    if not is_step:
        return lambda *_: backward_of(made)

    def both(*_):
        made = forward_of()
        return made[0], *backward_of(made)
    return both


def flat(case, tensor):
    """As PyTorch has heads: one dimension."""
    return tensor.reshape(case.batch, -1, case.length, case.depth)


def flash(case, q, k, v, given):
    q, given = flat(case, q), flat(case, given)

    def backward(made):
        out, lse, cum_q, cum_k, max_q, max_k, seed, offset = made[:8]
        return torch.ops.aten._scaled_dot_product_flash_attention_backward(
            given, q, k, v, out, lse, cum_q, cum_k, max_q, max_k, 0.0, case.causal, seed, offset)
    return peer(lambda: torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, case.causal, False), backward,
                isinstance(case, AttentionStep))


def cudnn(case, q, k, v, given):
    q, given = flat(case, q), flat(case, given)

    def backward(made):
        out, lse, cum_q, cum_k, max_q, max_k, seed, offset = made[:8]
        return torch.ops.aten._scaled_dot_product_cudnn_attention_backward(
            given, q, k, v, out, lse, seed, offset, None, cum_q, cum_k, max_q, max_k, 0.0, case.causal)[:3]
    return peer(lambda: torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, case.causal, False), backward,
                isinstance(case, AttentionStep))


def error_of(case, found, inputs):
    """The worst error of two heads, in units of what rounding of weights and of each result may be."""
    worst = 0.0
    of = inputs[:1] * isinstance(case, AttentionStep) + inputs[:3]
    found = [made.reshape(like.shape) for made, like in zip(found, of, strict=True)]  # peers have one dimension of heads

    def over_heads(x):
        return x.sum(0) if case.shared > 1 else x

    for place in {(0, 0), (case.batch - 1, case.heads // case.shared - 1)}:
        q, k, v, given = (t[place].double() for t in inputs)
        out, _, weights = forward(case, q, k, v)
        by_weights = given @ v.mT
        row = (out * given).sum(-1, keepdim=True)
        scores = weights * (by_weights - row) / math.sqrt(case.depth)
        size = weights * (given.abs() @ v.abs().mT + (out * given).abs().sum(-1, keepdim=True)) / math.sqrt(case.depth)
        exacts = [scores @ k, over_heads(scores.mT @ q), over_heads(weights.mT @ given)]
        bounds = [size @ k.abs(), over_heads(size.mT @ q.abs()), over_heads(weights.mT @ given.abs())]
        if isinstance(case, AttentionStep):
            exacts, bounds = [out, *exacts], [weights @ v.abs(), *bounds]
        assert len(found) == len(exacts)
        for made, exact, bound in zip(found, exacts, bounds):
            allowed = EPS[case.kind] * (exact.abs() + bound) + 1e-6
            worst = max(worst, ((made[place].double() - exact).abs() / allowed).nan_to_num(float("inf")).max().item())
    return worst


def measure_gradient(case, runtime, arguments):
    generator = torch.Generator("cuda").manual_seed(case.length * 31 + case.depth)
    q, k, v, given = (torch.randn(shape, generator=generator, device="cuda").to(KINDS[case.kind]) for shape in case.shapes()[:4])
    operands = inputs = [q, k, v, given]
    if not isinstance(case, AttentionStep):
        out, logarithms = torch.empty_like(q), torch.empty(case.shapes()[5], device="cuda")
        for batch in range(case.batch):
            keys, values = (x[batch].unsqueeze(1) if case.shared > 1 else x[batch] for x in (k, v))
            out[batch], logarithms[batch], _ = forward(case, q[batch], keys, values)
        inputs = [q, k, v, out, given, logarithms]
    path = os.path.join(arguments.programs, case.name() + ".tenon")
    makers = [("tenon", lambda: Tenon("tenon", runtime, path, [inputs], []))]
    before = os.path.join(arguments.before, case.name() + ".tenon")
    if arguments.before and os.path.exists(before):
        makers.append(("tenon before", lambda: Tenon("tenon before", runtime, before, [inputs], [])))
    other = os.path.join(arguments.programs, "any", case.name() + ".tenon")
    if os.path.exists(other):
        makers.append(("tenon, any order", lambda: Tenon("any", runtime, other, [inputs], [])))
    makers += [("cudnn", lambda: Torch("cudnn", cudnn(case, *operands), [inputs])),
              ("flash", lambda: Torch("flash", flash(case, *operands), [inputs]))]
    return racing.race(case, makers, lambda results: error_of(case, results, operands), arguments.rounds, is_sustained=True)
