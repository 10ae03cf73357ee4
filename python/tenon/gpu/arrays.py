# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that a kernel makes, and vectors."""
from __future__ import annotations

import math
from typing import Any

from .arithmetic import implicit
from .builder import current
from .hopper.tiles import SWIZZLES, Tile
from .intrinsics import intrinsic
from .memory import Memory, dense
from .kinds import Scalar, Vector, f32, i1
from .value import Value, is_number, kind_of


def _array(b: Any, what: str, shape: Any, dtype: Any) -> tuple[tuple[int, ...], int]:
    given = shape if isinstance(shape, tuple) else (shape,)
    if not given or not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in given):
        raise b.error(f"the shape of {what} is {', '.join(map(kind_of, given))}; wanted: numbers above 0 that are known when the kernel is made")
    if not isinstance(dtype, Scalar):
        raise b.error(f"the elements of {what} are {kind_of(dtype)}; wanted: a type of tenon.gpu, as f32")
    return given, math.prod(given) * dtype.bytes


@intrinsic
def shared(shape: Any, dtype: Any, *, align: int = 16, swizzle: int = 0) -> Memory:
    """An array of the block's, which its threads share: what one writes, others read behind a barrier. It holds nothing at first.

    `align`: bytes. More than 48 KiB in all is memory that the launch asks for, which the kernel's declaration says. `swizzle`: 32, 64 or 128, the bytes
    of a row (the last dimension): the array lies as tensor maps of that swizzle copy it and gpu.wgmma reads it; A[i, j] is the element nevertheless.
    """
    b = current("gpu.shared").b
    given, size = _array(b, "gpu.shared", shape, dtype)
    if align not in (4, 8, 16, 32, 64, 128, 256, 512, 1024):
        raise b.error(f"gpu.shared is aligned to {align} bytes; wanted: 4, 8, 16, 32, 64, 128, 256, 512 or 1024")
    if swizzle:
        if swizzle not in SWIZZLES:
            raise b.error(f"the swizzle of gpu.shared is {kind_of(swizzle)}; wanted: 0, 32, 64 or 128")
        if given[-1] * dtype.bytes != swizzle or dtype == i1:
            raise b.error(f"a row of gpu.shared has {given[-1] * dtype.bytes} bytes; wanted: the {swizzle} of the swizzle")
        return Tile(b, f"shared_{len(b.shared)}", b.share(size, max(align, 8 * swizzle)), "shared", dtype, given, dense(given, b), swizzle=swizzle)
    return Memory(b, f"shared_{len(b.shared)}", b.share(size, max(align, dtype.bytes)), "shared", dtype, given, dense(given, b))


@intrinsic
def local(shape: Any, dtype: Any, fill: Any = 0) -> Memory:
    """An array of the thread's own, every element of it `fill`. Where each index is known when the kernel is made, it is registers."""
    b = current("gpu.local").b
    given, size = _array(b, "gpu.local", shape, dtype)
    count = math.prod(given)
    if count > 1024:
        raise b.error(f"gpu.local has {count} elements; wanted: at most 1024, since a thread has 255 registers")
    made = Memory(b, f"local_{len(b.locals)}", b.local(size, 16), "local", dtype, given, dense(given, b))
    if is_number(fill) and dtype.kind == "bool":
        fill = bool(fill)
    value = implicit(b, fill, dtype, "fill")
    flat = Memory(b, made.name, made.pointer, "local", dtype, (count,), (1,))
    for at in range(count):
        flat.set((at,), value)
    return made


@intrinsic
def load(view: Any) -> Value:
    """The elements of a view as a vector, in one access: gpu.load(A[i, j:j + 4]). 2, 4, 8 or 16 of them; the address must be a multiple of the
    vector's bytes (16 at most), which a parameter's declaration then promises of its begin."""
    b = current("gpu.load").b
    if not isinstance(view, Memory):
        raise b.error(f"gpu.load of {kind_of(view)}; wanted: a view of an array", "cut it as in A[i, j:j + 4]")
    return view.load_vector()


@intrinsic
def vector(*elements: Any, dtype: Any = None) -> Value:
    """A vector of these numbers."""
    b = current("gpu.vector").b
    given = elements[0] if len(elements) == 1 and isinstance(elements[0], tuple) else elements
    if dtype is None:
        dtype = next((one.type for one in given if isinstance(one, Value)), f32)
    if len(given) not in (2, 4, 8, 16) or not isinstance(dtype, Scalar):
        raise b.error(f"gpu.vector of {len(given)} elements; wanted: 2, 4, 8 or 16 numbers")
    values = [implicit(b, one, dtype, f"element {at}") for at, one in enumerate(given)]
    kind = Vector(dtype, len(values))
    listed = ", ".join(one.name for one in values)
    return Value(b.op(f"vector.from_elements {listed} : {kind.mlir}"), kind)


@intrinsic
def splat(value: Any, count: int, dtype: Any = None) -> Value:
    """A vector of `count` times the same number."""
    if not isinstance(count, int):
        raise current("gpu.splat").b.error("gpu.splat's count is not known when the kernel is made")
    return vector(*([value] * count), dtype=dtype)
