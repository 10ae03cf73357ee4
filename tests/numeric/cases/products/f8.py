# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of f8E4M3FN and f8E5M2, which cross the boundary as i8.

A tensor core keeps 13 bits of a sum's fraction, for at most 128 reduced elements. Whole numbers up to 4 meet the bound of f32
whatever it drops (a sum of 128 products is below 2^12); elements of all sizes have the bound that follows from 13 bits."""
import numpy as np

import bounded
import elements
from cases.case import Case, argument, generator
from cases.products.contraction import BATCH, LONG, SIZES, SKINNY, contracted, map_text, one
from cases.movement import text

# Bits of mantissa, bias, the largest code that is finite.
FORMATS = {"f8E4M3FN": (3, 7, 0x7E), "f8E5M2": (2, 15, 0x7B)}
PAIRS = (("f8E4M3FN", "f8E4M3FN"), ("f8E4M3FN", "f8E5M2"), ("f8E5M2", "f8E4M3FN"), ("f8E5M2", "f8E5M2"))
ORDERS = ("ik,jk->ij", "ik,kj->ij", "ki,kj->ij", "ki,jk->ij", "ik,jk->ji", "bik,bjk->bij", "bik,bkj->bij")
SUMMED_NARROWLY, FRACTION = 32, 13  # elements that an instruction multiplies, bits that it keeps


def values_of(kind):
    """What each code means; of infinity and NaN, 0."""
    mantissa, bias, largest = FORMATS[kind]
    codes = np.arange(256)
    magnitude = codes & 0x7F
    exponent, fraction = magnitude >> mantissa, magnitude & ((1 << mantissa) - 1)
    small = fraction * 2.0 ** (1 - bias - mantissa)
    values = np.where(exponent == 0, small, (fraction + (1 << mantissa)) * 2.0 ** (exponent - bias - mantissa))
    return np.where(codes > 0x7F, -1.0, 1.0) * np.where(magnitude > largest, 0.0, values)


def codes_of(kind, values):
    """Codes of numbers that the type holds."""
    table = {float(value): code for code, value in reversed(list(enumerate(values_of(kind))))}
    return np.vectorize(table.__getitem__, otypes=[np.int64])(np.asarray(values, dtype=np.float64) + 0.0)


def decoded(kind, codes):
    return values_of(kind)[np.asarray(codes) & 0xFF]


def whole_numbers(random, kind, shape):
    return codes_of(kind, random.integers(-4, 5, shape))


def any_numbers(random, kind, shape):
    """Of every magnitude up to 4, subnormal ones too."""
    finite = np.flatnonzero((np.abs(values_of(kind)) <= 4) & (np.arange(256) & 0x7F <= FORMATS[kind][2]))
    return random.choice(finite, shape).astype(np.int64)


def sides(spec, kinds, sizes, dynamic, draw=whole_numbers):
    size = dict(BATCH, i=sizes[0], j=sizes[1], k=sizes[2])
    random = generator("f8", spec, kinds, sizes)
    return [argument("i8", elements.wrap("i8", draw(random, kind, [size[c] for c in side])), dynamic)
            for kind, side in zip(kinds, spec.split("->")[0].split(","))]


def contract(f, spec, kinds, a, b, total="f32"):
    """The operands are bytes that the body reads as f8."""
    left, rest = spec.split(",")
    right, out = rest.split("->")
    loops = sorted(out) + sorted(set(left + right) - set(out))
    iterators = ", ".join('"parallel"' if loop in out else '"reduction"' for loop in loops)
    maps = ", ".join(map_text(m, loops) for m in (left, right, out))
    size = dict(zip(left + right, [*a.shape, *b.shape]))
    start = f.fill(total, [size[c] for c in out], 0)
    body = " ".join(f"%{n}f = arith.bitcast %{n} : i8 to {kind} %{n}w = arith.extf %{n}f : {kind} to {total}"
                    for n, kind in zip("xy", kinds))
    return text(f, total, [size[c] for c in out],
                f"{{r}} = linalg.generic {{{{indexing_maps = [{maps}], iterator_types = [{iterators}]}}}} ins({{0}}, {{1}} : {{o[0]}}, "
                f"{{o[1]}}) outs({{2}} : {{o[2]}}) {{{{ ^bb0(%x: i8, %y: i8, %s: {total}): {body} %p = arith.mulf %xw, %yw : {total} "
                f"%t = arith.addf %s, %p : {total} linalg.yield %t : {total} }}}} -> {{t}}", a, b, start)


def narrowly(spec, kinds, a, b):
    """Elements of any size: what each instruction drops of each addend is below 2^-13 of the largest exponent, which is at most
    that of the largest product, or of the sum so far. A subnormal number counts as the smallest normal one."""
    x, y = decoded(kinds[0], a.v), decoded(kinds[1], b.v)
    exact = contracted(spec, "f32", x, y)
    least = [np.where(v == 0, 0, np.maximum(np.abs(v), 2.0 ** (1 - FORMATS[kind][1]))) for v, kind in ((x, kinds[0]), (y, kinds[1]))]
    largest = least[0].max(initial=0) * least[1].max(initial=0)
    terms = np.einsum(spec, np.ones(x.shape), np.ones(y.shape)) if exact.v.size else exact.v
    size = np.einsum(spec, *least) if exact.v.size else exact.v
    dropped = np.ceil(terms / SUMMED_NARROWLY) * (SUMMED_NARROWLY + 1) * 2.0 ** -FRACTION * np.maximum(largest, np.minimum(size, 4 * largest))
    return bounded.finish("f32", exact.v, exact.e + np.minimum(dropped, size), 1.0)


def scaled(f, kinds, result, clamp, a, b, rows, columns, bias):
    """relu(product * scale of the row * scale of the column + bias), rounded."""
    product = contract(f, "ik,jk->ij", kinds, a, b)
    storage = "i8" if result.startswith("f8") else result
    start = f.fill(storage, list(product.shape), 0)
    identity, row, column = map_text("ij", "ij"), map_text("i", "ij"), map_text("j", "ij")
    last = f"%n = arith.truncf %m : f32 to {result}" if result != "f32" else "%n = arith.addf %m, %zero : f32"
    stored = f"{last} %o = arith.bitcast %n : {result} to i8 linalg.yield %o : i8" if storage == "i8" else f"{last} linalg.yield %n : {result}"
    limit = f"%high = arith.constant {clamp} : f32 %m = arith.minimumf %d, %high : f32" if clamp else "%m = arith.addf %d, %zero : f32"
    return text(f, storage, list(product.shape),
                f"{{r}} = linalg.generic {{{{indexing_maps = [{identity}, {row}, {column}, {column}, {identity}], iterator_types = "
                f"[\"parallel\", \"parallel\"]}}}} ins({{0}}, {{1}}, {{2}}, {{3}} : {{o[0]}}, {{o[1]}}, {{o[2]}}, {{o[3]}}) outs({{4}} : "
                f"{{o[4]}}) {{{{ ^bb0(%x: f32, %r: f32, %c: f32, %b: f32, %z: {storage}): %zero = arith.constant 0.0 : f32 "
                f"%e = arith.mulf %x, %r : f32 %g = arith.mulf %e, %c : f32 %h = arith.addf %g, %b : f32 "
                f"%d = arith.maximumf %h, %zero : f32 {limit} {stored} }}}} -> {{t}}", product, rows, columns, bias, start)


def rounded_f8(kind, x):
    mantissa, bias, _ = FORMATS[kind]
    exponent = np.floor(np.log2(np.where(x == 0, 1.0, np.abs(x))))
    quantum = np.exp2(np.maximum(exponent, 1 - bias) - mantissa)
    return np.rint(x / quantum) * quantum


def epilogues(whole):
    """Scales are powers of two and biases whole numbers, so that what is rounded is exact."""
    for number, (result, clamp) in enumerate((("f32", None), ("bf16", None), ("f16", None), ("f8E4M3FN", 448.0), ("f8E5M2", 57344.0))):
        for pair, kinds in enumerate(PAIRS[:2]):
            for at, shape in enumerate(((128, 192, 256), (72, 136, 96), (65, 129, 33), (8, 144, 320), (3, 200, 128))):
                if not whole and (number + pair + at) % 3:
                    continue
                dynamic = at == 2
                random = generator("f8 scales", result, shape)
                rows, columns = (argument("f32", 2.0 ** random.integers(-4, 2, n), dynamic) for n in shape[:2])
                bias = argument("f32", random.integers(-8, 9, shape[1]).astype(np.float64), dynamic)

                def evaluate(a, b, r, c, d, kinds=kinds, result=result, clamp=clamp):
                    exact = decoded(kinds[0], a.v) @ decoded(kinds[1], b.v).T * r.v[:, None] * c.v + d.v
                    exact = np.minimum(np.maximum(exact, 0), clamp or np.inf)
                    if result in FORMATS:
                        return bounded.Bounded("i8", elements.wrap("i8", codes_of(result, rounded_f8(result, exact))))
                    return bounded.finish(result, exact, np.zeros(exact.shape), 0.5 if result != "f32" else 0.0)

                yield Case("contraction of f8, scales, bias, relu", f"{' '.join(kinds)} to {result}", one(
                    [*sides("ik,jk->ij", kinds, shape, dynamic), rows, columns, bias],
                    lambda f, a, b, r, c, d, kinds=kinds, result=result, clamp=clamp: scaled(f, kinds, result, clamp, a, b, r, c, d), evaluate))


def cases(sizes):
    whole = len(sizes) > 1
    for pair, kinds in enumerate(PAIRS):
        name = " ".join(kinds)

        def case(operation, spec, shape, dynamic, draw=whole_numbers, total="f32", kinds=kinds, name=name):
            def evaluate(a, b):
                if draw is any_numbers:
                    return narrowly(spec, kinds, a, b)
                return contracted(spec, total, decoded(kinds[0], a.v), decoded(kinds[1], b.v))
            return Case(operation, name, one(sides(spec, kinds, shape, dynamic, draw),
                                             lambda f, a, b: contract(f, spec, kinds, a, b, total), evaluate))

        for order, spec in enumerate(ORDERS):
            for number, shape in enumerate((*SIZES, (130, 260, 544))):
                for dynamic in (False, True):
                    if whole or (order + number + pair) % 8 == 4 * int(dynamic):
                        yield case(f"contraction of f8 {spec}", spec, shape, dynamic)
                if whole or (order + number + pair) % 8 == 2:
                    yield case(f"contraction of f8 of any size {spec}", spec, shape, False, any_numbers)
            for number, shape in enumerate(SKINNY):
                if whole or (order + number + pair) % 8 == 0:
                    yield case(f"contraction of few f8 {spec}", spec, shape, (order + number // 5) % 2 == 1)
        for number, shape in enumerate(LONG):
            if whole or number % 4 == pair:
                yield case("contraction of a long sum of f8", "ik,jk->ij", shape, False)
        # Enough tiles of 128 x 128 that those are chosen.
        for spec, shape in (("bik,bjk->bij", (648, 912, 160)), ("bik,bjk->bij", (641, 909, 65))):
            if whole or pair == int(shape[0] == 641):
                yield case("contraction of large tiles of f8", spec, shape, shape[0] == 641)
        if whole or pair == 0:
            for spec in ("ik,kj->ij", "ki,jk->ij"):
                yield case("contraction of unaligned rows of f8", spec, (362, 363, 1031), False)
        for total in ("bf16", "f16"):
            if whole or pair == 3:
                yield case(f"contraction of f8 to {total}", "ik,jk->ij", (72, 136, 96), False, total=total)
    yield from epilogues(whole)
