# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements of types that kernels hold as something else. usage: types.py FOLDER [GROUP]"""
import math

from arrays import SIZES, Array, draw, main, narrow

# name: bits of mantissa, bias, the largest code, the code of infinity or None, whether NaN takes the place of -0
FORMATS = {"f8E4M3FN": (3, 7, 0x7E, None, False), "f8E5M2": (2, 15, 0x7B, 0x7C, False), "f8E4M3": (3, 7, 0x77, 0x78, False),
           "f8E3M4": (4, 3, 0x6F, 0x70, False), "f8E4M3FNUZ": (3, 8, 0x7F, None, True), "f8E5M2FNUZ": (2, 16, 0x7F, None, True),
           "f8E4M3B11FNUZ": (3, 11, 0x7F, None, True)}


def value_of(name, code):
    mantissa, bias, largest, infinity, unsigned_zero = FORMATS[name]
    sign, magnitude = code >> 7, code & 0x7F
    if unsigned_zero and code == 0x80:
        return math.nan
    if magnitude > largest:
        return (-math.inf if sign else math.inf) if magnitude == infinity else math.nan
    exponent, fraction = magnitude >> mantissa, magnitude & ((1 << mantissa) - 1)
    value = math.ldexp(fraction, 1 - bias - mantissa) if exponent == 0 else math.ldexp(
        fraction + (1 << mantissa), exponent - bias - mantissa)
    return -value if sign else value


def code_of(name, value):
    """The nearest, of two as near to the even one; beyond the largest infinity, or NaN where there is none."""
    mantissa, bias, largest, infinity, unsigned_zero = FORMATS[name]
    nan = 0x80 if unsigned_zero else 0x7F
    if math.isnan(value):
        return nan
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    step = 1 << mantissa
    codes = [(abs(abs(value) - value_of(name, code)), code & 1, code) for code in range(largest + 1)]
    # What would come behind the largest.
    top = value_of(name, largest)
    after = 2 * top - value_of(name, largest - 1) if (largest + 1) % step else math.ldexp(
        2 * step, (largest >> mantissa) - bias - mantissa)
    codes.append((abs(abs(value) - after), (largest + 1) & 1, largest + 1))
    code = largest + 1 if abs(value) > after else min(codes)[2]
    if code > largest:
        code = infinity if infinity is not None else nan
        return code if code == 0x80 else code | sign
    return 0 if unsigned_zero and code == 0 else code | sign


