#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks small shapes of every case on the emulator against PyTorch on the CPU: no GPU, no times.

usage: benchmarks/memory_bound/check.py [--programs=build/memory_bound_smoke] [--filter=softmax]

For what compile.py wrote with --set=smoke; TENON_EMULATOR_LIBRARY names the emulator. What the benchmark measures has to be
the same computation on both sides: this says so before time on a GPU is spent.
"""
import argparse
import ctypes
import json
import os
import sys

import torch

import programs  # puts scripts/ on the path
from cases import case_name, cases, dynamic_name
import tenon_capi as tenon
from measure import CUDA_ELEMENT, EPS
from workloads import TYPES, as_tuple, error, workload_of


def to_bytes(tensor):
    tensor = tensor.contiguous()
    return ctypes.string_at(tensor.data_ptr(), tensor.nbytes)


def outputs_of(call):
    found = []
    for element, _, size, shape, buffer in call.outputs():
        kind = TYPES[CUDA_ELEMENT[element]]
        count = 1
        for dimension in shape:
            count *= dimension
        data = call.read(buffer, count * torch.empty(0, dtype=kind).element_size())
        found.append(torch.frombuffer(bytearray(data), dtype=kind).view(shape))
    return found


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.path.join(root, "build", "memory_bound_smoke"))
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()
    torch.set_grad_enabled(False)
    with open(os.path.join(arguments.programs, "programs.json"), encoding="utf-8") as file:
        files = json.load(file)
    runtime = tenon.Runtime(os.path.join(arguments.programs, "libtenon_runtime.so"), "emulator")
    kinds = {kind: name for name, kind in TYPES.items()}
    right = wrong = refused = 0
    for case in cases("smoke"):
        if arguments.filter and case.operation not in arguments.filter.split(","):
            continue
        workload = workload_of(case)
        inputs = workload.inputs(case, "cpu")
        wanted, own = workload.reference(*inputs), None
        if not workload.random:
            own = error(workload.eager(*inputs), wanted)[0]
        for name in (case_name(case), dynamic_name(case)):
            if "file" not in files.get(name, {}):
                refused += 1
                continue
            program = runtime.open(os.path.join(arguments.programs, files[name]["file"]))
            call = program.prepare([(kinds[t.dtype], runtime.upload(to_bytes(t)), tuple(t.shape)) for t in inputs] +
                                   list(workload.scalars))
            call.run()
            got = outputs_of(call)
            worst, scale = error(got, wanted)
            good = len(got) >= len(as_tuple(wanted)) and worst <= 4 * (own or 0) + 16 * EPS.get(case.kind, 0.0) * scale
            right, wrong = right + good, wrong + (not good)
            print(f"{'ok   ' if good else 'WRONG'} {name}: max error {worst:.3g}, PyTorch's {own if own is None else f'{own:.3g}'}")
            call.release()
            program.release()
    print(f"{right} right, {wrong} wrong, {refused} refused by the compiler")
    sys.exit(wrong != 0)


main()
