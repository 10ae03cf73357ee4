#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races programs of two compilers beside each other and beside cuBLAS as PyTorch calls it, on the GPU of this machine.

usage: benchmarks/gemm/run_beside.py PROGRAMS OUTPUT [SECONDS]

PROGRAMS holds libtenon_runtime.so and a folder for each compiler (base/, new/), each with CASE.tenon as compile.py names them. Every
result is compared with a product in float64 first. A time is the median of 15 graphs of ten calls, participants in random order.
Writes OUTPUT/beside.csv.
"""
import collections
import csv
import glob
import os
import random
import statistics
import sys
import time

from run import KINDS, error_of, product  # first: it puts what follows on the path

import racing  # noqa: E402
import torch  # noqa: E402

from measure import Tenon, Torch  # noqa: E402
from shapes import SETS  # noqa: E402


def measure(case, runtime, paths):
    """[(participant, error, microseconds)]"""
    generator = torch.Generator("cuda").manual_seed(case.m * 31 + case.n * 7 + case.k)
    torch.backends.cuda.matmul.allow_tf32 = case.kind == "tf32"
    inputs = [torch.randn(shape, generator=generator, device="cuda").to(KINDS[case.kind] if shape else torch.float32) for shape in case.shapes()]
    given = [t.view(torch.int8) if t.dtype == torch.float8_e4m3fn else t for t in inputs]
    racers = [Tenon(name, runtime, path, [given], []) for name, path in paths] + [Torch("torch", product(case), [inputs])]
    for racer in racers:
        racer.error = error_of(case, racer.outputs(0)[0], inputs)
        racer.first(1)
        racer.capture(racing.CALLS, 1)
    for _ in range(15):
        for racer in random.sample(racers, len(racers)):
            time.sleep(0.004)
            racer.times.append(racing.timed(racer))
    rows = [(racer.name, racer.error, statistics.median(racer.times)) for racer in racers]
    for racer in racers:
        racer.release()
    return rows


def main(programs, output, seconds=60.0):
    torch.set_grad_enabled(False)
    runtime = racing.tenon.Runtime(os.path.join(programs, "libtenon_runtime.so"))
    cases = {case.name(): case for case in SETS["full"]}
    paths = collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(programs, "*", "*.tenon"))):
        paths[os.path.basename(path)[:-len(".tenon")]].append((os.path.basename(os.path.dirname(path)), path))
    ratios, wrong, end = collections.defaultdict(list), 0, time.monotonic() + float(seconds)
    print(f"# {torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}")
    with open(os.path.join(output, "beside.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "participant", "error", "burst_us"])
        for name in sorted(paths.keys() & cases.keys()):
            if time.monotonic() > end:
                print(f"{name}: not measured, no time left")
                continue
            rows = measure(cases[name], runtime, paths[name])
            peer = rows[-1][2]
            for who, error, taken in rows:
                writer.writerow([name, who, f"{error:.4f}", round(taken, 2)])
                wrong += who != "torch" and not error <= 1
                ratios[name.split("_")[0], who].append(peer / taken)
            print(f"{name:28} " + "  ".join(f"{who} {taken:.2f} ({peer / taken:.2f})" for who, _, taken in rows), flush=True)
    for (kind, who), values in sorted(ratios.items()):
        print(f"{kind} {who}: geometric mean {statistics.geometric_mean(values):.3f}, least {min(values):.3f}, of {len(values)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
