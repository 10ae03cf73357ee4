# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements that programs have no name for, as arguments and results of functions: packed integers and floats of four bits,
complex numbers as pairs, the others as integers (compiler/input/types/boundary.h)."""
import numpy as np

import elements
from bounded import Bounded
from cases.case import Case, forms, generator

MAGNITUDES = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
WIDTHS = {"i2": 2, "i4": 4, "ui4": 4, "f4E2M1FN": 4}


class Written:
    """A program given as text: text(name) is a function, inputs and results are (kind, array)."""

    def __init__(self, text, inputs, results):
        self.body, self.given, self.wanted = text, inputs, results

    def text(self, name="run"):
        return self.body.replace("@run", f"@{name}")

    def inputs(self):
        return self.given

    def expected(self):
        return [Bounded(kind, np.asarray(values)) for kind, values in self.wanted]


def packed(kind, codes):
    """Rows of codes as bytes, the first in the low bits."""
    width = WIDTHS[kind]
    shared = 8 // width
    rows = np.concatenate([codes, np.zeros((*codes.shape[:-1], -codes.shape[-1] % shared), dtype=np.int64)], axis=-1)
    rows = (rows & ((1 << width) - 1)).reshape(*codes.shape[:-1], rows.shape[-1] // shared, shared)
    return elements.wrap("i8", (rows << (width * np.arange(shared))).sum(axis=-1))


def meaning(kind, codes):
    """What codes say: integers, floats of f4E2M1FN as float64."""
    codes = codes & ((1 << WIDTHS[kind]) - 1)
    if kind[0] == "f":
        return np.where(codes & 8, -1.0, 1.0) * MAGNITUDES[codes & 7]
    return codes if kind[0] == "u" else np.where(codes >> (WIDTHS[kind] - 1), codes - (1 << WIDTHS[kind]), codes)


def tensor(kind, shape, dynamic):
    return f"tensor<{''.join('?x' if dynamic else f'{n}x' for n in shape)}{kind}>"


def function(parameters, result, lines):
    given = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(parameters))
    return f"func.func @run({given}) -> {result} {{\n" + "\n".join(f"  {line}" for line in lines) + f"\n  return %r : {result}\n}}\n"


def nibbles(sizes):
    for kind, width in WIDTHS.items():
        for n, dynamic in forms(sizes):
            if dynamic and n % (8 // width):
                n += 8 // width - n % (8 // width)  # a row of unknown length is whole bytes
            for shape in ((n,), (3, n)):
                random = generator("boundary", kind, shape)
                codes, others = random.integers(0, 1 << width, shape), random.integers(0, 1 << width, shape)
                of, wide = tensor(kind, shape, dynamic), tensor("f32" if kind[0] == "f" else "i32", shape, dynamic)
                bytes_of = [("i8", packed(kind, codes))]

                def case(name, inputs, parameters, result, lines, values):
                    return Case(f"{name} at the boundary", kind, Written(function(parameters, result, lines), inputs, values))
                yield case("the same", bytes_of, [of], of, [f"%r = util.optimization_barrier %a0 : {of}"], bytes_of)
                if kind == "ui4":
                    continue
                widen, narrow = ("arith.extf", "arith.truncf") if kind[0] == "f" else ("arith.extsi", "arith.trunci")
                values = (wide[-4:-1], meaning(kind, codes))
                yield case("widen", bytes_of, [of], wide, [f"%r = {widen} %a0 : {of} to {wide}"], [values])
                yield case("narrow", [values], [wide], of, [f"%r = {narrow} %a0 : {wide} to {of}"], bytes_of)
                if kind[0] != "i":
                    continue
                both = [*bytes_of, ("i8", packed(kind, others))]
                yield case("sum", both, [of, of], of, [f"%r = arith.addi %a0, %a1 : {of}"], [("i8", packed(kind, codes + others))])
                if len(shape) == 2 and not dynamic and n > 1:
                    part = tensor(kind, (2, n - 1), False)
                    yield case("slice", bytes_of, [of], part,
                               [f"%r = tensor.extract_slice %a0[1, 1] [2, {n - 1}] [1, 1] : {of} to {part}"],
                               [("i8", packed(kind, codes[1:, 1:]))])
                    turned = tensor(kind, (n, 3), False)
                    yield case("transpose", bytes_of, [of], turned,
                               [f"%e = tensor.empty() : {turned}",
                                f"%r = linalg.transpose ins(%a0 : {of}) outs(%e : {turned}) permutation = [1, 0]"],
                               [("i8", packed(kind, codes.T))])


def products(sizes):
    """Activations times weights of four bits."""
    for n, dynamic in forms(sizes):
        random = generator("boundary product", n)
        x, codes = random.integers(-100, 100, (5, n)), random.integers(0, 16, (n, 8))
        weights, rows, out = (tensor(*one, dynamic) for one in (("i4", (n, 8)), ("i8", (5, n)), ("i32", (5, 8))))
        sizes_of = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", f"%m = tensor.dim %a0, %c0 : {rows}",
                    f"%k = tensor.dim %a1, %c1 : {weights}"] if dynamic else []
        lines = [*sizes_of, f"%e = tensor.empty({'%m, %k' if dynamic else ''}) : {out}", "%z = arith.constant 0 : i32",
                 f"%o = linalg.fill ins(%z : i32) outs(%e : {out}) -> {out}",
                 f"%r = linalg.matmul ins(%a0, %a1 : {rows}, {weights}) outs(%o : {out}) -> {out}"]
        yield Case("product at the boundary", "i4", Written(
            function([rows, weights], out, lines), [("i8", x), ("i8", packed("i4", codes))], [("i32", x @ meaning("i4", codes))]))


def pairs(sizes):
    for part in ("f32", "f16"):
        kind = f"complex<{part}>"
        for n, dynamic in forms(sizes):
            random = generator("boundary", kind, n)
            a, b = (random.integers(-8, 9, (n, 3)) / 4 + 1j * random.integers(-8, 9, (n, 3)) / 4 for _ in range(2))
            of, halves = tensor(kind, (n, 3), dynamic), tensor(part, (n, 3), dynamic)
            given = lambda *all: [(part, np.stack([x.real, x.imag], axis=-1)) for x in all]

            def mapped(parameters, result, line, to=kind, part=part, kind=kind):
                names = ", ".join(f"%x{i}: {kind}" for i in range(len(parameters)))
                sizes_of = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index",
                            f"%m = tensor.dim %a0, %c0 : {parameters[0]}", f"%k = tensor.dim %a0, %c1 : {parameters[0]}"]
                unknown = "?" in result
                return function(parameters, result, [
                    *(sizes_of if unknown else []), f"%e = tensor.empty({'%m, %k' if unknown else ''}) : {result}",
                    f"%r = linalg.map ins({', '.join(f'%a{i}' for i in range(len(parameters)))} : {', '.join(parameters)}) "
                    f"outs(%e : {result}) ({names}, %o: {to}) {{", f"  {line}", f"  linalg.yield %y : {to}", "}"])

            def case(name, text, inputs, results, kind=kind):
                return Case(f"{name} at the boundary", kind, Written(text, inputs, results))
            for name, value in (("add", a + b), ("mul", a * b)):
                yield case(name, mapped([of, of], of, f"%y = complex.{name} %x0, %x1 : {kind}"), given(a, b), given(value))
            yield case("im", mapped([of], halves, f"%y = complex.im %x0 : {kind}", part), given(a), [(part, a.imag)])
            yield case("conj", mapped([of], of, f"%y = complex.conj %x0 : {kind}"), given(a), given(a.conj()))
            yield case("the same", function([of], of, [f"%r = util.optimization_barrier %a0 : {of}"]), given(a), given(a))


def wider(sizes):
    for n, dynamic in forms(sizes):
        x = generator("boundary i24", n).integers(-(1 << 23), 1 << 23, (n,))
        of, out = tensor("i24", (n,), dynamic), tensor("i32", (n,), dynamic)
        yield Case("double at the boundary", "i24", Written(
            function([of], of, [f"%r = arith.addi %a0, %a0 : {of}"]), [("i32", x)],
            [("i32", ((2 * x + (1 << 23)) & ((1 << 24) - 1)) - (1 << 23))]))
        yield Case("widen at the boundary", "i24", Written(
            function([of], out, [f"%r = arith.extsi %a0 : {of} to {out}"]), [("i32", x & 0xFFFFFF)], [("i32", x)]))


def cases(sizes):
    yield from nibbles(sizes)
    yield from products(sizes)
    yield from pairs(sizes)
    yield from wider(sizes)
