# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The named operations of linalg. Elements are small multiples of 1/8, so sums of products are exact in every order.
usage: named.py FOLDER [GROUP]"""
import itertools
import math

from arrays import SIZES, STATIC, Array, draw, main, narrow, tensor

# (elements, accumulator); products of unsigned bytes by cast = #linalg.type_fn<cast_unsigned> are cases of their own.
KINDS = [("f32", "f32"), ("i8", "i32"), ("f16", "f32"), ("bf16", "f32"), ("f64", "f64")]
# Size of the innermost dimension of the result, stride, dilation.
WINDOWS = [(1, 1, 1), (9, 1, 2), (5, 2, 3)]


def operation(name, ins, outs, d, attributes="", also=""):
    """%r = linalg.NAME ins(..) outs(..): ins and outs are [(name, Array)]"""
    def names(pairs):
        return f"{', '.join('%' + n for n, _ in pairs)} : {', '.join(a.type(d) for _, a in pairs)}"
    return f"%r = linalg.{name} {attributes} ins({names(ins)}{also}) outs({names(outs)}) -> {outs[0][1].type(d)}"


def total(shape, term):
    return sum(term(*index) for index in itertools.product(*map(range, shape)))


def elementwise(program):
    positive = lambda x: abs(x) + 0.25
    unary = [("abs", abs, None, None), ("ceil", math.ceil, None, None), ("erf", math.erf, None, 4e-7),
             ("exp", math.exp, None, 2e-6), ("floor", math.floor, None, None), ("log", math.log, positive, 2e-6),
             ("negf", lambda x: -x, None, None), ("reciprocal", lambda x: 1 / x, positive, 2e-6),
             ("round", lambda x: math.copysign(math.floor(abs(x) + 0.5), x), None, None),
             ("rsqrt", lambda x: x ** -0.5, positive, 2e-6), ("sqrt", math.sqrt, positive, 2e-6),
             ("square", lambda x: x * x, None, None), ("tanh", math.tanh, None, 2e-6)]
    binary = [("add", lambda a, b: a + b, "f32 f16 i8 i64"), ("sub", lambda a, b: a - b, "f32 bf16 i16"),
              ("mul", lambda a, b: a * b, "f32 f64 i32"), ("max", max, "f32 i8"), ("min", min, "f32 i32"),
              ("div", lambda a, b: a / b if isinstance(b, float) else int(a / b), "f64 i32"),
              ("div_unsigned", lambda a, b: (a & 0xFFFFFFFF) // (b & 0xFFFFFFFF), "i32")]
    for n in SIZES:
        for name, reference, values, tolerance in unary:
            for kind in ["f32", "f16"]:
                x = draw([n, 3], kind)
                if values:
                    x = Array(x.shape, kind, lambda i, j: values(x[i, j]))
                r = Array(x.shape, kind, lambda i, j: reference(x[i, j]))
                near = tolerance and (tolerance if kind == "f32" else 1e-3)
                program.case(name, {"x": x, "e": x}, r, lambda d: operation(name, [("x", x)], [("e", x)], d), near)
        for name, reference, kinds in binary:
            for kind in kinds.split():
                x, y = draw([n, 3], kind), draw([n, 3], kind)
                if "div" in name:
                    y = Array(y.shape, kind, lambda i, j: y[i, j] or 3)
                r = Array(x.shape, kind, lambda i, j: reference(x[i, j], y[i, j]))
                program.case(name, {"x": x, "y": y}, r,
                             lambda d: operation(name, [("x", x), ("y", y)], [("x", x)], d), 1e-15 if kind == "f64" else None)
        x, y = draw([n]), draw([n])
        power = Array([n], "f32", lambda i: positive(x[i,]) ** (y[i,] / 4))
        base, exponent = Array([n], "f32", lambda i: positive(x[i,])), Array([n], "f32", lambda i: y[i,] / 4)
        program.case("powf", {"x": base, "y": exponent}, power,
                     lambda d: operation("powf", [("x", base), ("y", exponent)], [("x", base)], d), 4e-6)
        c = draw([n], "i1")
        chosen = Array([n], "f32", lambda i: x[i,] if c[i,] else y[i,])
        program.case("select", {"c": c, "x": x, "y": y}, chosen,
                     lambda d: operation("select", [("c", c), ("x", x), ("y", y)], [("x", x)], d))
        program.case("copy", {"x": x, "y": y}, x, lambda d: operation("copy", [("x", x)], [("y", y)], d))
        filled = Array([n], "f32", lambda i: 2.5)
        program.case("fill", {"x": x}, filled, lambda d: (
            f"%v = arith.constant 2.5 : f32\n%r = linalg.fill ins(%v : f32) outs(%x : {x.type(d)}) -> {x.type(d)}"))
        doubled = Array([n], "f32", lambda i: x[i,] * y[i,])
        program.case("map", {"x": x, "y": y}, doubled, lambda d: (
            f"%r = linalg.map {{ arith.mulf }} ins(%x, %y : {x.type(d)}, {y.type(d)}) outs(%x : {x.type(d)})"))
        wide = draw([n, 3])
        scaled = Array([n, 3], "f32", lambda i, j: wide[i, j] - x[i,])
        maps = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>"
        program.case("elementwise", {"x": wide, "y": x}, scaled, lambda d: operation(
            "elementwise", [("x", wide), ("y", x)], [("x", wide)], d,
            f"kind = #linalg.elementwise_kind<sub> indexing_maps = [{maps}]"))
        broad = Array([4, n, 3], "f32", lambda k, i, j: wide[i, j])
        program.case("broadcast", {"x": wide, "e": broad}, broad, lambda d: (
            f"%r = linalg.broadcast ins(%x : {wide.type(d)}) outs(%e : {broad.type(d)}) dimensions = [0]"))
        turned = Array([3, n], "f32", lambda j, i: wide[i, j])
        program.case("transpose", {"x": wide, "e": turned}, turned, lambda d: (
            f"%r = linalg.transpose ins(%x : {wide.type(d)}) outs(%e : {turned.type(d)}) permutation = [1, 0]"))
        for name, reference, kind in [("arith.addf", sum, "f32"), ("arith.maximumf", max, "f16"), ("arith.minsi", min, "i8"),
                                      ("arith.addi", sum, "i64")]:
            cube = draw([2, n, 5], kind)
            start = narrow(kind, {"sum": 0, "max": -1000.0, "min": 127}[reference.__name__])
            reduced = Array([n], kind, lambda i: reference(cube[k, i, j] for k in range(2) for j in range(5)))
            value = start if kind[0] == "i" else f"{start:.1f}"
            program.case("reduce", {"x": cube, "s": Array([n], kind, lambda i: start)}, reduced, lambda d: (
                f"%r = linalg.reduce {{ {name} }} ins(%x : {cube.type(d)}) outs(%s : {reduced.type(d)}) dimensions = [0, 2]"))
        for dimension in [0, 1]:
            s = Array([n, 5], "f32", lambda i, j: (7 * i + 3 * j) % 11 / 4 - 1)

            def soft(i, j):
                line = [s[i, k] for k in range(5)] if dimension else [s[k, j] for k in range(n)]
                return math.exp(s[i, j] - max(line)) / sum(math.exp(value - max(line)) for value in line)
            program.case("softmax", {"x": s}, Array(s.shape, "f32", soft), lambda d: (
                f"%r = linalg.softmax dimension({dimension}) ins(%x : {s.type(d)}) outs(%x : {s.type(d)}) -> {s.type(d)}"),
                2e-6)

        # A linear congruential generator, seeded by where the element stands; its 32 bits are scaled to the range.
        def random_element(i, j):
            value = 123456
            for index in (i, j):
                value = narrow("i32", (value + index) * 1103515245 + 12345)
            return value
        spread = Array([n, 3], "f64", lambda i, j: (random_element(i, j) + 2147483647.0) * (2.3283064E-10 * 20.0) - 10.0)
        program.case("fill_rng_2d", {"e": spread}, spread, lambda d: (
            "%low = arith.constant -10.0 : f64\n%high = arith.constant 10.0 : f64\n%seed = arith.constant 123456 : i32\n"
            f"%r = linalg.fill_rng_2d ins(%low, %high, %seed : f64, f64, i32) outs(%e : {spread.type(d)}) -> "
            f"{spread.type(d)}"), 1e-9)


def products(program):
    for n in SIZES:
        for kind, to in KINDS if n > 1 else KINDS[:1]:
            def contraction(name, left, right, out, sizes, attributes="", reads=lambda a: a):
                """left, right, out: the letters of the operands' dimensions."""
                shape = lambda letters: [sizes[letter] for letter in letters]
                x, y, o = draw(shape(left), kind), draw(shape(right), kind), draw(shape(out), to)
                reduced = sorted(set(left + right) - set(out))

                def element(*index):
                    at = dict(zip(out, index))

                    def term(*inner):
                        every = {**at, **dict(zip(reduced, inner))}
                        return reads(x[[every[l] for l in left]]) * reads(y[[every[l] for l in right]])
                    return o[index] + total(shape(reduced), term)
                r = Array(o.shape, to, element)
                program.case(name, {"x": x, "y": y, "o": o}, r,
                             lambda d: operation(name, [("x", x), ("y", y)], [("o", o)], d, attributes))
            sizes = {"m": n, "n": 3, "k": 5, "b": 2, "p": 2, "q": 3, "s": 2}
            contraction("matmul", "mk", "kn", "mn", sizes)
            contraction("batch_matmul", "bmk", "bkn", "bmn", sizes)
            contraction("batch_reduce_matmul", "bmk", "bkn", "mn", sizes)
            contraction("matvec", "mk", "k", "m", sizes)
            contraction("vecmat", "k", "kn", "n", {"k": n, "n": 3})
            contraction("batch_matvec", "bmk", "bk", "bm", sizes)
            contraction("batch_vecmat", "bk", "bkn", "bn", sizes)
            contraction("dot", "k", "k", "", {"k": n})
            contraction("mmt4d", "mkpq", "nksq", "mnps", sizes)
            contraction("batch_mmt4d", "bmkpq", "bnksq", "bmnps", sizes)

            def maps(*letters):
                loops = "(d0, d1, d2) -> "
                return "[" + ", ".join(f"affine_map<{loops}({', '.join(part)})>" for part in letters) + "]"
            a, b, o = ["d0", "d2"], ["d2", "d1"], ["d0", "d1"]
            contraction("matmul", "km", "kn", "mn", sizes, "indexing_maps = " + maps(a[::-1], b, o))
            contraction("matmul", "mk", "nk", "mn", sizes, "indexing_maps = " + maps(a, b[::-1], o))
            contraction("contract", "mk", "nk", "nm", sizes, "indexing_maps = " + maps(a, b[::-1], o[::-1]))
            if kind == "i8":
                contraction("matmul", "mk", "kn", "mn", sizes, "{cast = #linalg.type_fn<cast_unsigned>}",
                            lambda value: value & 255)

        for name, batch in [("quantized_matmul", []), ("quantized_batch_matmul", [2])]:
            x, y, o = draw(batch + [n, 5], "i8"), draw(batch + [5, 3], "i8"), draw(batch + [n, 3], "i32")
            r = Array(o.shape, "i32", lambda *at: o[at] + total([5], lambda k: (
                (x[(*at[:-1], k)] - 7) * (y[(*at[:-2], k, at[-1])] + 4))))
            program.case(name, {"x": x, "y": y, "o": o}, r, lambda d: (
                "%zx = arith.constant 7 : i32\n%zy = arith.constant -4 : i32\n"
                f"%r = linalg.{name} ins(%x, %y, %zx, %zy : {x.type(d)}, {y.type(d)}, i32, i32) outs(%o : {o.type(d)}) -> "
                f"{o.type(d)}"))


