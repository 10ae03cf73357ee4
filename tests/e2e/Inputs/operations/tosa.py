# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of TOSA, against the pseudocode of its specification. usage: tosa.py FOLDER [GROUP]"""
import cmath
import math

from arrays import SIZES, STATIC, Array, draw, main


def elementwise(program):
    def unary(name, reference, kind="f32", to=None, values=None, tolerance=None, more="", after=""):
        for n in SIZES:
            x = draw([n, 3], kind)
            if values:
                x = Array([n, 3], kind, lambda i, j: values(x[i, j]))
            r = Array(x.shape, to or kind, lambda i, j: reference(x[i, j]))
            program.case(name, {"x": x}, r, lambda d: (
                f"{more}%r = tosa.{name} %x{', ' + after if after else ''} : ({x.type(d)}"
                f"{''.join(', tensor<1x' + kind + '>' for _ in after.split(',') if after)}) -> {r.type(d)}"), tolerance)

    positive = lambda x: abs(x) + 0.25
    for kind, tolerance in [("f32", 2e-6), ("f16", 2e-3)]:
        unary("abs", abs, kind)
        unary("ceil", math.ceil, kind)
        unary("floor", math.floor, kind)
        unary("exp", math.exp, kind, tolerance=tolerance)
        unary("log", math.log, kind, values=positive, tolerance=tolerance)
        unary("sin", math.sin, kind, tolerance=tolerance)
        unary("cos", math.cos, kind, tolerance=tolerance)
        unary("tanh", math.tanh, kind, tolerance=tolerance)
        unary("sigmoid", lambda x: 1 / (1 + math.exp(-x)), kind, tolerance=tolerance)
        unary("erf", math.erf, kind, tolerance=tolerance)
        unary("reciprocal", lambda x: 1 / x, kind, values=positive, tolerance=tolerance)
        unary("rsqrt", lambda x: x ** -0.5, kind, values=positive, tolerance=tolerance)
    unary("abs", abs, "i32")
    unary("bitwise_not", lambda x: ~x, "i32")
    unary("bitwise_not", lambda x: ~x, "i8")
    unary("clz", lambda x: 32 - (x & 0xFFFFFFFF).bit_length(), "i32")
    unary("logical_not", lambda x: not x, "i1")
    unary("identity", lambda x: x)
    zero = '%a = "tosa.const"() <{{values = dense<{0}> : tensor<1x{1}>}}> : () -> tensor<1x{1}>\n%b = "tosa.const"() ' \
           '<{{values = dense<{2}> : tensor<1x{1}>}}> : () -> tensor<1x{1}>\n'
    unary("negate", lambda x: -x, "f32", more=zero.format("0.0", "f32", "0.0"), after="%a, %b")
    unary("negate", lambda x: -x, "i32", more=zero.format("0", "i32", "0"), after="%a, %b")
    unary("negate", lambda x: max(-128, min(127, -(x - 3) + 5)), "i8", more=zero.format("3", "i8", "5"), after="%a, %b")
    unary("cast", float, "i32", "f32")
    unary("cast", lambda x: round(x), "f32", "i32")
    unary("cast", lambda x: round(x), "f32", "i8")
    unary("cast", lambda x: x, "i8", "i32")
    unary("cast", lambda x: x, "i32", "i8")
    unary("cast", lambda x: x, "f32", "f16")
    unary("cast", lambda x: x, "f16", "f32")
    unary("cast", lambda x: x != 0, "i32", "i1")
    unary("cast", lambda x: x, "i1", "i32")

    for n in SIZES:
        for kind, low, high in [("f32", -3.5, 2.25), ("i8", -20, 50), ("i32", -20, 50)]:
            x = draw([n, 3], kind)
            r = Array(x.shape, kind, lambda i, j: max(low, min(high, x[i, j])))
            program.case("clamp", {"x": x}, r, lambda d: (
                f"%r = tosa.clamp %x {{min_val = {low} : {kind}, max_val = {high} : {kind}}} : ({x.type(d)}) -> {r.type(d)}"))

    def binary(name, reference, kind="f32", to=None, second=None, tolerance=None, attributes=""):
        for n in SIZES:
            # The same shape, then a row and a column stretched.
            for shape in ([n, 3], [1, 3], [n, 1]):
                x, y = draw([n, 3], kind), draw(shape, kind)
                if second:
                    y = Array(shape, kind, lambda i, j: second(y[i, j]))
                r = Array(x.shape, to or kind, lambda i, j: reference(x[i, j], y[i % shape[0], j % shape[1]]))
                program.case(name, {"x": x, "y": y}, r, lambda d: (
                    f"%r = tosa.{name} %x, %y {attributes} : ({x.type(d)}, {y.type(d)}) -> {r.type(d)}"), tolerance, STATIC)

    for kind in ["f32", "f16", "i32"]:
        binary("add", lambda a, b: a + b, kind)
        binary("sub", lambda a, b: a - b, kind)
        binary("maximum", max, kind)
        binary("minimum", min, kind)
        binary("equal", lambda a, b: a == b, kind, "i1")
        binary("greater", lambda a, b: a > b, kind, "i1")
        binary("greater_equal", lambda a, b: a >= b, kind, "i1")
    binary("pow", lambda a, b: abs(a) ** b if a else 0, "f32", second=lambda b: 2.0, tolerance=1e-5)
    nonzero = lambda b: b or 7
    binary("intdiv", lambda a, b: int(a / b), "i32", second=nonzero)
    binary("bitwise_and", lambda a, b: a & b, "i32")
    binary("bitwise_or", lambda a, b: a | b, "i16")
    binary("bitwise_xor", lambda a, b: a ^ b, "i8")
    shift = lambda b: abs(b) % 31
    binary("logical_left_shift", lambda a, b: a << b, "i32", second=shift)
    binary("logical_right_shift", lambda a, b: (a & 0xFFFFFFFF) >> b, "i32", second=shift)
    binary("arithmetic_right_shift", lambda a, b: a >> b, "i32", second=shift, attributes="{round = false}")
    binary("arithmetic_right_shift", lambda a, b: (a >> b) + (a >> (b - 1) & 1 if b else 0), "i32", second=shift,
           attributes="{round = true}")
    for name, reference in [("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)]:
        binary("logical_" + name, reference, "i1")

    for n in SIZES:
        c, x, y = draw([n, 3], "i1"), draw([n, 3]), draw([n, 1])
        r = Array(x.shape, "f32", lambda i, j: x[i, j] if c[i, j] else y[i, 0])
        program.case("select", {"c": c, "x": x, "y": y}, r, lambda d: (
            f"%r = tosa.select %c, %x, %y : ({c.type(d)}, {x.type(d)}, {y.type(d)}) -> {r.type(d)}"), forms=STATIC)
        for kind, to, s in [("f32", "f32", 0), ("i32", "i32", 0), ("i32", "i32", 3), ("i8", "i32", 0)]:
            x, y = draw([n, 3], kind), draw([n, 3], kind)
            r = Array(x.shape, to, lambda i, j: (x[i, j] * y[i, j] + (1 << s >> 1) >> s) if s else x[i, j] * y[i, j])
            program.case("mul", {"x": x, "y": y}, r, lambda d: (
                f'%s = "tosa.const"() <{{values = dense<{s}> : tensor<1xi8>}}> : () -> tensor<1xi8>\n'
                f"%r = tosa.mul %x, %y, %s : ({x.type(d)}, {y.type(d)}, tensor<1xi8>) -> {r.type(d)}"), forms=STATIC)
        x = draw([n, 3], "i8")
        table = draw([256], "i8")
        r = Array(x.shape, "i8", lambda i, j: table[x[i, j] + 128,])
        program.case("table", {"x": x, "t": table}, r, lambda d: (
            ("%u = tensor.cast %t : tensor<?xi8> to tensor<256xi8>\n" if d else "") +
            f"%r = tosa.table %x, %{'u' if d else 't'} : ({x.type(d)}, tensor<256xi8>) -> {r.type(d)}"))
        wide = Array([n, 3], "i16", lambda i, j: (i * 7919 + j * 331) % 65536 - 32768)
        table16 = Array([513], "i16", lambda i: (i - 256) * 120)

        def looked_up(value):
            index, fraction = (value >> 7) + 256, value & 127
            base, after = table16[index,], table16[index + 1,]
            return (base << 7) + (after - base) * fraction
        r = Array(wide.shape, "i32", lambda i, j: looked_up(wide[i, j]))
        program.case("table16", {"x": wide, "t": table16}, r, lambda d: (
            f"%r = tosa.table %x, %t : ({wide.type()}, tensor<513xi16>) -> {r.type()}"), forms=STATIC)
        # Multiplied by 1.5 * 2^30 and shifted by 32: times 0.375, rounded to nearest, zero points 2 and -5.
        x = draw([n, 3], "i8")
        r = Array(x.shape, "i8", lambda i, j: max(-128, min(127, (((x[i, j] - 2) * 1610612736 + (1 << 31)) >> 32) - 5)))
        program.case("rescale", {"x": x}, r, lambda d: (
            '%m = "tosa.const"() <{values = dense<1610612736> : tensor<1xi32>}> : () -> tensor<1xi32>\n'
            '%h = "tosa.const"() <{values = dense<32> : tensor<1xi8>}> : () -> tensor<1xi8>\n'
            '%p = "tosa.const"() <{values = dense<2> : tensor<1xi8>}> : () -> tensor<1xi8>\n'
            '%q = "tosa.const"() <{values = dense<-5> : tensor<1xi8>}> : () -> tensor<1xi8>\n'
            f"%r = tosa.rescale %x, %m, %h, %p, %q {{scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, "
            f"input_unsigned = false, output_unsigned = false}} : ({x.type(d)}, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, "
            f"tensor<1xi8>) -> {r.type(d)}"))


def reductions(program):
    for n in SIZES:
        for axis, shape in [(0, [n, 3]), (1, [3, n])]:
            column = (lambda x, j: [x[i, j] for i in range(n)]) if axis == 0 else (lambda x, j: [x[j, i] for i in range(n)])
            result = [1, 3] if axis == 0 else [3, 1]
            for name, reference, kind, tolerance in [
                    ("sum", sum, "f32", 1e-5), ("sum", sum, "i32", None), ("max", max, "f32", None), ("max", max, "i8", None),
                    ("min", min, "f32", None), ("min", min, "i32", None), ("product", math.prod, "f32", 1e-4),
                    ("all", all, "i1", None), ("any", any, "i1", None)]:
                x = draw(shape, kind)
                if name == "product":
                    x = Array(shape, kind, lambda i, j: 1 + x[i, j] / 80)
                r = Array(result, kind, lambda i, j: reference(column(x, j if axis == 0 else i)))
                program.case("reduce_" + name, {"x": x}, r, lambda d: (
                    f"%k = tosa.reduce_{name} %x {{axis = {axis} : i32}} : ({x.type(d)}) -> "
                    f"{r.type() if not d else ('tensor<1x?x' if axis == 0 else 'tensor<?x1x') + kind + '>'}\n"
                    + (f"%r = tensor.cast %k : {('tensor<1x?x' if axis == 0 else 'tensor<?x1x') + kind + '>'} to {r.type(True)}"
                       if d else f"%r = tosa.identity %k : ({r.type()}) -> {r.type()}")), tolerance)
            for kind in ["f32", "i8"]:
                x = draw(shape, kind)
                r = Array([3], "i32", lambda j: column(x, j).index(max(column(x, j))))
                program.case("argmax", {"x": x}, r, lambda d: (
                    f"%r = tosa.argmax %x {{axis = {axis} : i32}} : ({x.type(d)}) -> {r.type(d)}"))


def moves(program):
    for n in SIZES:
        x, y = draw([n, 3]), draw([2, 3])
        r = Array([n + 2, 3], "f32", lambda i, j: x[i, j] if i < n else y[i - n, j])
        program.case("concat", {"x": x, "y": y}, r, lambda d: (
            f"%r = tosa.concat %x, %y {{axis = 0 : i32}} : ({x.type(d)}, {y.type(d)}) -> {r.type(d)}"))
        r = Array([n + 3, 7], "f32", lambda i, j: x[i - 1, j - 4] if 1 <= i < n + 1 and j >= 4 else 2.5)
        shape = lambda values: (f"tosa.const_shape {{values = dense<{values}> : tensor<{len(values)}xindex>}} : () -> "
                                f"!tosa.shape<{len(values)}>")
        program.case("pad", {"x": x}, r, lambda d: (
            f"%p = {shape([1, 2, 4, 0])}\n"
            f'%v = "tosa.const"() <{{values = dense<2.5> : tensor<1xf32>}}> : () -> tensor<1xf32>\n'
            f"%r = tosa.pad %x, %p, %v : ({x.type(d)}, !tosa.shape<4>, tensor<1xf32>) -> {r.type(d)}"))
        r = Array([3, n], "f32", lambda i, j: x[(i * n + j) // 3, (i * n + j) % 3])
        program.case("reshape", {"x": x}, r, lambda d: (
            f"%s = {shape([3, n])}\n%r = tosa.reshape %x, %s : ({x.type()}, !tosa.shape<2>) -> {r.type()}"), forms=STATIC)
        r = Array([n, 3], "f32", lambda i, j: x[n - 1 - i, j])
        program.case("reverse", {"x": x}, r, lambda d: f"%r = tosa.reverse %x {{axis = 0 : i32}} : ({x.type(d)}) -> {r.type(d)}")
        big = draw([n + 4, 6])
        r = Array([n, 2], "f32", lambda i, j: big[i + 3, j + 1])
        program.case("slice", {"x": big}, r, lambda d: (
            f"%s = {shape([3, 1])}\n%z = {shape([n, 2])}\n"
            f"%r = tosa.slice %x, %s, %z : ({big.type()}, !tosa.shape<2>, !tosa.shape<2>) -> {r.type()}"), forms=STATIC)
        r = Array([2 * n, 9], "f32", lambda i, j: x[i % n, j % 3])
        program.case("tile", {"x": x}, r, lambda d: (
            f"%m = {shape([2, 3])}\n%r = tosa.tile %x, %m : ({x.type(d)}, !tosa.shape<2>) -> {r.type(d)}"))
        z = draw([2, n, 3])
        r = Array([3, 2, n], "f32", lambda i, j, k: z[j, k, i])
        program.case("transpose", {"x": z}, r, lambda d: (
            f"%r = tosa.transpose %x {{perms = array<i32: 2, 0, 1>}} : ({z.type(d)}) -> {r.type(d)}"))
        at = Array([2, 5], "i32", lambda i, j: (7 * i + 3 * j) % n)
        r = Array([2, 5, 3], "f32", lambda i, j, k: z[i, at[i, j], k])
        program.case("gather", {"x": z, "at": at}, r, lambda d: (
            f"%r = tosa.gather %x, %at : ({z.type(d)}, {at.type(d)}) -> {r.type(d)}"))
        rows = min(n, 4)
        at = Array([2, rows], "i32", lambda i, j: (j * 3 + i) % n if n > 1 else 0)
        u = draw([2, rows, 3])
        place = [{at[i, j]: j for j in range(rows)} for i in range(2)]
        r = Array(z.shape, "f32", lambda i, j, k: u[i, place[i][j], k] if j in place[i] else z[i, j, k])
        program.case("scatter", {"x": z, "at": at, "u": u}, r, lambda d: (
            f"%r = tosa.scatter %x, %at, %u : ({z.type(d)}, {at.type(d)}, {u.type(d)}) -> {r.type(d)}"))
        picture = draw([1, n + 1, 3, 2])
        for mode in ["NEAREST_NEIGHBOR", "BILINEAR"]:
            # Twice as large: a scale of 4/2, no offset, no border beyond the last pixel.
            height, width = 2 * n + 1, 5

            def resized(b, i, j, c):
                y, x = i / 2, j / 2
                if mode == "BILINEAR":
                    y0, x0 = int(y), int(x)
                    y1, x1 = min(y0 + 1, n), min(x0 + 1, 2)
                    fy, fx = y - y0, x - x0
                    return ((1 - fy) * ((1 - fx) * picture[0, y0, x0, c] + fx * picture[0, y0, x1, c])
                            + fy * ((1 - fx) * picture[0, y1, x0, c] + fx * picture[0, y1, x1, c]))
                return picture[0, min(int(y + 0.5), n), min(int(x + 0.5), 2), c]
            r = Array([1, height, width, 2], "f32", resized)
            program.case("resize", {"x": picture}, r, lambda d: (
                f"%s = {shape([4, 2, 4, 2])}\n%o = {shape([0, 0])}\n%b = {shape([0, 0])}\n"
                f"%r = tosa.resize %x, %s, %o, %b {{mode = {mode}}} : ({picture.type()}, !tosa.shape<4>, !tosa.shape<2>, "
                f"!tosa.shape<2>) -> {r.type()}"), 1e-5, STATIC)
        # Twice as large by the middles of pixels: the first ones lie in front of the image. Weights are fourths, of integers as many.
        for kind, to in [("f32", "f32"), ("i8", "i32")]:
            picture = draw([1, n + 1, 3, 2], kind)

            def halved(_, i, j, c):
                total = 0
                for row, down in [((2 * i - 1) // 4, 4 - (2 * i - 1) % 4), ((2 * i - 1) // 4 + 1, (2 * i - 1) % 4)]:
                    for column, right in [((2 * j - 1) // 4, 4 - (2 * j - 1) % 4), ((2 * j - 1) // 4 + 1, (2 * j - 1) % 4)]:
                        total += picture[0, max(0, min(n, row)), max(0, min(2, column)), c] * down * right
                return total if to == "i32" else total / 16
            r = Array([1, 2 * n + 2, 6, 2], to, halved)
            program.case("resize", {"x": picture}, r, lambda d: (
                f"%s = {shape([4, 2, 4, 2])}\n%o = {shape([-1, -1])}\n%b = {shape([1, 1])}\n"
                f"%r = tosa.resize %x, %s, %o, %b {{mode = BILINEAR}} : ({picture.type()}, !tosa.shape<4>, !tosa.shape<2>, "
                f"!tosa.shape<2>) -> {r.type()}"), 1e-5 if to == "f32" else None, STATIC)


def products(program):
    zero = '%zx = "tosa.const"() <{{values = dense<{0}> : tensor<1x{1}>}}> : () -> tensor<1x{1}>\n' \
           '%zy = "tosa.const"() <{{values = dense<{2}> : tensor<1x{1}>}}> : () -> tensor<1x{1}>\n'
    for n in SIZES:
        for kind, to, zx, zy in [("f32", "f32", 0.0, 0.0), ("i8", "i32", 3, -4), ("f16", "f32", 0.0, 0.0)]:
            zeros = zero.format(zx, kind, zy)
            x, y = draw([2, n, 5], kind), draw([2, 5, 3], kind)
            r = Array([2, n, 3], to, lambda b, i, j: sum((x[b, i, k] - zx) * (y[b, k, j] - zy) for k in range(5)))
            program.case("matmul", {"x": x, "y": y}, r, lambda d: (
                f"{zeros}%r = tosa.matmul %x, %y, %zx, %zy : ({x.type(d)}, {y.type(d)}, tensor<1x{kind}>, tensor<1x{kind}>)"
                f" -> {r.type(d)}"), 1e-5 if to == "f32" else None)

        # 16 bits are summed in 48, and are 16 again behind a factor of 2^-20.
        x, y = draw([2, n, 5], "i16"), draw([2, 5, 3], "i16")
        x, y = [Array(v.shape, "i16", lambda *at: v[at] * 811) for v in (x, y)]
        r = Array([2, n, 3], "i16", lambda b, i, j: max(-32768, min(32767, (
            sum(x[b, i, k] * y[b, k, j] for k in range(5)) * 16384 + (1 << 33)) >> 34)))
        program.case("matmul", {"x": x, "y": y}, r, lambda d: (
            f"{zero.format(0, 'i16', 0)}%q = tosa.matmul %x, %y, %zx, %zy : ({x.type(d)}, {y.type(d)}, tensor<1xi16>, tensor<1xi16>)"
            f" -> {r.type(d)[:-4]}i48>\n"
            '%m = "tosa.const"() <{values = dense<16384> : tensor<1xi16>}> : () -> tensor<1xi16>\n'
            '%h = "tosa.const"() <{values = dense<34> : tensor<1xi8>}> : () -> tensor<1xi8>\n'
            '%p = "tosa.const"() <{values = dense<0> : tensor<1xi48>}> : () -> tensor<1xi48>\n'
            f"%r = tosa.rescale %q, %m, %h, %p, %zx {{scale32 = false, rounding_mode = SINGLE_ROUND, per_channel = false, "
            f"input_unsigned = false, output_unsigned = false}} : ({r.type(d)[:-4]}i48>, tensor<1xi16>, tensor<1xi8>, tensor<1xi48>, "
            f"tensor<1xi16>) -> {r.type(d)}"))

        for kind, to, zx, zy in [("f32", "f32", 0.0, 0.0), ("i8", "i32", 3, -4)]:
            zeros = zero.format(zx, kind, zy)
            tolerance = 1e-5 if to == "f32" else None
            accumulator = f"acc_type = {to}"
            x, w, b = draw([1, n + 2, 6, 2], kind), draw([3, 3, 2, 2], kind), draw([3], to)
            value = lambda i, j, c: x[0, i, j, c] - zx if 0 <= i < n + 2 and 0 <= j < 6 else 0
            # Padded by 1 above and left.
            height = n + 1
            r = Array([1, height, 6, 3], to, lambda _, i, j, f: b[f,] + sum(
                value(i - 1 + p, j - 1 + q, c) * (w[f, p, q, c] - zy) for p in range(3) for q in range(2) for c in range(2)))
            kinds = f"tensor<1x{kind}>, tensor<1x{kind}>"
            program.case("conv2d", {"x": x, "w": w, "b": b}, r, lambda d: (
                f"{zeros}%r = tosa.conv2d %x, %w, %b, %zx, %zy {{{accumulator}, pad = array<i64: 1, 0, 1, 0>, "
                f"stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : ({x.type()}, {w.type()}, {b.type()}, {kinds})"
                f" -> {r.type()}"), tolerance, STATIC)
            # Strides of 2, a dilation of 2 along the rows.
            x2 = draw([1, 2 * n + 3, 7, 2], kind)
            r = Array([1, n + 1, 3, 3], to, lambda _, i, j, f: b[f,] + sum(
                (x2[0, 2 * i + p, 2 * j + 2 * q, c] - zx) * (w[f, p, q, c] - zy)
                for p in range(3) for q in range(2) for c in range(2)))
            program.case("conv2d", {"x": x2, "w": w, "b": b}, r, lambda d: (
                f"{zeros}%r = tosa.conv2d %x, %w, %b, %zx, %zy {{{accumulator}, pad = array<i64: 0, 0, 0, 0>, "
                f"stride = array<i64: 2, 2>, dilation = array<i64: 1, 2>}} : ({x2.type()}, {w.type()}, {b.type()}, {kinds})"
                f" -> {r.type()}"), tolerance, STATIC)
            v = draw([3, 2, 2, 2], kind)
            b4 = draw([4], to)
            r = Array([1, height, 6, 4], to, lambda _, i, j, f: b4[f,] + sum(
                value(i - 1 + p, j - 1 + q, f // 2) * (v[p, q, f // 2, f % 2] - zy) for p in range(3) for q in range(2)))
            program.case("depthwise_conv2d", {"x": x, "w": v, "b": b4}, r, lambda d: (
                f"{zeros}%r = tosa.depthwise_conv2d %x, %w, %b, %zx, %zy {{{accumulator}, pad = array<i64: 1, 0, 1, 0>, "
                f"stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}} : ({x.type()}, {v.type()}, {b4.type()}, {kinds})"
                f" -> {r.type()}"), tolerance, STATIC)
            cube, k3 = draw([1, 3, n + 1, 4, 2], kind), draw([3, 2, 2, 2, 2], kind)
            r = Array([1, 2, n, 3, 3], to, lambda _, t, i, j, f: b[f,] + sum(
                (cube[0, t + o, i + p, j + q, c] - zx) * (k3[f, o, p, q, c] - zy)
                for o in range(2) for p in range(2) for q in range(2) for c in range(2)))
            program.case("conv3d", {"x": cube, "w": k3, "b": b}, r, lambda d: (
                f"{zeros}%r = tosa.conv3d %x, %w, %b, %zx, %zy {{{accumulator}, pad = array<i64: 0, 0, 0, 0, 0, 0>, "
                f"stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>}} : ({cube.type()}, {k3.type()}, {b.type()}, "
                f"{kinds}) -> {r.type()}"), tolerance, STATIC)
            # Each input element spreads the filter over a place of the result, two apart.
            t = draw([1, n, 3, 2], kind)
            out_height, out_width = (n - 1) * 2 + 3, 2 * 2 + 2

            def spread(_, i, j, f):
                total = b[f,]
                for p in range(3):
                    for q in range(2):
                        y, x = i - p, j - q
                        if y >= 0 and x >= 0 and y % 2 == 0 and x % 2 == 0 and y // 2 < n and x // 2 < 3:
                            total += sum((t[0, y // 2, x // 2, c] - zx) * (w[f, p, q, c] - zy) for c in range(2))
                return total
            r = Array([1, out_height, out_width, 3], to, spread)
            program.case("transpose_conv2d", {"x": t, "w": w, "b": b}, r, lambda d: (
                f"{zeros}%r = tosa.transpose_conv2d %x, %w, %b, %zx, %zy {{{accumulator}, out_pad = array<i64: 0, 0, 0, 0>, "
                f"stride = array<i64: 2, 2>}} : ({t.type()}, {w.type()}, {b.type()}, {kinds}) -> {r.type()}"), tolerance, STATIC)
        x = draw([1, n + 2, 5, 2])
        r = Array([1, n + 1, 4, 2], "f32", lambda _, i, j, c: max(x[0, i + p, j + q, c] for p in range(2) for q in range(2)))
        program.case("max_pool2d", {"x": x}, r, lambda d: (
            f"%r = tosa.max_pool2d %x {{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}}"
            f" : ({x.type()}) -> {r.type()}"), forms=STATIC)

        def average(_, i, j, c):
            inside = [x[0, y, z, c] for y in (i - 1, i, i + 1) for z in (j - 1, j, j + 1) if 0 <= y < n + 2 and 0 <= z < 5]
            return sum(inside) / len(inside)
        r = Array([1, n + 2, 5, 2], "f32", average)
        program.case("avg_pool2d", {"x": x}, r, lambda d: (
            '%zx = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>\n'
            '%zy = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>\n'
            f"%r = tosa.avg_pool2d %x, %zx, %zy {{kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, "
            f"stride = array<i64: 1, 1>, acc_type = f32}} : ({x.type()}, tensor<1xf32>, tensor<1xf32>) -> {r.type()}"),
            1e-6, STATIC)
    re, im = draw([1, 4, 8]), draw([1, 4, 8])

    def transform(k, l, part, imaginary):
        total = sum(complex(re[0, i, j], im[0, i, j] if imaginary else 0) * cmath.exp(-2j * cmath.pi * (i * k / 4 + j * l / 8))
                    for i in range(4) for j in range(8))
        return total.real if part == 0 else total.imag
    for part in range(2):
        r = Array([1, 4, 8], "f32", lambda _, k, l: transform(k, l, part, True))
        program.case("fft2d", {"x": re, "y": im}, r, lambda d: (
            f"%f:2 = tosa.fft2d %x, %y {{inverse = false}} : ({re.type()}, {im.type()}) -> ({r.type()}, {r.type()})\n"
            f"%r = tosa.identity %f#{part} : ({r.type()}) -> {r.type()}"), 1e-4, STATIC)
        r = Array([1, 4, 5], "f32", lambda _, k, l: transform(k, l, part, False))
        program.case("rfft2d", {"x": re}, r, lambda d: (
            f"%f:2 = tosa.rfft2d %x : ({re.type()}) -> ({r.type()}, {r.type()})\n"
            f"%r = tosa.identity %f#{part} : ({r.type()}) -> {r.type()}"), 1e-4, STATIC)


main(elementwise, reductions, moves, products)
