#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races the hand-written kernel of samples/custom_dispatch/hopper on the GPU of this machine, beside what the compiler generates
for the same product and cuBLAS as PyTorch calls it.

usage: benchmarks/gemm/run_sample.py --programs=build/gemm --output=DIR [--rounds=12] [--seconds=300]

PROGRAMS holds the set `squares` (compile.py) and the sample's program as hopper.tenon. Every result is compared with a product in
float64 first; ragged sizes only that. Writes DIR/sample.csv. The printed ratio is the best of the others to the sample.
"""
import os
import sys

from run import error_of, product  # first: it puts what follows on the path

import racing  # noqa: E402
import torch  # noqa: E402

from measure import Tenon, Torch  # noqa: E402
from shapes import Product  # noqa: E402

SETS = {"first": [Product("bf16", "nt", *shape) for shape in ((2048,) * 3, (4096,) * 3, (8192,) * 3, (1000, 1016, 328), (4088, 4104, 4072))]}


def measure(case, runtime, arguments):
    generator = torch.Generator("cuda").manual_seed(case.m * 31 + case.n * 7 + case.k)
    inputs = [torch.randn(shape, generator=generator, device="cuda").to(torch.bfloat16) for shape in case.shapes()]
    by_hand, generated = (os.path.join(arguments.programs, name + ".tenon") for name in ("hopper", case.name()))
    makers = [("sample", lambda: Tenon("sample", runtime, by_hand, [inputs], [])),
              ("torch", lambda: Torch("torch", product(case), [inputs]))]
    if os.path.exists(generated):
        makers.insert(1, ("generated", lambda: Tenon("generated", runtime, generated, [inputs], [])))
    return racing.race(case, makers, lambda results: error_of(case, results[0], inputs), arguments.rounds, case.operations() > 1e11)


if __name__ == "__main__":
    sys.exit(racing.main(__doc__.splitlines()[0], "sample", SETS, measure))
