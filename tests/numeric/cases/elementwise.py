# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalar operations over tensors: arithmetic, mathematics, comparisons, conversions."""
import numpy as np

import bounded
import elements
from cases.case import Case, argument, elementwise, forms, generator, scalar
from elements import FLOATS, INTEGERS, KINDS, is_float, unsigned, width
from nodes.node import Step

# Where functions are defined, and worth a look.
DOMAIN = {"math.acos": (-1, 1), "math.asin": (-1, 1), "math.atanh": (-1, 1), "math.acosh": (1, 100), "math.log1p": (-1, 100),
          "math.erf": (-4, 4), "math.erfc": (-3, 3), "math.exp": (-9, 9), "math.exp2": (-12, 12), "math.expm1": (-9, 9),
          "math.sinh": (-9, 9), "math.cosh": (-9, 9), "math.sin": (-1000, 1000), "math.cos": (-1000, 1000), "math.tan": (-100, 100),
          "math.powf": (0.1, 6), "arith.remf": (-50, 50)}
POSITIVE = ("math.log", "math.log2", "math.log10", "math.sqrt", "math.rsqrt")
TORCH = {"arith.negf": "neg", "math.absf": "abs", "math.roundeven": "round", "math.rsqrt": "rsqrt", "arith.addf": "add",
         "arith.subf": "sub", "arith.mulf": "mul", "arith.divf": "div", "arith.maximumf": "maximum", "arith.minimumf": "minimum",
         "arith.maxnumf": "fmax", "arith.minnumf": "fmin", "math.powf": "pow", "arith.remf": "fmod", "math.round": None,
         "math.cbrt": None}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5]


def in_torch(name):
    word = TORCH.get(name, name.split(".")[1])
    return (lambda torch, *tensors: getattr(torch, word)(*tensors)) if word else None


def floats(random, name, kind, n):
    if name in POSITIVE:
        values = 2.0 ** random.uniform(-10, 10, n)
    elif name in DOMAIN:
        values = random.uniform(*DOMAIN[name], n)
    else:
        values = random.uniform(-1, 1, n) * 2.0 ** random.uniform(-8, 6, n)
    return values


def with_specials(arrays):
    """Every pair of special values, or every one, at the end of arrays that are long enough."""
    n, count = len(arrays[0]), len(arrays)
    grid = np.meshgrid(*[SPECIAL] * count)
    if n < 31 or count > 2 or n < grid[0].size:
        return arrays
    for array, special in zip(arrays, grid):
        array[n - special.size:] = special.ravel()
    return arrays


def float_cases(sizes):
    operations = [(name, 1) for name in bounded.FLOAT_UNARY] + [(name, 2) for name in bounded.FLOAT_BINARY] + [("math.fma", 3)]
    tables = {**bounded.FLOAT_UNARY, **bounded.FLOAT_BINARY, **bounded.FLOAT_TERNARY}
    for name, count in operations:
        for kind in FLOATS:
            for n, dynamic in forms(sizes):
                random = generator(name, kind, n)
                arrays = [elements.rounded(kind, a) for a in with_specials([floats(random, name, kind, n) for _ in range(count)])]
                program = elementwise([argument(kind, a, dynamic) for a in arrays], [Step(name, kind, tuple(range(count)))])
                yield Case(name, kind, program, in_torch(name) if name != "math.fma" else lambda torch, a, b, c: torch.addcmul(c, a, b),
                           raw=lambda *given, function=tables[name][0]: function(*given))


def integer_cases(sizes):
    for kind in INTEGERS:
        for n, dynamic in forms(sizes):
            random = generator(kind, n)
            a, b = (argument(kind, elements.draw(random, kind, (n,)), dynamic) for _ in range(2))
            for name in bounded.INTEGER_UNARY:
                yield Case(name, kind, elementwise([a], [Step(name, kind, (0,))]))
            for name in bounded.INTEGER_BINARY:
                yield Case(name, kind, elementwise([a, b], [Step(name, kind, (0, 1))]))
            for name in ("arith.minsi", "arith.minui", "arith.maxsi", "arith.maxui"):  # of 16 bits ptxas has an error here
                c = argument(kind, elements.draw(random, kind, (n,)), dynamic)
                yield Case(name + " of three that is the first", kind,
                           elementwise([a, b, c], [Step(name, kind, (0, 1)), Step(name, kind, (3, 2)), Step("cmp eq", "i1", (4, 0))]))
            for name in bounded.DIVISIONS:
                odd = argument(kind, b.data | 1, dynamic)
                yield Case(name, kind, elementwise([a, odd], [Step(name, kind, (0, 1))]))
            for name in bounded.SHIFTS:
                amount = argument(kind, b.data & (width(kind) - 1), dynamic)
                yield Case(name, kind, elementwise([a, amount], [Step(name, kind, (0, 1))]))
    for name in ("arith.andi", "arith.ori", "arith.xori"):
        for n, dynamic in forms(sizes):
            random = generator(name, n)
            pair = [argument("i1", elements.draw(random, "i1", (n,)), dynamic) for _ in range(2)]
            yield Case(name, "i1", elementwise(pair, [Step(name, "i1", (0, 1))]))


