# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mathematics of floats, choices between values, and what Python's own functions are of values."""
from __future__ import annotations

import builtins
import functools
import math
from typing import Any

from .arithmetic import binary, cast, compare, constant, meet, select, truth
from .builder import current
from .intrinsics import intrinsic
from .kinds import Scalar, Type, Vector, element_of, f32, i1, i64
from .value import Value, bounded, is_number, kind_of


def _float(b: Any, what: str, value: Any) -> Value:
    given = constant(b, float(value), f32) if is_number(value) and not isinstance(value, bool) else value
    if not isinstance(given, Value) or element_of(given.type).kind != "float":
        raise b.error(f"{what} of {kind_of(value)}; wanted: a float", "convert it: f32(x)")
    return given


def _make_math(name: str, operation: str, does: str) -> Any:
    def function(x: Any) -> Value:
        b = current(f"gpu.{name}").b
        given = _float(b, f"gpu.{name}", x)
        return Value(b.op(f"math.{operation} {given.name} : {given.type.mlir}"), given.type)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = does
    return intrinsic(function)


sqrt = _make_math("sqrt", "sqrt", "The square root, rounded as IEEE 754 says.")
rsqrt = _make_math("rsqrt", "rsqrt", "1 / sqrt(x).")
exp = _make_math("exp", "exp", "e to the power of x.")
exp2 = _make_math("exp2", "exp2", "2 to the power of x.")
log = _make_math("log", "log", "The natural logarithm.")
log2 = _make_math("log2", "log2", "The logarithm to base 2.")
log10 = _make_math("log10", "log10", "The logarithm to base 10.")
sin = _make_math("sin", "sin", "The sine of x radians.")
cos = _make_math("cos", "cos", "The cosine of x radians.")
tan = _make_math("tan", "tan", "The tangent of x radians.")
tanh = _make_math("tanh", "tanh", "The hyperbolic tangent.")
erf = _make_math("erf", "erf", "The error function.")
floor = _make_math("floor", "floor", "The largest whole number that is not above x, as a float.")
ceil = _make_math("ceil", "ceil", "The least whole number that is not below x, as a float.")
_absolute = _make_math("fabs", "absf", "The magnitude of a float.")
fabs = _absolute


def _two_floats(what: str, x: Any, y: Any) -> tuple[Value, Value]:
    b = current(what).b
    if is_number(x) and is_number(y):
        x = _float(b, what, x)
    left, right = meet(b, what, x, y)
    _float(b, what, left)
    return left, right


@intrinsic
def pow(x: Any, y: Any) -> Value:
    """x to the power of y, floats."""
    left, right = _two_floats("gpu.pow", x, y)
    return Value(current().b.op(f"math.powf {left.name}, {right.name} : {left.type.mlir}"), left.type)


@intrinsic
def fmin(x: Any, y: Any) -> Value:
    """The lesser of two floats; of a number and a NaN, the number. Python's min(x, y) has its own answer there."""
    left, right = _two_floats("gpu.fmin", x, y)
    return Value(current().b.op(f"arith.minnumf {left.name}, {right.name} : {left.type.mlir}"), left.type)


@intrinsic
def fmax(x: Any, y: Any) -> Value:
    """The greater of two floats; of a number and a NaN, the number."""
    left, right = _two_floats("gpu.fmax", x, y)
    return Value(current().b.op(f"arith.maxnumf {left.name}, {right.name} : {left.type.mlir}"), left.type)


@intrinsic
def fma(x: Any, y: Any, z: Any) -> Value:
    """x * y + z, rounded once. `x * y + z` is rounded twice, as in Python."""
    b = current("gpu.fma").b
    if not any(isinstance(one, Value) for one in (x, y, z)):
        x = _float(b, "gpu.fma", x)
    left, right = meet(b, "gpu.fma", x, y) if isinstance(x, Value) or isinstance(y, Value) else (x, y)
    other, sum_ = meet(b, "gpu.fma", left, z)
    right = meet(b, "gpu.fma", other, right)[1]
    left = meet(b, "gpu.fma", right, other)[1]
    for one in (left, right, sum_):
        _float(b, "gpu.fma", one)
    return Value(b.op(f"math.fma {left.name}, {right.name}, {sum_.name} : {left.type.mlir}"), left.type)