def floats(program):
    every = Array([256], "i8", lambda i: i)
    for name in FORMATS:
        finite = [code for code in range(256) if math.isfinite(value_of(name, code))]
        codes = Array([len(finite)], "i8", lambda i: finite[i])
        for kind in ["f32", "f64", "f16"]:
            r = Array([len(finite)], kind, lambda i: value_of(name, finite[i]))
            f8 = lambda d, n=len(finite): f"tensor<{'?' if d else n}x{name}>"
            if kind == "f16" and name == "f8E5M2FNUZ":
                continue
            program.case(f"widen_{name}", {"x": codes}, r, lambda d: (
                f"%a = tensor.bitcast %x : {codes.type(d)} to {f8(d)}\n%r = arith.extf %a : {f8(d)} to {r.type(d)}"))
        # What is not finite: compared by what isnan and isinf say, as 0, 1 and 2.
        kinds = Array([256], "i32", lambda i: 2 if math.isnan(value_of(name, i)) else int(math.isinf(value_of(name, i))))
        all8 = lambda d: f"tensor<{'?' if d else 256}x{name}>"
        program.case(f"special_{name}", {"x": every, "e": kinds}, kinds, lambda d: (
            f"%a = tensor.bitcast %x : {every.type(d)} to {all8(d)}\n"
            f"%r = linalg.map ins(%a : {all8(d)}) outs(%e : {kinds.type(d)}) (%v: {name}, %o: i32) {{\n"
            f" %w = arith.extf %v : {name} to f32\n %n = math.isnan %w : f32\n %i = math.isinf %w : f32\n"
            " %k = arith.extui %n : i1 to i32\n %l = arith.extui %i : i1 to i32\n %m = arith.addi %k, %k : i32\n"
            " %s = arith.addi %m, %l : i32\n linalg.yield %s : i32\n}"))
        # Each value, the middle between it and the next, and neighbours of both; and beyond the largest.
        positive = sorted({abs(value_of(name, code)) for code in finite})
        points = [0.0, math.inf, 1e30, 1e-30, 3e38]
        for low, high in zip(positive, positive[1:] + [positive[-1] * 2 - positive[-2]]):
            middle = (low + high) / 2
            points += [low, middle, middle + (high - low) / 64, middle - (high - low) / 64]
        points += [-point for point in points]
        for kind in ["f32", "f64"]:
            extra = [value + sign * abs(value) * 2.0 ** -50 for value in points[5::4] for sign in (1, -1)] if kind == "f64" else []
            numbers = points + extra
            x = Array([len(numbers)], kind, lambda i: numbers[i])
            r = Array([len(numbers)], "i8", lambda i: code_of(name, x[i,]))
            f8 = lambda d, n=len(numbers): f"tensor<{'?' if d else n}x{name}>"
            program.case(f"round_{name}", {"x": x}, r, lambda d: (
                f"%a = arith.truncf %x : {x.type(d)} to {f8(d)}\n%r = tensor.bitcast %a : {f8(d)} to {r.type(d)}"))
    for name in ["f8E4M3FN", "f8E5M2"]:
        for n in SIZES:
            x, y = Array([n], "i8", lambda i: (37 * i + 20) % 112), Array([n], "i8", lambda i: (11 * i + 130) % 112)
            f8 = lambda d: f"tensor<{'?' if d else n}x{name}>"
            read = lambda d: (f"%a = tensor.bitcast %x : {x.type(d)} to {f8(d)}\n%b = tensor.bitcast %y : {y.type(d)} to {f8(d)}\n")
            for op, reference in [("addf", lambda a, b: a + b), ("mulf", lambda a, b: a * b), ("subf", lambda a, b: a - b),
                                  ("maximumf", max)]:
                r = Array([n], "i8", lambda i: code_of(name, narrow("f32", reference(value_of(name, x[i,]), value_of(name, y[i,])))))
                program.case(f"{op}_{name}", {"x": x, "y": y}, r, lambda d: (
                    f"{read(d)}%s = arith.{op} %a, %b : {f8(d)}\n%r = tensor.bitcast %s : {f8(d)} to {r.type(d)}"))
            less = Array([n], "i1", lambda i: value_of(name, x[i,]) < value_of(name, y[i,]))
            program.case(f"cmpf_{name}", {"x": x, "y": y}, less, lambda d: f"{read(d)}%r = arith.cmpf olt, %a, %b : {f8(d)}")
            chosen = Array([n], "i8", lambda i: x[i,] if less[i,] else y[i,])
            program.case(f"select_{name}", {"x": x, "y": y}, chosen, lambda d: (
                f"{read(d)}%c = arith.cmpf olt, %a, %b : {f8(d)}\n%s = arith.select %c, %a, %b : {less.type(d)}, {f8(d)}\n"
                f"%r = tensor.bitcast %s : {f8(d)} to {x.type(d)}"))
            # A product of matrices of them, summed as f32, by slices that stay bytes.
            p, q = Array([n, 5], "i8", lambda i, k: (i * 7 + k * 3) % 90), Array([5, 3], "i8", lambda k, j: (k * 5 + j * 11) % 90)
            o = Array([n, 3], "f32", lambda i, j: 0)
            r = Array([n, 3], "f32", lambda i, j: math.fsum(value_of(name, p[i, k]) * value_of(name, q[k, j]) for k in range(5)))
            m = lambda a, d: a.type(d).replace("i8", name)
            program.case(f"matmul_{name}", {"x": p, "y": q, "o": o}, r, lambda d: (
                f"%a = tensor.bitcast %x : {p.type(d)} to {m(p, d)}\n%b = tensor.bitcast %y : {q.type(d)} to {m(q, d)}\n"
                f"%r = linalg.matmul ins(%a, %b : {m(p, d)}, {m(q, d)}) outs(%o : {o.type(d)}) -> {o.type(d)}"), 1e-5)
        constant = f"dense<[1.0, -2.5, 0.0, 96.0]> : tensor<4x{name}>"
        kind = f"tensor<4x{name}>"
        program.case(f"constant_{name}", {}, Array([4], "f32", lambda i: [2.0, -5.0, 0.0, 192.0][i]), lambda d: (
            f"%c = util.unfoldable_constant {constant}\n%d = arith.addf %c, %c : {kind}\n"
            f"check.expect_eq_const(%c, {constant}) : {kind}\n%t = arith.constant 2.0 : {name}\n%e = tensor.empty() : {kind}\n"
            f"%two = linalg.fill ins(%t : {name}) outs(%e : {kind}) -> {kind}\n%m = arith.mulf %c, %two : {kind}\n"
            f"check.expect_almost_eq(%m, %d) : {kind}\n%r = arith.extf %d : {kind} to tensor<4xf32>"), forms=(False,))


