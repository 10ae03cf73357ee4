# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contractions in every order of dimensions, on whole, aligned and ragged sizes, of each pair of types, alone and with what is
computed from their results."""
import numpy as np

import bounded
import elements
from bounded import Bounded
from cases.case import Case, Raw, argument, generator
from cases.movement import text
from elements import is_float
from nodes.program import Program

# Types of the operands, of the sum.
KINDS = (("f32", "f32"), ("f64", "f64"), ("f16", "f16"), ("bf16", "bf16"), ("f16", "f32"), ("bf16", "f32"), ("i8", "i32"),
         ("i32", "i32"), ("i64", "i64"), ("i8", "i8"), ("i16", "i16"))
ORDERS = ("ik,kj->ij", "ik,jk->ij", "ki,kj->ij", "ki,jk->ij", "ik,kj->ji", "bik,bkj->bij", "bki,jbk->bij", "bik,kj->ibj",
          "iak,kaj->ij", "ihk,kj->hij")
# Whole tiles, vectors but no tiles, ragged ones, less than a vector, one step and several.
SIZES = ((64, 64, 64), (128, 192, 32), (72, 136, 88), (65, 129, 33), (3, 200, 7), (96, 5, 130), (1, 1, 257), (40, 48, 8), (16, 24, 0))
# Few rows or few columns, whose elements are brought by vectors or one by one, for one warp's steps and for several.
SKINNY = ((1, 40, 72), (17, 136, 64), (27, 200, 520), (32, 264, 136), (1, 129, 257), (5, 136, 128), (8, 64, 520), (13, 100, 64), (33, 72, 200), (64, 80, 96), (130, 3, 264),
          (200, 1, 512), (2, 270, 65))
# Sums that are taken apart, of tiles and of few rows.
LONG = ((72, 80, 1024), (66, 40, 1536), (4, 40, 4096), (1, 24, 8192), (40, 2, 4608), (65, 34, 1025), (20, 33, 2000), (200, 24, 1000))
# Tiles that a program may pin (compiler/codegen/tuning), of sizes for which the model takes others.
TILES_OF_WARPS = ((128, 128), (128, 64), (64, 64))
# Of programs for targets alone that have no other kernels: tiles, and products with one of them for each multiprocessor or fewer, or several.
TILES_BY_WARPS_ALONE = ((64, 128, (129, 257, 136)), (128, 256, (264, 520, 144)), (256, 128, (264, 392, 80)), (64, 64, (200, 129, 1048)),
                        (64, 64, (1541, 328, 136)), (64, 128, (1541, 640, 100)), (128, 64, (1800, 456, 72)))
TILES_OF_WARPGROUPS = ((128, 256, 1), (128, 192, 1), (128, 128, 1), (128, 64, 1), (64, 256, 1), (64, 128, 1),
                       (128, 256, 2), (256, 128, 2), (64, 256, 2), (64, 128, 2), (256, 128, 1))
# Whose sums the blocks of a cluster take apart: rows, columns, blocks, reduced elements of 16 bits.
TILES_IN_TURN = ((64, 64, 1, (1080, 1000, 144)), (128, 128, 1, (2104, 2072, 80)), (128, 128, 2, (2168, 2000, 144)), (64, 256, 1, (1080, 2056, 208)),
                 (128, 64, 2, (2168, 1048, 272)))
TILES_OF_CLUSTERS = ((64, 64, 2, 520), (64, 128, 3, 776), (64, 192, 5, 1288), (64, 256, 8, 2056), (128, 64, 4, 1032), (128, 128, 7, 1800),
                     (128, 192, 2, 512), (128, 256, 6, 1544))
# Of tf32 of which one side lies across.
TILES_ACROSS = ((64, 64, ""), (64, 192, ""), (64, 256, ""), (128, 64, ", blocks = 2"), (128, 128, ", parts = 2"), (256, 128, ""),
                (128, 192, ""), (128, 256, ""), (64, 64, ", deep = 3"), (128, 128, ", deep = 2"), (128, 64, ", deep = 4"))
# Those of few rows, which lie side by side and share the left operand.
TILES_OF_FEW_ROWS = ((64, 64, 1), (64, 64, 2), (64, 64, 4), (64, 128, 2), (64, 128, 4), (64, 256, 2))
# Those whose columns are as many as make one round, and rows, columns and reduced elements of which they do.
TILES_FITTED = ((64, 32, "", (33, 75, 136)), (64, 32, "", (64, 1504, 72)), (64, 48, "", (17, 4300, 72)), (64, 48, "", (1, 6144, 200)), (64, 80, ", deep = 2", (40, 4296, 528)),
                (64, 112, ", deep = 3", (5, 3800, 784)), (128, 32, "", (72, 2200, 80)), (128, 48, "", (100, 4300, 72)), (128, 80, ", deep = 2", (65, 4296, 528)),
                (256, 48, "", (141, 4296, 136)), (256, 80, ", deep = 2", (141, 4296, 528)), (256, 48, ", deep = 3", (200, 1800, 784)),
                (256, 32, ", deep = 2", (130, 75, 528)), (256, 144, ", deep = 2", (256, 8520, 528)), (256, 128, ", deep = 2", (190, 8200, 520)))
# The narrowest of their height for a number of rounds; of exchanged ones rows are columns of the result.
TILES_OF_ROUNDS = ((128, 224, "", (300, 9408, 72)), (256, 160, "", (500, 10504, 72)), (256, 80, ", exchanged = 1", (75, 17000, 136)),
                   (256, 160, ", exchanged = 1", (150, 17000, 72)), (128, 176, ", exchanged = 1", (170, 8520, 200)), (128, 112, ", exchanged = 1", (101, 8520, 136)),
                   (128, 64, ", exchanged = 1", (65, 72, 128)), (256, 64, ", exchanged = 1", (33, 1000, 72)), (128, 176, "", (130, 11600, 72)))
# Those whose columns divide the places of an image, channels first: rows, places and channels.
TILES_OF_PLACES = ((128, 208, (200, 408, 136)), (256, 112, (264, 216, 72)), (128, 80, (136, 152, 200)), (256, 80, (304, 72, 64)), (128, 144, (96, 136, 520)),
                   (128, 240, (264, 712, 72)), (256, 128, (264, 200, 136)), (128, 128, (72, 144, 136)))
# Of many small matrices: rows, columns and reduced elements.
TINY = ((3, 3, 3), (4, 4, 4), (8, 8, 8), (16, 16, 16), (5, 3, 7), (16, 2, 9), (17, 8, 16))
BATCH = {"b": 3, "a": 2, "h": 2, "c": 40, "n": 300}


def map_text(indices, loops):
    return f"affine_map<({', '.join(loops)}) -> ({', '.join(indices)})>"


def body(operand, result):
    """The lines of the body up to the product and the sum."""
    lines = []
    names = ["%x", "%y"]
    if operand != result:
        extend = "arith.extf" if is_float(operand) else "arith.extsi"
        lines = [f"{n}w = {extend} {n} : {operand} to {result}" for n in names]
        names = [n + "w" for n in names]
    mul, add = ("arith.mulf", "arith.addf") if is_float(result) else ("arith.muli", "arith.addi")
    return " ".join(lines + [f"%p = {mul} {names[0]}, {names[1]} : {result}", f"%t = {add} %s, %p : {result}",
                             f"linalg.yield %t : {result}"])


def contract(f, spec, operand, result, a, b, tile=None):
    left, rest = spec.split(",")
    right, out = rest.split("->")
    loops = sorted(out) + sorted(set(left + right) - set(out))
    kinds = ", ".join('"parallel"' if loop in out else '"reduction"' for loop in loops)
    maps = ", ".join(map_text(m, loops) for m in (left, right, out))
    size = dict(zip(left + right, [*a.shape, *b.shape]))
    start = f.fill(result, [size[c] for c in out], 0)
    pin = f"attrs = {{{{tenon.tile = {{{{{tile}}}}}}}}} " if tile else ""
    return text(f, result, [size[c] for c in out],
                f"{{r}} = linalg.generic {{{{indexing_maps = [{maps}], iterator_types = [{kinds}]}}}} ins({{0}}, {{1}} : {{o[0]}}, "
                f"{{o[1]}}) outs({{2}} : {{o[2]}}) {pin}{{{{ ^bb0(%x: {operand}, %y: {operand}, %s: {result}): {body(operand, result)} }}}} "
                f"-> {{t}}", a, b, start)


def contracted(spec, result, a, b):
    if not is_float(result):
        return Bounded(result, elements.wrap(result, np.einsum(spec, a, b)))
    v, size = np.einsum(spec, a, b), np.einsum(spec, np.abs(a), np.abs(b))
    terms = np.einsum(spec, np.ones(a.shape), np.ones(b.shape)).max(initial=0) if v.size else 0
    # Sums of f16 and bf16 are kept in f32, and rounded once.
    return bounded.finish(result, v, (terms + 2) * max(elements.EPS["f64"], min(elements.EPS[result], elements.EPS["f32"])) * size, 1.0)


def one(arguments, write, evaluate):
    return Program([*arguments, Raw([(i, 0) for i in range(len(arguments))], write, evaluate)], [(len(arguments), 0)])


def pair(spec, operand, sizes, dynamic, drawn=None):
    """Both sides; `drawn`: the type that the elements are random numbers of."""
    size = dict(BATCH, i=sizes[0], j=sizes[1], k=sizes[2])
    random = generator("contraction", spec, operand, sizes)
    low, high = (-2, 2) if is_float(operand) else (-100, 100)
    return [argument(operand, elements.draw(random, drawn or operand, [size[c] for c in side], low, high), dynamic)
            for side in spec.split("->")[0].split(",")]


def biased(f, spec, operand, result, a, b, bias, tile=None, of_bias=None):
    """relu(product + bias), rounded to the operands' type. `of_bias`: the bias's, if not the sum's."""
    product = contract(f, spec, operand, result, a, b, tile)
    start = f.fill(operand, list(product.shape), 0)
    identity, last = map_text("ij", "ij"), map_text("j", "ij")
    of_bias = of_bias or result
    widen, wide = ("", "%y") if of_bias == result else (f"%w = arith.extf %y : {of_bias} to {result} ", "%w")
    return text(f, operand, list(product.shape),
                f"{{r}} = linalg.generic {{{{indexing_maps = [{identity}, {last}, {identity}], iterator_types = [\"parallel\", "
                f"\"parallel\"]}}}} ins({{0}}, {{1}} : {{o[0]}}, {{o[1]}}) outs({{2}} : {{o[2]}}) {{{{ ^bb0(%x: {result}, %y: {of_bias}, "
                f"%z: {operand}): {widen}%b = arith.addf %x, {wide} : {result} %c = arith.constant 0.0 : {result} %m = arith.maximumf %b, %c : "
                f"{result} %n = arith.truncf %m : {result} to {operand} linalg.yield %n : {operand} }}}} -> {{t}}", product, bias, start)


