#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races products by `mma.sync` on a newer GPU: programs of sm_80 or sm_89 beside cuBLAS's own kernels of sm_80.

usage: benchmarks/gemm/run_mma.py --programs=build/mma --output=DIR [--beside=before=DIR,...] [--set=mma] [--rounds=12] [--seconds=300]

Programs carry PTX (compile.py --set=mma --target=sm_80 --output=build/mma -- --images=ptx; mma_f8 for sm_89), which the driver compiles
for the GPU. cuBLAS holds kernels of sm_80, and chooses others on Hopper: `cublaslt.py` tries every algorithm that launches one of them,
and the fastest takes part as `cublas_mma`; of f8 there is none. `torch` is what cuBLAS chooses, which is no peer of these programs:
another instruction. --beside: more folders of programs, of another compiler or another target. Every result is compared with float64
first. Writes DIR/gemm_mma.csv, and DIR/mma_kernels.csv, which kernel `cublas_mma` was. The limit of the instruction: mma_limit.py.
"""
import csv
import functools
import os
import re
import sys

from run import draw_inputs, error_of, given_to_tenon, product  # first: it puts what follows on the path

import racing  # noqa: E402

import cublaslt  # noqa: E402
from measure import Tenon, Torch  # noqa: E402
from shapes import SETS  # noqa: E402

# In the names of kernels.
OLDER = re.compile(r"sm80|sm86|sm89|ampere|ada_|cutlass_[78]|s16816|s1688|i16832|d884")
NEWER = re.compile(r"sm90|nvjet|hopper|gmma")
families, kernels = {}, {}  # by type and order: numbers of algorithms that are older kernels; by case: which one took part


def is_older(name):
    return bool(OLDER.search(name)) and not NEWER.search(name)


@functools.cache
def library():
    found = cublaslt.Library()
    print(f"# cuBLASLt {found.version()}")
    return found


def older_product(case, inputs):
    """cuBLAS with the fastest of its older kernels that this product can have."""
    made = cublaslt.LtProduct(library(), case, inputs)
    key = (case.kind, case.layout)
    if key not in families:
        firsts = [next(made.choices(number), None) for number in made.numbers()]
        found = made.kernels([choice for choice in firsts if choice])
        families[key] = [choice.number for choice, name in found if is_older(name)]
    blocks = -(-case.m // 128) * -(-case.n // 128) * max(case.batch, 1)
    splits = (1,) if blocks > 200 or case.batch else (1, 2, 3, 4, 6, 8)
    choices = [choice for number in families[key] for choice in made.choices(number, splits)]
    made.choice = made.fastest(choices)
    if not made.choice:
        raise RuntimeError(f"none of cuBLAS's {len(choices)} choices is an older kernel that runs")
    names = [name for _, name in made.kernels([made.choice])]
    if not names or not is_older(names[0]):
        raise RuntimeError(f"the fastest is no older kernel: {names}")
    kernels[case.name()] = (len(choices), made.choice.text, names[0])
    return made


def measure(case, runtime, arguments):
    inputs = draw_inputs(case)
    given = given_to_tenon(inputs)
    folders = [("tenon", arguments.programs)] + [("tenon_" + part.split("=")[0], part.split("=")[1]) for part in arguments.beside.split(",") if part]
    makers = [(name, lambda name=name, folder=folder: Tenon(name, runtime, os.path.join(folder, case.name() + ".tenon"), [given], []))
              for name, folder in folders]
    if not case.fused:
        makers.append(("cublas_mma", lambda: older_product(case, inputs)))
    makers.append(("torch", lambda: Torch("torch", product(case), [inputs])))
    rows = racing.race(case, makers, lambda results: error_of(case, results[0], inputs), arguments.rounds, case.operations() > 1e11)
    with open(os.path.join(arguments.output, "mma_kernels.csv"), "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("case", "choices", "chosen", "kernel"), *((name, *what) for name, what in kernels.items())])
    return rows


if __name__ == "__main__":
    sys.exit(racing.main(__doc__.splitlines()[0], "gemm_mma", SETS, measure, [("--beside", "")], ("torch",)))
