#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the models of a set as linalg, in MLIR: torch.export, IREE's importer, and iree-compile --compile-to=input.

usage: benchmarks/models/export.py --output=build/models [--set=tiny] [--filter=TEXT]

Needs the packages that the README names. Writes CASE.mlir, and CASE.json: the names and shapes of the weights, in the order in
which the program takes them in front of its inputs.
"""
import argparse
import json
import os
import subprocess
import sys

import torch
from iree.turbine import aot

import decompositions
import models


class Call(torch.nn.Module):
    """torch.export wants a module: this one has no weight of its own."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, weights, *inputs):
        return self.function(weights, *inputs)


def sizes_of(case, tensors):
    """Which sizes the program does not know."""
    if not case.dynamic:
        return None
    size = torch.export.Dim(case.dynamic, min=2, max=max(case.batch, case.length))
    dimension = 0 if case.dynamic == "batch" else 1
    return [{dimension: size} for _ in tensors]


def traced(case, net, shapes):
    function, weights, tensors = models.function(case, net, list(shapes)), [
        torch.empty(shape, dtype=models.KINDS[case.kind]) for shape in shapes.values()], models.inputs(case)
    call = Call(function)
    if case.trains():
        from torch.fx.experimental.proxy_tensor import make_fx  # pylint: disable=import-outside-toplevel
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            graph = make_fx(function, tracing_mode="fake")(weights, *tensors)
        call = Call(graph)
    sizes = sizes_of(case, tensors)
    with torch.no_grad():
        program = torch.export.export(call, (weights, *tensors), strict=False,
                                      dynamic_shapes=sizes and {"weights": [None] * len(weights), "inputs": tuple(sizes)})
        return decompositions.prepared(program)


def import_text(text, kind, path):
    """Writes what IREE's importer makes of `text`, whose dialect is `kind`: torch or stablehlo."""
    compiler = os.path.join(os.path.dirname(sys.executable), "iree-compile")
    subprocess.run([compiler, f"--iree-input-type={kind}", "--compile-to=input", "-", "-o", path], input=text.encode(), check=True)


def export(case, folder):
    net = models.build(case)
    shapes = models.weight_shapes(net)
    program = traced(case, net, shapes)
    path = os.path.join(folder, case.name())
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump(shapes, file)
    import_text(str(aot.export(program, function_name="run").mlir_module), "torch", path + ".mlir")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="build/models")
    parser.add_argument("--set", default="first", choices=sorted(models.SETS))
    parser.add_argument("--filter", default="", help="cases whose name holds it")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    failed = 0
    for case in models.SETS[arguments.set]:
        if arguments.filter not in case.name():
            continue
        try:
            export(case, arguments.output)
        except Exception as problem:  # pylint: disable=broad-except
            failed += 1
            print(f"{case.name()}: {type(problem).__name__}: {str(problem).strip()[:400]}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