def booleans(program):
    # What a conversion to i1 has a value for: 0 and -1 with a sign, 0 and 1 without one, and what is cut off to them.
    for op, numbers in [("fptosi", [0.0, -0.0, -1.0, -1.5, -0.5, 0.75]), ("fptoui", [0.0, -0.0, 1.0, 1.5, 0.5, -0.75])]:
        for kind in ["f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"]:
            held = kind if kind in ("f16", "bf16", "f32", "f64") else "f32"
            x = Array([6], held, lambda i: numbers[i])
            r = Array([6], "i1", lambda i: int(numbers[i]) != 0)
            f8 = lambda d: f"tensor<{'?' if d else 6}x{kind}>"
            narrowed = lambda d: "" if held == kind else f"%y = arith.truncf %x : {x.type(d)} to {f8(d)}\n"
            program.case(f"{op}_{kind}", {"x": x}, r, lambda d: (
                f"{narrowed(d)}%r = arith.{op} {'%x' if held == kind else '%y'} : {f8(d)} to {r.type(d)}"))


def integers(program):
    def wrapped(bits, value):
        value &= (1 << bits) - 1
        return value - (1 << bits) if value >> (bits - 1) else value
    signed = {"addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b, "andi": lambda a, b: a & b,
              "xori": lambda a, b: a ^ b, "maxsi": max, "minsi": min, "divsi": lambda a, b: int(a / b) if b else None,
              "remsi": lambda a, b: math.fmod(a, b) if b else None}
    plain = {"divui": lambda a, b: a // b if b else None, "remui": lambda a, b: a % b if b else None, "maxui": max, "minui": min,
             "shrui": lambda a, b: a >> b}
    for bits in [2, 4, 5, 12, 24]:
        held = "i8" if bits < 8 else "i16" if bits < 16 else "i32"
        step = max(1, 1 << bits >> 4)
        values = list(range(-(1 << (bits - 1)), 1 << (bits - 1), step))
        pairs = [(a, b) for a in values for b in values]
        for name, reference, is_signed in [(k, v, True) for k, v in signed.items()] + [(k, v, False) for k, v in plain.items()]:
            low = lambda v: v if is_signed else v & ((1 << bits) - 1)
            fits = lambda a, b: (not (name in ("divui", "remui", "divsi", "remsi") and b == 0) and
                                 not (name in ("divsi", "remsi") and a == values[0] and b == -1) and
                                 (name != "shrui" or low(b) < bits))
            some = [pair for pair in pairs if fits(*pair)]
            n = len(some)
            x, y = Array([n], held, lambda i: some[i][0]), Array([n], held, lambda i: some[i][1])
            r = Array([n], held, lambda i: wrapped(bits, int(reference(low(some[i][0]), low(some[i][1])))))
            kind = lambda d: f"tensor<{'?' if d else n}xi{bits}>"
            program.case(f"{name}_i{bits}", {"x": x, "y": y}, r, lambda d: (
                f"%a = arith.trunci %x : {x.type(d)} to {kind(d)}\n%b = arith.trunci %y : {x.type(d)} to {kind(d)}\n"
                f"%s = arith.{name} %a, %b : {kind(d)}\n%r = arith.extsi %s : {kind(d)} to {x.type(d)}"),
                forms=(False, True) if bits == 4 else (False,))
        n = len(values)
        x = Array([n], held, lambda i: values[i])
        kind = lambda d: f"tensor<{'?' if d else n}xi{bits}>"
        for to, text, reference in [("f32", "sitofp", lambda v: v), ("f32", "uitofp", lambda v: v & ((1 << bits) - 1)),
                                    ("i32", "extui", lambda v: v & ((1 << bits) - 1)), ("i64", "extsi", lambda v: v)]:
            r = Array([n], to, lambda i: reference(values[i]))
            program.case(f"{text}_i{bits}", {"x": x}, r, lambda d: (
                f"%a = arith.trunci %x : {x.type(d)} to {kind(d)}\n%r = arith.{text} %a : {kind(d)} to {r.type(d)}"))
        f = Array([n], "f32", lambda i: values[i])
        program.case(f"fptosi_i{bits}", {"x": f}, x, lambda d: (
            f"%a = arith.fptosi %x : {f.type(d)} to {kind(d)}\n%r = arith.extsi %a : {kind(d)} to {x.type(d)}"))
        # A constant of them, sliced, compared and chosen from.
        text = ", ".join(map(str, values))
        r = Array([n], held, lambda i: values[i] if values[i] < 1 else 1)
        program.case(f"constant_i{bits}", {}, r, lambda d: (
            f"%c = util.unfoldable_constant dense<[{text}]> : tensor<{n}xi{bits}>\n"
            f"check.expect_eq_const(%c, dense<[{text}]> : tensor<{n}xi{bits}>) : tensor<{n}xi{bits}>\n"
            f"%one = arith.constant dense<1> : tensor<{n}xi{bits}>\n"
            f"%l = arith.cmpi slt, %c, %one : tensor<{n}xi{bits}>\n"
            f"%s = arith.select %l, %c, %one : tensor<{n}xi1>, tensor<{n}xi{bits}>\n"
            f"%r = arith.extsi %s : tensor<{n}xi{bits}> to {r.type()}"), forms=(False,))
    # Weights of four bits and bytes of activations.
    for n in SIZES:
        x, w = draw([n, 5], "i8"), Array([5, 3], "i8", lambda i, j: (i * 5 + j * 3) % 16 - 8)
        r = Array([n, 3], "i32", lambda i, j: sum(x[i, k] * w[k, j] for k in range(5)))
        kind = lambda d: "tensor<?x?xi4>" if d else "tensor<5x3xi4>"
        program.case("matmul_i4", {"x": x, "w": w, "o": Array([n, 3], "i32", lambda *_: 0)}, r, lambda d: (
            f"%v = arith.trunci %w : {w.type(d)} to {kind(d)}\n"
            f"%r = linalg.matmul ins(%x, %v : {x.type(d)}, {kind(d)}) outs(%o : {r.type(d)}) -> {r.type(d)}"))


