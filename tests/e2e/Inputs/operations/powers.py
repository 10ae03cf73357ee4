# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of math that no kernel has: integer powers, clampf, sincos; on tensors and in bodies.
usage: powers.py FOLDER [GROUP]"""
import math

from arrays import SIZES, Array, draw, main, narrow


def by_squaring(base, exponent, kind):
    """x^n, each product rounded as the type does; f16 is multiplied as f32."""
    step = "f32" if kind in ("f16", "bf16") else kind
    result, square, bits = 1.0, base, abs(exponent)
    while bits:
        try:
            if bits & 1:
                result = narrow(step, result * square)
            square = narrow(step, square * square)
        except OverflowError:
            square = math.inf
        bits >>= 1
    return 1 / result if exponent < 0 else result


def integers(program):
    for n in SIZES:
        for kind in ["i8", "i16", "i32", "i64"]:
            bits = int(kind[1:])
            bases = [0, 1, -1, 2, -2, 3, -7, 100, -128]
            powers = [0, 1, 2, 3, 5, 7, 31, 100, -1, -2, -3, -128]
            x = Array([n, 9], kind, lambda i, j: bases[j])
            y = Array([n, 9], kind, lambda i, j: powers[(i + j) % 12] if bases[j] or powers[(i + j) % 12] >= 0 else 4)

            def power(i, j):
                if y[i, j] >= 0:
                    return pow(x[i, j], y[i, j], 1 << bits)
                return {1: 1, -1: -1 if y[i, j] % 2 else 1}.get(x[i, j], 0)
            r = Array(x.shape, kind, power)
            program.case("ipowi", {"x": x, "y": y}, r, lambda d: f"%r = math.ipowi %x, %y : {x.type(d)}")


def floats(program):
    for n in SIZES:
        for kind, tolerance in [("f32", 1e-6), ("f64", 1e-14), ("f16", 1e-3), ("bf16", 8e-3)]:
            for exponent in ["i32", "i64"]:
                powers = [0, 1, 2, 3, 5, 11, -1, -2, -5]
                x = Array([n, 9], kind, lambda i, j: (i % 5 + 3) / 4 * (-1) ** i)
                y = Array([n, 9], exponent, lambda i, j: powers[(i + j) % 9])
                r = Array(x.shape, kind, lambda i, j: by_squaring(x[i, j], y[i, j], kind))
                program.case("fpowi", {"x": x, "y": y}, r, lambda d: f"%r = math.fpowi %x, %y : {x.type(d)}, {y.type(d)}",
                             tolerance)
        least = Array([n], "i32", lambda i: -2 ** 31)
        one = Array([n], "f32", lambda i: (-1) ** i)
        program.case("fpowi_least", {"x": one, "y": least}, Array([n], "f32", lambda i: 1.0), lambda d: (
            f"%r = math.fpowi %x, %y : {one.type(d)}, {least.type(d)}"))
        x, low, high = draw([n, 3]), Array([n, 3], "f32", lambda i, j: -2.5), Array([n, 3], "f32", lambda i, j: j)
        r = Array(x.shape, "f32", lambda i, j: min(max(x[i, j], -2.5), j))
        program.case("clampf", {"x": x, "l": low, "h": high}, r, lambda d: (
            f"%r = math.clampf %x to [%l, %h] : {x.type(d)}"))
        for part, reference in enumerate([math.sin, math.cos]):
            r = Array(x.shape, "f32", lambda i, j: reference(x[i, j]))
            program.case("sincos", {"x": x}, r, lambda d: f"%s:2 = math.sincos %x : {x.type(d)}\n"
                         f"%r = util.optimization_barrier %s#{part} : {x.type(d)}", 2e-6)
        # In a body, where the operands are scalars.
        r = Array(x.shape, "f32", lambda i, j: x[i, j] ** 3 + math.sin(x[i, j]) * math.cos(x[i, j]))
        program.case("in_a_body", {"x": x, "e": x}, r, lambda d: (
            f"%r = linalg.map ins(%x : {x.type(d)}) outs(%e : {x.type(d)}) (%v: f32, %o: f32) {{\n"
            " %three = arith.constant 3 : i32\n %p = math.fpowi %v, %three : f32, i32\n %s, %c = math.sincos %v : f32\n"
            " %t = arith.mulf %s, %c : f32\n %u = arith.addf %p, %t : f32\n linalg.yield %u : f32\n}"), 1e-4)


main(integers, floats)
