# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of a kernel: parameters, shared memory, a thread's registers; and views of them.

A[i, j] is an element, A[i] and A[i:i+4, j] are views. An index that is a constant may count from the end and is checked when the
kernel is made; one that is computed is taken as it is, as C takes it: it does not count from the end and is not cut off at it.
"""
from __future__ import annotations

import dataclasses
import math
from typing import Any

from .arithmetic import binary, implicit, widen
from .builder import Builder
from .kinds import Scalar, Vector, i1, i8, i64
from .typed import Indexed
from .value import Value, kind_of

_POINTERS = {"global": "!llvm.ptr<1>", "shared": "!llvm.ptr<3>", "local": "!llvm.ptr", "cluster": "!llvm.ptr<7>"}
Extent = Any  # an int, a Value, or None: not known


@dataclasses.dataclass(frozen=True, eq=False)
class Memory(Indexed):
    """`strides` and `offset` count elements; `offset` is a number plus a value, which is a multiple of `steps` bytes."""

    b: Builder
    name: str
    pointer: str
    space: str  # "global", "shared", "local"; "cluster": shared memory of another block
    dtype: Scalar
    shape: tuple[Extent, ...]
    strides: tuple[Extent, ...]
    offset: int = 0
    moved: Value | None = None
    is_read_only: bool = False
    is_view: bool = False
    steps: int = 0

    def describe(self) -> str:
        return f"{'a view of' if self.is_view else 'the array'} {self.name} {self._shape()}"

    def _shape(self) -> str:
        return f"({', '.join(str(one) if isinstance(one, int) else '?' for one in self.shape)})"

    def __bool__(self) -> bool:
        raise TypeError("an array of the kernel has no truth")

    @property
    def pointer_type(self) -> str:
        return _POINTERS[self.space]

    def same_as(self, other: Any) -> bool:
        return (isinstance(other, Memory) and self.pointer == other.pointer and self.shape == other.shape and
                self.strides == other.strides and self.offset == other.offset and self.moved is other.moved and self.dtype == other.dtype)

    # Indices.
    def _along(self, axis: int, index: Any) -> tuple[Any, Any]:
        """(where a dimension begins, the extent that is left of it; an index leaves none)"""
        extent = self.shape[axis]
        if isinstance(index, slice):
            return self._slice(axis, index)
        if isinstance(index, bool) or not isinstance(index, (int, Value)) or (isinstance(index, Value) and (
                isinstance(index.type, Vector) or index.type.kind != "int")):
            raise self.b.error(f"index {axis} of {self.name} is {kind_of(index)}; wanted: an integer or a slice")
        low, high = (index, index) if isinstance(index, int) else index.bounds
        if isinstance(index, int) and index < 0:
            if not isinstance(extent, int):
                raise self.b.error(f"index {index} of {self.name} counts from the end of an extent that is not known here")
            index = low = high = index + extent
        if isinstance(extent, int) and (low >= extent or high < 0):
            found = str(low if index == low else f"from {low} to {high}")
            raise self.b.error(f"index {axis} of {self.name} {self._shape()} is {found}; wanted: 0 to {extent - 1}")
        return index, None

    def _slice(self, axis: int, index: slice) -> tuple[Any, Any]:
        extent = self.shape[axis]
        if index.step not in (None, 1):
            raise self.b.error(f"a slice of {self.name} has the step {index.step if isinstance(index.step, int) else 'of the kernel'}; "
                               "wanted: 1", "slice without a step and multiply the index")
        start, stop = index.start, index.stop
        known = all(isinstance(one, int) or one is None for one in (start, stop))
        if known and isinstance(extent, int):
            first, last, _ = slice(start, stop).indices(extent)
            return first, max(last - first, 0)
        if any(isinstance(one, int) and one < 0 for one in (start, stop)):
            raise self.b.error(f"a slice of {self.name} counts from the end, which is not known here")
        start = 0 if start is None else start
        stop = extent if stop is None else stop
        if stop is None:
            return start, None if start == 0 and isinstance(start, int) else _Rest
        if isinstance(start, Value) and isinstance(stop, Value):
            if (start.root or start.name) == (stop.root or stop.name):
                return start, max(stop.delta - start.delta, 0)
        if isinstance(start, Value) or isinstance(stop, Value):
            return start, binary(self.b, "-", stop, start)
        return start, stop - start

    def view(self, indices: tuple[Any, ...]) -> Memory:
        """What is left of the array where the first dimensions are indexed or cut."""
        if len(indices) > len(self.shape):
            raise self.b.error(f"{self.name} {self._shape()} has {len(self.shape)} dimensions, found {len(indices)} indices")
        offset, steps = self.offset, self.steps
        moved: Any = self.moved
        shape: list[Extent] = []
        strides: list[Extent] = []
        for axis, stride in enumerate(self.strides):
            begin, extent = self._along(axis, indices[axis]) if axis < len(indices) else (0, self.shape[axis])
            if axis >= len(indices) or isinstance(indices[axis], slice):
                shape.append(None if extent is _Rest else extent)
                strides.append(stride)
            if isinstance(begin, int) and begin == 0:
                continue
            if isinstance(begin, int) and isinstance(stride, int):
                offset += begin * stride
                continue
            steps = math.gcd(steps, (stride if isinstance(stride, int) else 1) * (begin if isinstance(begin, int) else 1) * self.dtype.bytes)
            begin, stride = (widen(self.b, one, i64) if isinstance(one, Value) else one for one in (begin, stride))
            if stride is None:
                raise self.b.error(f"how far apart the elements of dimension {axis} of {self.name} lie is not known: only the first extent "
                                   "may be '...'")
            term: Any = binary(self.b, "*", begin, stride) if stride != 1 or isinstance(stride, Value) else begin
            moved = term if moved is None else binary(self.b, "+", moved, term)
        return dataclasses.replace(self, shape=tuple(shape), strides=tuple(strides), offset=offset, moved=moved, is_view=True, steps=steps)

    def is_multiple(self, bytes: int) -> bool:
        """Whether the view surely begins at a multiple of so many bytes of its array."""
        return self.offset * self.dtype.bytes % bytes == 0 and self.steps % bytes == 0

    def address(self) -> str:
        """Where the view begins."""
        at = self.pointer
        element = self._memory_type().mlir
        if self.moved is not None:
            at = self.b.op(f"llvm.getelementptr {at}[{self.moved.name}] : ({self.pointer_type}, i64) -> {self.pointer_type}, {element}")
        if self.offset:
            at = self.b.op(f"llvm.getelementptr {at}[{self.offset}] : ({self.pointer_type}) -> {self.pointer_type}, {element}")
        return at

    def _memory_type(self) -> Scalar:
        return i8 if self.dtype == i1 else self.dtype

    def check_written(self) -> None:
        if self.is_read_only:
            raise self.b.error(f"the kernel writes {self.name}, which its signature says is only read", f"declare {self.name}: gpu.InOut[...]")

    # Elements.
    def get(self, indices: tuple[Any, ...]) -> Any:
        """self[indices]: an element, or a view."""
        found = self.view(indices)
        if found.shape:
            return found
        kind = found._memory_type()
        name = self.b.op(f"llvm.load {found.address()} {{alignment = {kind.bytes} : i64}} : {self.pointer_type} -> {kind.mlir}")
        if self.dtype == i1:
            zero = self.b.constant(0, i8)
            return Value(self.b.op(f"arith.cmpi ne, {name}, {zero} : i8"), i1)
        return Value(name, self.dtype)

    def set(self, indices: tuple[Any, ...], given: Any) -> None:
        """self[indices] = given: an element; or a vector, to as many that lie side by side."""
        self.check_written()
        found = self.view(indices)
        if found.shape:
            if not (isinstance(given, Value) and isinstance(given.type, Vector)):
                raise self.b.error(f"{kind_of(given)} is assigned to {found.describe()}; wanted: an element, or a vector of its elements",
                                   "write a loop over the elements")
            self.store_vector(found, given)
            return
        value = implicit(self.b, given, self.dtype, f"what is assigned to an element of {self.name}")
        name, kind = value.name, found._memory_type()
        if self.dtype == i1:
            name = self.b.op(f"arith.extui {name} : i1 to i8")
        at = found.address()
        self.b.line(f"llvm.store {name}, {at} {{alignment = {kind.bytes} : i64}} : {kind.mlir}, {self.pointer_type}")

    # Vectors.
    def _vector(self) -> tuple[Vector, int]:
        """The vector that a view is, and its alignment."""
        if len(self.shape) != 1 or not isinstance(self.shape[0], int) or self.strides[0] != 1:
            raise self.b.error(f"{self.describe()} is no vector; wanted: one dimension, the last of its array, of an extent that is a constant",
                               "cut it as in A[i, j:j + 4]")
        count = self.shape[0]
        if count not in (2, 4, 8, 16) or self.dtype == i1:
            raise self.b.error(f"a vector of {count} elements of {self.dtype} is not supported; wanted: 2, 4, 8 or 16 numbers")
        align = min(count * self.dtype.bytes, 16)
        if self.space == "global":
            self.b.alignments[self.name] = max(self.b.alignments.get(self.name, 0), align)
        if self.moved is None and self.offset * self.dtype.bytes % align:
            raise self.b.error(f"a vector of {align} bytes begins at byte {self.offset * self.dtype.bytes} of {self.name}; wanted: a multiple of "
                               f"{align}")
        return Vector(self.dtype, count), align

    def load_vector(self) -> Value:
        """All elements of a view at once."""
        kind, align = self._vector()
        return Value(self.b.op(f"llvm.load {self.address()} {{alignment = {align} : i64}} : {self.pointer_type} -> {kind.mlir}"), kind)

    def store_vector(self, view: Memory, given: Value) -> None:
        kind, align = view._vector()
        value = implicit(self.b, given, kind, f"what is assigned to {view.describe()}")
        self.b.line(f"llvm.store {value.name}, {view.address()} {{alignment = {align} : i64}} : {kind.mlir}, {self.pointer_type}")


class _Rest:
    """The extent of a slice that goes to an end that is not known."""


def dense(shape: tuple[Extent, ...], b: Builder) -> tuple[Extent, ...]:
    """The strides of an array in row-major order; None where an extent behind is not known."""
    strides: list[Extent] = []
    step: Extent = 1
    for axis, extent in reversed(list(enumerate(shape))):
        strides.append(step)
        if axis == 0:
            break
        if extent is None or step is None:
            step = None
        elif isinstance(extent, int) and isinstance(step, int):
            step = step * extent
        else:
            extent, step = (widen(b, one, i64) if isinstance(one, Value) else one for one in (extent, step))
            step = binary(b, "*", extent, step) if step != 1 or isinstance(step, Value) else extent
    return tuple(reversed(strides))