def comparison_cases(sizes):
    unordered = {"ueq": np.equal, "ugt": np.greater, "ult": np.less, "one": np.not_equal}
    for kind in KINDS:
        predicates = (bounded.FLOAT_PREDICATES if is_float(kind) else bounded.INTEGER_PREDICATES)
        for n, dynamic in forms(sizes):
            random = generator("compare", kind, n)
            arrays = [elements.draw(random, kind, (n,)) for _ in range(2)]
            arrays[1] = np.where(random.random(n) < 0.3, arrays[0], arrays[1])
            if is_float(kind) and n >= 150:
                arrays = with_specials(arrays)
            pair = [argument(kind, a, dynamic) for a in arrays]
            for predicate in predicates:
                yield Case("cmp " + predicate, kind, elementwise(pair, [Step("cmp " + predicate, "i1", (0, 1))]))
            for predicate, function in unordered.items() if is_float(kind) else ():
                def compare(x, y, predicate=predicate, function=function):
                    either = np.isnan(x) | np.isnan(y)
                    return np.where(either, predicate[0] == "u", function(x, y)).astype(np.int64)
                step = scalar("{r} = arith.cmpf " + predicate + ", {0}, {1} : " + kind, "i1", (0, 1), compare)
                yield Case("cmp " + predicate, kind, elementwise(pair, [step]))
            chosen = argument("i1", elements.draw(random, "i1", (n,)), dynamic)
            finite = [argument(kind, elements.draw(random, kind, (n,)), dynamic) for _ in range(2)]
            yield Case("select", kind, elementwise([chosen, *finite], [Step("select", kind, (0, 1, 2))]))


def conversion_cases(sizes):
    for source in KINDS:
        for target in KINDS:
            if source == target or target == "i1":
                continue
            for n, dynamic in forms(sizes):
                random = generator(source, target, n)
                values = elements.draw(random, source, (n,))
                if is_float(source) and not is_float(target):
                    values = elements.rounded(source, random.uniform(-120, 120, n))
                x = argument(source, values, dynamic)
                yield Case(f"convert {source}", target, elementwise([x], [Step("convert", target, (0,))]))
                step = unsigned_conversion(source, target)
                if step:
                    if is_float(source):
                        x = argument(source, np.abs(x.data), dynamic)
                    yield Case(f"convert unsigned {source}", target, elementwise([x], [step]))
    for source, target in (("f32", "i32"), ("i32", "f32"), ("f16", "i16"), ("bf16", "i16"), ("f64", "i64"), ("i16", "bf16")):
        for n, dynamic in forms(sizes):
            random = generator("bits", source, n)
            x = argument(source, elements.draw(random, source, (n,)) if is_float(source) else random.integers(0, 20000, n), dynamic)

            def bits(values, source=source, target=target):
                return elements.decode(target, elements.encode(source, values), values.shape)

            yield Case(f"bitcast {source}", target, elementwise([x], [scalar("{r} = arith.bitcast {0} : " + f"{source} to {target}",
                                                                          target, (0,), bits)]))


def unsigned_conversion(source, target):
    if is_float(source) and is_float(target):
        return None
    if is_float(source):
        return scalar("{r} = arith.fptoui {0} : " + f"{source} to {target}", target, (0,), np.trunc)
    if is_float(target):
        return scalar("{r} = arith.uitofp {0} : " + f"{source} to {target}", target, (0,),
                      lambda x: unsigned(source, x).astype(np.float64), 1)
    if width(source) < width(target):
        return scalar("{r} = arith.extui {0} : " + f"{source} to {target}", target, (0,),
                      lambda x: unsigned(source, x).view(np.int64))
    return None