def in_bodies(program):
    """Types that no tensor has, only a value within a body."""
    for n in SIZES:
        x = draw([n], "i32")
        r = Array([n], "i32", lambda i: (x[i,] + 8) % 16 - 8)
        program.case("through_i4", {"x": x, "e": x}, r, lambda d: (
            f"%r = linalg.map ins(%x : {x.type(d)}) outs(%e : {x.type(d)}) (%v: i32, %o: i32) {{\n"
            " %a = arith.trunci %v : i32 to i4\n %b = arith.extsi %a : i4 to i32\n linalg.yield %b : i32\n}"))
        y = draw([n])
        r = Array([n], "f32", lambda i: value_of("f8E4M3FN", code_of("f8E4M3FN", y[i,])))
        program.case("through_f8", {"y": y, "e": y}, r, lambda d: (
            f"%r = linalg.map ins(%y : {y.type(d)}) outs(%e : {y.type(d)}) (%v: f32, %o: f32) {{\n"
            " %a = arith.truncf %v : f32 to f8E4M3FN\n %b = arith.extf %a : f8E4M3FN to f32\n linalg.yield %b : f32\n}"))
        r = Array([n], "f32", lambda i: y[i,] ** 2 - 4)
        program.case("through_complex", {"y": y, "e": y}, r, lambda d: (
            f"%r = linalg.map ins(%y : {y.type(d)}) outs(%e : {y.type(d)}) (%v: f32, %o: f32) {{\n"
            " %two = arith.constant 2.0 : f32\n %a = complex.create %v, %two : complex<f32>\n"
            " %b = complex.mul %a, %a : complex<f32>\n %c = complex.re %b : complex<f32>\n linalg.yield %c : f32\n}"))


