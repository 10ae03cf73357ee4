# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races attention over sequences of different lengths: Tenon beside FlashAttention, which is told where documents begin (of a batch
that is padded, without its padding), and compiled flex_attention with a mask of blocks."""
import itertools
import math
import os

import racing  # noqa: F401, puts what follows on the path
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from measure import Tenon, Torch
from reference import EPS, KINDS


def places(case):
    """(element of the batch, first position, behind the last one) of each document."""
    if case.padded:
        return [(number, 0, length) for number, length in enumerate(case.lengths)]
    ends = list(itertools.accumulate(case.lengths))
    return [(0, end - length, end) for length, end in zip(case.lengths, ends)]


def of_head(case, tensor, batch, head, is_query):
    """[positions, depth]"""
    group, member = head // case.shared, head % case.shared
    at = (group, member) if is_query and case.shared > 1 else (group,) if case.shared > 1 else (head,)
    return tensor[(batch, *at)] if case.padded else tensor[(slice(None), *at)]


def error_of(case, found, inputs):
    """The worst error of some heads in units of what rounding may be; above 1 it is wrong."""
    worst = 0.0
    for head in {0, case.heads - 1, case.heads // 3}:
        for batch, first, end in places(case):
            q, k, v = (of_head(case, t, batch, head, number == 0)[first:end].double() for number, t in enumerate(inputs[:3]))
            scores = q @ k.mT / math.sqrt(case.depth)
            if case.causal:
                rows = torch.arange(end - first, device="cuda")
                scores = scores.masked_fill(rows[None, :] > rows[:, None], -math.inf)
            weights = torch.softmax(scores, -1)
            exact = weights @ v
            bound = EPS[case.kind] * (1.5 * exact.abs() + 0.75 * (weights @ v.abs())) + 1e-6
            made = of_head(case, found, batch, head, True)[first:end].double()
            worst = max(worst, ((made - exact).abs() / bound).nan_to_num(float("inf")).max().item())
    return worst


def packed(case, tensor):
    """[positions, heads, depth] without padding."""
    if not case.padded:
        return tensor.reshape(case.positions(), -1, case.depth)
    wide = tensor.reshape(len(case.lengths), -1, case.padded, case.depth)
    return torch.cat([wide[number, :, :length].transpose(0, 1) for number, length in enumerate(case.lengths)])


def flash(case, q, k, v):
    """Its result is packed."""
    given = [packed(case, t).contiguous() for t in (q, k, v)]
    ends = torch.tensor([0, *itertools.accumulate(case.lengths)], device="cuda", dtype=torch.int32)
    longest = max(case.lengths)
    return lambda *_: torch.ops.aten._flash_attention_forward(*given, ends, ends, longest, longest, 0.0, case.causal, False)[0]


def flexible(case, q, k, v, numbers):
    torch._dynamo.reset()
    compiled = torch.compile(flex_attention)
    if case.padded:
        four = [t.reshape(len(case.lengths), -1, case.padded, case.depth) for t in (q, k, v)]
    else:
        four = [t.reshape(case.positions(), -1, case.depth).transpose(0, 1)[None] for t in (q, k, v)]

    def seen(b, h, row, key):
        same = (key < numbers[b]) & (row < numbers[b]) if case.padded else numbers[row] == numbers[key]
        return same & (row >= key) if case.causal else same

    mask = create_block_mask(seen, len(case.lengths) if case.padded else None, None, case.positions(), case.positions(), device="cuda", _compile=True)
    return lambda *_: compiled(*four, block_mask=mask, enable_gqa=case.shared > 1)


def like_ours(case, made, ours):
    """A peer's result in the order of ours."""
    if tuple(made.shape) == tuple(ours):
        return made
    if made.dim() == 4 and not case.padded:
        return made[0].transpose(0, 1).reshape(ours)
    if made.dim() == 4:
        return made.reshape(ours)
    if not case.padded:
        return made.reshape(ours)
    whole = torch.zeros(ours, device="cuda", dtype=made.dtype).reshape(len(case.lengths), -1, case.padded, case.depth)
    for (number, _, length), begin in zip(places(case), [0, *itertools.accumulate(case.lengths)]):
        whole[number, :, :length] = made[begin:begin + length].transpose(0, 1)
    return whole.reshape(ours)


def measure_documents(case, runtime, arguments):
    generator = torch.Generator("cuda").manual_seed(case.positions() + case.depth)
    inputs = [torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32).to(KINDS[case.kind]) for shape in case.shapes()]
    inputs.append(torch.tensor(case.numbers(), device="cuda", dtype=torch.int32))
    makers = [("tenon", lambda: Tenon("tenon", runtime, os.path.join(arguments.programs, case.name() + ".tenon"), [inputs], [])),
              ("flash", lambda: Torch("flash", flash(case, *inputs[:3]), [inputs])),
              ("flex", lambda: Torch("flex", flexible(case, *inputs), [inputs]))]
    makers = [maker for maker in makers if maker[0] == "tenon" or maker[0] in arguments.peers.split(",")]
    return racing.race(case, makers, lambda results: error_of(case, like_ours(case, results[0], inputs[0].shape), inputs), arguments.rounds, is_sustained=True)
