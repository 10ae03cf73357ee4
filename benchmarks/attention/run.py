#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races attention on the GPU of this machine: Tenon beside cuDNN and FlashAttention as PyTorch calls them, and flex_attention.

usage: benchmarks/attention/run.py --programs=build/attention --output=DIR [--set=first] [--rounds=12] [--seconds=300]

Results are compared with float64, a few heads of each, in units of what rounding may do. Then, in random order in each round, ten
calls of a participant are timed after a pause (burst: the device has cooled), and at the end each runs for a while without a
pause (sustained: at the power limit). A time is the median over the rounds. Writes DIR/attention.csv.
"""
import argparse
import csv
import math
import os
import random
import statistics
import sys
import time

for folder in (os.path.join("..", "memory_bound"), os.path.join("..", "..", "scripts")):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), folder))

import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # noqa: E402

import tenon_capi as tenon  # noqa: E402
from measure import Tenon, Torch  # noqa: E402
from shapes import SETS  # noqa: E402

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16}
EPS = {"f16": 2.0 ** -10, "bf16": 2.0 ** -7}
CALLS = 10


def heads_of(case, q, k, v):
    """As PyTorch has them: four dimensions."""
    return q.reshape(case.batch, case.heads, case.length, case.depth), k, v


def backend(case, which):
    def run(q, k, v):
        with sdpa_kernel(which):
            made = torch.nn.functional.scaled_dot_product_attention(*heads_of(case, q, k, v), is_causal=case.mask == "causal",
                                                                    enable_gqa=case.shared > 1)
        return made.reshape(q.shape)
    return run


def scores_of(case, score, head, row, key):
    """What a mask makes of a scaled score."""
    if case.mask == "bias":
        return score + (key - row) * torch.exp2(-1 - (head // case.shared) * 0.5)
    if case.mask == "cap":
        return 20 * torch.tanh(score / 20)
    return score


def flexible(case):
    """flex_attention, compiled."""
    compiled = torch.compile(flex_attention)
    mask = None
    if case.mask == "causal":
        mask = create_block_mask(lambda b, h, row, key: row >= key, None, None, case.length, case.key_count(), device="cuda")
    score = None if case.mask in ("", "causal") else lambda s, b, h, row, key: scores_of(case, s, h, row, key)

    def run(q, k, v):
        made = compiled(*heads_of(case, q, k, v), score_mod=score, block_mask=mask, enable_gqa=case.shared > 1)
        return made.reshape(q.shape)
    return run


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
        bound = EPS[case.kind] * (1.5 * exact.abs() + 0.75 * (weights @ v.abs())) + 1e-6
        worst = max(worst, ((found[batch, group, member].double() - exact).abs() / bound).nan_to_num(float("inf")).max().item())
    return worst


def timed(participant):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    participant.replay(1)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / participant.per_replay


def racers_of(case, runtime, folder, inputs, peers):
    """A name, and what makes the participant."""
    yield "tenon", lambda: Tenon("tenon", runtime, os.path.join(folder, case.name() + ".tenon"), [inputs], [])
    if case.mask in ("", "causal"):
        for name, which in (("cudnn", SDPBackend.CUDNN_ATTENTION), ("flash", SDPBackend.FLASH_ATTENTION)):
            if name in peers:
                yield name, lambda name=name, which=which: Torch(name, backend(case, which), [inputs])
    if "flex" in peers:
        yield "flex", lambda: Torch("flex", flexible(case), [inputs])


def measure(case, runtime, folder, rounds, peers):
    generator = torch.Generator("cuda").manual_seed(case.length * 31 + case.depth)
    inputs = [torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32).to(KINDS[case.kind]) for shape in case.shapes()]
    rows, racers = [], []
    for name, make in racers_of(case, runtime, folder, inputs, peers):
        row = {"case": case.name(), "participant": name}
        rows.append(row)
        try:
            racer = make()
            racer.call(0)
            torch.cuda.synchronize()
            row["error"] = f"{error_of(case, racer.outputs(0)[0], inputs):.3f}"
            racer.first(1)
            racer.capture(CALLS, 1)
            racer.times = []
            racers.append((racer, row))
        except Exception as problem:  # pylint: disable=broad-except
            row["message"] = str(problem).strip().splitlines()[0][:200]
    for _ in range(rounds):
        for racer, _ in random.sample(racers, len(racers)):
            time.sleep(0.01)
            racer.times.append(timed(racer))
    for racer, row in racers:
        burst = statistics.median(racer.times)
        row.update(burst_us=round(burst, 2), burst_tflops=round(case.operations() / burst / 1e6, 1))
    for racer, row in random.sample(racers, len(racers)):
        end, times = time.monotonic() + 0.4, []
        while time.monotonic() < end:
            times.append(timed(racer))
        sustained = statistics.median(times[len(times) // 2:])
        row.update(sustained_us=round(sustained, 2), sustained_tflops=round(case.operations() / sustained / 1e6, 1))
    for racer, _ in racers:
        racer.release()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="build/attention")
    parser.add_argument("--output", default=".")
    parser.add_argument("--set", default="first", choices=sorted(SETS))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--peers", default="cudnn,flash,flex")
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    os.makedirs(arguments.output, exist_ok=True)
    runtime = tenon.Runtime(os.path.join(arguments.programs, "libtenon_runtime.so"))
    fields = ["case", "participant", "error", "burst_us", "burst_tflops", "sustained_us", "sustained_tflops", "message"]
    end, wrong, ratios = time.monotonic() + arguments.seconds, 0, []
    with open(os.path.join(arguments.output, "attention.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        print(f"# {torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}")
        for case in SETS[arguments.set]:
            if time.monotonic() > end:
                print(f"{case.name()}: not measured, no time left")
                continue
            rows = measure(case, runtime, arguments.programs, arguments.rounds, arguments.peers.split(","))
            writer.writerows(rows)
            file.flush()
            told = "  ".join(f"{r['participant']} {r['burst_us']:.1f} us {r['burst_tflops']} ({r['sustained_tflops']}) err {r['error']}"
                             if "burst_us" in r else f"{r['participant']}: {r['message']}" for r in rows)
            others = [r["burst_us"] for r in rows[1:] if "burst_us" in r]
            wrong += "burst_us" not in rows[0] or float(rows[0]["error"]) > 1
            ratio = min(others) / rows[0]["burst_us"] if others and "burst_us" in rows[0] else None
            ratios += [ratio] if ratio else []
            print(f"{case.name():34} {f'{ratio:.3f}x' if ratio else '-':7} {told}", flush=True)
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.3f} of {len(ratios)}; {wrong} wrong or failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
