# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a variable is where ways of the kernel meet: behind an `if`, and at the begin of each turn of a loop.

A variable may be a number, a vector, or a tuple of them; its parts are carried, each with one type. Where its parts differ in kind
from way to way it has no value behind: an error only if the kernel then asks for it, as Python would find it there.
"""
from __future__ import annotations

import dataclasses
from typing import Any

from .arithmetic import constant, default_type, widen
from .builder import Builder
from .exits import VALUE
from .memory import Memory
from .kinds import Type, Vector, element_of, holds_exactly, widens
from .value import Unbound, Value, is_number, kind_of


def parts(value: Any) -> list[Any] | None:
    """The values and numbers that a variable is made of. None: it is something else."""
    if isinstance(value, Value) or is_number(value):
        return [value]
    if isinstance(value, tuple):
        found = [parts(one) for one in value]
        return None if None in found else [part for one in found for part in one or []]
    return None


def rebuild(like: Any, given: list[Any]) -> Any:
    """A variable of the same form with these parts."""
    return _rebuild(like, iter(given))


def _rebuild(like: Any, given: Any) -> Any:
    if isinstance(like, tuple):
        return tuple(_rebuild(one, given) for one in like)
    return next(given)


def same_form(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) or isinstance(b, tuple):
        return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and all(map(same_form, a, b))
    return True


def same(a: Any, b: Any) -> bool:
    """Whether two ways give a variable one thing that is known when the kernel is made, or the same value."""
    if a is b:
        return True
    if isinstance(a, Value) or isinstance(b, Value):
        return isinstance(a, Value) and isinstance(b, Value) and a.name == b.name
    if isinstance(a, Memory):
        return a.same_as(b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if is_number(a) or is_number(b):
        # 0.0 and -0.0, which are equal, are two; so are two NaNs, which are not.
        return type(a) is type(b) and repr(a) == repr(b)
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        return False


def fits(number: Any, type: Type) -> bool:
    """Whether a number of Python's can be a value of that type."""
    scalar = element_of(type)
    if isinstance(number, bool):
        return scalar.kind == "bool"
    if isinstance(number, float):
        return scalar.kind == "float"
    return scalar.kind != "bool" and holds_exactly(scalar, number)


def wider(a: Type, b: Type) -> Type | None:
    """The one of two types that holds the numbers of both. None: neither does."""
    if isinstance(a, Vector) != isinstance(b, Vector) or (isinstance(a, Vector) and isinstance(b, Vector) and a.count != b.count):
        return None
    return b if widens(element_of(a), element_of(b)) else a if widens(element_of(b), element_of(a)) else None


def common(a: Any, b: Any) -> Type | None:
    """The one type that holds two parts; a number of Python's has that of the other. None: there is none."""
    if isinstance(a, Value) and isinstance(b, Value):
        return wider(a.type, b.type)
    if isinstance(a, Value):
        return a.type if not isinstance(a.type, Vector) and fits(b, a.type) else None
    if isinstance(b, Value):
        return common(b, a)
    kinds = {default_type(a), default_type(b)}
    return kinds.pop() if len(kinds) == 1 else None


def as_type(b: Builder, part: Any, type: Type) -> Value:
    """A part as a value of a type that it fits."""
    return widen(b, part, type) if isinstance(part, Value) else constant(b, part, type)


def joined(name: str, line: int, a: Any, b: Any) -> list[Type] | Unbound:
    """The types of the parts of a variable behind an `if`, or why it has no value there."""
    fix = "set it on both ways"
    for one in (a, b):
        if isinstance(one, Unbound):
            return one if one.why else Unbound(f"'{name}' is set on one way only through the 'if' of line {line}", "set it before the 'if'")
    first, second = parts(a), parts(b)
    if first is None or second is None or not same_form(a, b):
        return Unbound(f"'{name}' is {kind_of(a)} on one way through the 'if' of line {line} and {kind_of(b)} on the other", fix + ", to the same thing")
    types = [common(x, y) for x, y in zip(first, second)]
    if None in types:
        at = types.index(None)
        return Unbound(f"'{name}' is {kind_of(first[at])} on one way through the 'if' of line {line} and {kind_of(second[at])} on the other; wanted: "
                       "one type", "convert it, as in f32(x)")
    return types  # type: ignore[return-value]


@dataclasses.dataclass
class Carried:
    """A variable that a loop hands from turn to turn: what it is before, and the types of its parts."""

    name: str
    before: Any
    types: list[Type]

    @classmethod
    def of(cls, name: str, before: Any) -> Carried | None:
        found = parts(before)
        if found is None:
            return None
        return cls(name, before, [one.type if isinstance(one, Value) else default_type(one) for one in found])

    def initial(self, b: Builder) -> list[Value] | None:
        """Its parts before the loop; None: a number of Python's is none of the type."""
        found = parts(self.before)
        assert found is not None
        if any(not isinstance(one, Value) and not fits(one, type) for one, type in zip(found, self.types)):
            return None
        return [as_type(b, one, type) for one, type in zip(found, self.types)]

    def after(self, value: Any, line: int) -> list[Any] | Unbound | None:
        """The parts that a turn leaves; None: the types have changed, and the turn is to be tried again with them."""
        if isinstance(value, Unbound):
            return value if value.why else Unbound(f"'{self.name}' is not set at the end of every turn of the loop of line {line}")
        found, before = parts(value), parts(self.before)
        assert before is not None
        if found is None or not same_form(value, self.before):
            return Unbound(f"'{self.name}' is {kind_of(self.before)} before the loop of line {line} and {kind_of(value)} after a turn of it; wanted: "
                           "the same form")
        is_other = False
        for number, (type, one, first) in enumerate(zip(self.types, found, before)):
            if isinstance(one, Value):
                both = wider(type, one.type)
                if both == type:
                    continue
                if both is not None and isinstance(first, Value):
                    self.types[number] = both
                    is_other = True
                    continue
            elif fits(one, type) and not isinstance(type, Vector):
                continue
            wanted = one.type if isinstance(one, Value) else default_type(one)
            if isinstance(first, Value) or isinstance(wanted, Vector) or not fits(first, wanted) or (
                    self.name != VALUE and isinstance(first, int) != (element_of(wanted).kind != "float")):
                kind = f"a Python {_python_type(first)}" if is_number(first) else str(first.type)
                fix = (f"write {self.name} = {float(first)} before the loop" if isinstance(first, int) and not isinstance(first, bool) and
                       element_of(wanted).kind == "float" else f"keep one type: write {wanted}(...) before the loop, or {type}(...) in it")
                return Unbound(f"'{self.name}' is {kind} before the loop of line {line} and {kind_of(one)} after a turn of it; wanted: one type", fix)
            self.types[number] = wanted
            is_other = True
        return None if is_other else found


def _python_type(value: Any) -> str:
    return type(value).__name__


def scalar_types(types: list[Type]) -> str:
    return ", ".join(one.mlir for one in types)
