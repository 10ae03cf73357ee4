#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Races matrix products on the GPU of this machine: Tenon beside cuBLAS as PyTorch calls it (and torch.compile for fused ones).

usage: benchmarks/gemm/run.py --programs=build/gemm --output=DIR [--set=first] [--rounds=12] [--seconds=300]

Every result is compared with a product in float64 first. How it is timed: ../race/racing.py. Writes DIR/gemm.csv. fp32 is exact,
tf32 are cases of their own. f8 races torch._scaled_mm with sums in f32, f8fast with use_fast_accum.
"""
import dataclasses
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, puts what follows on the path
import torch  # noqa: E402

from measure import Tenon, Torch  # noqa: E402
from shapes import SETS, STEPS  # noqa: E402

KINDS = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32, "i8": torch.int8, "f64": torch.float64,
         "f8": torch.float8_e4m3fn, "f8fast": torch.float8_e4m3fn}
# Of a result, and of a product.
EPS = {"f32": 2.0 ** -23, "f16": 2.0 ** -10, "bf16": 2.0 ** -7, "tf32": 2.0 ** -23, "i8": 0.0, "f64": 2.0 ** -52, "f8": 2.0 ** -7, "f8fast": 2.0 ** -7}
# Of f8 what tensor cores drop, which is below 2^-13 of a sum of 128 products; of all of them where it is fast.
PRODUCT_EPS = {"tf32": 2.0 ** -10, "f8": 2.0 ** -10, "f8fast": 2.0 ** -8}
ACTIVATIONS = {"relu": torch.relu, "gelu": torch.nn.functional.gelu, "steps_gelu": torch.nn.functional.gelu,
               "steps_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"), "steps_silu": torch.nn.functional.silu}


def scaled_product(case):
    def run(left, right, left_scale, right_scale):
        if left.dtype == torch.float64:
            return left @ right.mT * left_scale * right_scale
        return torch._scaled_mm(left, right.mT, left_scale, right_scale, out_dtype=torch.bfloat16,  # pylint: disable=protected-access
                                use_fast_accum=case.kind == "f8fast")
    return run


def product(case):
    if case.is_f8():
        return scaled_product(case)

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
    bound = ((case.k + 2) * EPS["f64" if case.kind == "f64" else "f32"] + PRODUCT_EPS.get(case.kind, 0)) * size + EPS[case.kind] * exact.abs() + 1e-30
    if case.fused in STEPS:  # each is rounded
        bound += 4 * EPS[case.kind] * (product(dataclasses.replace(case, fused=""))(*wide[:2]).abs() + wide[2].abs())
    if case.kind == "i8":
        bound = torch.full_like(exact, 0.5)
    return ((found.double() - exact).abs() / bound).nan_to_num(float("inf")).max().item()


def draw_inputs(case):
    generator = torch.Generator("cuda").manual_seed(case.m * 31 + case.n * 7 + case.k)
    torch.backends.cuda.matmul.allow_tf32 = case.kind == "tf32"
    spread = 40 if case.kind == "i8" else 1
    return [(torch.randn(shape, generator=generator, device="cuda") * spread).to(KINDS[case.kind] if shape else torch.float32)
            for shape in case.shapes()]


def given_to_tenon(inputs):
    return [t.view(torch.int8) if t.dtype == torch.float8_e4m3fn else t for t in inputs]  # f8 travel as bytes


def measure(case, runtime, arguments):
    inputs = draw_inputs(case)
    given = given_to_tenon(inputs)
    path = os.path.join(arguments.programs, case.name() + ".tenon")
    makers = [("tenon", lambda: Tenon("tenon", runtime, path, [given], [])), ("torch", lambda: Torch("torch", product(case), [inputs]))]
    if case.fused:
        makers.append(("compile", lambda: Torch("compile", torch.compile(product(case)), [inputs])))
    return racing.race(case, makers, lambda results: error_of(case, results[0], inputs), arguments.rounds, case.operations() > 1e11)


if __name__ == "__main__":
    sys.exit(racing.main(__doc__.splitlines()[0], "gemm", SETS, measure))
