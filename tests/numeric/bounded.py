# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program computes, in float64, with how far a right answer may be from it.

A random program rounds after every operation, in an order that is the compiler's, and steps (comparisons, floor, argmax) turn a
rounding into another result. So each value carries a bound: an operation is evaluated at the ends of its operands' intervals,
the largest deviation is the bound that the operands cause, and the operation's own rounding is added. A step whose operands may
lie on either side gets a bound as large as the step, or, for integers, none: such elements, like those that are not finite, are
not compared. Exact integers and steps that are decided stay exact.
"""
import itertools
import math

import numpy as np

from elements import EPS, FLUSHED, LARGEST, TINY, is_float, ulp, unsigned, width, wrap


class Bounded:
    """v: float64 or int64 array; e: bound of the absolute error, inf where nothing is known."""

    def __init__(self, kind, v, e=None):
        self.kind = kind
        self.v = np.asarray(v, dtype=np.float64 if is_float(kind) else np.int64)
        self.e = np.zeros(self.v.shape) if e is None else np.broadcast_to(e, self.v.shape)

    @property
    def shape(self):
        return self.v.shape

    def move(self, function):
        """The same elements elsewhere: transposed, sliced, gathered."""
        return Bounded(self.kind, function(self.v), function(self.e))


def finish(kind, v, e, units=0.0):
    """A float result: rounding is added, what is not finite or near the end of the type is not known."""
    with np.errstate(all="ignore"):
        bad = ~np.isfinite(v) | ~np.isfinite(e) | (np.abs(v) + e > LARGEST[kind] / 4)
        e = np.where(bad, np.inf, e * 1.001 + units * ulp(kind, np.abs(v) + np.where(bad, 0, e)))
        # Small numbers lose digits, and a library function may flush what is below the normal range.
        e = np.where(units > 1, e + FLUSHED[kind], e)
    return Bounded(kind, np.where(bad, 0.0, v), e)


def apply(function, kind, arguments, units=1.0):
    """function on float64 and int64 arrays, elementwise; `units`: its own rounding in ulps of `kind`."""
    with np.errstate(all="ignore"):
        values = np.broadcast_arrays(*[a.v for a in arguments]) if len(arguments) > 1 else [arguments[0].v]
        bounds = np.broadcast_arrays(*[a.e for a in arguments]) if len(arguments) > 1 else [arguments[0].e]
        unknown = np.zeros(values[0].shape, dtype=bool)
        for bound in bounds:
            unknown |= np.isinf(bound)
        bounds = [np.where(unknown, 0.0, bound) for bound in bounds]
        centre = function(*values)
        moving = [i for i, a in enumerate(arguments) if is_float(a.kind) and bounds[i].any()]
        deviation = np.zeros(values[0].shape)
        for signs in itertools.product((-1, 1), repeat=len(moving)):
            moved = list(values)
            for i, sign in zip(moving, signs):
                moved[i] = values[i] + sign * bounds[i]
            result = function(*moved)
            if is_float(kind):
                deviation = np.fmax(deviation, np.where(np.isnan(result), np.inf, np.abs(result - centre)))
            else:
                unknown |= result != centre
    if is_float(kind):
        return finish(kind, np.asarray(centre, dtype=np.float64), np.where(unknown, np.inf, deviation), units)
    return Bounded(kind, wrap(kind, centre), np.where(unknown, np.inf, 0.0))


# ---- Scalar operations: name -> (operand kinds, result kind, function, units) for a kind ----

def truncated(a, b):
    b = np.where(b == 0, 1, b)
    q = np.floor_divide(a, b)
    return np.where((q < 0) & (q * b != a), q + 1, q)


def by_unsigned(function):
    """An integer function of the unsigned values."""
    def run(kind):
        return lambda *arrays: function(*[unsigned(kind, a) for a in arrays]).astype(np.uint64).view(np.int64)
    return run


def count_ones(kind, a):
    bits = unsigned(kind, a)
    return sum(((bits >> np.uint64(i)) & np.uint64(1)).astype(np.int64) for i in range(width(kind)))


def leading_zeros(kind, a):
    bits, count = unsigned(kind, a), np.zeros(a.shape, dtype=np.int64)
    found = np.zeros(a.shape, dtype=bool)
    for i in reversed(range(width(kind))):
        found |= ((bits >> np.uint64(i)) & np.uint64(1)).astype(bool)
        count += ~found
    return count


def trailing_zeros(kind, a):
    bits, count = unsigned(kind, a), np.zeros(a.shape, dtype=np.int64)
    found = np.zeros(a.shape, dtype=bool)
    for i in range(width(kind)):
        found |= ((bits >> np.uint64(i)) & np.uint64(1)).astype(bool)
        count += ~found
    return count


erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def away_from_zero(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


FLOAT_UNARY = {
    "arith.negf": (np.negative, 0), "math.absf": (np.abs, 0), "math.ceil": (np.ceil, 0), "math.floor": (np.floor, 0),
    "math.trunc": (np.trunc, 0), "math.roundeven": (np.rint, 0), "math.round": (away_from_zero, 0),
    "math.sqrt": (np.sqrt, 1), "math.rsqrt": (lambda x: 1 / np.sqrt(x), 4), "math.cbrt": (np.cbrt, 4), "math.exp": (np.exp, 4),
    "math.exp2": (np.exp2, 4), "math.expm1": (np.expm1, 4), "math.log": (np.log, 4), "math.log2": (np.log2, 4),
    "math.log10": (np.log10, 4), "math.log1p": (np.log1p, 4), "math.sin": (np.sin, 4), "math.cos": (np.cos, 4),
    "math.tan": (np.tan, 8), "math.sinh": (np.sinh, 8), "math.cosh": (np.cosh, 8), "math.tanh": (np.tanh, 4),
    "math.asin": (np.arcsin, 8), "math.acos": (np.arccos, 8), "math.atan": (np.arctan, 4), "math.asinh": (np.arcsinh, 8),
    "math.acosh": (np.arccosh, 8), "math.atanh": (np.arctanh, 8), "math.erf": (erf, 8), "math.erfc": (erfc, 16),
}
FLOAT_BINARY = {
    "arith.addf": (np.add, 1), "arith.subf": (np.subtract, 1), "arith.mulf": (np.multiply, 1), "arith.divf": (np.divide, 1),
    "arith.maximumf": (np.maximum, 0), "arith.minimumf": (np.minimum, 0), "arith.maxnumf": (np.fmax, 0),
    "arith.minnumf": (np.fmin, 0), "math.atan2": (np.arctan2, 8), "math.copysign": (np.copysign, 0),
    "math.powf": (np.power, 16), "arith.remf": (np.fmod, 0),
}
FLOAT_TERNARY = {"math.fma": (lambda a, b, c: np.float64(np.longdouble(a) * b + c), 1)}
# Functions that wrap around or jump: what their operands may have lost says little of the result.
ONLY_EXACT = {"arith.remf", "math.tan", "math.powf", "math.copysign"}

INTEGER_BINARY = {
    "arith.addi": lambda kind: np.add, "arith.subi": lambda kind: np.subtract, "arith.muli": lambda kind: np.multiply,
    "arith.andi": lambda kind: np.bitwise_and, "arith.ori": lambda kind: np.bitwise_or,
    "arith.xori": lambda kind: np.bitwise_xor, "arith.maxsi": lambda kind: np.maximum,
    "arith.minsi": lambda kind: np.minimum, "arith.maxui": by_unsigned(np.maximum), "arith.minui": by_unsigned(np.minimum),
}
# The right operand is made odd, or masked to the width, in the program as well.
DIVISIONS = {
    "arith.divsi": lambda kind: truncated, "arith.remsi": lambda kind: lambda a, b: a - b * truncated(a, b),
    "arith.floordivsi": lambda kind: np.floor_divide, "arith.ceildivsi": lambda kind: lambda a, b: -np.floor_divide(-a, b),
    "arith.divui": by_unsigned(np.floor_divide), "arith.remui": by_unsigned(np.remainder),
}
SHIFTS = {
    "arith.shli": lambda kind: np.left_shift, "arith.shrsi": lambda kind: np.right_shift,
    "arith.shrui": by_unsigned(np.right_shift),
}
INTEGER_UNARY = {
    "math.absi": lambda kind: np.abs, "math.ctpop": lambda kind: lambda a: count_ones(kind, a),
    "math.ctlz": lambda kind: lambda a: leading_zeros(kind, a), "math.cttz": lambda kind: lambda a: trailing_zeros(kind, a),
}
FLOAT_PREDICATES = {"olt": np.less, "ole": np.less_equal, "ogt": np.greater, "oge": np.greater_equal, "oeq": np.equal,
                    "une": np.not_equal}
INTEGER_PREDICATES = {"slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal, "eq": np.equal,
                      "ne": np.not_equal, "ult": np.less, "uge": np.greater_equal}


def float_operation(name, kind, arguments):
    function, units = {**FLOAT_UNARY, **FLOAT_BINARY, **FLOAT_TERNARY}[name]
    result = apply(function, kind, arguments, units)
    if name in ONLY_EXACT:
        shape = result.v.shape
        exact = np.ones(shape, dtype=bool)
        for argument in arguments:
            exact &= np.broadcast_to(argument.e == 0, shape)
        result.e = np.where(exact, result.e, np.inf)
    if name == "math.atan2":  # of two zeros MLIR folds to NaN what CUDA gives as 0 or pi
        result.e = np.where((arguments[0].v == 0) & (arguments[1].v == 0), np.inf, result.e)
    if name in ("math.sin", "math.cos"):
        result.e = np.where(arguments[0].e < 0.5, result.e, np.inf)
    if name == "math.fma" and kind == "f64":  # the product itself is rounded above, to 64 bits
        result.e = result.e + np.abs(arguments[0].v * arguments[1].v) * 2.0 ** -63
    if name == "arith.divf":  # an interval around 0
        result.e = np.where(np.broadcast_to(np.abs(arguments[1].v) > 2 * arguments[1].e, result.v.shape), result.e, np.inf)
    return result


def integer_operation(name, kind, arguments):
    for table in (INTEGER_BINARY, DIVISIONS, SHIFTS, INTEGER_UNARY):
        if name in table:
            function = table[name](kind)
    result = apply(function, kind, arguments)
    if name in DIVISIONS:  # the smallest number by -1 has no result
        a, b = np.broadcast_arrays(arguments[0].v, arguments[1].v)
        smallest = -(1 << (width(kind) - 1))
        result.e = np.where((a == smallest) & ((b == -1) | (kind == "i64")), np.inf, result.e)
    if name == "math.absi":
        result.e = np.where(arguments[0].v == -(1 << (width(kind) - 1)), np.inf, result.e)
    return result


def compare(predicate, a, b):
    if is_float(a.kind):
        result = apply(FLOAT_PREDICATES[predicate], "i1", [a, b])
        with np.errstate(all="ignore"):  # equal somewhere between the ends of their intervals
            result.e = np.where((np.abs(a.v - b.v) <= a.e + b.e) & (a.e + b.e > 0), np.inf, result.e)
        return result
    function = INTEGER_PREDICATES[predicate]
    if predicate[0] == "u":
        return apply(lambda x, y: function(unsigned(a.kind, x), unsigned(a.kind, y)), "i1", [a, b])
    if a.kind == "i1":  # true is -1 to a signed comparison
        return apply(lambda x, y: function(-x, -y), "i1", [a, b])
    return apply(function, "i1", [a, b])


def select(condition, a, b):
    chosen = np.where(condition.v != 0, a.v, b.v)
    bound = np.where(condition.v != 0, a.e, b.e)
    with np.errstate(all="ignore"):
        either = np.abs(a.v.astype(np.float64) - b.v.astype(np.float64)) + a.e + b.e if is_float(a.kind) else np.inf
    return Bounded(a.kind, chosen, np.where(np.isinf(condition.e), either, bound))


def convert(a, kind):
    """As mlir_text.Function.convert does it."""
    if a.kind == kind:
        return a
    if is_float(kind):
        if is_float(a.kind):
            exact = EPS[kind] <= EPS[a.kind] and not {kind, a.kind} == {"f16", "bf16"}
            return finish(kind, a.v, a.e, 0.0 if exact else 1.0)
        return finish(kind, a.v.astype(np.float64), np.where(np.isinf(a.e), np.inf, 0.0), 1.0)
    if is_float(a.kind):
        limit = 2.0 ** (width(kind) - 1) - 1
        result = apply(lambda x: np.trunc(np.clip(x, -limit, limit)).astype(np.int64), kind, [a])
        result.e = np.where(np.abs(a.v) + a.e < limit, result.e, np.inf)
        return result
    return Bounded(kind, wrap(kind, a.v), a.e)


# ---- Reductions over axes ----

def is_exact(a, accumulated, magnitude):
    """Are elements whole numbers that no sum of them, in any order, rounds?"""
    return (magnitude.size != 0 and magnitude.max() <= 2 / EPS[accumulated] and not a.e.any() and
            bool((a.v == np.rint(a.v)).all()))


# Whether sums may have lost what is likely, and no more: the bound of a long sum hides one of its elements otherwise.
LIKELY = [False]


def terms(count):
    """How many roundings of a sum of so many terms may have gone one way."""
    return min(count, 64 + 8 * math.sqrt(count)) if LIKELY[0] else count


def reduce_sum(a, axes, accumulated="f32"):
    """A sum in any order; `accumulated`: the type of partial sums."""
    axes = tuple(axes)
    if not is_float(a.kind):
        with np.errstate(all="ignore"):
            return Bounded(a.kind, wrap(a.kind, a.v.sum(axis=axes)), np.where(np.isinf(a.e).any(axis=axes), np.inf, 0.0))
    count = int(np.prod([a.v.shape[i] for i in axes], dtype=np.int64))
    magnitude = np.abs(a.v).sum(axis=axes) + a.e.sum(axis=axes)
    if is_exact(a, accumulated, magnitude):
        return Bounded(a.kind, a.v.sum(axis=axes))
    return finish(a.kind, a.v.sum(axis=axes), a.e.sum(axis=axes) + terms(count) * EPS[accumulated] * magnitude, 1.0)


def reduce_product(a, axes, accumulated="f32"):
    axes = tuple(axes)
    with np.errstate(all="ignore"):
        if not is_float(a.kind):
            return Bounded(a.kind, wrap(a.kind, a.v.prod(axis=axes)), np.where(np.isinf(a.e).any(axis=axes), np.inf, 0.0))
        count = int(np.prod([a.v.shape[i] for i in axes], dtype=np.int64))
        largest = (np.abs(a.v) + a.e).prod(axis=axes)
        spread = largest - np.abs(a.v).prod(axis=axes) + (count + 1) * EPS[accumulated] * largest + count * TINY[accumulated] * 1e3
        result = finish(a.kind, a.v.prod(axis=axes), spread, 2.0)
        # Partial products may leave the type on the way.
        high = np.maximum(np.abs(a.v) + a.e, 1).prod(axis=axes) > LARGEST[a.kind] / 4
        low = np.where(a.v != 0, np.minimum(np.abs(a.v), 1), 1).prod(axis=axes) < TINY[a.kind] / EPS[a.kind] * 4
        result.e = np.where(high | low, np.inf, result.e)
        return result


def reduce_extreme(a, axes, largest, start):
    """start: the initial value, in the result where there is no element."""
    axes = tuple(axes)
    pick = np.max if largest else np.min
    with np.errstate(all="ignore"):
        v = pick(a.v, axis=axes, initial=start)
        if not is_float(a.kind):
            return Bounded(a.kind, v, np.where(np.isinf(a.e).any(axis=axes), np.inf, 0.0))
        e = np.maximum(np.abs(pick(a.v + a.e, axis=axes, initial=start) - v), np.abs(pick(a.v - a.e, axis=axes, initial=start) - v))
        e = np.where(np.isinf(a.e).any(axis=axes) | ~np.isfinite(v), np.inf, e)
    return Bounded(a.kind, np.where(np.isfinite(v), v, 0.0), e)


def reduce_bits(a, axes, ufunc, start):
    axes = tuple(axes)
    v = a.v
    for axis in sorted(axes, reverse=True):
        v = ufunc.reduce(v, axis=axis, initial=start)
    return Bounded(a.kind, wrap(a.kind, v), np.where(np.isinf(a.e).any(axis=axes), np.inf, 0.0))


def reduce_argmax(a, axis):
    """(maximum, its first index); an index is known where no other element can be the largest."""
    index = np.argmax(a.v, axis=axis)
    with np.errstate(all="ignore"):
        return reduce_argmax_at(a, axis, index)


def reduce_argmax_at(a, axis, index):
    top = np.take_along_axis(a.v, np.expand_dims(index, axis), axis)
    least = top - np.take_along_axis(a.e, np.expand_dims(index, axis), axis)
    rivals = np.where(np.arange(a.v.shape[axis]).reshape([-1 if i == axis else 1 for i in range(a.v.ndim)]) ==
                      np.expand_dims(index, axis), -np.inf, a.v + a.e)
    exact = ~(a.e > 0).any(axis=axis)
    decided = exact | (rivals.max(axis=axis) < np.squeeze(least, axis))
    return reduce_extreme(a, [axis], True, -np.inf), index.astype(np.int64), np.where(decided, 0.0, np.inf)
