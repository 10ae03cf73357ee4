# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of activations and quantised weights that are raced, and their programs: y[m, n] = x[m, k] * w[n, k], of which w is computed
from integers, bf16 with sums in f32.

bf16   w lies in memory
i8c    w = q * scale[n], q of 8 bits
i8g    w = (q - zero[n, k / 128]) * scale[n, k / 128]
i4g    the same, q of 4 bits without a sign, two in a byte, the first in the low bits

form: how the program says it. plain: w is computed with its groups as a dimension of their own, collapsed to a matrix and multiplied;
blocked: the product has that dimension too; stored: as plain, but w is stored before, whatever the compiler would do; unknown: as plain,
of a number of rows that the program does not know.
"""
import dataclasses
import os
import sys

GROUP = 128


@dataclasses.dataclass(frozen=True)
class Weights:
    kind: str
    form: str
    m: int
    n: int
    k: int

    def name(self):
        return f"{self.kind}_{self.form}_{self.m}x{self.n}x{self.k}"

    def operations(self):
        return 2 * self.m * self.n * self.k

    def bits(self):
        return {"b": 16, "i8": 8, "i4": 4}[self.kind[:-1] if self.kind != "bf16" else "b"]

    def is_grouped(self):
        return self.kind.endswith("g")


def cases(rows, sizes, kinds=("i8c", "i8g", "i4g"), forms=("plain", "blocked", "stored", "unknown")):
    found = []
    for n, k in sizes:
        for m in rows:
            found.append(Weights("bf16", "plain", m, n, k))
            found += [Weights(kind, form, m, n, k) for kind in kinds for form in forms if form != "blocked" or kind != "i8c"]
    return found


SETS = {
    "first": cases((1, 16, 64, 128, 256, 1024, 4096), [(14336, 4096)]),
    "small": cases((1, 16, 64, 256, 1024), [(4096, 4096)], forms=("plain",)),
    "rows": cases((1, 2, 4, 8, 16, 24, 32, 48, 64, 128, 192, 256, 512, 1024, 2048, 4096), [(14336, 4096)], forms=("plain", "unknown")),
    "long": cases((1, 8, 16, 64, 128), [(4096, 14336), (28672, 8192)], forms=("plain",)),
    "decode": cases((1, 2, 8, 16), [(14336, 4096), (4096, 14336), (28672, 8192), (8192, 28672)], forms=("plain",)),
}
SETS["full"] = list(dict.fromkeys(SETS["first"] + SETS["small"] + SETS["rows"] + SETS["long"] + SETS["decode"]))


def program(case):
    m, n, k, groups = "?" if case.form == "unknown" else case.m, case.n, case.k, case.k // GROUP
    is_blocked = case.form == "blocked"
    across = f"{m}x{groups}x{GROUP}" if is_blocked else f"{m}x{k}"
    arguments, lines = [f"%x: tensor<{m}x{k}xbf16>"], []
    if case.kind == "bf16":
        arguments.append(f"%w: tensor<{n}x{k}xbf16>")
    elif case.kind == "i8c":
        arguments += [f"%q: tensor<{n}x{k}xi8>", f"%scale: tensor<{n}xbf16>"]
        lines.append(f"""%e = tensor.empty() : tensor<{n}x{k}xbf16>
  %w = linalg.generic {{indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>, affine_map<(n, k) -> (n, k)>],
      iterator_types = ["parallel", "parallel"]}} ins(%q, %scale : tensor<{n}x{k}xi8>, tensor<{n}xbf16>) outs(%e : tensor<{n}x{k}xbf16>) {{
  ^bb0(%a: i8, %s: bf16, %o: bf16):
    %b = arith.sitofp %a : i8 to bf16
    %c = arith.mulf %b, %s : bf16
    linalg.yield %c : bf16
  }} -> tensor<{n}x{k}xbf16>""")
    else:
        blocks, element = f"{n}x{groups}x{GROUP}", case.kind[:2]
        arguments += [f"%bytes: tensor<{n}x{k * case.bits() // 8}xi8>", f"%scale: tensor<{n}x{groups}xbf16>", f"%zero: tensor<{n}x{groups}xbf16>"]
        if element == "i4":
            lines.append(f"%q = flow.tensor.bitcast %bytes : tensor<{n}x{k // 2}xi8> -> tensor<{blocks}xi4>")
        else:
            lines.append(f"%q = tensor.expand_shape %bytes [[0], [1, 2]] output_shape [{n}, {groups}, {GROUP}] : tensor<{n}x{k}xi8> into tensor<{blocks}xi8>")
        lines.append(f"""%e = tensor.empty() : tensor<{blocks}xbf16>
  %w{'' if is_blocked else '3'} = linalg.generic {{indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>,
      affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%q, %scale, %zero : tensor<{blocks}x{element}>, tensor<{n}x{groups}xbf16>, tensor<{n}x{groups}xbf16>) outs(%e : tensor<{blocks}xbf16>) {{
  ^bb0(%a: {element}, %s: bf16, %z: bf16, %o: bf16):
    %b = arith.{'uitofp' if element == 'i4' else 'sitofp'} %a : {element} to bf16
    %c = arith.subf %b, %z : bf16
    %d = arith.mulf %c, %s : bf16
    linalg.yield %d : bf16
  }} -> tensor<{blocks}xbf16>""")
        if not is_blocked:
            lines.append(f"%w = tensor.collapse_shape %w3 [[0], [1, 2]] : tensor<{blocks}xbf16> into tensor<{n}x{k}xbf16>")
    right = "%w"
    if case.form == "unknown":
        lines.append(f"%first = arith.constant 0 : index\n  %rows = tensor.dim %x, %first : tensor<{m}x{k}xbf16>")
    if case.form == "stored":
        lines.append(f"%kept = util.optimization_barrier %w : tensor<{n}x{k}xbf16>")
        right = "%kept"
    left = "%x"
    if is_blocked:
        lines.append(f"%left = tensor.expand_shape %x [[0], [1, 2]] output_shape [{m}, {groups}, {GROUP}] : tensor<{m}x{k}xbf16> into tensor<{across}xbf16>")
        left = "%left"
    inner = "g, k" if is_blocked else "k"
    right_shape = f"{n}x{groups}x{GROUP}" if is_blocked else f"{n}x{k}"
    reductions = ", ".join(['"reduction"'] * (2 if is_blocked else 1))
    lines.append(f"""%null = arith.constant 0.0 : f32
  %sums = tensor.empty({'%rows' if m == '?' else ''}) : tensor<{m}x{n}xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %p = linalg.generic {{indexing_maps = [affine_map<(m, n, {inner}) -> (m, {inner})>, affine_map<(m, n, {inner}) -> (n, {inner})>,
      affine_map<(m, n, {inner}) -> (m, n)>], iterator_types = ["parallel", "parallel", {reductions}]}}
      ins({left}, {right} : tensor<{across}xbf16>, tensor<{right_shape}xbf16>) outs(%begin : tensor<{m}x{n}xf32>) {{
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %d : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  }} -> tensor<{m}x{n}xf32>
  %y = arith.truncf %p : tensor<{m}x{n}xf32> to tensor<{m}x{n}xbf16>""")
    body = "\n  ".join(lines)
    return f"func.func @run({', '.join(arguments)}) -> tensor<{m}x{n}xbf16> {{\n  {body}\n  return %y : tensor<{m}x{n}xbf16>\n}}\n"


if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "race"))
    import compiling
    sys.exit(compiling.main(__doc__.splitlines()[0], "weights", SETS, program))
