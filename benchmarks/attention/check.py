#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares attention with float64 on numbers that are hard for a softmax computed block by block, and times nothing.

usage: benchmarks/attention/check.py --programs=build/attention [--set=hard]

Each program of the set runs twice on each kind of numbers: every number of some heads is compared, and bits are the same both times.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))

import racing  # noqa: E402, F401, puts what follows on the path
import torch  # noqa: E402

import tenon_capi as tenon  # noqa: E402
from measure import Tenon  # noqa: E402
from reference import error_of, operands_of  # noqa: E402
from shapes import SETS  # noqa: E402

INPUTS = ("plain", "dominating key", "growing keys", "times 8", "constant rows", "large")


def drawn(case, how):
    generator = torch.Generator("cuda").manual_seed(case.length * 31 + case.depth)
    q, k, v = (torch.randn(shape, generator=generator, device="cuda") for shape in case.shapes())
    at = torch.arange(case.key_count(), device="cuda")[:, None]
    if how == "dominating key":
        k = k * torch.where(at == case.key_count() * 2 // 3, 6.0, 0.2)
    elif how == "growing keys":
        q, k = q.abs(), k.abs() * (0.05 + at / case.key_count()) * 3
    elif how == "times 8":
        q = q * 8
    elif how == "constant rows":
        q, k = torch.ones_like(q), torch.ones_like(k)
    elif how == "large":  # a naive softmax overflows
        q, k = q * 16, k * 16
    return operands_of(case, [q, k, v])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="build/attention")
    parser.add_argument("--set", default="hard", choices=sorted(SETS))
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    runtime, wrong = tenon.Runtime(os.path.join(arguments.programs, "libtenon_runtime.so")), 0
    for case in SETS[arguments.set]:
        errors = []
        for how in INPUTS:
            given, inputs = drawn(case, how)
            given = [x.view(torch.int8) if x.element_size() == 1 else x for x in given]
            racer = Tenon("tenon", runtime, os.path.join(arguments.programs, case.name() + ".tenon"), [given], [])
            results = []
            for _ in range(2):
                racer.call(0)
                torch.cuda.synchronize()
                results.append(racer.outputs(0)[0].clone())
            error = error_of(case, results[0], inputs)
            is_same = torch.equal(results[0].view(torch.int16), results[1].view(torch.int16))
            wrong += not error <= 1 or not is_same
            errors.append(f"{how} {error:.3f}" + ("" if is_same else " (other bits)"))
            racer.release()
        print(f"{case.name():40} {', '.join(errors)}", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
