# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who a thread is, and what threads do together: barriers, exchanges within a warp, atomic operations."""
from __future__ import annotations

from typing import Any

from .arithmetic import as_value, binary, cast, constant, implicit
from .builder import current
from .intrinsics import intrinsic
from .memory import Memory
from .kinds import Vector, element_of, i1, i32, i64
from .value import Value, bounded, kind_of

# Who a thread is.
class _Axes:
    """gpu.thread_id and the like: x, y and z, numbers of 64 bits."""

    def __init__(self, operation: str) -> None:
        self._operation = operation

    def describe(self) -> str:
        return f"gpu.{self._operation}, whose parts are x, y and z"

    def _along(self, axis: str) -> Any:
        b = current(f"gpu.{self._operation}").b
        extent = b.block["xyz".index(axis)]
        if self._operation == "block_dim":
            return extent
        if self._operation == "global_id":
            return binary(b, "+", binary(b, "*", block_id._along(axis), extent), thread_id._along(axis))
        most = {"thread_id": extent - 1, "block_id": (1 << 31) - 2 if axis == "x" else 65534,
                "grid_dim": (1 << 31) - 1 if axis == "x" else 65535}[self._operation]
        if most == 0:
            return 0
        place, b.place = b.place, None
        name = b.once(f"arith.index_cast {b.once(f'gpu.{self._operation} {axis}')} : index to i64")
        b.place = place
        return bounded(name, i64, 1 if self._operation == "grid_dim" else 0, most)

    @property
    def x(self) -> Any:
        return self._along("x")

    @property
    def y(self) -> Any:
        return self._along("y")

    @property
    def z(self) -> Any:
        return self._along("z")


thread_id, block_id, block_dim, grid_dim, global_id = (_Axes(one) for one in ("thread_id", "block_id", "block_dim", "grid_dim", "global_id"))


def _linear_thread(b: Any) -> Any:
    x, y, _ = b.block
    rows = binary(b, "+", thread_id.y, binary(b, "*", thread_id.z, y))
    return binary(b, "+", thread_id.x, binary(b, "*", rows, x))


@intrinsic
def lane_id() -> Any:
    """The thread's number in its warp, 0 to 31."""
    b = current("gpu.lane_id").b
    return binary(b, "%", _linear_thread(b), 32)


@intrinsic
def warp_id() -> Any:
    """The warp's number in its block."""
    b = current("gpu.warp_id").b
    return binary(b, "//", _linear_thread(b), 32)


# Order between threads.
@intrinsic
def barrier(number: Any = 0, threads: int | None = None) -> None:
    """Waits for every thread of the block; what they wrote before it, all see behind it.

    `threads`: for so many of them alone, whole warps, which meet at the barrier of this number, 1 to 15: the others need not come.
    """
    b = current("gpu.barrier").b
    if threads is None and number == 0 and isinstance(number, int):
        b.line("gpu.barrier")
        return
    most = b.block[0] * b.block[1] * b.block[2]
    is_value = isinstance(number, Value) and not isinstance(number.type, Vector) and number.type.kind == "int"
    if isinstance(number, bool) or not (isinstance(number, int) or is_value):
        raise b.error(f"the number of a barrier is {kind_of(number)}; wanted: 1 to 15, with threads=")
    low, high = number.bounds if isinstance(number, Value) else (number, number)
    if not 1 <= low <= high <= 15:
        raise b.error(f"the number of a barrier is {low if low == high else f'from {low} to {high}'}; wanted: 1 to 15, with threads=")
    if not isinstance(threads, int) or isinstance(threads, bool) or threads % 32 or not 32 <= threads <= most:
        raise b.error(f"barrier {number} waits for {kind_of(threads)} threads; wanted: a multiple of 32, at most the block's {most}")
    which = cast(b, number, i32).name if isinstance(number, Value) else b.constant(number, i32)
    b.line(f'"nvvm.barrier"({which}, {b.constant(threads, i32)}) <{{operandSegmentSizes = array<i32: 1, 1, 0>}}> : (i32, i32) -> ()')


@intrinsic
def sync_warp() -> None:
    """Waits for every thread of the warp."""
    b = current("gpu.sync_warp").b
    b.line(f"nvvm.bar.warp.sync {b.constant(-1, i32)} : i32")


_MODES = {"xor": "xor", "up": "up", "down": "down", "index": "idx"}


def _shuffle(mode: str, value: Any, by: Any) -> Value:
    b = current(f"gpu.shuffle_{mode}").b
    given = as_value(b, value)
    if isinstance(given.type, Vector) or given.type.bits != 32:
        raise b.error(f"gpu.shuffle_{mode} of {kind_of(value)}; wanted: a number of 32 bits", "convert it: f32(x) or i32(x)")
    lane = as_value(b, by) if isinstance(by, Value) else constant(b, by, i32)
    if element_of(lane.type).kind != "int" or isinstance(lane.type, Vector):
        raise b.error(f"gpu.shuffle_{mode} by {kind_of(by)}; wanted: an integer")
    lane = cast(b, lane, i32)
    name = b.fresh()
    b.line(f"{name}, %in.{name[1:]} = gpu.shuffle {_MODES[mode]} {given.name}, {lane.name}, {b.constant(32, i32)} : {given.type.mlir}")
    return Value(name, given.type)


