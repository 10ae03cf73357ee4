# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A value of the kernel: what a thread has in a register when the kernel runs.

What is known when the kernel is made are Python's own objects. A number of Python's has no width: it becomes what the value is that
it meets.
"""
from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from .kinds import Scalar, Type, Vector, element_of
from .typed import Indexed, Operand


@dataclasses.dataclass(frozen=True, eq=False)
class Value(Operand, Indexed):
    """`low` and `high` bound an integer; `root` and `delta` say that it is another value plus a constant."""

    name: str
    type: Type
    low: int | None = None
    high: int | None = None
    root: str | None = None
    delta: int = 0

    def __bool__(self) -> bool:
        raise TypeError("a value of the kernel is not known while the kernel is made")

    @property
    def dtype(self) -> Scalar:
        return element_of(self.type)

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest that an integer can be."""
        low, high = element_of(self.type).limits
        return (low if self.low is None else self.low, high if self.high is None else self.high)

    def __repr__(self) -> str:
        return f"<{self.type} of the kernel>"


class Handle(Indexed):
    """What a kernel has that is neither a number nor an array, as a barrier: its functions are the kernel's. handle[i] is `get`."""

    __signature__ = inspect.Signature()  # functions of tenon.gpu make them, nobody else

    def describe(self) -> str:
        raise NotImplementedError

    def get(self, indices: tuple[Any, ...]) -> Any:
        raise self.b.error(f"{self.describe()} has no elements")  # type: ignore[attr-defined]

    def set(self, indices: tuple[Any, ...], given: Any) -> None:
        raise self.b.error(f"an element of {self.describe()} is assigned; wanted: one of an array")  # type: ignore[attr-defined]

    def check_written(self) -> None:  # KernelError: nobody may write its elements
        pass

    def __bool__(self) -> bool:
        raise TypeError("what a kernel has is not known while it is made")


@dataclasses.dataclass(frozen=True)
class Unbound:
    """A variable that has no value here, and why."""

    why: str
    fix: str = ""


def bounded(name: str, type: Type, low: int, high: int, root: str | None = None, delta: int = 0) -> Value:
    """An integer whose bounds are known, if they lie within its type: then it did not wrap."""
    least, most = element_of(type).limits
    if isinstance(type, Vector) or low < least or high > most:
        return Value(name, type)
    return Value(name, type, low, high, root, delta)


def is_number(value: Any) -> bool:
    """A number of Python's."""
    return isinstance(value, (bool, int, float))


def kind_of(value: Any) -> str:
    """What a reader of an error calls it."""
    if isinstance(value, Value):
        return str(value.type)
    if isinstance(value, bool):
        return f"the bool {value}"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    describe = getattr(value, "describe", None)
    return str(describe()) if describe else f"a Python {type(value).__name__}"
