#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races matrix products on the GPU of this machine: Tenon beside cuBLAS as PyTorch calls it (and torch.compile for fused ones).

usage: benchmarks/gemm/run.py --programs=build/gemm --output=DIR [--set=first] [--rounds=12] [--seconds=300]

Every result is compared with a product in float64 first. Then, in random order in each round, ten calls of a participant are
timed after a pause (burst: the device has cooled), and at the end each runs for a while without a pause (sustained: at the
power limit). A time is the median over the rounds. Writes DIR/gemm.csv. fp32 is exact, tf32 are cases of their own.
"""
import argparse
import csv
import dataclasses
import os
import random
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "memory_bound"))

import torch  # noqa: E402

import tenon_capi as tenon  # noqa: E402
from measure import Tenon, Torch  # noqa: E402
from shapes import SETS  # noqa: E402

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32, "i8": torch.int8}
# Of a result, and of a product.
EPS = {"f32": 2.0 ** -23, "f16": 2.0 ** -10, "bf16": 2.0 ** -7, "tf32": 2.0 ** -23, "i8": 0.0}
PRODUCT_EPS = {"tf32": 2.0 ** -10}
ACTIVATIONS = {"relu": torch.relu, "gelu": torch.nn.functional.gelu}
CALLS = 10


def product(case):
    def run(left, right, *bias):
        left = left.mT if case.layout[0] == "t" else left
        right = right.mT if case.layout[1] == "t" else right
        made = torch._int_mm(left, right) if left.dtype == torch.int8 else torch.matmul(left, right)  # pylint: disable=protected-access
        return ACTIVATIONS[case.fused](made + bias[0]) if bias else made
    return run


def error_of(case, found, inputs):
    """The worst error in units of what rounding and a sum in any order may be; above 1 it is wrong."""
    wide = [t.double() for t in inputs]
    exact = product(case)(*wide)
    size = product(dataclasses.replace(case, fused="relu" if case.fused else ""))(*[t.abs() for t in wide])
    bound = ((case.k + 2) * EPS["f32"] + PRODUCT_EPS.get(case.kind, 0)) * size + EPS[case.kind] * exact.abs() + 1e-30
    if case.kind == "i8":
        bound = torch.full_like(exact, 0.5)
    return ((found.double() - exact).abs() / bound).nan_to_num(float("inf")).max().item()


def timed(participant):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    participant.replay(1)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / participant.per_replay


def measure(case, runtime, folder, rounds):
    generator = torch.Generator("cuda").manual_seed(case.m * 31 + case.n * 7 + case.k)
    torch.backends.cuda.matmul.allow_tf32 = case.kind == "tf32"
    spread = 40 if case.kind == "i8" else 1
    inputs = [(torch.randn(shape, generator=generator, device="cuda") * spread).to(KINDS[case.kind]) for shape in case.shapes()]
    racers = [Tenon("tenon", runtime, os.path.join(folder, case.name() + ".tenon"), [inputs], []),
              Torch("torch", product(case), [inputs])]
    if case.fused:
        racers.append(Torch("compile", torch.compile(product(case)), [inputs]))
    rows = {}
    for racer in racers:
        racer.call(0)
        torch.cuda.synchronize()
        rows[racer.name] = {"case": case.name(), "participant": racer.name, "error": f"{error_of(case, racer.outputs(0)[0], inputs):.4f}"}
        racer.first(1)
        racer.capture(CALLS, 1)
        racer.times = []
    for _ in range(rounds):
        for racer in random.sample(racers, len(racers)):
            time.sleep(0.01)
            racer.times.append(timed(racer))
    for racer in racers:
        burst = statistics.median(racer.times)
        rows[racer.name].update(burst_us=round(burst, 2), burst_tflops=round(case.operations() / burst / 1e6, 1))
    if case.operations() > 1e11:
        for racer in random.sample(racers, len(racers)):
            end, times = time.monotonic() + 0.4, []
            while time.monotonic() < end:
                times.append(timed(racer))
            sustained = statistics.median(times[len(times) // 2:])
            rows[racer.name].update(sustained_us=round(sustained, 2), sustained_tflops=round(case.operations() / sustained / 1e6, 1))
    for racer in racers:
        racer.release()
    return list(rows.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="build/gemm")
    parser.add_argument("--output", default=".")
    parser.add_argument("--set", default="first", choices=sorted(SETS))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=300)
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    os.makedirs(arguments.output, exist_ok=True)
    runtime = tenon.Runtime(os.path.join(arguments.programs, "libtenon_runtime.so"))
    fields = ["case", "participant", "error", "burst_us", "burst_tflops", "sustained_us", "sustained_tflops", "message"]
    end, wrong, ratios = time.monotonic() + arguments.seconds, 0, []
    with open(os.path.join(arguments.output, "gemm.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        print(f"# {torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}")
        for case in SETS[arguments.set]:
            if time.monotonic() > end:
                print(f"{case.name()}: not measured, no time left")
                continue
            try:
                rows = measure(case, runtime, arguments.programs, arguments.rounds)
            except Exception as problem:  # pylint: disable=broad-except
                rows = [{"case": case.name(), "participant": "tenon", "message": str(problem)[:300]}]
            writer.writerows(rows)
            file.flush()
            if len(rows) == 1:
                wrong += 1
                print(f"{case.name():34} {rows[0]['message']}")
                continue
            best = min(row["burst_us"] for row in rows[1:])
            ratios.append(best / rows[0]["burst_us"])
            wrong += float(rows[0]["error"]) > 1
            told = "  ".join(f"{r['participant']} {r['burst_us']:9.1f} us {r['burst_tflops']:6.1f} ({r.get('sustained_tflops', '-')}) err {r['error']}"
                             for r in rows)
            print(f"{case.name():34} {ratios[-1]:.3f}x  {told}", flush=True)
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.3f} of {len(ratios)}; {wrong} wrong or failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
