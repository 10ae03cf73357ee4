# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products whose weights are computed from integers of few bits with a scale and a zero point for each group of reduced elements, in
the forms that programs have them in: collapsed to a matrix, multiplied by groups, out of packed bytes."""
import numpy as np

import bounded
import elements
from cases.case import Case, generator
from cases.boundary import meaning, packed
from cases.products.contraction import contracted

# rows, columns, groups, elements of a group, rows are unknown. Vectors, less than a vector, groups of no whole vectors, one row, many.
SHAPES = ((1, 40, 3, 64, False), (5, 136, 2, 128, True), (33, 72, 4, 32, False), (64, 129, 3, 24, False), (3, 20, 12, 6, False),
          (2, 24, 5, 16, True), (72, 80, 2, 64, False), (130, 136, 3, 40, True), (1, 33, 1, 128, False), (17, 257, 2, 192, False),
          (70, 129, 5, 64, False), (9, 72, 1, 64, True), (65, 130, 3, 128, True), (20, 130, 21, 64, False))
# Several blocks and steps of each kernel.
LARGE = ((5, 1032, 16, 64, True), (37, 1032, 16, 64, True), (32, 1027, 128, 8, True), (131, 520, 9, 128, False), (8, 1030, 7, 96, False))


class Weights:
    """A program, and its results by NumPy: each step of the weights rounded as the program rounds it."""

    def __init__(self, kind, element, form, shape, scales, tile="", is_huge=False):
        self.pin = f"attrs = {{tenon.tile = {{{tile}}}}} " if tile else ""
        rows, columns, groups, each, self.is_dynamic = shape
        random = generator("group scales", kind, element, form, shape, scales)
        self.kind, self.element, self.form, self.shape = kind, element, form, shape
        self.x = elements.rounded(element, elements.draw(random, element, (rows, groups * each), -2, 2))
        low, high = {"i4": (-8, 8), "u4": (0, 16), "i8": (-128, 128)}[kind]
        codes = random.integers(low, high, (columns, groups, each))
        self.scale = elements.rounded(element, elements.draw(random, element, (columns, groups), -1, 1))
        if is_huge:  # 64 times some of the scales is no bf16
            self.x *= 2.0 ** -40
            self.scale[::3] = np.copysign(1.5 * 2.0 ** 122, self.scale[::3])
        self.zero = random.integers(-8, 8, (columns, groups)).astype(np.float64)
        shifted = elements.rounded(element, codes - self.zero[:, :, None])
        w = elements.rounded(element, shifted * self.scale[:, :, None]).reshape(columns, groups * each)
        self.result = contracted("ik,jk->ij", "f32", self.x, w)
        if form == "bytes":  # twice that, computed behind the product
            self.result = bounded.finish("f32", 2 * self.result.v, 2 * self.result.e)
        self.scales = scales  # the order of their dimensions
        if kind == "i8" and form == "by hand":
            self.given = codes
        elif form == "by hand":  # a byte for two, the first in the low half
            self.given = ((codes[:, :, 0::2] & 15) | (codes[:, :, 1::2] & 15) << 4).astype(np.uint8).view(np.int8)
        elif kind == "i8":
            self.given = codes.reshape(columns, groups * each) if form == "bytes" else codes
        else:
            flat = codes.reshape(columns, groups * each) if form == "bytes" else codes
            self.given = packed("i4", flat & 15)
            assert np.array_equal(meaning("i4", flat & 15) & 15, flat & 15)

    def by_hand(self):
        """A half of a byte as a number, in the ways that bodies say it."""
        e, is_signed = self.element, self.kind == "i4"
        odd = ["%i = linalg.index 2 : index", "%two = arith.constant 2 : index", "%four = arith.constant 4 : i8", "%h = arith.remui %i, %two : index",
               "%f = arith.constant 15 : i8"]
        if self.shape[0] % 2:  # shifted by what the place says
            lines = [*odd, "%h8 = arith.index_cast %h : index to i8", "%distance = arith.muli %h8, %four : i8", "%q = arith.shrui %a, %distance : i8"]
            lines += (["%q4 = arith.trunci %q : i8 to i4", "%n = arith.extsi %q4 : i4 to i32"] if is_signed
                      else ["%n8 = arith.andi %q, %f : i8", "%n = arith.extui %n8 : i8 to i32"])
            return "\n    ".join([*lines, f"%b = arith.sitofp %n : i32 to {e}"])
        lines = [*odd, "%null = arith.constant 0 : index", "%first = arith.cmpi eq, %h, %null : index"]
        if is_signed:
            lines += ["%up = arith.shli %a, %four : i8", "%low = arith.shrsi %up, %four : i8", "%high = arith.shrsi %a, %four : i8"]
        else:
            lines += ["%low = arith.andi %a, %f : i8", "%high = arith.shrui %a, %four : i8"]
        return "\n    ".join([*lines, "%n = arith.select %first, %low, %high : i8", f"%b = arith.sitofp %n : i8 to {e}"])

    def inputs(self):
        order = (0, 1) if self.scales == "ng" else (1, 0)
        return [(self.element, self.x), ("i8", self.given), (self.element, self.scale.transpose(order)),
                (self.element, self.zero.transpose(order))]

    def expected(self):
        return [self.result]

    def text(self, name="run"):
        rows, columns, groups, each, is_dynamic = self.shape
        e, m = self.element, "?" if is_dynamic else rows
        is_by_hand = self.form == "by hand" and self.kind != "i8"
        integer = "i8" if self.kind == "i8" or is_by_hand else "i4"
        blocks, depth = f"{columns}x{groups}x{each}", groups * each
        given = f"tensor<{columns}x{groups}x{each // 2}xi8>" if is_by_hand else f"tensor<{blocks}x{integer}>"
        lines = []
        if self.form == "bytes":
            bits = 8 if integer == "i8" else 4
            given = f"tensor<{columns}x{depth * bits // 8}xi8>"
            lines.append(f"%q = flow.tensor.bitcast %given : {given} -> tensor<{blocks}x{integer}>")
        scale = f"tensor<{columns}x{groups}x{e}>" if self.scales == "ng" else f"tensor<{groups}x{columns}x{e}>"
        source = "%q" if lines else "%given"
        scales = "n, g" if self.scales == "ng" else "g, n"
        lines.append(f"""%w0 = tensor.empty() : tensor<{blocks}x{e}>
  %w3 = linalg.generic {{indexing_maps = [affine_map<(n, g, k) -> (n, g, k{' floordiv 2' if is_by_hand else ''})>, affine_map<(n, g, k) -> ({scales})>,
      affine_map<(n, g, k) -> ({scales})>, affine_map<(n, g, k) -> (n, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins({source}, %scale, %zero : {given if is_by_hand else f'tensor<{blocks}x{integer}>'}, {scale}, {scale}) outs(%w0 : tensor<{blocks}x{e}>) {{
  ^bb0(%a: {integer}, %s: {e}, %z: {e}, %o: {e}):
    {self.by_hand() if is_by_hand else f"%b = arith.{'uitofp' if self.kind == 'u4' else 'sitofp'} %a : {integer} to {e}"}
    %c = arith.subf %b, %z : {e}
    %d = arith.mulf %c, %s : {e}
    linalg.yield %d : {e}
  }} -> tensor<{blocks}x{e}>""")
        if is_dynamic:
            lines.append(f"%c0 = arith.constant 0 : index\n  %m = tensor.dim %x, %c0 : tensor<{m}x{depth}x{e}>")
        lines.append(f"""%null = arith.constant 0.0 : f32
  %sums = tensor.empty({'%m' if is_dynamic else ''}) : tensor<{m}x{columns}xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<{m}x{columns}xf32>) -> tensor<{m}x{columns}xf32>""")
        if self.form == "blocked":
            size = "%m" if is_dynamic else rows
            lines.append(f"%left = tensor.expand_shape %x [[0], [1, 2]] output_shape [{size}, {groups}, {each}] : tensor<{m}x{depth}x{e}> "
                         f"into tensor<{m}x{groups}x{each}x{e}>")
            left, right, inner = f"%left : tensor<{m}x{groups}x{each}x{e}>", f"%w3 : tensor<{blocks}x{e}>", "g, k"
        else:
            lines.append(f"%w = tensor.collapse_shape %w3 [[0], [1, 2]] : tensor<{blocks}x{e}> into tensor<{columns}x{depth}x{e}>")
            left, right, inner = f"%x : tensor<{m}x{depth}x{e}>", f"%w : tensor<{columns}x{depth}x{e}>", "k"
        reduced = ", ".join(['"reduction"'] * (2 if inner == "g, k" else 1))
        values, types = zip(left.split(" : "), right.split(" : "))
        lines.append(f"""%r = linalg.generic {{indexing_maps = [affine_map<(m, n, {inner}) -> (m, {inner})>,
      affine_map<(m, n, {inner}) -> (n, {inner})>, affine_map<(m, n, {inner}) -> (m, n)>],
      iterator_types = ["parallel", "parallel", {reduced}]}} ins({values[0]}, {values[1]} : {types[0]}, {types[1]})
      outs(%begin : tensor<{m}x{columns}xf32>) {self.pin}{{
  ^bb0(%a: {e}, %b: {e}, %s: f32):
    %c = arith.extf %a : {e} to f32
    %d = arith.extf %b : {e} to f32
    %t = arith.mulf %c, %d : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  }} -> tensor<{m}x{columns}xf32>""")
        result = "%r"
        if self.form == "bytes":
            result = "%y"
            lines.append(f"""%to = tensor.empty({'%m' if is_dynamic else ''}) : tensor<{m}x{columns}xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
      ins(%r : tensor<{m}x{columns}xf32>) outs(%to : tensor<{m}x{columns}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %b = arith.addf %a, %a : f32
    linalg.yield %b : f32
  }} -> tensor<{m}x{columns}xf32>""")
        body = "\n  ".join(lines)
        arguments = f"%x: tensor<{m}x{depth}x{e}>, %given: {given}, %scale: {scale}, %zero: {scale}"
        return f"func.func @{name}({arguments}) -> tensor<{m}x{columns}xf32> {{\n  {body}\n  return {result} : tensor<{m}x{columns}xf32>\n}}\n"


# Blocks that go from tile to tile: kind, element, rows, columns, groups and their elements, whether scales are huge. A ragged last tile;
# several rounds; more tiles than blocks; scales of a half of a step.
TILES = (("u4", "bf16", 1, 72, 32, 128, False), ("i4", "bf16", 7, 40, 32, 64, False), ("u4", "bf16", 8, 33, 16, 128, True),
         ("i8", "bf16", 3, 72, 16, 128, False), ("i8", "bf16", 1, 4240, 8, 128, True), ("u4", "f16", 2, 40, 16, 128, False))

# Warps that have several steps beside each other: as above, and positions of a lane, threads, steps. One round or two; groups that are not a
# step's, whose scales are no vector; scales of which something is not exact.
ROUNDS = (("u4", "bf16", 1, 72, 64, 128, False, 4, 256, 4), ("i4", "bf16", 7, 40, 32, 64, False, 2, 128, 4), ("u4", "bf16", 8, 33, 16, 128, True, 2, 128, 4),
          ("i8", "bf16", 3, 72, 16, 128, False, 4, 256, 2), ("u4", "f16", 2, 40, 32, 128, False, 2, 128, 8), ("i4", "bf16", 13, 40, 32, 128, False, 4, 256, 4))


def tiles():
    for number, (kind, element, rows, columns, groups, each, is_huge) in enumerate(TILES):
        tile = f'by = "skinny", few = 8, positions = {2 if columns > 1000 or number % 2 else 4}, threads = 256, depth_warps = 8, turns = 2, ring = 1'
        shape = (rows, columns, groups, each, False)
        yield Case("tile of few rows, packed weights" + (", huge scales" if is_huge else ""), f"{kind} to {element}",
                   Weights(kind, element, "collapsed", shape, "ng", tile, is_huge))
    for kind, element, rows, columns, groups, each, is_huge, positions, threads, turns in ROUNDS:
        tile = f'by = "skinny", few = {8 if rows <= 8 else 16}, positions = {positions}, threads = {threads}, depth_warps = {threads // 32}, turns = {turns}'
        yield Case("rounds of few rows, packed weights" + (", huge scales" if is_huge else ""), f"{kind} to {element}",
                   Weights(kind, element, "collapsed", (rows, columns, groups, each, False), "ng", tile, is_huge))


def cases(sizes):
    yield from tiles()
    whole = len(sizes) > 1
    number = 0
    for kind in ("i4", "u4", "i8"):
        for element in ("bf16", "f16"):
            for form in ("collapsed", "blocked", "bytes", "by hand"):
                for shape in SHAPES + LARGE:
                    number += 1
                    # The small grid has every shape in every form of some types.
                    if whole or number % (18 if shape in LARGE else 4) == 0:
                        yield Case(f"weights with group scales, {form}", f"{kind} to {element}",
                                   Weights(kind, element, form, shape, "ng" if number % 3 else "gn"))