def windows(sizes, strides, dilations, spatial):
    """What the input measures where the result and the kernel are given: [spatial] (result, kernel)."""
    return {l: (sizes[l.upper()] - 1) * strides[i] + (sizes["k" + l] - 1) * dilations[i] + 1 for i, l in enumerate(spatial)}


def convolution(program, name, input_letters, filter_letters, out_letters, n, kind, to, stride, dilation, quantized=False):
    """Letters: n, g, c, f, m as in the operation's name; d, h and w are the kernel's in the filter, the result's in the
    result, and in the input the place of both."""
    spatial = [l for l in "dhw" if l in input_letters]
    is_plain = name in ("conv_1d", "conv_2d", "conv_3d")
    if is_plain:
        stride = dilation = 1
    strides, dilations = [stride] * len(spatial), [dilation] * len(spatial)
    sizes = {"n": 2, "g": 2, "c": 3, "f": 2, "m": 2}
    for i, l in enumerate(spatial):
        sizes[l.upper()] = n if i == len(spatial) - 1 else 2
        sizes["k" + l] = 3 if i == 0 else 2
    place = windows(sizes, strides, dilations, spatial)
    shape = lambda letters, which: [which.get(l, sizes.get(l)) for l in letters]
    x = draw(shape(input_letters, place), kind)
    w = draw(shape(filter_letters, {l: sizes["k" + l] for l in spatial}), kind)
    o = draw(shape(out_letters, {l: sizes[l.upper()] for l in spatial}), to)
    reduced = spatial + sorted(set(input_letters + filter_letters) - set(out_letters) - set(spatial))
    zx, zw = (3, -2) if quantized else (0, 0)

    def element(*index):
        at = dict(zip(out_letters, index))

        def term(*inner):
            k = dict(zip(reduced, inner))
            other = {l: k.get(l, at.get(l)) for l in "ngcfm"}
            where = {l: at[l] * strides[i] + k[l] * dilations[i] for i, l in enumerate(spatial)}
            return ((x[[where.get(l, other.get(l)) for l in input_letters]] - zx)
                    * (w[[k[l] if l in spatial else other[l] for l in filter_letters]] - zw))
        return o[index] + total([sizes["k" + l] if l in spatial else sizes[l] for l in reduced], term)
    r = Array(o.shape, to, element)
    count = len(spatial)
    attributes = "" if is_plain else (
        f"{{dilations = dense<{dilation}> : tensor<{count}xi64>, strides = dense<{stride}> : tensor<{count}xi64>}}")

    def body(d):
        if not quantized:
            return operation(name, [("x", x), ("w", w)], [("o", o)], d, attributes)
        return (f"%zx = arith.constant {zx} : i32\n%zw = arith.constant {zw} : i32\n"
                f"%r = linalg.{name} {attributes} ins(%x, %w, %zx, %zw : {x.type(d)}, {w.type(d)}, i32, i32) "
                f"outs(%o : {o.type(d)}) -> {o.type(d)}")
    program.case(name, {"x": x, "w": w, "o": o}, r, body)