def to_f8(mantissa, lowest):
    """Rounds to so many bits behind the first one, to nearest even; `lowest`: the exponent of the smallest normal number."""
    def convert(x):
        exponent = np.floor(np.log2(np.where(x == 0, 1.0, np.abs(x))))
        quantum = np.exp2(np.maximum(exponent, lowest) - mantissa)
        return np.rint(x / quantum) * quantum
    return convert


def there_and_back(kind, narrow, operations, function):
    """Through a type that no argument has."""
    return scalar("%narrow = " + operations[0] + " {0} : " + f"{kind} to {narrow}" + "\n    {r} = " + operations[1] + " %narrow : " +
                  f"{narrow} to {kind}", kind, (0,), function)


def narrow_cases(sizes):
    for n, dynamic in forms(sizes):
        for kind in ("f32", "f16", "bf16"):
            x = generator("f8", kind, n).uniform(-1, 1, n) * 2.0 ** generator("f8 size", n).integers(-12, 9, n)
            for narrow, function in (("f8E4M3FN", to_f8(3, -6)), ("f8E5M2", to_f8(2, -14))):
                yield Case("through " + narrow, kind, elementwise([argument(kind, np.clip(x, -440, 440), dynamic)], [
                    there_and_back(kind, narrow, ("arith.truncf", "arith.extf"), function)]))
        for kind in ("i32", "i8", "i64"):
            x = argument(kind, elements.draw(generator("i4", kind, n), kind, (n,)), dynamic)
            for bits in (4, 2, 3, 7):
                def signed(v, bits=bits):
                    low = v & ((1 << bits) - 1)
                    return np.where(low >> (bits - 1), low - (1 << bits), low)
                yield Case(f"through i{bits}", kind, elementwise([x], [
                    there_and_back(kind, f"i{bits}", ("arith.trunci", "arith.extsi"), signed)]))
                yield Case(f"through unsigned i{bits}", kind, elementwise([x], [
                    there_and_back(kind, f"i{bits}", ("arith.trunci", "arith.extui"), lambda v, bits=bits: v & ((1 << bits) - 1))]))


def mixed_cases(sizes):
    """Functions of two types, and the rarer ones."""
    for kind in FLOATS:
        for n, dynamic in forms(sizes):
            random = generator("mixed", kind, n)
            x = argument(kind, random.uniform(-3, 3, n), dynamic)
            power = argument("i32", random.integers(-4, 5, n), dynamic)
            yield Case("math.fpowi", kind, elementwise([x, power], [scalar(
                "{r} = math.fpowi {0}, {1} : " + kind + ", i32", kind, (0, 1), lambda a, b: a ** b.astype(np.float64), 16)]))
            low, high = (argument(kind, np.full(n, end), dynamic) for end in (-1.0, 1.5))
            yield Case("math.clampf", kind, elementwise([x, low, high], [scalar(
                "{r} = math.clampf {0} to [{1}, {2}] : " + kind, kind, (0, 1, 2), lambda a, b, c: np.clip(a, b, c))]),
                lambda torch, a, b, c: torch.clamp(a, b, c))
            odd = argument(kind, np.where(np.arange(n) % 5 == 3, np.nan, np.where(np.arange(n) % 7 == 2, -np.inf, x.data)), dynamic)
            for name, function in (("math.isnan", np.isnan), ("math.isinf", np.isinf), ("math.isfinite", np.isfinite)):
                yield Case(name, kind, elementwise([odd], [scalar(
                    "{r} = " + name + " {0} : " + kind, "i1", (0,), lambda a, function=function: function(a).astype(np.int64))]))
    for kind in INTEGERS:
        for n, dynamic in forms(sizes):
            random = generator("ipowi", kind, n)
            x, power = argument(kind, random.integers(-3, 4, n), dynamic), argument(kind, random.integers(0, 4, n), dynamic)
            yield Case("math.ipowi", kind, elementwise([x, power], [scalar(
                "{r} = math.ipowi {0}, {1} : " + kind, kind, (0, 1), np.power)]))


def cases(sizes):
    yield from float_cases(sizes)
    yield from integer_cases(sizes)
    yield from comparison_cases(sizes)
    yield from conversion_cases(sizes)
    yield from narrow_cases(sizes)
    yield from mixed_cases(sizes)