@intrinsic
def shuffle_xor(value: Any, mask: Any) -> Value:
    """The value that the lane `lane_id() ^ mask` has. All 32 lanes of the warp take part."""
    return _shuffle("xor", value, mask)


@intrinsic
def shuffle_up(value: Any, by: Any) -> Value:
    """The value of the lane `by` below; the lowest lanes keep their own."""
    return _shuffle("up", value, by)


@intrinsic
def shuffle_down(value: Any, by: Any) -> Value:
    """The value of the lane `by` above; the highest lanes keep their own."""
    return _shuffle("down", value, by)


@intrinsic
def shuffle(value: Any, lane: Any) -> Value:
    """The value of a lane, given by its number."""
    return _shuffle("index", value, lane)


def _element(b: Any, what: str, array: Any, index: Any) -> Memory:
    if not isinstance(array, Memory) or array.space not in ("global", "shared"):
        raise b.error(f"gpu.{what} of {kind_of(array)}; wanted: a parameter or shared memory")
    array.check_written()
    found = array.view(index if isinstance(index, tuple) else (index,))
    if found.shape or array.dtype == i1:
        raise b.error(f"gpu.{what} of {found.describe()}; wanted: one number", "name the element: gpu." + what + "(A, (i, j), x)")
    return found


_ATOMICS = {"add": ("add", "fadd"), "min": ("min", ""), "max": ("max", ""), "and": ("_and", ""), "or": ("_or", ""), "xor": ("_xor", ""),
            "exchange": ("xchg", "xchg")}


def _atomic(kind: str, array: Any, index: Any, value: Any) -> Value:
    b = current(f"gpu.atomic_{kind}").b
    at = _element(b, f"atomic_{kind}", array, index)
    of_float = array.dtype.kind == "float"
    name = _ATOMICS[kind][of_float]
    if not name or array.dtype.bits < (16 if of_float and kind == "add" else 32) or array.dtype.name == "bf16":
        raise b.error(f"gpu.atomic_{kind} of {array.dtype} is not supported; wanted: i32 or i64" + (", f16, f32 or f64" if _ATOMICS[kind][1] else ""))
    if array.dtype.name == "f64":
        b.need(60, "an atomic sum of f64")
    given = implicit(b, value, array.dtype, f"what gpu.atomic_{kind} takes")
    return Value(b.op(f"llvm.atomicrmw {name} {at.address()}, {given.name} syncscope(\"device\") monotonic "
                      f"{{alignment = {array.dtype.bytes} : i64}} : {at.pointer_type}, {array.dtype.mlir}"), array.dtype)


def _make_atomic(kind: str, does: str) -> Any:
    def function(array: Any, index: Any, value: Any) -> Value:
        return _atomic(kind, array, index, value)

    function.__name__ = function.__qualname__ = f"atomic_{kind}"
    function.__doc__ = f"{does} array[index], as one step that no other thread sees half of; gives what was there before."
    return intrinsic(function)


atomic_add = _make_atomic("add", "Adds value to")
atomic_min = _make_atomic("min", "Puts the lesser of it and value into")
atomic_max = _make_atomic("max", "Puts the greater of it and value into")
atomic_and = _make_atomic("and", "Keeps the bits that value has, too, in")
atomic_or = _make_atomic("or", "Adds value's bits to")
atomic_xor = _make_atomic("xor", "Flips value's bits in")
atomic_exchange = _make_atomic("exchange", "Puts value into")


@intrinsic
def atomic_compare_exchange(array: Any, index: Any, expected: Any, value: Any) -> Value:
    """Puts value into array[index] if that is `expected`, as one step; gives what was there before."""
    b = current("gpu.atomic_compare_exchange").b
    at = _element(b, "atomic_compare_exchange", array, index)
    if array.dtype not in (i32, i64):
        raise b.error(f"gpu.atomic_compare_exchange of {array.dtype} is not supported; wanted: i32 or i64")
    old, new = (implicit(b, one, array.dtype, "what gpu.atomic_compare_exchange takes") for one in (expected, value))
    kind = array.dtype.mlir
    made = b.op(f"llvm.cmpxchg {at.address()}, {old.name}, {new.name} syncscope(\"device\") monotonic monotonic "
                f"{{alignment = {array.dtype.bytes} : i64}} : {at.pointer_type}, {kind}")
    return Value(b.op(f"llvm.extractvalue {made}[0] : !llvm.struct<({kind}, i1)>"), array.dtype)