@intrinsic
def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y; both are computed. `x if condition else y` computes one."""
    b = current("gpu.where").b
    if isinstance(condition, Value) and element_of(condition.type) == i1:
        return select(b, condition, x, y)
    held = truth(b, condition, "gpu.where's condition")
    return select(b, held, x, y) if isinstance(held, Value) else (x if held else y)


@intrinsic
def bitcast(value: Any, dtype: Any) -> Value:
    """The same bits as another type of as many bits."""
    b = current("gpu.bitcast").b
    if not isinstance(value, Value) or not isinstance(dtype, Scalar) or element_of(value.type).bits != dtype.bits:
        raise b.error(f"gpu.bitcast of {kind_of(value)} to {kind_of(dtype) if not isinstance(dtype, Scalar) else dtype}; wanted: as many bits")
    kind: Type = Vector(dtype, value.type.count) if isinstance(value.type, Vector) else dtype
    return Value(b.op(f"arith.bitcast {value.name} : {value.type.mlir} to {kind.mlir}"), kind)


# Python's own functions of values.
def _extreme(symbol: str, *given: Any) -> Any:
    b = current().b
    values = given[0] if len(given) == 1 and isinstance(given[0], tuple) else given
    if len(values) < 2 and values is given:
        raise b.error(f"{'min' if symbol == '<' else 'max'} of {', '.join(map(kind_of, given))}; wanted: two numbers or more")

    def two(left: Any, right: Any) -> Any:
        if is_number(left) and is_number(right):
            return (min if symbol == "<" else max)(left, right)
        first, second = meet(b, "min" if symbol == "<" else "max", left, right)
        if element_of(first.type).kind == "int" and not isinstance(first.type, Vector):
            (l0, h0), (l1, h1), pick = first.bounds, second.bounds, (min if symbol == "<" else max)
            made = b.op(f"arith.{'minsi' if symbol == '<' else 'maxsi'} {first.name}, {second.name} : {first.type.mlir}")
            return bounded(made, first.type, pick(l0, l1), pick(h0, h1))
        return select(b, compare(b, symbol, second, first), second, first)

    return functools.reduce(two, values)


def _absolute_of(value: Any) -> Any:
    b = current().b
    if not isinstance(value, Value):
        raise b.error(f"abs of {kind_of(value)}; wanted: a number")
    if element_of(value.type).kind == "float":
        return _absolute(value)
    return select(b, compare(b, "<", value, 0), binary(b, "-", 0, value), value)


def _refuse(text: str, fix: str) -> Any:
    def function(*_: Any, **__: Any) -> Any:
        raise current().b.error(text, fix)

    return function


_PYTHON: dict[Any, Any] = {
    builtins.min: lambda *given: _extreme("<", *given), builtins.max: lambda *given: _extreme(">", *given), builtins.abs: _absolute_of,
    builtins.int: lambda value: cast(current().b, value, i64), builtins.bool: lambda value: truth(current().b, value, "bool(...)"),
    builtins.float: _refuse("float(...) of a value: Python's float has 64 bits", "write f32(x) or f64(x)"),
    math.floor: _refuse("math.floor gives an integer", "write gpu.floor(x), which is a float, or i64(gpu.floor(x))"),
    math.ceil: _refuse("math.ceil gives an integer", "write gpu.ceil(x), which is a float, or i64(gpu.ceil(x))"),
    math.sqrt: sqrt, math.exp: exp, math.log: log, math.log2: log2, math.log10: log10, math.sin: sin, math.cos: cos, math.tan: tan, math.tanh: tanh,
    math.erf: erf, math.fabs: fabs, math.pow: pow,
}


def of_python(function: Any) -> Any:
    """What stands for a function of Python's where it is given values. None: nothing does."""
    try:
        return _PYTHON.get(function)
    except TypeError:
        return None
