# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts: each row of a product names its matrix, in the forms that programs have them in.

body     the product's body reads the weights at the place that the row names
stored   an operation gathers a matrix for each row, and a batched product of vectors reads it
choices  each token names several experts; their results are weighed and added up behind the product
samples  each sample names one expert for all of its rows
"""
import numpy as np

import bounded
import elements
from bounded import Bounded
from cases.case import Case, generator
from cases.products.contraction import contracted

# rows (or tokens, samples), how many of them each has, experts, columns, reduced elements.
SHAPES = ((1, 1, 4, 40, 64), (5, 1, 3, 136, 72), (130, 1, 4, 72, 40), (64, 2, 8, 65, 33), (33, 3, 5, 24, 136), (0, 1, 3, 16, 8), (7, 2, 1, 64, 64),
          (300, 1, 2, 40, 24), (70, 2, 40, 8, 16), (20, 8, 300, 16, 24))
# Many rows of an expert: the kernels of large tiles.
LARGE = ((520, 1, 3, 264, 200), (390, 2, 4, 130, 96))
ROUTES = ("even", "one", "gaps", "ends")
# What is multiplied, what is summed, what is stored.
KINDS = (("bf16", "f32", "bf16"), ("f16", "f32", "f32"), ("f32", "f32", "f32"), ("i8", "i32", "i32"), ("f64", "f64", "f64"))


def routed(random, how, shape, experts):
    """Which expert each has: any, all the same one, only every third, first and last alone."""
    if how == "one":
        return np.full(shape, random.integers(experts))
    if how == "gaps":
        return random.integers((experts + 2) // 3, size=shape) * 3
    if how == "ends":
        return random.integers(2, size=shape) * (experts - 1)
    return random.integers(experts, size=shape)


class Experts:
    """A program, and its results by NumPy."""

    def __init__(self, form, kinds, shape, how, order, index, is_dynamic, is_finished):
        self.form, self.shape, self.order, self.index, self.is_dynamic = form, shape, order, index, is_dynamic
        self.element, self.sum, self.stored = kinds
        self.is_finished = is_finished and elements.is_float(self.sum)
        if not self.is_finished and elements.is_float(self.sum):
            self.stored = self.sum
        count, each, experts, columns, depth = shape
        random = generator("experts", form, kinds, shape, how, order, is_dynamic)
        def drawn(*of):
            if not elements.is_float(self.element):
                return elements.draw(random, self.element, of)
            return elements.rounded(self.element, elements.draw(random, self.element, of, -2, 2))
        self.x = drawn(count, each, depth) if form == "samples" else drawn(count, depth)
        self.weights = drawn(experts, depth, columns)
        self.ids = routed(random, how, (count, each) if form == "choices" else (count,), experts)
        self.bias = elements.rounded(self.sum, elements.draw(random, self.sum, (experts, columns), -2, 2))
        self.gate = elements.rounded(self.sum, elements.draw(random, self.sum, self.ids.shape, -2, 2))
        named = self.weights[self.ids]
        spec = {"choices": "tk,tjkn->tjn", "samples": "tsk,tkn->tsn"}.get(form, "tk,tkn->tn")
        y = contracted(spec, self.sum, self.x, named)
        if self.is_finished:
            gate, bias = self.gate[..., None], self.bias[self.ids]
            if form == "samples":
                gate, bias = gate[..., None], bias[:, None, :]
            y = bounded.finish(self.sum, y.v + bias, y.e, 1)
            y = bounded.finish(self.sum, y.v * gate, y.e * np.abs(gate), 1)
        if form == "choices" and self.is_finished:
            y = bounded.finish(self.sum, y.v.sum(1), y.e.sum(1) + each * elements.EPS[self.sum] * np.abs(y.v).sum(1))
        if self.stored != self.sum:
            y = bounded.finish(self.stored, y.v, y.e, 1)
        self.result = y if isinstance(y, Bounded) else Bounded(self.sum, y)

    def inputs(self):
        weights = self.weights if self.order == "ekn" else self.weights.transpose(0, 2, 1)
        given = [(self.element, self.x), ("i64" if self.index == "index" else self.index, self.ids.astype(np.int64)), (self.element, weights)]
        return given + [(self.sum, self.bias), (self.sum, self.gate)] if self.is_finished else given

    def expected(self):
        return [self.result]

    def text(self, name="run"):
        count, each, experts, columns, depth = self.shape
        e, s, m = self.element, self.sum, "?" if self.is_dynamic else count
        rows = {"choices": "t, j", "samples": "t, s"}.get(self.form, "t")
        across = f"{m}x{each}" if "," in rows else f"{m}"
        ids = across if self.form == "choices" else f"{m}"
        named = "t, j" if self.form == "choices" else "t"
        left = rows if self.form == "samples" else "t"
        x = f"tensor<{across if self.form == 'samples' else m}x{depth}x{e}>"
        w = f"tensor<{experts}x{depth}x{columns}x{e}>" if self.order == "ekn" else f"tensor<{experts}x{columns}x{depth}x{e}>"
        integer = "i64" if self.index == "index" else self.index
        number = rows.count(",") + 1
        size = "%m" if self.is_dynamic else ""
        result, sums = f"tensor<{across}x{columns}x{s}>", f"tensor<{across}x{columns}x{s}>"
        place = "%at, %k, %n" if self.order == "ekn" else "%at, %n, %k"
        lines = []
        if self.is_dynamic:
            lines.append(f"%c0 = arith.constant 0 : index\n  %m = tensor.dim %x, %c0 : {x}")
        zero = "0.0" if elements.is_float(s) else "0"
        lines.append(f"""%null = arith.constant {zero} : {s}
  %sums = tensor.empty({size}) : {sums}
  %begin = linalg.fill ins(%null : {s}) outs(%sums : {sums}) -> {sums}""")
        parallel = ", ".join(['"parallel"'] * (number + 1))
        loops = f"({rows}, n, k)"
        extend = "arith.extf" if elements.is_float(e) else "arith.extsi"
        wide = [f"    %{v}w = {extend} %{v} : {e} to {s}" for v in "ab"] if e != s else []
        suffix = "w" if e != s else ""
        multiply, add = ("arith.mulf", "arith.addf") if elements.is_float(s) else ("arith.muli", "arith.addi")
        product = "\n".join(wide + [f"    %p = {multiply} %a{suffix}, %b{suffix} : {s}", f"    %q = {add} %o, %p : {s}", f"    linalg.yield %q : {s}"])
        def read(loop):
            return f"""    %at = arith.index_cast %i : {integer} to index
    %n = linalg.index {loop} : index
    %k = linalg.index {loop + 1} : index
    %b = tensor.extract %w[{place}] : {w}"""
        if self.form == "stored":
            gathered = f"tensor<{m}x{columns}x{depth}x{e}>"
            lines.append(f"""%g0 = tensor.empty({size}) : {gathered}
  %g = linalg.generic {{indexing_maps = [affine_map<(t, n, k) -> (t)>, affine_map<(t, n, k) -> (t, n, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}} ins(%ids : tensor<{ids}x{integer}>) outs(%g0 : {gathered}) {{
  ^bb0(%i: {integer}, %o: {e}):
{read(1)}
    linalg.yield %b : {e}
  }} -> {gathered}""")
            second, kind, body = "(t, n, k)", f"%g : {x}, {gathered}", f"  ^bb0(%a: {e}, %b: {e}, %o: {s}):\n"
        else:
            second, kind, body = f"({named})", f"%ids : {x}, tensor<{ids}x{integer}>", f"  ^bb0(%a: {e}, %i: {integer}, %o: {s}):\n{read(number)}\n"
        lines.append(f"""%y = linalg.generic {{indexing_maps = [affine_map<{loops} -> ({left}, k)>, affine_map<{loops} -> {second}>,
      affine_map<{loops} -> ({rows}, n)>], iterator_types = [{parallel}, "reduction"]}} ins(%x, {kind}) outs(%begin : {sums}) {{
{body}{product}
  }} -> {sums}""")
        value = "%y"
        arguments = f"%x: {x}, %ids: tensor<{ids}x{integer}>, %w: {w}"
        if self.is_finished:
            arguments += f", %bias: tensor<{experts}x{columns}x{s}>, %gate: tensor<{ids}x{s}>"
            loops = f"({rows}, n)"
            is_summed = self.form == "choices"
            stored = self.stored if not is_summed else s
            result = f"tensor<{across}x{columns}x{stored}>"
            end = f"%u = arith.truncf %v : {s} to {stored}" if stored != s else f"%u = arith.addf %v, %minus : {s}"
            lines.append(f"""%minus = arith.constant -0.0 : {s}
  %z0 = tensor.empty({size}) : {result}
  %z = linalg.generic {{indexing_maps = [affine_map<{loops} -> ({rows}, n)>, affine_map<{loops} -> ({named})>, affine_map<{loops} -> ({named})>,
      affine_map<{loops} -> ({rows}, n)>], iterator_types = [{parallel}]}}
      ins(%y, %ids, %gate : {sums}, tensor<{ids}x{integer}>, tensor<{ids}x{s}>) outs(%z0 : {result}) {{
  ^bb0(%a: {s}, %i: {integer}, %h: {s}, %o: {stored}):
    %at = arith.index_cast %i : {integer} to index
    %n = linalg.index {number} : index
    %b = tensor.extract %bias[%at, %n] : tensor<{experts}x{columns}x{s}>
    %c = arith.addf %a, %b : {s}
    %v = arith.mulf %c, %h : {s}
    {end}
    linalg.yield %u : {stored}
  }} -> {result}""")
            value = "%z"
            if is_summed:
                of_token = f"tensor<{m}x{columns}x{s}>"
                lines.append(f"""%t0 = tensor.empty({size}) : {of_token}
  %t1 = linalg.fill ins(%null : {s}) outs(%t0 : {of_token}) -> {of_token}
  %t2 = linalg.generic {{indexing_maps = [affine_map<(t, n, j) -> (t, j, n)>, affine_map<(t, n, j) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%z : {result}) outs(%t1 : {of_token}) {{
  ^bb0(%a: {s}, %o: {s}):
    %b = arith.addf %o, %a : {s}
    linalg.yield %b : {s}
  }} -> {of_token}""")
                value, result = "%t2", of_token
                if self.stored != s:
                    result = f"tensor<{m}x{columns}x{self.stored}>"
                    lines.append(f"%t3 = arith.truncf %t2 : {of_token} to {result}")
                    value = "%t3"
        text = "\n  ".join(lines)
        return f"func.func @{name}({arguments}) -> {result} {{\n  {text}\n  return {value} : {result}\n}}\n"


def cases(sizes):
    whole = len(sizes) > 1
    number = 0
    for form in ("body", "stored", "choices", "samples"):
        for kinds in KINDS:
            for shape in SHAPES + LARGE:
                if shape[1] != 1 and form in ("body", "stored"):
                    continue
                for how in ROUTES:
                    number += 1
                    # The small grid has every shape in every form of some types.
                    if not whole and number % (23 if shape in LARGE else 9) != 0:
                        continue
                    order, index = ("ekn", "enk")[number % 2], ("i32", "i64")[number // 2 % 2]
                    yield Case(f"experts, {form}", f"{kinds[0]} to {kinds[2]}",
                               Experts(form, kinds, shape, how, order, index, number // 3 % 3 == 0, number // 4 % 2 == 0))
