# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What attention should be, in float64, a few heads of it."""
import math

import torch

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f8E4M3FN": torch.float8_e4m3fn}
EPS = {"f16": 2.0 ** -10, "bf16": 2.0 ** -7}


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
        if case.mask == "causal":
            scores = scores.masked_fill(key > row, -math.inf)
        weights = torch.softmax(scores, -1)
        exact = weights @ v
        bound = EPS[case.wide()] * (1.5 * exact.abs() + 0.75 * (weights @ v.abs())) + 1e-6
        worst = max(worst, ((found[batch, group, member].double() - exact).abs() / bound).nan_to_num(float("inf")).max().item())
    return worst
