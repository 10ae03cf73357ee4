#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races chains of small products on the GPU of this machine, beside cuBLAS with its epilogue of bias and relu as PyTorch calls it.

usage: benchmarks/gemm/run_chains.py PROGRAMS OUTPUT [SECONDS]

PROGRAMS holds libtenon_runtime.so and what chains.py compiled, of any sets. Every result is compared with the same chain whose products
are f64 first. A time is that of one product: the median of nine graphs of four chains, participants in random order. Writes OUTPUT/chains.csv.
"""
import collections
import csv
import os
import random
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402

from chains import LAYERS, SETS  # noqa: E402
from measure import Tenon, Torch  # noqa: E402

MOST = 0.02  # of the norm: each layer rounds to bf16


def inputs(case):
    generator = torch.Generator("cuda").manual_seed(1)
    draws = [torch.randn(shape, generator=generator, device="cuda") for shape in case.shapes()]
    sums = [k for k, _ in case.layers()]
    return [(draw * (2 / sums[(i - 1) // 2]) ** 0.5 if i % 2 else draw * 0.1 if i else draw).bfloat16() for i, draw in enumerate(draws)]


def chain(case, is_exact):
    def run(x, *given):
        for i in range(LAYERS):
            w, bias = given[2 * (i % case.kinds())], given[2 * (i % case.kinds()) + 1]
            w = w.mT if case.layout == "nt" else w
            x = (torch.relu(x.double() @ w.double() + bias.double()).bfloat16() if is_exact
                 else torch._addmm_activation(bias, x, w, use_gelu=False))  # pylint: disable=protected-access
        return x
    return run


def main(programs, output, seconds=60.0):
    torch.set_grad_enabled(False)
    runtime = racing.tenon.Runtime(os.path.join(programs, "libtenon_runtime.so"))
    groups, wrong, end = collections.defaultdict(list), 0, time.monotonic() + float(seconds)
    for case in [case for name in sorted(SETS) for case in SETS[name]]:
        if os.path.exists(os.path.join(programs, case.name() + ".tenon")):
            groups[case.layout, case.rows, case.widths].append(case)
    with open(os.path.join(output, "chains.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["chain", "participant", "us_of_product", "distance"])
        for cases in groups.values():
            if time.monotonic() > end:
                print(f"{cases[0].name()}: not measured, no time left")
                continue
            given = inputs(cases[0])
            wanted = chain(cases[0], True)(*given).double()
            racers = [Tenon(case.tile or "model", runtime, os.path.join(programs, case.name() + ".tenon"), [given], []) for case in cases]
            racers.append(Torch("torch", chain(cases[0], False), [given]))
            for racer in racers:
                racer.distance = ((racer.outputs(0)[0].double() - wanted).norm() / wanted.norm()).item()
                wrong += not racer.distance < MOST
                racer.first(1)
                racer.capture(4, 1)
            for _ in range(9):
                for racer in random.sample(racers, len(racers)):
                    time.sleep(0.001)
                    racer.times.append(racing.timed(racer) / LAYERS)
            for racer in racers:
                writer.writerow([told(cases[0]), racer.name, round(statistics.median(racer.times), 3), round(racer.distance, 5)])
                racer.release()
            print(told(cases[0]), "  ".join(f"{racer.name} {statistics.median(racer.times):.2f}" for racer in racers), flush=True)
    return 1 if wrong else 0


def told(case):
    return f"{case.layout} {case.rows} x {' x '.join(map(str, case.widths))}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