def convolutions(program):
    plain = ["conv_1d", "conv_2d", "conv_3d", "conv_1d_ncw_fcw", "conv_1d_nwc_wcf", "conv_2d_nchw_fchw", "conv_2d_nchw_fchw_q",
             "conv_2d_ngchw_fgchw", "conv_2d_ngchw_gfchw", "conv_2d_ngchw_gfchw_q", "conv_2d_nhwc_fhwc", "conv_2d_nhwc_fhwc_q",
             "conv_2d_nhwc_hwcf", "conv_2d_nhwc_hwcf_q", "conv_2d_nhwgc_gfhwc", "conv_2d_nhwgc_gfhwc_q", "conv_3d_ncdhw_fcdhw",
             "conv_3d_ndhwc_dhwcf", "conv_3d_ndhwc_dhwcf_q", "depthwise_conv_1d_ncw_cw", "depthwise_conv_1d_nwc_wc",
             "depthwise_conv_1d_nwc_wcm", "depthwise_conv_2d_nchw_chw", "depthwise_conv_2d_nhwc_hwc",
             "depthwise_conv_2d_nhwc_hwc_q", "depthwise_conv_2d_nhwc_hwcm", "depthwise_conv_2d_nhwc_hwcm_q",
             "depthwise_conv_3d_ncdhw_cdhw", "depthwise_conv_3d_ndhwc_dhwc", "depthwise_conv_3d_ndhwc_dhwcm"]
    for name in plain:
        quantized = name.endswith("_q")
        parts = name.removesuffix("_q").split("_")
        if "d" == parts[-1][-1] and parts[-1][0].isdigit():
            letters = {"1": "w", "2": "hw", "3": "dhw"}[parts[-1][0]]
            given, kernel, out = letters, letters, letters
        else:
            given, kernel = parts[-2:]
            if name.startswith("depthwise"):
                out = given + ("m" if "m" in kernel else "")
            else:
                out = given.replace("c", "f")
        kinds = [("i8", "i32")] if quantized else [("f32", "f32"), ("i8", "i32")]
        for kind, to in kinds:
            for n, stride, dilation in WINDOWS if kind == "f32" else WINDOWS[-1:]:
                convolution(program, name, given, kernel, out, n, kind, to, stride, dilation, quantized)


