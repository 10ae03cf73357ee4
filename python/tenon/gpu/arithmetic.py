# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic with Python's meaning.

`//` rounds down and `%` has the divisor's sign, of negative numbers too. A narrower integer meets a wider one as the wider one, floats
likewise: no number changes. What would change a number, or has another meaning in Python than the hardware gives it, is an error.
"""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .builder import Builder
from .kinds import Scalar, Type, Vector, element_of, encode, f32, holds_exactly, i1, i32, i64, widens
from .value import Value, bounded, is_number, kind_of

SYMBOLS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "LShift": "<<", "RShift": ">>",
           "BitAnd": "&", "BitOr": "|", "BitXor": "^", "MatMult": "@",
           "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
_PYTHON = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
           "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
           "@": operator.matmul, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
           ">=": operator.ge}
_INTEGER = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_FLOAT = {"==": "oeq", "!=": "une", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}


def default_type(number: Any) -> Scalar:
    """What a number of Python's is that meets nothing which says it."""
    return i1 if isinstance(number, bool) else i64 if isinstance(number, int) else f32


def constant(b: Builder, number: Any, type: Type) -> Value:
    """A number of Python's as a value. KernelError: it is none of that type."""
    scalar = element_of(type)
    if isinstance(number, bool) != (scalar.kind == "bool"):
        raise b.error(f"{kind_of(number)} stands where {type} is wanted",
                      f"write {scalar}({number})" if isinstance(number, bool) else f"write {number} != 0")
    if scalar.kind == "int" and isinstance(number, float):
        raise b.error(f"{kind_of(number)} meets a value of type {type}; wanted: an integer", "convert the value, as in f32(x), or the number")
    if isinstance(number, int) and not isinstance(number, bool) and not holds_exactly(scalar, number):
        raise b.error(f"{number} is no number of type {scalar}", "convert the value to a wider type")
    if scalar.kind == "float":
        try:
            encode(scalar, number)
        except OverflowError:
            raise b.error(f"{number} is beyond the largest {scalar}", "convert the value to a wider type") from None
    name = b.constant(number, scalar)
    if isinstance(type, Vector):
        return Value(b.op(f"vector.broadcast {name} : {scalar.mlir} to {type.mlir}"), type)
    return bounded(name, type, number, number) if scalar.kind == "int" else Value(name, type)


def as_value(b: Builder, given: Any) -> Value:
    return given if isinstance(given, Value) else constant(b, given, default_type(given))


def widen(b: Builder, value: Value, type: Type) -> Value:
    """A value as one of a type that holds all of its numbers; a number as a vector of it."""
    scalar, wanted = element_of(value.type), element_of(type)
    if scalar != wanted:
        shape: Type = Vector(wanted, value.type.count) if isinstance(value.type, Vector) else wanted
        name = "arith.extsi" if scalar.kind == "int" else "arith.extf"
        value = Value(b.op(f"{name} {value.name} : {value.type.mlir} to {shape.mlir}"), shape, value.low, value.high)
        if scalar.kind == "int" and not isinstance(shape, Vector):
            value = Value(value.name, shape, *Value("", scalar, value.low, value.high).bounds)
    if isinstance(type, Vector) and not isinstance(value.type, Vector):
        return Value(b.op(f"vector.broadcast {value.name} : {value.type.mlir} to {type.mlir}"), type)
    return value


def implicit(b: Builder, given: Any, type: Type, where: str) -> Value:
    """What is assigned to something that has a type. KernelError: numbers could change."""
    if is_number(given):
        return constant(b, given, type)
    if not isinstance(given, Value):
        raise b.error(f"{where} is {kind_of(given)}; wanted: {type}")
    if isinstance(given.type, Vector) and (not isinstance(type, Vector) or type.count != given.type.count):
        raise b.error(f"{where} is a {given.type}; wanted: {type}")
    if not widens(element_of(given.type), element_of(type)):
        raise b.error(f"{where} is {given.type}; wanted: {type}", f"convert it: {element_of(type)}(...)")
    return widen(b, given, type)