def scaled(program):
    """f4E2M1FN, which has eight magnitudes and nothing beyond the last, and powers of two as scales."""
    magnitudes = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]

    def rounded(value):
        code = min((abs(min(abs(value), 6) - m), i & 1, i) for i, m in enumerate(magnitudes))[2]
        return math.copysign(magnitudes[code], value)
    points = [m + step for m in magnitudes for step in (0.0, 0.125, 0.25, 0.5, 0.75, 1.0)] + [100.0, 1e-20, 3e38, math.inf]
    points += [-point for point in points]
    for n, kind in [(len(points), "f32"), (len(points), "f64")]:
        x = Array([n], kind, lambda i: points[i])
        r = Array([n], "f32", lambda i: rounded(x[i,]))
        f4 = lambda d: f"tensor<{'?' if d else n}xf4E2M1FN>"
        program.case("round_f4", {"x": x}, r, lambda d: (
            f"%a = arith.truncf %x : {x.type(d)} to {f4(d)}\n%b = util.optimization_barrier %a : {f4(d)}\n"
            f"%r = arith.extf %b : {f4(d)} to {r.type(d)}"))
    n = 15
    c = [magnitudes[i % 8] * (-1) ** (i // 8) for i in range(n)]
    scale = [2.0 ** (i * 5 - 30) for i in range(n)]
    text = lambda values: ", ".join(f"{value:.9e}" for value in values)
    program.functions.append(
        f"func.func @scaled() {{\n  %c = util.unfoldable_constant dense<[{text(c)}]> : tensor<{n}xf4E2M1FN>\n"
        f"  %s = util.unfoldable_constant dense<[{text(scale)}]> : tensor<{n}xf8E8M0FNU>\n"
        f"  %w = arith.scaling_extf %c, %s : tensor<{n}xf4E2M1FN>, tensor<{n}xf8E8M0FNU> to tensor<{n}xf32>\n"
        f"  check.expect_eq_const(%w, dense<[{text([a * b for a, b in zip(c, scale)])}]> : tensor<{n}xf32>) : tensor<{n}xf32>\n"
        f"  %t = arith.scaling_truncf %w, %s : tensor<{n}xf32>, tensor<{n}xf8E8M0FNU> to tensor<{n}xf4E2M1FN>\n"
        f"  check.expect_eq(%t, %c) : tensor<{n}xf4E2M1FN>\n  return\n}}\n")
    # Every scale there is: powers of two, the least of which is no normal f32, and NaN.
    values = ["0x7FC00000" if code == 255 else f"0x{max(code << 23, 0x00400000):08X}" for code in range(256)]
    program.functions.append(
        f"func.func @scales() {{\n  %c = util.unfoldable_constant dense<[{', '.join(str(code - 256 * (code > 127)) for code in range(256))}]> : tensor<256xi8>\n"
        f"  %s = arith.bitcast %c : tensor<256xi8> to tensor<256xf8E8M0FNU>\n"
        f"  %w = arith.extf %s : tensor<256xf8E8M0FNU> to tensor<256xf32>\n"
        f"  check.expect_eq_const(%w, dense<[{', '.join(values)}]> : tensor<256xf32>) : tensor<256xf32>\n"
        f"  %d = arith.extf %s : tensor<256xf8E8M0FNU> to tensor<256xf64>\n"
        f"  %t = arith.truncf %d : tensor<256xf64> to tensor<256xf32>\n"
        f"  check.expect_eq(%t, %w) : tensor<256xf32>\n  return\n}}\n")


def others(program):
    for n in SIZES:
        # Unsigned integers move; MLIR has no arithmetic on them.
        for kind in ["ui8", "ui16", "ui32", "ui64", "ui4"]:
            text = ", ".join(str((i * 7 + 3) % (16 if kind == "ui4" else 256)) for i in range(2 * n))
            back = ", ".join(str(((2 * n - 1 - 2 * i) * 7 + 3) % (16 if kind == "ui4" else 256)) for i in range(n))
            wide = f"tensor<{2 * n}x{kind}>"
            program.functions.append(
                f"func.func @move_{kind}_{n}() {{\n  %x = util.unfoldable_constant dense<[{text}]> : {wide}\n"
                f"  %s = tensor.extract_slice %x[1] [{n}] [2] : {wide} to tensor<{n}x{kind}>\n"
                f"  %e = tensor.empty() : tensor<{n}x{kind}>\n"
                f"  %r = tensor.generate {{\n  ^bb0(%i: index):\n    %l = arith.constant {n - 1} : index\n"
                f"    %j = arith.subi %l, %i : index\n    %v = tensor.extract %s[%j] : tensor<{n}x{kind}>\n"
                f"    tensor.yield %v : {kind}\n  }} : tensor<{n}x{kind}>\n"
                f"  check.expect_eq_const(%r, dense<[{back}]> : tensor<{n}x{kind}>) : tensor<{n}x{kind}>\n  return\n}}\n")
        # Places as tensors of index.
        table, at = draw([9]), Array([n], "index", lambda i: (5 * i + 2) % 9)
        r = Array([n], "f32", lambda i: table[(at[i,] + 1) % 9,])
        program.case("index", {"t": table, "at": at, "one": 1}, r, lambda d: (
            f"%nine = arith.constant 9 : index\n"
            f"%e = util.optimization_barrier %at : {at.type(d)}\n"
            f"%p = linalg.map ins(%at : {at.type(d)}) outs(%e : {at.type(d)}) (%i: index, %o: index) {{\n"
            " %j = arith.addi %i, %one : index\n %k = arith.remui %j, %nine : index\n linalg.yield %k : index\n}\n"
            f"%u = arith.index_cast %p : {at.type(d)} to {r.type(d).replace('f32', 'i32')}\n"
            f"%v = arith.sitofp %u : {r.type(d).replace('f32', 'i32')} to {r.type(d)}\n"
            f"%q = linalg.map ins(%p : {at.type(d)}) outs(%v : {r.type(d)}) (%i: index, %o: f32) {{\n"
            f" %w = tensor.extract %t[%i] : {table.type(d)}\n linalg.yield %w : f32\n}}\n"
            f"%r = util.optimization_barrier %q : {r.type(d)}"))
        for kind, part in [("complex<f32>", "f32"), ("complex<f16>", "f16")]:
            a = [complex(i % 5 - 2, i % 3 + 0.5) for i in range(n)]
            b = [complex(i % 4 + 0.25, -(i % 7)) for i in range(n)]
            words = lambda values: ", ".join(f"({v.real:.9e}, {v.imag:.9e})" for v in values)
            whole = f"tensor<{n}x{kind}>"
            for op, reference, tolerance in [("add", lambda x, y: x + y, 0), ("sub", lambda x, y: x - y, 0),
                                             ("mul", lambda x, y: x * y, 0), ("div", lambda x, y: x / y, 1e-5)]:
                wanted = [reference(x, y) for x, y in zip(a, b)]
                if part == "f16" and op == "div":
                    continue
                parts = ", ".join(f"[{v.real:.9e}, {v.imag:.9e}]" for v in wanted)
                program.functions.append(
                    f"func.func @{op}_{part}_{n}() {{\n  %x = util.unfoldable_constant dense<[{words(a)}]> : {whole}\n"
                    f"  %y = util.unfoldable_constant dense<[{words(b)}]> : {whole}\n"
                    f"  %r = linalg.map ins(%x, %y : {whole}, {whole}) outs(%x : {whole}) (%a: {kind}, %b: {kind}, %o: {kind}) {{\n"
                    f"    %c = complex.{op} %a, %b : {kind}\n    linalg.yield %c : {kind}\n  }}\n"
                    + (f"  %p = flow.tensor.bitcast %r : {whole} -> tensor<{n}x2x{part}>\n"
                       f"  check.expect_almost_eq_const(%p, dense<[{parts}]> : tensor<{n}x2x{part}>, atol 1.0e-5) : "
                       f"tensor<{n}x2x{part}>\n" if tolerance else
                       f"  check.expect_eq_const(%r, dense<[{words(wanted)}]> : {whole}) : {whole}\n") + "  return\n}\n")
            sizes = f"tensor<{n}x{part}>"
            program.functions.append(
                f"func.func @abs_{part}_{n}() {{\n  %x = util.unfoldable_constant dense<[{words(a)}]> : {whole}\n"
                f"  %e = tensor.empty() : {sizes}\n"
                f"  %r = linalg.map ins(%x : {whole}) outs(%e : {sizes}) (%a: {kind}, %o: {part}) {{\n"
                f"    %c = complex.abs %a : {kind}\n    linalg.yield %c : {part}\n  }}\n"
                f"  check.expect_almost_eq_const(%r, dense<[{', '.join(f'{abs(v):.9e}' for v in a)}]> : {sizes}, atol 2.0e-03) : "
                f"{sizes}\n  return\n}}\n")
    x, y = [[complex(i - j, j + 1) for j in range(3)] for i in range(2)], [[complex(i, i - j) for j in range(2)] for i in range(3)]
    product = [[sum(x[i][k] * y[k][j] for k in range(3)) for j in range(2)] for i in range(2)]
    words = lambda m: "[" + ", ".join("[" + ", ".join(f"({v.real:.1f}, {v.imag:.1f})" for v in row) + "]" for row in m) + "]"
    program.functions.append(
        f"func.func @matmul_complex() {{\n  %x = util.unfoldable_constant dense<{words(x)}> : tensor<2x3xcomplex<f32>>\n"
        f"  %y = util.unfoldable_constant dense<{words(y)}> : tensor<3x2xcomplex<f32>>\n"
        "  %z = arith.constant dense<(0.0, 0.0)> : tensor<2x2xcomplex<f32>>\n"
        "  %r = linalg.matmul ins(%x, %y : tensor<2x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) outs(%z : tensor<2x2xcomplex<f32>>) "
        f"-> tensor<2x2xcomplex<f32>>\n  check.expect_eq_const(%r, dense<{words(product)}> : tensor<2x2xcomplex<f32>>) : "
        "tensor<2x2xcomplex<f32>>\n  return\n}\n")


main(floats, booleans, integers, in_bodies, scaled, others)
