#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chains of small products that wait for each other, as in a recurrent network or a decoder of a few tokens, and compiles them:
x = relu(x * w + bias), 16 times, bf16 with sums in f32. Weights are four matrices in turn, or two of a wide and a narrow layer.

usage: benchmarks/gemm/chains.py [--build=build] [--output=build/chains] [--set=first] [--target=sm_90a]
"""
import dataclasses
import os
import sys

LAYERS = 16


@dataclasses.dataclass(frozen=True)
class Chain:
    rows: int
    widths: tuple
    layout: str = "nt"  # of the weights: nt: [columns, sum], nn: [sum, columns]
    tile: str = ""  # what is pinned; empty: what the model chooses

    def name(self):
        pinned = "".join(c if c.isalnum() else "_" for c in self.tile.replace("by = ", "").replace('"', ""))
        return f"{self.layout}_{self.rows}_{'x'.join(map(str, self.widths))}" + ("_" + pinned if pinned else "")

    def layers(self):
        """(sum, columns) of each."""
        return [(self.widths[i % len(self.widths)], self.widths[(i + 1) % len(self.widths)]) for i in range(LAYERS)]

    def kinds(self):
        return 4 if len(self.widths) == 1 else 2 * len(self.widths)

    def shapes(self):
        """x, then weights and bias of each kind."""
        found = [(self.rows, self.widths[0])]
        for k, n in self.layers()[:self.kinds()]:
            found += [(n, k) if self.layout == "nt" else (k, n), (n,)]
        return found


SIZES = [(rows, (n,)) for rows in (32, 64) for n in (512, 768, 1024, 2048)] + [(16, (1024,)), (48, (1024,)), (32, (768, 3072)), (32, (1024, 4096))]
SHAPES = [(*each, "nt") for each in SIZES] + [(32, (1024,), "nn")]
PINNED = ('by = "wgmma", rows = 64, columns = 64', 'by = "wgmma", rows = 64, columns = 128', 'by = "mma.sync", rows = 64, columns = 64')
SETS = {
    "first": [Chain(*shape) for shape in SHAPES],
    "tiles": [Chain(*shape, tile) for shape in SHAPES for tile in PINNED if shape[2] == "nt" or "columns = 64" not in tile or "mma.sync" in tile],
}


def program(case):
    weights = ", ".join(f"%w{i}: tensor<{'x'.join(map(str, case.shapes()[2 * i + 1]))}xbf16>, %b{i}: tensor<{case.shapes()[2 * i + 2][0]}xbf16>"
                        for i in range(case.kinds()))
    right = "n, k" if case.layout == "nt" else "k, n"
    pinned = f"attrs = {{tenon.tile = {{{case.tile}}}}} " if case.tile else ""
    lines, last = [], "%x"
    for i, (k, n) in enumerate(case.layers()):
        x, sums, out = (f"tensor<{case.rows}x{size}x{kind}>" for size, kind in ((k, "bf16"), (n, "f32"), (n, "bf16")))
        w = f"tensor<{'x'.join(map(str, case.shapes()[2 * (i % case.kinds()) + 1]))}xbf16>"
        lines.append(f"""  %e{i} = tensor.empty() : {sums}
  %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {sums}) -> {sums}
  %p{i} = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> ({right})>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins({last}, %w{i % case.kinds()} : {x}, {w}) outs(%f{i} : {sums}) {pinned}{{
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %m = arith.mulf %wa, %wb : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  }} -> {sums}
  %q{i} = tensor.empty() : {out}
  %z{i} = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}} ins(%p{i}, %b{i % case.kinds()} : {sums}, tensor<{n}xbf16>) outs(%q{i} : {out}) {{
  ^bb0(%v: f32, %c: bf16, %u: bf16):
    %d = arith.extf %c : bf16 to f32
    %g = arith.addf %v, %d : f32
    %h = arith.maximumf %g, %zero : f32
    %o = arith.truncf %h : f32 to bf16
    linalg.yield %o : bf16
  }} -> {out}""")
        last = f"%z{i}"
    result = f"tensor<{case.rows}x{case.layers()[-1][1]}xbf16>"
    return "\n".join([f"func.func @run(%x: tensor<{case.rows}x{case.widths[0]}xbf16>, {weights}) -> {result} {{",
                      "  %zero = arith.constant 0.0 : f32", *lines, f"  return {last} : {result}", "}", ""])


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))
    import compiling
    sys.exit(compiling.main(__doc__.splitlines()[0], "chains", SETS, program))
