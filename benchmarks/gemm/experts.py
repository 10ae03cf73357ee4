# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts that are raced, and their programs: y[t, j, n] = sum over k of x[t, k] * w[ids[t, j], k, n], bf16 with sums in f32.

kn, nk   how a matrix of the weights lies: w[e, k, n], or w[e, n, k]

route, which the program does not know: any (each token names different experts, all alike likely), one (all tokens name the same ones),
few (those of any eighth).
"""
import dataclasses
import os
import sys


@dataclasses.dataclass(frozen=True)
class Experts:
    model: str
    tokens: int
    choices: int
    experts: int
    k: int
    n: int
    layout: str = "nk"
    route: str = "any"

    def program_name(self):
        return f"{self.model}_{self.layout}_{self.tokens}x{self.choices}of{self.experts}_{self.n}x{self.k}"

    def name(self):
        return f"{self.program_name()}_{self.route}"

    def rows(self):
        return self.tokens * self.choices

    def operations(self):
        return 2 * self.rows() * self.n * self.k


MODELS = {"mixtral": (2, 8, 4096, 14336), "mixtral_down": (2, 8, 14336, 4096), "deepseek": (8, 256, 7168, 2048), "small": (8, 64, 2048, 2048)}


def cases(models, tokens, layouts=("nk",), routes=("any",)):
    return [Experts(model, t, *MODELS[model], layout, route) for model in models for layout in layouts for t in tokens for route in routes]


SETS = {
    "first": cases(("mixtral", "deepseek"), (1, 16, 128, 1024, 4096)) + cases(("small",), (16, 1024, 4096)) +
             cases(("mixtral",), (16, 1024), ("kn",)) + cases(("mixtral",), (1024, 4096), routes=("one",)) + cases(("deepseek",), (1024, 4096), routes=("one", "few")),
    "few": cases(("mixtral",), (1, 16, 1024), ("nk", "kn")) + cases(("small",), (1, 16, 1024)),
}


def program(case):
    t, j, e, k, n = case.tokens, case.choices, case.experts, case.k, case.n
    w = f"tensor<{e}x{k}x{n}xbf16>" if case.layout == "kn" else f"tensor<{e}x{n}x{k}xbf16>"
    place = "%at, %d, %c" if case.layout == "kn" else "%at, %c, %d"
    return f"""func.func @run(%x: tensor<{t}x{k}xbf16>, %ids: tensor<{t}x{j}xi32>, %w: {w}) -> tensor<{t}x{j}x{n}xbf16> {{
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<{t}x{j}x{n}xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<{t}x{j}x{n}xf32>) -> tensor<{t}x{j}x{n}xf32>
  %p = linalg.generic {{indexing_maps = [affine_map<(t, j, n, k) -> (t, k)>, affine_map<(t, j, n, k) -> (t, j)>,
      affine_map<(t, j, n, k) -> (t, j, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%x, %ids : tensor<{t}x{k}xbf16>, tensor<{t}x{j}xi32>) outs(%begin : tensor<{t}x{j}x{n}xf32>) {{
  ^bb0(%a: bf16, %i: i32, %s: f32):
    %at = arith.index_cast %i : i32 to index
    %c = linalg.index 2 : index
    %d = linalg.index 3 : index
    %b = tensor.extract %w[{place}] : {w}
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %m = arith.mulf %aw, %bw : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  }} -> tensor<{t}x{j}x{n}xf32>
  %y = arith.truncf %p : tensor<{t}x{j}x{n}xf32> to tensor<{t}x{j}x{n}xbf16>
  return %y : tensor<{t}x{j}x{n}xbf16>
}}
"""


class Program:
    """What is compiled once for cases that differ in what they route."""

    def __init__(self, case):
        self.case = case

    def name(self):
        return self.case.program_name()


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))
    import compiling
    programs = {name: [Program(case) for case in {case.program_name(): case for case in those}.values()] for name, those in SETS.items()}
    sys.exit(compiling.main(__doc__.splitlines()[0], "experts", programs, lambda each: program(each.case)))
