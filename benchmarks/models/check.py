#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tiny models on the emulator, beside PyTorch on the CPU.

usage: benchmarks/models/check.py --build=build --programs=build/models [--filter=TEXT]
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))

import torch  # noqa: E402

import judge  # noqa: E402
import models  # noqa: E402
import tenon_capi as tenon  # noqa: E402

ELEMENTS = {torch.bfloat16: "bf16", torch.float32: "f32", torch.float16: "f16", torch.int64: "i64"}
KINDS = {tenon.ELEMENTS[name]: kind for kind, name in ELEMENTS.items()}


def computed(runtime, path, tensors):
    program = runtime.open(path)
    given = [(ELEMENTS[t.dtype], runtime.upload(t.contiguous().view(torch.uint8).numpy().tobytes() if t.dim() else t.numpy().tobytes()),
              tuple(t.shape)) for t in tensors]
    call = program.prepare(given)
    call.run()
    found = []
    for element, _, _, shape, buffer in call.outputs():
        kind = KINDS[element]
        size = kind.itemsize
        for dimension in shape:
            size *= dimension
        found.append(torch.frombuffer(bytearray(call.read(buffer, size)), dtype=kind).view(shape))
    call.release()
    program.release()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--programs", default="build/models")
    parser.add_argument("--set", default="tiny", choices=sorted(models.SETS))
    parser.add_argument("--filter", default="", help="cases whose name holds it")
    arguments = parser.parse_args()
    os.environ.setdefault("TENON_EMULATOR_LIBRARY", os.path.join(arguments.build, "emulator", "libtenon_emulator.so"))
    os.environ.setdefault("TENON_EMULATOR_SM", "90")
    runtime, wrong = tenon.Runtime(os.path.join(arguments.build, "runtime", "libtenon_runtime.so"), "emulator"), 0
    for case in models.SETS[arguments.set]:
        path = os.path.join(arguments.programs, case.name())
        if arguments.filter not in case.name() or not os.path.exists(path + ".tenon"):
            continue
        net = models.build(case)
        with open(path + ".json", encoding="utf-8") as file:
            shapes = {name: tuple(shape) for name, shape in json.load(file).items()}
        wanted, peer = (judge.called(case, net, shapes, kind, "cpu") for kind in ("f32", case.kind))
        try:
            found = computed(runtime, path + ".tenon", [*models.weights(case, shapes), *models.inputs(case)])
        except tenon.TenonError as problem:
            wrong += 1
            print(f"{case.name():36} FAILED: {str(problem)[:300]}", flush=True)
            continue
        own, theirs = judge.distance(found, wanted), judge.distance(peer, wanted)
        is_wrong = not own <= judge.allowed(theirs)
        wrong += is_wrong
        print(f"{case.name():36} {'WRONG' if is_wrong else 'ok':6} distance {own:.2e}, PyTorch {theirs:.2e}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