def promoted(b: Builder, given: Any) -> Any:
    """An integer of 8 or 16 bits as one of 32, which is what it is computed with, as in C: so small numbers do not wrap."""
    if isinstance(given, Value) and isinstance(given.type, Scalar) and given.type.kind == "int" and given.type.bits < 32:
        return widen(b, given, i32)
    return given


def meet(b: Builder, symbol: str, left: Any, right: Any) -> tuple[Value, Value]:
    """Two operands as values of one type."""
    for one in (left, right):
        if not isinstance(one, Value) and not is_number(one):
            raise b.error(f"'{symbol}' of {kind_of(left)} and {kind_of(right)}; wanted: numbers",
                          "name the element, as in A[i]" if hasattr(one, "shape") else "")
    if isinstance(left, Value) and isinstance(right, Value):
        a, c = element_of(left.type), element_of(right.type)
        scalar = c if widens(a, c) else a if widens(c, a) else None
        if scalar is None:
            wanted = a if a.kind == "float" else c
            raise b.error(f"'{symbol}' of {left.type} and {right.type}; wanted: one type", f"convert one of them, as in {wanted}(...)")
        counts = {one.type.count for one in (left, right) if isinstance(one.type, Vector)}
        if len(counts) > 1:
            raise b.error(f"'{symbol}' of a {left.type} and a {right.type}; wanted: as many elements")
        type: Type = Vector(scalar, counts.pop()) if counts else scalar
        return widen(b, left, type), widen(b, right, type)
    if isinstance(left, Value):
        return left, constant(b, right, left.type)
    return constant(b, left, right.type), right


def has_values(given: Any) -> bool:
    """Whether an object that is no value itself has some of the kernel's in it."""
    if isinstance(given, (tuple, list)):
        return any(map(has_values, given))
    return isinstance(given, Value) or hasattr(given, "describe")


def _known(symbol: str, b: Builder, left: Any, right: Any) -> Any:
    """Both are Python's: so is the result."""
    if has_values(left) or has_values(right):
        array = hasattr(left, "shape") or hasattr(right, "shape")
        raise b.error(f"'{symbol}' of {kind_of(left)} and {kind_of(right)}; wanted: numbers", "name the element, as in A[i]" if array else "")
    try:
        return _PYTHON[symbol](left, right)
    except Exception as error:
        raise b.error(f"'{symbol}' of {kind_of(left)} and {kind_of(right)}: {error}") from None


def binary(b: Builder, symbol: str, left: Any, right: Any) -> Any:
    """left SYMBOL right."""
    if not isinstance(left, Value) and not isinstance(right, Value):
        return _known(symbol, b, left, right)
    if symbol in ("**", "@"):
        raise b.error(f"'{symbol}' of {kind_of(left)} and {kind_of(right)} is not supported",
                      "write products, or gpu.pow(x, y) of floats" if symbol == "**" else "write its loops, or gpu.mma")
    original = left
    left, right = meet(b, symbol, promoted(b, left), promoted(b, right))
    scalar, type = element_of(left.type), left.type
    if scalar.kind == "bool":
        if symbol in ("&", "|", "^"):
            name = {"&": "andi", "|": "ori", "^": "xori"}[symbol]
            return Value(b.op(f"arith.{name} {left.name}, {right.name} : {type.mlir}"), type)
        raise b.error(f"'{symbol}' of bools is not supported", "convert them: i32(...)")
    if scalar.kind == "float":
        if symbol in ("+", "-", "*", "/"):
            name = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}[symbol]
            return Value(b.op(f"arith.{name} {left.name}, {right.name} : {type.mlir}"), type)
        raise b.error(f"'{symbol}' of {kind_of(original)} and {kind_of(right)} is not supported",
                      {"//": "write gpu.floor(x / y)", "%": "write x - gpu.floor(x / y) * y"}.get(symbol, "convert them to integers"))
    if symbol == "/":
        raise b.error(f"'/' of integers is a float in Python: found {left.type}", "write f32(a) / f32(b), or a // b")
    return _integers(b, symbol, left, right)


