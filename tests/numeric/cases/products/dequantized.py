# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products and convolutions of f32 whose two sides are computed from integers of 8 bits, as networks have them that were quantised for
other hardware: zero points as integers or floats, scales of all or of each channel, and what moves elements between."""
import functools

import numpy as np

import bounded
from cases.case import Case, generator

# name: dimensions of x, of w and of the result; what stands between w, or x, and the product.
FORMS = {
    "matrix": ("mk", "kn", "mn"),
    "transposed weights": ("mk", "nk", "mn"),
    "flattened": ("mab", "kn", "mn"),
    "broadcast weights": ("bmk", "kn", "bmn"),
    "image": ("bhwc", "yxcf", "bhwf"),
    "image, channels first": ("bchw", "fcyx", "bfhw"),
    "image, each channel": ("bhwc", "yxc", "bhwc"),
}
SIZES = dict(b=2, m=71, k=160, n=100, a=4, h=12, w=11, c=16, f=40, y=3, x=3)


class Dequantized:
    """A program, and its results by NumPy. `sizes`: other ones than SIZES."""

    def __init__(self, form, kinds, zeros, scales, start, unknown, sizes=None):
        self.form, self.kinds, self.zeros, self.scales, self.start, self.unknown = form, kinds, zeros, scales, start, unknown
        self.sizes = {**SIZES, **(sizes or {})}
        if form == "flattened":
            self.sizes.update(b=40)  # of x; there is no batch
        if form == "image, each channel" and not sizes:
            self.sizes.update(b=4, h=35, w=36, c=24)
        _, w, out = FORMS[form]
        channel = "f" if "f" in w else out[-1]
        self.axis = w.index({"channel": channel, "reduced": "k" if "k" in w else "c"}.get(scales, w[0]))
        self.x_scale = 0.0234375  # exact in f32
        self.w_one = float(np.float32(0.0117))
        self.channel, self.scale_count, self.bias_count = channel, self.sizes[w[self.axis]], self.sizes[channel]

    @functools.cached_property
    def data(self):
        """(codes of x and w, scales, bias)"""
        x, w, _ = FORMS[self.form]
        random = generator("dequantized", self.form, self.kinds, self.zeros, self.scales, self.start)
        codes = [random.integers(0, 256, [self.sizes[c] for c in spec]) - (0 if kind == "u8" else 128)
                 for spec, kind in zip((x, w), self.kinds)]
        return codes, *(np.float32(random.uniform(*range_, count)).astype(np.float64)
                        for range_, count in (((0.001, 0.03), self.scale_count), ((-3, 3), self.bias_count)))

    @functools.cached_property
    def result(self):
        _, w, out = FORMS[self.form]
        codes, scales, bias = self.data
        of_w = self.w_one if self.scales == "one" else scales.reshape([-1 if i == self.axis else 1 for i in range(len(w))])
        given = [(codes[0] - self.zeros[0]) * self.x_scale, (codes[1] - self.zeros[1]) * of_w]
        values, terms = [self.product(*(f(side) for side in given)) for f in (lambda v: v, np.abs)]
        if self.start == "bias":
            added = bias.reshape([-1 if c == self.channel else 1 for c in out])
            values, terms = values + added, terms + np.abs(added)
        return bounded.finish("f32", np.maximum(values, 0), terms * 2.0 ** -22, 2.0)

    def product(self, x, w):
        if "image" not in self.form:
            x = x.reshape(x.shape[0], -1) if self.form == "flattened" else x
            return x @ (w.T if self.form == "transposed weights" else w)
        if "channels first" in self.form:
            return np.moveaxis(self.convolved(np.moveaxis(x, 1, 3), np.transpose(w, (2, 3, 1, 0))), 3, 1)
        return self.convolved(x, w)

    def convolved(self, x, w):
        rows, columns = x.shape[1:3]
        x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        multiply = np.multiply if w.ndim == 3 else np.matmul
        return sum(multiply(x[:, i:i + rows, j:j + columns], w[i, j]) for i in range(3) for j in range(3))

    def inputs(self):
        codes, scales, bias = self.data
        given = [("i8", side.astype(np.uint8).view(np.int8).astype(np.int64)) for side in codes]
        return [*given, *([("f32", scales)] if self.scales != "one" else []), *([("f32", bias)] if self.start == "bias" else [])]

    def expected(self):
        return [self.result]

    def type(self, spec, element, first_unknown=False):
        return f"tensor<{'x'.join('?' if first_unknown and i == 0 else str(self.sizes[c]) for i, c in enumerate(spec))}x{element}>"

    def dequantized(self, name, number, spec):
        """Lines that compute %{name}f from %{name}."""
        kind, zero, is_unknown = self.kinds[number], self.zeros[number], self.unknown and number == 0
        loops = ", ".join(f"d{i}" for i in range(len(spec)))
        maps, given, types = [f"affine_map<({loops}) -> ({loops})>"], [f"%{name}"], [self.type(spec, "i8", is_unknown)]
        to, arguments = self.type(spec, "f32", is_unknown), "%q: i8, "
        if number == 1 and self.scales != "one":
            maps.append(f"affine_map<({loops}) -> (d{self.axis})>")
            given.append("%scale")
            types.append(f"tensor<{self.scale_count}xf32>")
            arguments += "%s: f32, "
            scale = []
        else:
            scale = [f"%s = arith.constant {(self.x_scale if number == 0 else self.w_one)!r} : f32"]
        maps.append(maps[0])
        extend, convert = ("extui", "uitofp") if kind == "u8" else ("extsi", "sitofp")
        if zero == 0:
            body = [f"%f = arith.{convert} %q : i8 to f32"]
        elif zero % 2:  # a float
            body = [f"%g = arith.{convert} %q : i8 to f32", f"%z = arith.constant {float(zero)!r} : f32", "%f = arith.subf %g, %z : f32"]
        else:
            body = [f"%e = arith.{extend} %q : i8 to i32", f"%z = arith.constant {zero} : i32", "%d = arith.subi %e, %z : i32",
                    "%f = arith.sitofp %d : i32 to f32"]
        factors = "%f, %s" if number == 0 else "%s, %f"
        body = "\n    ".join([*body, *scale, f"%r = arith.mulf {factors} : f32", "linalg.yield %r : f32"])
        loop_types = ", ".join(['"parallel"'] * len(spec))
        return f"""%{name}e = tensor.empty({'%size' if is_unknown else ''}) : {to}
  %{name}f = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{loop_types}]}}
      ins({', '.join(given)} : {', '.join(types)}) outs(%{name}e : {to}) {{
  ^bb0({arguments}%o: f32):
    {body}
  }} -> {to}"""

    def text(self, name="run"):
        x, w, out = FORMS[self.form]
        is_unknown = self.unknown
        arguments = [f"%x: {self.type(x, 'i8', is_unknown)}", f"%w: {self.type(w, 'i8')}"]
        lines = []
        if self.scales != "one":
            arguments.append(f"%scale: tensor<{self.scale_count}xf32>")
        to = self.type(out, "f32", is_unknown)
        if is_unknown:
            lines += ["%c0 = arith.constant 0 : index", f"%size = tensor.dim %x, %c0 : {self.type(x, 'i8', True)}"]
        unknown = "%size" if is_unknown else ""
        lines += [self.dequantized("x", 0, x), self.dequantized("w", 1, w), f"%out = tensor.empty({unknown}) : {to}",
                  "%null = arith.constant 0.0 : f32"]
        if self.start == "bias":
            arguments.append(f"%bias: tensor<{self.bias_count}xf32>")
            other = ", ".join(str(i) for i, c in enumerate(out) if c != self.channel)
            lines.append(f"%start = linalg.broadcast ins(%bias : tensor<{self.bias_count}xf32>) outs(%out : {to}) dimensions = [{other}]")
        else:
            lines.append(f"%start = linalg.fill ins(%null : f32) outs(%out : {to}) -> {to}")
        left, right, left_type, right_type = "%xf", "%wf", self.type(x, "f32", is_unknown), self.type(w, "f32")
        if self.form == "transposed weights":
            right, right_type = "%wt", self.type("kn", "f32")
            lines += [f"%we2 = tensor.empty() : {right_type}",
                      f"%wt = linalg.transpose ins(%wf : {self.type(w, 'f32')}) outs(%we2 : {right_type}) permutation = [1, 0]"]
        if self.form == "flattened":
            left, flat = "%xc", self.type("mk", "f32", is_unknown)
            lines.append(f"%xc = tensor.collapse_shape %xf [[0], [1, 2]] : {left_type} into {flat}")
            left_type = flat
        operation = "linalg.matmul"
        if self.form == "broadcast weights":
            operation, right, right_type = "linalg.batch_matmul", "%wb", self.type("bkn", "f32", is_unknown)
            lines += [f"%we2 = tensor.empty({unknown}) : {right_type}",
                      f"%wb = linalg.broadcast ins(%wf : {self.type(w, 'f32')}) outs(%we2 : {right_type}) dimensions = [0]"]
        if "image" in self.form:
            first = "channels first" in self.form
            operation = "linalg.conv_2d_nchw_fchw" if first else "linalg.conv_2d_nhwc_hwcf" if "f" in w else "linalg.depthwise_conv_2d_nhwc_hwc"
            around = "[0, 0, 1, 1]" if first else "[0, 1, 1, 0]"
            padded = [self.sizes[c] + (2 if c in "hw" else 0) for c in x]
            padded = f"tensor<{'x'.join('?' if is_unknown and i == 0 else str(n) for i, n in enumerate(padded))}xf32>"
            lines.append(f"%xp = tensor.pad %xf low{around} high{around} {{\n  ^bb0(%i: index, %j: index, %k: index, %l: index):\n"
                         f"    tensor.yield %null : f32\n  }} : {left_type} to {padded}")
            left, left_type = "%xp", padded
        identity = ", ".join(f"d{i}" for i in range(len(out)))
        lines.append(f"%p = {operation} ins({left}, {right} : {left_type}, {right_type}) outs(%start : {to}) -> {to}")
        loops = ", ".join(['"parallel"'] * len(out))
        lines.append(f"""%y = linalg.generic {{indexing_maps = [affine_map<({identity}) -> ({identity})>, affine_map<({identity}) -> ({identity})>],
      iterator_types = [{loops}]}} ins(%p : {to}) outs(%out : {to}) {{
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %null : f32
    linalg.yield %m : f32
  }} -> {to}""")
        body = "\n  ".join(lines)
        return f"func.func @{name}({', '.join(arguments)}) -> {to} {{\n  {body}\n  return %y : {to}\n}}\n"

    @property
    def nodes(self):
        return []


def cases(sizes):
    whole, number = len(sizes) > 1, 0
    for form in FORMS:
        for kinds, zeros in ((("u8", "i8"), (128, 0)), (("i8", "i8"), (0, 0)), (("u8", "u8"), (7, 120)), (("i8", "i8"), (-4, 3)), (("u8", "i8"), (255, 0))):
            for scales in ("one", "channel", "reduced"):
                for start in ("zero", "bias"):
                    number += 1
                    if not whole and number % 7:
                        continue
                    if scales == "reduced" and form in ("flattened", "image, each channel"):
                        continue  # the same as of a matrix; there are none
                    yield Case(f"dequantized, {form}, scales of {scales}", f"{kinds[0]} {kinds[1]}",
                               Dequantized(form, kinds, zeros, scales, start, number % 3 == 1))
