#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the forms of exported.py as linalg, in MLIR: PyTorch's by torch.export and IREE's importer, those of JAX by jax.export.

usage: benchmarks/attention/export_forms.py [--set=exported] [--output=build/exported] [--filter=TEXT]

Needs torch, jax, iree-base-compiler and iree-turbine, from PyPI; no GPU.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))

import torch  # noqa: E402

import decompositions  # noqa: E402
import export  # noqa: E402
import export_jax  # noqa: E402
import exported  # noqa: E402


class Called(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *given):
        return self.function(*given)


def torch_text(form):
    from iree.turbine import aot  # pylint: disable=import-outside-toplevel

    given = exported.given(form, None, "cpu")
    sizes = {c: torch.export.Dim(c, min=2, max=65536) for c in form.unknown}
    unknown = tuple({i: sizes[c] for i, c in enumerate(letters) if c in sizes} for _, letters in form.shapes())
    with torch.no_grad():
        program = torch.export.export(Called(form.function), tuple(given), strict=False, dynamic_shapes={"given": unknown} if sizes else None)
        copy = torch.ops.aten.index_copy.default
        program = decompositions.without_unknown(program.run_decompositions(decompositions.table() | {copy: torch.export.default_decompositions()[copy]}))
    return str(aot.export(program, function_name="run").mlir_module)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="build/exported")
    parser.add_argument("--set", default="exported", choices=sorted(exported.SETS))
    parser.add_argument("--filter", default="", help="forms whose name holds it")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    for form in exported.SETS[arguments.set]:
        if arguments.filter not in form.name():
            continue
        text, kind = (torch_text(form), "torch") if form.by == "torch" else (export_jax.text(form), "stablehlo")
        export.import_text(text, kind, os.path.join(arguments.output, form.name() + ".mlir"))


if __name__ == "__main__":
    sys.exit(main())
