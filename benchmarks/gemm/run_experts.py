#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races mixtures of experts (experts.py) on the GPU of this machine.

usage: benchmarks/gemm/run_experts.py --programs=build/experts --output=DIR [--set=first] [--rounds=12] [--seconds=300]

tenon     the whole: order of the rows, products, results where their rows are
torch     the same by PyTorch: sort, gather, torch._grouped_mm, scatter
grouped   torch._grouped_mm alone: rows are sorted, and results stay so
loop      a torch.mm for each expert, likewise; the host knows how many rows each has
triton    one kernel that gathers its rows by a table that is there already (below)
dense     no peer: as many rows times one matrix

Every element of every result is compared with float64 first. How it is timed: ../race/racing.py. Writes DIR/experts.csv.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

from experts import SETS  # noqa: E402
from measure import Tenon, Torch  # noqa: E402

EPS_BF16, EPS_F32 = 2.0 ** -8, 2.0 ** -23


@triton.jit
def routed_product(x, w, y, rows, experts, width, depth, choices: tl.constexpr, deep: tl.constexpr, stride_k, stride_n, high: tl.constexpr, wide: tl.constexpr):
    """Tile of `high` places of `rows` (below 0: none) of one expert, and `wide` columns."""
    tile, column = tl.program_id(1), tl.program_id(0)
    expert = tl.load(experts + tile).to(tl.int64)
    if expert < 0:
        return
    row = tl.load(rows + tile * high + tl.arange(0, high))
    exists = row >= 0
    columns = column * wide + tl.arange(0, wide)
    inner = tl.arange(0, deep)
    left = x + (row // choices)[:, None].to(tl.int64) * depth + inner[None, :]
    right = w + expert * width * depth + inner[:, None] * stride_k + columns[None, :] * stride_n
    sums = tl.zeros((high, wide), dtype=tl.float32)
    for _ in range(0, depth, deep):
        sums = tl.dot(tl.load(left, mask=exists[:, None], other=0.0), tl.load(right), sums)
        left += deep
        right += deep * stride_k
    tl.store(y + row[:, None].to(tl.int64) * width + columns[None, :], sums.to(tl.bfloat16), mask=exists[:, None])


def table(ids, experts, high):
    """The rows of each tile, and its expert, made by the host."""
    flat, rows, named = ids.flatten().cpu(), [], []
    for expert in range(experts):
        own = (flat == expert).nonzero().flatten().tolist()
        for first in range(0, len(own), high):
            part = own[first:first + high]
            rows.append(part + [-1] * (high - len(part)))
            named.append(expert)
    return torch.tensor(rows, dtype=torch.int32, device="cuda"), torch.tensor(named, dtype=torch.int32, device="cuda")


def by_triton(case, x, ids, w):
    per_expert = case.rows() / max(1, len(torch.unique(ids)))
    high = 16 if per_expert <= 16 else 64 if per_expert <= 64 else 128
    wide, deep, warps, stages = (128, 128, 4, 4) if high < 128 else (256, 64, 8, 3)
    rows, named = table(ids, case.experts, high)
    y = torch.empty((*ids.shape, case.n), dtype=torch.bfloat16, device="cuda")
    matrix = w if case.layout == "kn" else w.mT

    def run():
        routed_product[(case.n // wide, len(named))](x, w, y, rows, named, case.n, case.k, case.choices, deep, matrix.stride(1), matrix.stride(2), high, wide,
                                                    num_warps=warps, num_stages=stages)
        return y
    return run


def drawn_ids(case, generator):
    among = {"any": case.experts, "few": max(case.choices, case.experts // 8), "one": case.choices}[case.route]
    scores = torch.rand((case.tokens, among), generator=generator, device="cuda")
    return scores.topk(case.choices).indices.to(torch.int32)


def exact_of(case, x, ids, w):
    """(result, what a sum's rounding is relative to) in float64, one expert after the other."""
    y = torch.empty((case.rows(), case.n), dtype=torch.float64, device="cuda")
    size = torch.empty_like(y)
    flat = ids.flatten()
    for expert in torch.unique(flat).tolist():
        rows = (flat == expert).nonzero().flatten()
        left, right = x[rows // case.choices].double(), (w[expert] if case.layout == "kn" else w[expert].mT).double()
        y[rows] = left @ right
        size[rows] = left.abs() @ right.abs()
    return y, size


def measure(case, runtime, arguments):
    generator = torch.Generator("cuda").manual_seed(case.tokens * 31 + case.n)
    x = torch.randn((case.tokens, case.k), generator=generator, device="cuda").bfloat16()
    shape = (case.experts, case.k, case.n) if case.layout == "kn" else (case.experts, case.n, case.k)
    w = torch.empty(shape, dtype=torch.bfloat16, device="cuda").normal_(generator=generator)
    ids = drawn_ids(case, generator)
    matrix = w if case.layout == "kn" else w.mT
    flat = ids.flatten()
    order = torch.argsort(flat, stable=True)
    ends = torch.bincount(flat, minlength=case.experts).cumsum(0).to(torch.int32)
    counts = torch.bincount(flat, minlength=case.experts).tolist()
    place = torch.argsort(order)
    gathered = x[order // case.choices]
    exact, size = exact_of(case, x, ids, w)
    bound = EPS_BF16 * exact.abs() + (case.k + 2) * EPS_F32 * size + 1e-30
    del size

    def error_of(found, is_sorted):
        found = (found[place] if is_sorted else found).view(case.rows(), case.n)
        return ((found.double() - exact).abs() / bound).nan_to_num(float("inf")).max().item()

    def whole(x, ids, matrix):
        flat = ids.flatten()
        sorted_ids, order = torch.sort(flat, stable=True)
        ends = torch.searchsorted(sorted_ids, torch.arange(case.experts, device="cuda", dtype=torch.int32), right=True, out_int32=True)
        made = torch._grouped_mm(x[order // case.choices], matrix, offs=ends)  # pylint: disable=protected-access
        return torch.empty_like(made).index_copy_(0, order, made)

    results = torch.empty((case.rows(), case.n), dtype=torch.bfloat16, device="cuda")

    def loop(gathered, matrix):
        first = 0
        for expert, count in enumerate(counts):
            if count:
                torch.mm(gathered[first:first + count], matrix[expert], out=results[first:first + count])
            first += count
        return results

    path = os.path.join(arguments.programs, case.program_name() + ".tenon")
    grouped = lambda gathered, matrix: torch._grouped_mm(gathered, matrix, offs=ends)  # noqa: E731 pylint: disable=protected-access
    makers = [("tenon", False, lambda: Tenon("tenon", runtime, path, [[x, ids, w]], [])), ("torch", False, lambda: Torch("torch", whole, [[x, ids, matrix]])),
              ("grouped", True, lambda: Torch("grouped", grouped, [[gathered, matrix]])), ("loop", True, lambda: Torch("loop", loop, [[gathered, matrix]])),
              ("triton", False, lambda: Torch("triton", by_triton(case, x, ids, w), [[]]))]
    sorted_now = [None]

    def judged(name, is_sorted, make):
        def start():
            sorted_now[0] = is_sorted
            return make()
        return name, start
    rows = racing.race(case, [judged(*each) for each in makers], lambda found: error_of(found[0], sorted_now[0]), arguments.rounds, False)
    if case.route == "any" and case.tokens >= 1024:
        dense = racing.race(case, [("dense", lambda: Torch("dense", lambda left, right: left @ right, [[gathered, matrix[0]]]))], lambda found: 0.0, arguments.rounds, False)
        rows += [dict(row, participant=racing.LIMIT) for row in dense]
    return rows


if __name__ == "__main__":
    sys.exit(racing.main(__doc__.splitlines()[0], "experts", SETS, measure))