def _integers(b: Builder, symbol: str, left: Value, right: Value) -> Value:
    type = left.type
    (l0, h0), (l1, h1) = left.bounds, right.bounds

    def op(name: str, low: int | None = None, high: int | None = None, root: str | None = None, delta: int = 0) -> Value:
        limits = type.limits if isinstance(type, Scalar) else (0, 0)
        fits = low is not None and high is not None and isinstance(type, Scalar) and limits[0] <= low and high <= limits[1]
        flags = " overflow<nsw>" if fits and name in ("addi", "subi", "muli") else ""
        made = b.op(f"arith.{name} {left.name}, {right.name}{flags} : {type.mlir}")
        return bounded(made, type, low, high, root, delta) if low is not None and high is not None else Value(made, type)

    if symbol == "+":
        root, delta = (left.root or left.name, left.delta + l1) if l1 == h1 else (right.root or right.name, right.delta + l0) if l0 == h0 else (None, 0)
        return op("addi", l0 + l1, h0 + h1, root, delta)
    if symbol == "-":
        root, delta = (left.root or left.name, left.delta - l1) if l1 == h1 else (None, 0)
        return op("subi", l0 - h1, h0 - l1, root, delta)
    if symbol == "*":
        ends = [l0 * l1, l0 * h1, h0 * l1, h0 * h1]
        return op("muli", min(ends), max(ends))
    if symbol in ("//", "%"):
        return _divide(b, symbol, left, right, op)
    if symbol in ("<<", ">>"):
        return _shift(b, symbol, left, right, op)
    if symbol == "&":
        if l0 >= 0 or l1 >= 0:  # no larger than what is not negative
            return op("andi", 0, min(h for l, h in ((l0, h0), (l1, h1)) if l >= 0))
        return op("andi")
    if l0 >= 0 and l1 >= 0:
        return op({"|": "ori", "^": "xori"}[symbol], 0, (1 << max(h0, h1).bit_length()) - 1)
    return op({"|": "ori", "^": "xori"}[symbol])