def halved(f, spec, a, b, operand="f32", half="f16", tile=None):
    """The product of f32, rounded to 16 bits."""
    product = contract(f, spec, operand, "f32", a, b, tile)
    shape, loops = list(product.shape), "bij"[3 - len(product.shape):]
    identity, kinds = map_text(loops, loops), ", ".join(['"parallel"'] * len(loops))
    return text(f, half, shape, f"{{r}} = linalg.generic {{{{indexing_maps = [{identity}, {identity}], iterator_types = [{kinds}]}}}} ins({{0}} : {{o[0]}}) "
                f"outs({{1}} : {{o[1]}}) {{{{ ^bb0(%x: f32, %y: {half}): %n = arith.truncf %x : f32 to {half} linalg.yield %n : {half} }}}} -> {{t}}",
                product, f.fill(half, shape, 0))


def biased_relu(spec, operand):
    """What `biased` computes, of its arguments' values."""
    def evaluate(a, b, bias):
        exact = contracted(spec, "f32", a.v, b.v)
        return bounded.finish(operand, np.maximum(exact.v + bias.v, 0), exact.e + 4 * elements.EPS["f32"] * np.abs(bias.v), 1.0)
    return evaluate


def weighted(f, order, a, w, scale, zero):
    """a times (w - zero) * scale, of int8: what the factor is computed from is read in the product's kernel where rows are few."""
    shape = list(w.shape)
    maps = [map_text(m, order) for m in (order, "j", "j", order)]
    factor = text(f, "bf16", shape,
                  f"{{r}} = linalg.generic {{{{indexing_maps = [{', '.join(maps)}], iterator_types = [\"parallel\", \"parallel\"]}}}} "
                  f"ins({{0}}, {{1}}, {{2}} : {{o[0]}}, {{o[1]}}, {{o[2]}}) outs({{3}} : {{o[3]}}) {{{{ ^bb0(%x: i8, %y: f32, %z: i8, "
                  f"%o: bf16): %a = arith.extsi %x : i8 to i32 %b = arith.extsi %z : i8 to i32 %c = arith.subi %a, %b : i32 "
                  f"%d = arith.sitofp %c : i32 to f32 %e = arith.mulf %d, %y : f32 %n = arith.truncf %e : f32 to bf16 "
                  f"linalg.yield %n : bf16 }}}} -> {{t}}", w, scale, zero, f.fill("bf16", shape, 0))
    return contract(f, f"ik,{order}->ij", "bf16", "f32", a, factor)