def pools(program):
    for layout in ["ncw", "nchw", "nwc", "nhwc", "ndhwc"]:
        spatial = [l for l in "dhw" if l in layout]
        for how in ["sum", "max", "min", "max_unsigned", "min_unsigned"]:
            if layout in ("ncw", "nchw") and "min" in how or "unsigned" in how and layout not in ("nwc", "nhwc"):
                continue
            if (layout, how) in [("ncw", "max_unsigned"), ("nchw", "max_unsigned")]:
                continue
            for kind in ["i8"] if "unsigned" in how else ["f32", "i8", "f16"]:
                for n, stride, dilation in WINDOWS if kind == "f32" else WINDOWS[-1:]:
                    sizes = {"n": 2, "c": 3}
                    for i, l in enumerate(spatial):
                        sizes[l.upper()] = n if i == len(spatial) - 1 else 2
                        sizes["k" + l] = 3 if i == 0 else 2
                    strides, dilations = [stride] * len(spatial), [dilation] * len(spatial)
                    place = windows(sizes, strides, dilations, spatial)
                    x = draw([place.get(l, sizes.get(l)) for l in layout], kind)
                    w = draw([sizes["k" + l] for l in spatial], kind)
                    o = draw([sizes[l.upper()] if l in spatial else sizes[l] for l in layout], kind)
                    unsigned = (lambda value: value & 255) if "unsigned" in how else (lambda value: value)

                    def element(*index):
                        at = dict(zip(layout, index))
                        found = [o[index]]
                        for k in itertools.product(*(range(sizes["k" + l]) for l in spatial)):
                            where = {l: at[l] * stride + k[i] * dilation for i, l in enumerate(spatial)}
                            found.append(x[[where.get(l, at[l]) for l in layout]])
                        found = [unsigned(value) for value in found]
                        return {"sum": sum, "max": max, "min": min}[how.split("_")[0]](found)
                    r = Array(o.shape, kind, element)
                    program.case(f"pooling_{layout}_{how}", {"x": x, "w": w, "o": o}, r, lambda d: operation(
                        f"pooling_{layout}_{how}", [("x", x), ("w", w)], [("o", o)], d,
                        f"{{dilations = dense<{dilation}> : tensor<{len(spatial)}xi64>, strides = dense<{stride}> : "
                        f"tensor<{len(spatial)}xi64>}}"))


