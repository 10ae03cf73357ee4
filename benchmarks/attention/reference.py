# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What attention should be, in float64, a few heads of it."""
import math

import torch

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f8E4M3FN": torch.float8_e4m3fn}
EPS = {"f16": 2.0 ** -10, "bf16": 2.0 ** -7}


def operands_of(case, drawn):
    """Numbers of queries, keys and values in f32, as a case has them: what the program is given, and what that means."""
    if case.kind != "i8":
        given = [x.to(KINDS[case.kind]) for x in drawn]
        if case.latent:
            return given[:2], [*given[:2], given[1][..., :case.columns]]
        return given, given
    scales = [x.abs().amax(-1) / 127 for x in drawn[1:]]
    kept = [(x / scale[..., None]).round().clamp(-127, 127).to(torch.int8) for x, scale in zip(drawn[1:], scales)]
    wide = KINDS[case.wide()]
    queries = drawn[0].to(wide)
    return [queries, *kept, *scales], [queries, *((x.float() * scale[..., None]).to(wide) for x, scale in zip(kept, scales))]


def scores_of(case, score, head, row, key):
    """What a mask makes of a scaled score."""
    if case.mask == "bias":
        return score + (key - row) * torch.exp2(-1 - (head // case.shared) * 0.5)
    if case.mask == "cap":
        return 20 * torch.tanh(score / 20)
    return score


def error_of(case, found, inputs):
    """The worst error of a few heads in units of what rounding may be; above 1 it is wrong."""
    worst = 0.0
    for batch, head in {(0, 0), (case.batch - 1, case.heads - 1), (case.batch // 2, case.heads // 3)}:
        group, member = head // case.shared, head % case.shared
        q, k, v = inputs[0][batch, group, member].double(), inputs[1][batch, group].double(), inputs[2][batch, group].double()
        row, key = torch.arange(case.length, device="cuda")[:, None], torch.arange(case.key_count(), device="cuda")[None, :]
        scores = scores_of(case, q @ k.mT / math.sqrt(case.depth), torch.tensor(float(head), device="cuda", dtype=torch.float64), row, key)
        if case.mask in ("causal", "last"):
            scores = scores.masked_fill(key > row + (case.key_count() - case.length if case.mask == "last" else 0), -math.inf)
        weights = torch.softmax(scores, -1)
        exact = weights @ v
        bound = EPS[case.wide()] * (1.5 * exact.abs() + 0.75 * (weights @ v.abs())) + 1e-6
        worst = max(worst, ((found[batch, group, member].double() - exact).abs() / bound).nan_to_num(float("inf")).max().item())
    return worst