def cases(sizes):
    whole = len(sizes) > 1
    for kind, (operand, result) in enumerate(KINDS):
        name = operand if operand == result else f"{operand} to {result}"
        for order, spec in enumerate(ORDERS):
            for number, shape in enumerate(SIZES):
                for dynamic in (False, True):
                    # The small grid has each order and each shape of some type, not all of each.
                    if not whole and (order + number + kind) % 8 != 4 * int(dynamic):
                        continue
                    yield Case(f"contraction {spec}", name, one(
                        pair(spec, operand, shape, dynamic),
                        lambda f, a, b, spec=spec, operand=operand, result=result: contract(f, spec, operand, result, a, b),
                        lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
            for number, shape in enumerate(SKINNY):
                dynamic = (order + number // 5) % 2 == 1
                if not whole and (order + number + kind) % 10 != 0:
                    continue
                yield Case(f"contraction of few {spec}", name, one(
                    pair(spec, operand, shape, dynamic),
                    lambda f, a, b, spec=spec, operand=operand, result=result: contract(f, spec, operand, result, a, b),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        for number, shape in enumerate(TINY):
            for order, spec in enumerate(("nik,nkj->nij", "nik,njk->nij", "nki,njk->inj", "hnik,hnkj->hnij")):
                if not whole and (order + number + kind) % 6 != 0:
                    continue
                yield Case(f"contraction of tiny matrices {spec}", name, one(
                    pair(spec, operand, shape, [True] + [False] * (spec.index(",") - 1) if number % 2 else False),
                    lambda f, a, b, spec=spec, operand=operand, result=result: contract(f, spec, operand, result, a, b),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        for number, shape in enumerate(LONG):
            for order, spec in enumerate(("ik,kj->ij", "ik,jk->ij", "bki,bkj->bij", "ki,jk->ji")):
                if not whole and (order + number + kind) % 4 != 0:
                    continue
                yield Case(f"contraction of a long sum {spec}", name, one(
                    pair(spec, operand, shape, False),
                    lambda f, a, b, spec=spec, operand=operand, result=result: contract(f, spec, operand, result, a, b),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        # Enough tiles of 128 x 128 that those are chosen.
        for number, (spec, shape) in enumerate((("bik,bkj->bij", (648, 912, 72)), ("bik,bjk->bij", (641, 909, 65)),
                                                ("bki,bkj->bij", (648, 912, 40)), ("bki,bjk->bij", (656, 1024, 64)))):
            if not whole and number % 2 != kind % 2:
                continue
            if result in ("f64", "i64") or (result == operand and is_float(result) and result != "f32"):
                continue
            yield Case("contraction of large tiles", name, one(
                pair(spec, operand, shape, shape[0] == 641),
                lambda f, a, b, spec=spec, operand=operand, result=result: contract(f, spec, operand, result, a, b),
                lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        # Tiles of 192 columns, and no tensor map for what is summed over two axes: threads copy vectors of it.
        if (operand, result) == ("bf16", "f32"):
            yield Case("contraction of large tiles, copied", name, one(
                pair("ick,kcj->ij", operand, (1280, 1920, 8), False),
                lambda f, a, b, operand=operand, result=result: contract(f, "ick,kcj->ij", operand, result, a, b),
                lambda a, b, result=result: contracted("ick,kcj->ij", result, a.v, b.v)))
        # Dimensions that are one axis, in the middle of an operand: tensor maps have each of them (heads of an attention).
        if (operand, result) in (("bf16", "f32"), ("f16", "f32"), ("i8", "i32")):
            for number, (spec, shape) in enumerate((("ick,jck->ij", (648, 1100, 64)), ("ick,jck->ij", (650, 900, 128)), ("ick,kj->ij", (72, 80, 64)),
                                                    ("ibak,jbak->baij", (400, 520, 72)), ("ibak,jbka->baij", (136, 264, 72)), ("ick,jck->ij", (136, 264, 24)),
                                                    ("bcik,jk->bjci", (64, 264, 72)), ("bkci,jk->bjci", (64, 264, 72)), ("bcik,kj->bjci", (24, 136, 64)),
                                                    ("bcik,jk->bjci", (256, 128, 64)), ("bkci,jk->bjci", (32, 136, 64)), ("bcik,bjk->bjci", (8, 264, 40)))):
                if not whole and number % 3 != kind % 3:
                    continue
                yield Case("contraction of parted axes", name, one(
                    pair(spec, operand, shape, False),
                    lambda f, a, b, spec=spec, operand=operand, result=result: contract(f, spec, operand, result, a, b),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        # A loop that is two dimensions of an operand, the outermost ones too, which tensor maps have as one where they are two loops.
        if (operand, result) in (("bf16", "f32"), ("f16", "f32"), ("i8", "i32"), ("f32", "f32")):
            for number, (spec, shape) in enumerate((("ik,jjk->ij", (3, 72, 128)), ("ik,jjk->ij", (130, 72, 64)), ("ik,kkj->ij", (64, 64, 80)),
                                                    ("iik,kj->ij", (72, 136, 64)), ("bbik,bkj->bij", (40, 64, 64)), ("bik,bbjk->bij", (72, 40, 128)),
                                                    ("ikk,kj->ij", (64, 128, 64)), ("ik,jkj->ij", (64, 64, 72)))):
                if not whole and number % 2 != kind % 2:
                    continue
                yield Case(f"contraction of a diagonal {spec}", name, one(
                    pair(spec, operand, shape, number % 3 == 2),
                    lambda f, a, b, spec=spec, operand=operand, result=result: contract(f, spec, operand, result, a, b),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        # Enough multiplications that operands whose rows are not aligned are copied (compiler/dispatch/products/matrix_product.cpp).
        if (operand, result) in (("bf16", "f32"), ("f32", "f32"), ("i8", "i32")):
            for spec in ("ik,kj->ij", "ki,jk->ij"):
                yield Case("contraction of unaligned rows", name, one(
                    pair(spec, operand, (362, 363, 1031), False),
                    lambda f, a, b, spec=spec, operand=operand, result=result: contract(f, spec, operand, result, a, b),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        if operand in ("f16", "bf16") and result == "f32":
            for shape in (*SIZES[:-1], *SKINNY):
                arguments = pair("ik,kj->ij", operand, shape, shape[0] % 2 == 1)
                bias = argument("f32", elements.draw(generator("bias", operand, shape), "f32", (shape[1],)), shape[0] % 2 == 1)
                yield Case("contraction, bias, relu", name, one(
                    [*arguments, bias], lambda f, a, b, c, operand=operand: biased(f, "ik,kj->ij", operand, "f32", a, b, c),
                    biased_relu("ik,kj->ij", operand)))
    # Rows of columns that are not aligned, of large operands: they are made wider, and so is the result.
    for spec, operand, shape in (("ki,kj->ij", "f16", (67, 101, 2701)), ("ik,kj->ij", "f32", (68, 99, 2704)), ("ki,jk->ji", "bf16", (101, 72, 2704))):
        if whole or operand == "f16":
            yield Case(f"contraction widened {spec}", f"{operand} to f32", one(
                pair(spec, operand, shape, False), lambda f, a, b, spec=spec, operand=operand: contract(f, spec, operand, "f32", a, b),
                lambda a, b, spec=spec: contracted(spec, "f32", a.v, b.v)))
    bias = argument("f32", elements.draw(generator("widened"), "f32", (101,)), False)
    yield Case("contraction widened, bias, relu", "bf16", one(
        [*pair("ik,kj->ij", "bf16", (67, 101, 2704), False), bias],
        lambda f, a, b, c: biased(f, "ik,kj->ij", "bf16", "f32", a, b, c), biased_relu("ik,kj->ij", "bf16")))
    # f64 has a tile of its own. A copy of an element has other addresses than one of a vector; sums end with a step, before its end, or in front of
    # all steps that copies run ahead.
    for spec, shape in (("ik,jk->ij", (129, 65, 41)), ("ki,kj->ij", (66, 66, 48)), ("ik,kj->ij", (129, 3, 7))):
        tile = 'by = "mma.sync", rows = 128, columns = 64'
        yield Case(f"tile of warps {spec}", "f64 to f64", one(
            pair(spec, "f64", shape, False), lambda f, a, b, spec=spec, tile=tile: contract(f, spec, "f64", "f64", a, b, tile),
            lambda a, b, spec=spec: contracted(spec, "f64", a.v, b.v)))
    # Tiles of few rows or columns, without tensor cores and of f64: several of them, ragged ones, and rows that are not aligned.
    # The blocks of a cluster take their sums apart, in any lengths.
    for operand, by, tiles in (("f32", "threads", ((64, 128, 1), (32, 128, 1), (128, 32, 1), (64, 64, 3), (128, 64, 2), (64, 128, 5), (32, 128, 7),
                                                   (64, 64, 1, 64), (64, 64, 1, 128), (64, 64, 3, 64), (64, 64, 2, 128), (128, 128, 1))),
                               ("f64", "mma.sync", ((32, 64, 1), (64, 32, 1), (64, 64, 3), (32, 64, 5), (64, 32, 8)))):
        for number, (rows, columns, deep, *threads) in enumerate(tiles):
            tile = f'by = "{by}", rows = {rows}, columns = {columns}' + "".join(f", threads = {count}" for count in threads) + (
                f", deep = {deep}" if deep > 1 else "")
            for order, (spec, shape) in enumerate((("ik,jk->ij", (rows + 5, columns + 40, 72)), ("ki,kj->ij", (rows, columns, 20)),
                                                   ("bik,bkj->bij", (rows - 7, columns + 3, 37)), ("ki,jk->ij", (2 * rows + 1, columns - 9, 65)))):
                shape = (*shape[:2], shape[2] + (64 * deep if deep > 1 else 0))
                if whole or (number + order) % 2 == 0:
                    yield Case(f"tile of {by} of few {spec}", f"{operand} to {operand}", one(
                        pair(spec, operand, shape, False),
                        lambda f, a, b, spec=spec, operand=operand, tile=tile: contract(f, spec, operand, operand, a, b, tile),
                        lambda a, b, spec=spec, operand=operand: contracted(spec, operand, a.v, b.v)))
    for operand, result in (("bf16", "f32"), ("f16", "f32"), ("i8", "i32")):
        by_warps = [(f'by = "mma.sync", rows = {rows}, columns = {columns}', "warps") for rows, columns in TILES_OF_WARPS]
        by_warpgroups = [(f'by = "wgmma", rows = {rows}, columns = {columns}, blocks = {blocks}', "warpgroups")
                         for rows, columns, blocks in TILES_OF_WARPGROUPS]
        for number, (tile, who) in enumerate((*by_warps, *by_warpgroups)):
            for order, (spec, shape) in enumerate((("ik,jk->ij", (264, 520, 144)), ("bik,bjk->bij", (200, 392, 80)),
                                                   ("ik,jk->ij", (129, 257, 67)), ("ik,kj->ij", (264, 520, 144)))):
                # Bytes that lie across, and rows that are not aligned, have no tensor maps: only 16 bits are copied for warpgroups.
                if who == "warpgroups" and ("blocks = 2" in tile or operand == "i8") and order > 1:
                    continue
                if not whole and (number + order) % 3 != 0:
                    continue
                yield Case(f"tile of {who} {spec}", f"{operand} to {result}", one(
                    pair(spec, operand, shape, False),
                    lambda f, a, b, spec=spec, operand=operand, result=result, tile=tile: contract(f, spec, operand, result, a, b, tile),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        for number, (rows, columns, shape) in enumerate(TILES_BY_WARPS_ALONE):
            tile = f'by = "mma.sync", rows = {rows}, columns = {columns}'
            for order, spec in enumerate(("ik,jk->ij", "ik,kj->ij", "ki,jk->ij")):
                # Bytes that lie across are no copies.
                if (operand == "i8" and order > 0) or (not whole and number % 2 == 1 and (number // 2 + order) % 3 != 0):
                    continue
                yield Case(f"tile by warps alone {spec}", f"{operand} to {result}", one(
                    pair(spec, operand, shape, False),
                    lambda f, a, b, spec=spec, operand=operand, result=result, tile=tile: contract(f, spec, operand, result, a, b, tile),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        # More tiles below each other than a band has, in bands of equal and of other heights.
        for number, (tile, shape) in enumerate((("64, columns = 64", (1541, 72, 64)), ("128, columns = 64, blocks = 2", (2600, 136, 64)))):
            if whole or number == (operand == "f16"):
                tile = f'by = "wgmma", rows = {tile}'
                yield Case("tile of warpgroups in bands", f"{operand} to {result}", one(
                    pair("ik,jk->ij", operand, shape, False),
                    lambda f, a, b, operand=operand, result=result, tile=tile: contract(f, "ik,jk->ij", operand, result, a, b, tile),
                    lambda a, b, result=result: contracted("ik,jk->ij", result, a.v, b.v)))
        # The last tiles begin earlier, so that they have few rows and columns that are not there; results of 16 bits are stored as boxes.
        if operand != "i8":
            for number, (tile, shape) in enumerate((("128, columns = 192", (203, 328, 72)), ("64, columns = 128, blocks = 2", (131, 200, 72)),
                                                    ("128, columns = 128", (129, 193, 64)), ("64, columns = 192", (81, 200, 72)))):
                if not whole and number % 2 != (operand == "f16"):
                    continue
                tile = f'by = "wgmma", rows = {tile}'
                bias = argument("f32", elements.draw(generator("pulled back", operand, shape), "f32", (shape[1],)), False)
                yield Case("tile of warpgroups, pulled back, bias, relu", operand, one(
                    [*pair("ik,jk->ij", operand, shape, False), bias],
                    lambda f, a, b, c, operand=operand, tile=tile: biased(f, "ik,jk->ij", operand, "f32", a, b, c, tile), biased_relu("ik,jk->ij", operand)))
        # Sums of tiles that blocks share; of the last shape there is a round of whole tiles before.
        for number, (columns, parts) in enumerate(((256, 2), (192, 3), (128, 4))):
            tile = f'by = "wgmma", rows = 128, columns = {columns}, parts = {parts}'
            shapes = (("ik,jk->ij", (136, 264, 336)), ("bik,bjk->bij", (72, 200, 464)), ("ik,kj->ij", (200, 136, 504)),
                      ("ik,jk->ij", (1410, 1500, 72)))
            for order, (spec, shape) in enumerate(shapes):
                wanted = (number + order) % 3 == 0 if order != 3 else columns == 128 and operand == "f16"
                if not (whole or wanted) or (operand == "i8" and spec == "ik,kj->ij"):
                    continue
                yield Case(f"tile of shared sums {spec}", f"{operand} to {result}", one(
                    pair(spec, operand, shape, False),
                    lambda f, a, b, spec=spec, operand=operand, result=result, tile=tile: contract(f, spec, operand, result, a, b, tile),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
            if operand != "i8" and (whole or columns == 192):
                shape = (136, 264, 456)
                bias = argument("f32", elements.draw(generator("shared bias", operand, columns), "f32", (shape[1],)), False)
                yield Case("tile of shared sums, bias, relu", operand, one(
                    [*pair("ik,jk->ij", operand, shape, False), bias],
                    lambda f, a, b, c, operand=operand, tile=tile: biased(f, "ik,jk->ij", operand, "f32", a, b, c, tile), biased_relu("ik,jk->ij", operand)))
        # A bias of 16 bits is loaded ahead of the sums, of the first columns of a consumer; one tile ends inside of the columns.
        if operand != "i8":
            for number, (spec, shape, tile) in enumerate((("ik,jk->ij", (150, 520, 136), "128, columns = 256"), ("ik,kj->ij", (264, 392, 72), "128, columns = 192"),
                                                          ("ik,jk->ij", (1100, 1080, 72), "128, columns = 128, tiles = 2"), ("ik,jk->ij", (40, 330, 72), "64, columns = 128"))):
                if not whole and number % 2 != (operand == "f16"):
                    continue
                tile = f'by = "wgmma", rows = {tile}'
                bias = argument(operand, elements.draw(generator("narrow bias", operand, shape), operand, (shape[1],)), False)
                yield Case("tile of warpgroups, narrow bias, relu", operand, one(
                    [*pair(spec, operand, shape, False), bias],
                    lambda f, a, b, c, spec=spec, operand=operand, tile=tile: biased(f, spec, operand, "f32", a, b, c, tile, operand),
                    biased_relu(spec, operand)))
        # Consumers have tiles in turn: so many that most blocks have two or three, with ragged ends.
        for number, (rows, columns, blocks, shape) in enumerate(TILES_IN_TURN):
            tile = f'by = "wgmma", rows = {rows}, columns = {columns}, blocks = {blocks}, tiles = 2'
            for order, spec in enumerate(("ik,jk->ij", "ik,kj->ij", "bik,bjk->bij")):
                if not (whole or (number + order) % 3 == 0) or (spec == "ik,kj->ij" and (operand == "i8" or (rows == 64 and columns in (64, 192)))):
                    continue
                sizes_of = (shape[0] // 3, *shape[1:]) if spec[0] == "b" else shape
                yield Case(f"tile in turn {spec}", f"{operand} to {result}", one(
                    pair(spec, operand, sizes_of, False),
                    lambda f, a, b, spec=spec, operand=operand, result=result, tile=tile: contract(f, spec, operand, result, a, b, tile),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
            if operand != "i8" and (whole or number % 2 == (operand == "f16")):
                bias = argument("f32", elements.draw(generator("bias in turn", operand, columns), "f32", (shape[1],)), False)
                yield Case("tile in turn, bias, relu", operand, one(
                    [*pair("ik,jk->ij", operand, shape, False), bias],
                    lambda f, a, b, c, operand=operand, tile=tile: biased(f, "ik,jk->ij", operand, "f32", a, b, c, tile), biased_relu("ik,jk->ij", operand)))
        for number, (rows, columns, blocks, depth) in enumerate(TILES_OF_CLUSTERS):
            tile = f'by = "wgmma", rows = {rows}, columns = {columns}, deep = {blocks}'
            depth *= 2 if operand == "i8" else 1
            for order, (spec, shape) in enumerate((("ik,jk->ij", (rows + 8, columns + 40, depth)), ("bik,bjk->bij", (33, 72, depth)),
                                                   ("ik,kj->ij", (rows - 7, columns // 2 + 8, depth)), ("ik,jk->ij", (20, 75, depth)))):
                if not (whole or (number + order) % 4 == 0) or (order == 2 and (operand == "i8" or (rows == 64 and columns in (64, 192)))):
                    continue
                yield Case(f"tile of cluster sums {spec}", f"{operand} to {result}", one(
                    pair(spec, operand, shape, False),
                    lambda f, a, b, spec=spec, operand=operand, result=result, tile=tile: contract(f, spec, operand, result, a, b, tile),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
            if operand != "i8" and (whole or number % 4 == 1):
                shape = (rows - 3, columns + 8, depth)
                bias = argument("f32", elements.draw(generator("cluster bias", operand, columns), "f32", (shape[1],)), False)
                yield Case("tile of cluster sums, bias, relu", operand, one(
                    [*pair("ik,jk->ij", operand, shape, False), bias],
                    lambda f, a, b, c, operand=operand, tile=tile: biased(f, "ik,jk->ij", operand, "f32", a, b, c, tile), biased_relu("ik,jk->ij", operand)))
        for number, (rows, columns, blocks) in enumerate(TILES_OF_FEW_ROWS):
            # Whole clusters of tiles, and a last one that is part empty.
            for order, (spec, shape) in enumerate((("ik,jk->ij", (40, 520, 144)), ("bik,bjk->bij", (64, 1024, 80)), ("ik,jk->ij", (33, 1300, 272)))):
                if not whole and (number + order) % 3 != 0:
                    continue
                tile = f'by = "wgmma", rows = {rows}, columns = {columns}, blocks = {blocks}'
                yield Case(f"tile of few rows {spec}", f"{operand} to {result}", one(
                    pair(spec, operand, shape, False),
                    lambda f, a, b, spec=spec, operand=operand, result=result, tile=tile: contract(f, spec, operand, result, a, b, tile),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
        for number, (rows, columns, more, shape) in enumerate(TILES_FITTED):
            if operand == "i8" or not (whole or number % 3 == (operand == "f16")):
                continue
            tile = f'by = "wgmma", rows = {rows}, columns = {columns}{more}'
            yield Case("tile of warpgroups, fitted", f"{operand} to {result}", one(
                pair("ik,jk->ij", operand, shape, False), lambda f, a, b, operand=operand, result=result, tile=tile: contract(f, "ik,jk->ij", operand, result, a, b, tile),
                lambda a, b, result=result: contracted("ik,jk->ij", result, a.v, b.v)))
            if whole or number % 2 == 0:  # results of 16 bits leave in another way
                bias = argument("f32", elements.draw(generator("fitted bias", operand, columns), "f32", (shape[1],)), False)
                yield Case("tile of warpgroups, fitted, bias, relu", operand, one(
                    [*pair("ik,jk->ij", operand, shape, False), bias],
                    lambda f, a, b, c, operand=operand, tile=tile: biased(f, "ik,jk->ij", operand, "f32", a, b, c, tile), biased_relu("ik,jk->ij", operand)))
        for number, (rows, columns, more, shape) in enumerate(TILES_OF_ROUNDS):
            for order, spec in enumerate(("ik,jk->ij", "ik,kj->ij")):
                if operand == "i8" or not (whole or (number + order) % 2 == (operand == "f16")):
                    continue
                tile = f'by = "wgmma", rows = {rows}, columns = {columns}{more}'
                yield Case(f"tile of rounds {spec}", operand, one(
                    pair(spec, operand, shape, False), lambda f, a, b, spec=spec, operand=operand, tile=tile: halved(f, spec, a, b, operand, operand, tile),
                    lambda a, b, spec=spec, operand=operand: bounded.finish(operand, (exact := contracted(spec, "f32", a.v, b.v)).v, exact.e, 1.0)))
                if whole or number % 2 == 0:
                    bias = argument("f32", elements.draw(generator("bias of rounds", operand, columns), "f32", (shape[1],)), False)
                    yield Case(f"tile of rounds {spec}, bias, relu", operand, one(
                        [*pair(spec, operand, shape, False), bias],
                        lambda f, a, b, c, spec=spec, operand=operand, tile=tile: biased(f, spec, operand, "f32", a, b, c, tile), biased_relu(spec, operand)))
        for number, (rows, columns, shape) in enumerate(TILES_OF_PLACES):
            # Filters that lie along the channels, or across, and sums or results of 16 bits.
            for order, (spec, is_half) in enumerate((spec, is_half) for spec in ("ik,bkj->bij", "ki,bkj->bij") for is_half in (True, False)):
                if operand == "i8" or not (whole or (number + order) % 4 == (operand == "f16")):
                    continue
                tile = f'by = "wgmma", rows = {rows}, columns = {columns}'
                if is_half:
                    yield Case(f"tile of places {spec}", operand, one(
                        pair(spec, operand, shape, False), lambda f, a, b, spec=spec, operand=operand, tile=tile: halved(f, spec, a, b, operand, operand, tile),
                        lambda a, b, spec=spec, operand=operand: bounded.finish(operand, (exact := contracted(spec, "f32", a.v, b.v)).v, exact.e, 1.0)))
                    continue
                yield Case(f"tile of places {spec}", f"{operand} to {result}", one(
                    pair(spec, operand, shape, False), lambda f, a, b, spec=spec, operand=operand, result=result, tile=tile: contract(f, spec, operand, result, a, b, tile),
                    lambda a, b, spec=spec, result=result: contracted(spec, result, a.v, b.v)))
    # Elements that tf32 holds as they are: products of it (--f32-products=tf32) meet the bounds of f32.
    for order, spec in enumerate(("ik,jk->ij", "ik,kj->ij", "ki,kj->ij", "bik,bjk->bij", "ik,jk->ji")):
        for number, shape in enumerate(((64, 64, 64), (128, 192, 96), (72, 136, 88), (65, 129, 33), (97, 200, 36), (40, 260, 130),
                                        (260, 300, 2000))):
            if whole or (order + number) % 2 == 0:
                yield Case("contraction of few bits", "f32", one(
                    pair(spec, "f32", shape, shape[0] in (97, 65), "bf16"), lambda f, a, b, spec=spec: contract(f, spec, "f32", "f32", a, b),
                    lambda a, b, spec=spec: contracted(spec, "f32", a.v, b.v)))
    # One side lies across, and warpgroups read it so, from registers. Edges of its boxes of 32, tiles that end, sums in parts.
    across = (("ik,kj->ij", 33, 132), ("ki,jk->ij", 36, 131), ("bik,bkj->bij", 130, 68), ("ik,kj->ji", 63, 132), ("ki,jk->ij", 132, 65))
    for number, (rows, columns, more) in enumerate(TILES_ACROSS):
        for order, (spec, of_rows, of_columns) in enumerate(across):
            tile = f'by = "wgmma", rows = {rows}, columns = {columns}{more}'
            if ("blocks" in more and order == 1) or not (whole or (order + number) % 5 in (0, 3)):
                continue  # one tile is no pair
            yield Case(f"contraction across in tiles {spec} of few bits", "f32", one(
                pair(spec, "f32", (of_rows, of_columns, 520 if "deep" in more else 136 if "parts" in more else 72), False, "bf16"),
                lambda f, a, b, spec=spec, tile=tile: contract(f, spec, "f32", "f32", a, b, tile),
                lambda a, b, spec=spec: contracted(spec, "f32", a.v, b.v)))
    for spec, shape, dynamic in (("ki,kj->ij", (36, 68, 264), False), ("ki,kj->ij", (70, 68, 264), False), ("ik,kj->ij", (12, 260, 2048), False),
                                 ("ki,kj->ij", (16, 132, 640), False), ("ki,jk->ij", (36, 1028, 72), False), ("ik,kj->ij", (40, 36, 72), True), ("ki,jk->ij", (33, 36, 70), True)):
        yield Case(f"contraction across {spec} of few bits", "f32", one(
            pair(spec, "f32", shape, dynamic, "bf16"), lambda f, a, b, spec=spec: contract(f, spec, "f32", "f32", a, b),
            lambda a, b, spec=spec: contracted(spec, "f32", a.v, b.v)))
    # Results of 16 bits leave in another way than those of 32.
    for spec, shape, dynamic in (("ki,jk->ij", (64, 64, 64), False), ("ki,jk->ij", (132, 136, 72), True), ("ik,kj->ji", (128, 64, 64), False), ("bki,bjk->bij", (64, 72, 64), False)):
        yield Case(f"contraction across {spec}, halved, of few bits", "f32", one(
            pair(spec, "f32", shape, dynamic, "bf16"), lambda f, a, b, spec=spec: halved(f, spec, a, b),
            lambda a, b, spec=spec: bounded.finish("f16", (exact := contracted(spec, "f32", a.v, b.v)).v, exact.e, 1.0)))
    for order in ("jk", "kj"):
        for number, (rows, columns, depth) in enumerate((*SKINNY[:7], (80, 72, 96))):
            random = generator("weights", order, rows, columns, depth)
            dynamic = number % 3 == 2
            a = argument("bf16", elements.draw(random, "bf16", (rows, depth), -2, 2), dynamic)
            w = argument("i8", elements.draw(random, "i8", (columns, depth) if order == "jk" else (depth, columns), -100, 100), dynamic)
            scale = argument("f32", 2.0 ** random.integers(-3, 3, columns), dynamic)
            zero = argument("i8", elements.draw(random, "i8", (columns,), -4, 4), dynamic)

            def evaluate(a, w, s, z, order=order):
                along = (slice(None), None) if order == "jk" else (None, slice(None))
                return contracted(f"ik,{order}->ij", "f32", a.v, (w.v.astype(np.float64) - z.v[along]) * s.v[along])

            yield Case(f"contraction of weights {order}", "i8 to bf16", one(
                [a, w, scale, zero], lambda f, a, w, s, z, order=order: weighted(f, order, a, w, s, z), evaluate))