def winograd(program):
    """Filter, input and result of a convolution, transformed, multiplied and transformed back."""
    for name, m, r in [("F_2_3", 2, 3), ("F_4_3", 4, 3), ("F_2_5", 2, 5)]:
        for high, wide in [(True, True), (True, False), (False, True)]:
            mh, rh, mw, rw = m if high else 1, r if high else 1, m if wide else 1, r if wide else 1
            ah, aw, th, tw, n, c, f = mh + rh - 1, mw + rw - 1, 2, 3, 2, 3, 4
            x, w = draw([n, mh * th + rh - 1, mw * tw + rw - 1, c]), draw([f, rh, rw, c])
            o = draw([n, mh * th, mw * tw, f])
            r4 = Array(o.shape, "f32", lambda b, i, j, k: o[b, i, j, k] + total([rh, rw, c], lambda p, q, l: (
                x[b, i + p, j + q, l] * w[k, p, q, l])))
            t = lambda *shape: tensor(shape, "f32")
            a2, rows = ah * aw, th * tw * n
            program.case("winograd", {"x": x, "w": w, "o": o}, r4, lambda d: (
                f"%fe = tensor.empty() : {t(ah, aw, c, f)}\n%xe = tensor.empty() : {t(ah, aw, th, tw, n, c)}\n"
                f"%g = linalg.winograd_filter_transform fmr({name}) ins(%w : {w.type()}) outs(%fe : {t(ah, aw, c, f)}) -> "
                f"{t(ah, aw, c, f)}\n"
                f"%d = linalg.winograd_input_transform fmr({name}) ins(%x : {x.type()}) outs(%xe : {t(ah, aw, th, tw, n, c)}) "
                f"-> {t(ah, aw, th, tw, n, c)}\n"
                f"%g3 = tensor.collapse_shape %g [[0, 1], [2], [3]] : {t(ah, aw, c, f)} into {t(a2, c, f)}\n"
                f"%d3 = tensor.collapse_shape %d [[0, 1], [2, 3, 4], [5]] : {t(ah, aw, th, tw, n, c)} into {t(a2, rows, c)}\n"
                f"%z = arith.constant dense<0.0> : {t(a2, rows, f)}\n"
                f"%m = linalg.batch_matmul ins(%d3, %g3 : {t(a2, rows, c)}, {t(a2, c, f)}) outs(%z : {t(a2, rows, f)}) -> "
                f"{t(a2, rows, f)}\n"
                f"%v = tensor.expand_shape %m [[0, 1], [2, 3, 4], [5]] output_shape [{ah}, {aw}, {th}, {tw}, {n}, {f}] : "
                f"{t(a2, rows, f)} into {t(ah, aw, th, tw, n, f)}\n"
                f"%r = linalg.winograd_output_transform fmr({name}) ins(%v : {t(ah, aw, th, tw, n, f)}) outs(%o : {o.type()}) -> "
                f"{o.type()}"), 2e-4, STATIC)


main(elementwise, products, convolutions, pools, winograd)