def _divide(b: Builder, symbol: str, left: Value, right: Value, op: Callable[..., Value]) -> Value:
    type = left.type
    (l0, h0), (l1, h1) = left.bounds, right.bounds
    if l1 == h1 == 0:
        raise b.error(f"'{symbol}' by zero")
    if isinstance(type, Vector):
        raise b.error(f"'{symbol}' of vectors is not supported", "take their elements: v[0]")
    is_power = l1 == h1 and l1 > 0 and l1 & (l1 - 1) == 0
    if symbol == "//" and is_power:  # an arithmetic shift rounds down
        shift = constant(b, l1.bit_length() - 1, type)
        return bounded(b.op(f"arith.{'shrui' if l0 >= 0 else 'shrsi'} {left.name}, {shift.name} : {type.mlir}"), type, l0 // l1, h0 // l1)
    if symbol == "%" and is_power:  # of two's complement the low bits are the remainder that is not negative
        mask = constant(b, l1 - 1, type)
        return bounded(b.op(f"arith.andi {left.name}, {mask.name} : {type.mlir}"), type, 0, min(l1 - 1, h0) if l0 >= 0 else l1 - 1)
    if l0 >= 0 and l1 > 0:
        low, high = (l0 // h1, h0 // l1) if symbol == "//" else (0, min(h0, h1 - 1))
        name = "divui" if symbol == "//" else "remui"
        if type == i64 and h0 < 1 << 31 and h1 < 1 << 31:  # the hardware divides 32 bits much faster than 64
            short = [b.op(f"arith.trunci {one.name} : i64 to i32") for one in (left, right)]
            made = b.op(f"arith.{name} {short[0]}, {short[1]} : i32")
            return bounded(b.op(f"arith.extui {made} : i32 to i64"), type, low, high)
        return op(name, low, high)
    if symbol == "//":
        return op("floordivsi")
    rest = b.op(f"arith.remsi {left.name}, {right.name} : {type.mlir}")
    zero = constant(b, 0, type).name
    signs = b.op(f"arith.xori {rest}, {right.name} : {type.mlir}")
    differ = b.op(f"arith.cmpi slt, {signs}, {zero} : {type.mlir}")
    some = b.op(f"arith.cmpi ne, {rest}, {zero} : {type.mlir}")
    both = b.op(f"arith.andi {differ}, {some} : i1")
    moved = b.op(f"arith.addi {rest}, {right.name} : {type.mlir}")
    made = b.op(f"arith.select {both}, {moved}, {rest} : {type.mlir}")
    return bounded(made, type, 0, h1 - 1) if l1 > 0 else Value(made, type)


def _shift(b: Builder, symbol: str, left: Value, right: Value, op: Callable[..., Value]) -> Value:
    """Python's shifts take any distance; the hardware's are asked for what they have."""
    type = left.type
    bits = element_of(type).bits
    (l0, h0), (l1, h1) = left.bounds, right.bounds
    if h1 < 0:
        raise b.error(f"'{symbol}' by a negative number")
    if isinstance(type, Vector) and not (0 <= l1 and h1 < bits):
        raise b.error(f"'{symbol}' of vectors by what may be {bits} or more is not supported")
    if 0 <= l1 and h1 < bits:
        if symbol == ">>":
            return op("shrsi", l0 >> (h1 if l0 >= 0 else l1), h0 >> (l1 if h0 >= 0 else h1))
        return op("shli", min(l0 << l1, l0 << h1), max(h0 << l1, h0 << h1))
    last, most = constant(b, bits - 1, type).name, b.constant(bits, element_of(type))
    inside = b.op(f"arith.cmpi ult, {right.name}, {most} : {type.mlir}")
    distance = b.op(f"arith.select {inside}, {right.name}, {last} : {type.mlir}")
    if symbol == ">>":
        return Value(b.op(f"arith.shrsi {left.name}, {distance} : {type.mlir}"), type)
    moved = b.op(f"arith.shli {left.name}, {distance} : {type.mlir}")
    zero = constant(b, 0, type).name
    return Value(b.op(f"arith.select {inside}, {moved}, {zero} : {type.mlir}"), type)


def compare(b: Builder, symbol: str, left: Any, right: Any) -> Any:
    """left SYMBOL right, a bool."""
    if not isinstance(left, Value) and not isinstance(right, Value):
        return _known(symbol, b, left, right)
    left, right = meet(b, symbol, promoted(b, left), promoted(b, right))
    scalar, type = element_of(left.type), left.type
    if scalar.kind == "bool" and symbol not in ("==", "!="):
        raise b.error(f"'{symbol}' of bools is not supported", "convert them: i32(...)")
    made = f"arith.cmpf {_FLOAT[symbol]}" if scalar.kind == "float" else f"arith.cmpi {_INTEGER[symbol]}"
    result: Type = Vector(i1, type.count) if isinstance(type, Vector) else i1
    return Value(b.op(f"{made}, {left.name}, {right.name} : {type.mlir}"), result)


def truth(b: Builder, value: Any, what: str) -> Any:
    """Whether a value is true, as `if` asks: a bool of Python's, or a value of type i1."""
    if not isinstance(value, Value):
        if hasattr(value, "describe"):
            raise b.error(f"{what} is {value.describe()}; wanted: a bool")
        return bool(value)
    if isinstance(value.type, Vector):
        raise b.error(f"{what} is a {value.type}; wanted: one bool", "name an element: v[0]")
    if value.type == i1:
        return value
    return compare(b, "!=", value, 0 if value.type.kind == "int" else 0.0)


def negate(b: Builder, value: Any) -> Any:
    """not value, of a bool."""
    if not isinstance(value, Value):
        return not value
    return Value(b.op(f"arith.xori {value.name}, {b.constant(True, i1)} : i1"), i1)


def unary(b: Builder, symbol: str, value: Any) -> Any:
    """+x, -x, ~x."""
    if not isinstance(value, Value):
        if not is_number(value):
            raise b.error(f"'{symbol}' of {kind_of(value)}; wanted: a number")
        try:
            return operator.pos(value) if symbol == "+" else operator.neg(value) if symbol == "-" else operator.invert(value)
        except TypeError as error:
            raise b.error(f"'{symbol}' of {kind_of(value)}: {error}") from None
    scalar = element_of(value.type)
    if scalar.kind == "bool":
        raise b.error(f"'{symbol}' of a bool is not supported", "write not x" if symbol == "~" else "convert it: i32(...)")
    if symbol == "+":
        return value
    if symbol == "~":
        if scalar.kind == "float":
            raise b.error(f"'~' of {value.type}; wanted: an integer")
        return binary(b, "^", value, -1)
    if scalar.kind == "float":
        return Value(b.op(f"arith.negf {value.name} : {value.type.mlir}"), value.type)
    return binary(b, "-", 0, value)


def cast(b: Builder, value: Any, scalar: Scalar) -> Value:
    """scalar(value): integers wrap, floats round; a float becomes the integer next to it towards zero, or the one nearest to it."""
    if not isinstance(value, Value):
        if not is_number(value):
            raise b.error(f"{scalar}(...) of {kind_of(value)}; wanted: a number")
        if scalar.kind == "int":
            number = int(value)
            return constant(b, number if not isinstance(value, bool) else int(value), scalar)
        return constant(b, bool(value) if scalar.kind == "bool" else float(value), scalar)
    given = element_of(value.type)
    if given == scalar:
        return value
    shape: Type = Vector(scalar, value.type.count) if isinstance(value.type, Vector) else scalar
    between = f"{value.name} : {value.type.mlir} to {shape.mlir}"
    if scalar.kind == "bool":
        return as_value(b, compare(b, "!=", value, 0 if given.kind == "int" else 0.0))
    if given.kind == "bool":
        name = "arith.extui" if scalar.kind == "int" else "arith.uitofp"
        low, high = (0, 1) if shape == scalar and scalar.kind == "int" else (None, None)
        return Value(b.op(f"{name} {between}"), shape, low, high)
    if given.kind == "int" and scalar.kind == "int":
        if scalar.bits > given.bits:
            return widen(b, value, shape)
        low, high = value.bounds
        return bounded(b.op(f"arith.trunci {between}"), shape, low, high)
    if given.kind == "int":
        return Value(b.op(f"arith.sitofp {between}"), shape)
    if scalar.kind == "int":
        if isinstance(shape, Vector):
            raise b.error(f"{scalar}(...) of a {value.type} is not supported", "convert its elements: v[0]")
        return Value(b.op(f'llvm.call_intrinsic "llvm.fptosi.sat.{scalar.mlir}.{given.mlir}"({value.name}) : ({given.mlir}) -> {scalar.mlir}'), shape)
    if given.bits == scalar.bits:  # f16 and bf16: through f32, which holds both
        return cast(b, cast(b, value, f32), scalar)
    return Value(b.op(f"arith.{'extf' if scalar.bits > given.bits else 'truncf'} {between}"), shape)


def select(b: Builder, condition: Value, left: Any, right: Any) -> Value:
    """left where condition holds, else right; both were computed."""
    if not isinstance(left, Value) and not isinstance(right, Value):
        left = constant(b, left, default_type(right) if isinstance(right, float) else default_type(left))
    left, right = meet(b, "where", left, right)
    made = b.op(f"arith.select {condition.name}, {left.name}, {right.name} : "
                + (f"{condition.type.mlir}, " if isinstance(condition.type, Vector) else "") + left.type.mlir)
    if element_of(left.type).kind != "int" or isinstance(left.type, Vector):
        return Value(made, left.type)
    (l0, h0), (l1, h1) = left.bounds, right.bounds
    return bounded(made, left.type, min(l0, l1), max(h0, h1))
