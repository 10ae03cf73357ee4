# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of warpgroups: 128 threads multiply tiles that lie in shared memory, sums stay in their registers. sm_90a alone has them.

A warpgroup's sums are 64 rows of f32. Of warp w, lane l, with g = l // 4 and t = l % 4, element i is in row 16 w + g + 8 (i // 2 % 2) and column
8 (i // 4) + 2 t + i % 2: two that lie side by side, then two of the eighth row below, then the next eight columns.

A product runs on when the call is over. Until gpu.wgmma_wait nobody may touch its sums, nor write its tiles.
"""
from __future__ import annotations

import dataclasses
from typing import Any

from ..arithmetic import as_value, binary, cast, implicit
from ..builder import Builder, current
from ..intrinsics import intrinsic
from ..kinds import Scalar, Vector, bf16, f16, f32, i1
from ..memory import Memory
from ..threads import _linear_thread
from ..value import Handle, Value, kind_of
from .tiles import Tile, begin_of

ROWS = 64
_MOST_PENDING = 7
_NAMES = {"f16": ("f16", 16), "bf16": ("bf16", 16), "f32": ("tf32", 8)}  # what PTX calls it, elements of a step along what is summed


@dataclasses.dataclass(frozen=True)
class Sums(Handle):
    """What gpu.sums(columns) gives: 64 x columns sums of a warpgroup. `count` of them are the thread's own: sums[i], at (row(i), column(i))."""

    b: Builder
    memory: Memory
    columns: int
    number: int

    def describe(self) -> str:
        return f"sums of 64 x {self.columns}"

    @property
    def count(self) -> int:
        return self.columns // 2

    def check_written(self) -> None:
        if self.number in self.b.flying:
            raise self.b.error("sums are touched while a product may still be added to them", "call gpu.wgmma_wait(0) first, on every way that leads "
                               "here; a loop's next turn begins with what is on its way at the end of a turn")

    def _index(self, index: Any) -> int:
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < self.count:
            raise self.b.error(f"a sum is asked for by {kind_of(index)}; wanted: a number from 0 to {self.count - 1} that is known", "loop with "
                               "gpu.static_range(sums.count)")
        return index

    def get(self, indices: tuple[Any, ...]) -> Any:
        self.check_written()
        return self.memory.get((self._index(indices[0] if len(indices) == 1 else indices),))

    def set(self, indices: tuple[Any, ...], given: Any) -> None:
        self.check_written()
        self.memory.set((self._index(indices[0] if len(indices) == 1 else indices),), given)

    @intrinsic
    def row(self, index: int) -> Any:
        """The row of sums[index], 0 to 63."""
        b = self.b
        warp, lane = binary(b, "%", binary(b, "//", _linear_thread(b), 32), 4), binary(b, "%", _linear_thread(b), 32)
        first = binary(b, "+", binary(b, "*", warp, 16), binary(b, "//", lane, 4))
        return binary(b, "+", first, 8 * (self._index(index) // 2 % 2))

    @intrinsic
    def column(self, index: int) -> Any:
        """The column of sums[index]; sums[index + 1] of an even index is beside it."""
        b = self.b
        first = binary(b, "*", binary(b, "%", _linear_thread(b), 4), 2)
        return binary(b, "+", first, 8 * (self._index(index) // 4) + index % 2)

    @intrinsic
    def fill(self, value: Any) -> None:
        """Every sum is `value`."""
        self.check_written()
        given = implicit(self.b, value, f32, "what sums are filled with")
        for at in range(self.count):
            self.memory.set((at,), given)

    @intrinsic
    def store(self, view: Any, dtype: Any = None, *, first: int | None = None) -> None:
        """Writes sums to a view of as many rows and columns, two at a time; with `first`, a multiple of 8, the columns from there on that the view has.
        `dtype`: f16 or bf16, to which they are rounded; left out: f32."""
        b = self.b
        self.check_written()
        kind = f32 if dtype is None else dtype
        if not isinstance(view, Memory) or view.space == "local" or len(view.shape) != 2:
            raise b.error(f"sums are stored to {kind_of(view)}; wanted: a view of {ROWS} x {self.columns} elements")
        is_whole, first = first is None, 0 if first is None else first
        if not isinstance(first, int) or first % 8 or not 0 <= first < self.columns:
            raise b.error(f"sums of {ROWS} x {self.columns} are stored from column {first if isinstance(first, int) else kind_of(first)}; wanted: a "
                          "multiple of 8")
        columns = view.shape[1]
        if view.shape[0] != ROWS or not isinstance(columns, int) or columns % 8 or columns > self.columns - first or view.strides[1] != 1 or (
                is_whole and columns != self.columns):
            raise b.error(f"sums of {ROWS} x {self.columns} are stored to {view.describe()}; wanted: as many rows and columns",
                          "cut it as in C[i:i + 64, j:j + 128]")
        if kind not in (f32, f16, bf16) or view.dtype != kind:
            raise b.error(f"sums of f32 are stored as {kind if isinstance(kind, Scalar) else kind_of(kind)} to elements of {view.dtype}; wanted: f32, or "
                          "the type that they are rounded to, as in sums.store(C[...], bf16)")
        view.check_written()
        if isinstance(view.strides[0], int) and view.strides[0] % 2:
            raise b.error(f"a row of {view.name} has {view.strides[0]} elements; wanted: an even number, of which two are stored at once")
        kinds = Vector(kind, 2)
        row, column = self.row(0), self.column(0)
        rows = [view.view((slice(binary(b, "+", row, 8 * half), None),)) for half in (0, 1)]
        for half in (0, 1):
            beside = rows[half].view((0, slice(column, None)))
            for at in range(0, columns // 2, 4):
                pair = [cast(b, self.memory.get((first // 2 + at + 2 * half + k,)), kind) for k in (0, 1)]
                packed = Value(b.op(f"vector.from_elements {pair[0].name}, {pair[1].name} : {kinds.mlir}"), kinds)
                to = dataclasses.replace(beside, shape=(2,), strides=(1,), offset=beside.offset + 2 * at)
                to.store_vector(to, packed)


    @intrinsic
    def rounded(self, dtype: Any) -> Rounded:
        """The sums as they are now, rounded to f16 or bf16: the first factor of another gpu.wgmma, which needs no shared memory."""
        b = self.b
        self.check_written()
        if dtype not in (f16, bf16):
            raise b.error(f"sums are rounded to {dtype if isinstance(dtype, Scalar) else kind_of(dtype)}; wanted: f16 or bf16")
        if self.columns % 16:
            raise b.error(f"{self.describe()} are rounded for gpu.wgmma; wanted: a multiple of 16 columns")
        words = []
        for at in range(0, self.count, 2):
            pair = [cast(b, self.memory.get((at + k,)), dtype).name for k in (0, 1)]
            packed = b.op(f"vector.from_elements {', '.join(pair)} : vector<2x{dtype.mlir}>")
            words.append(b.op(f"llvm.bitcast {packed} : vector<2x{dtype.mlir}> to i32"))
        return Rounded(b, tuple(words), dtype, self.columns)


@dataclasses.dataclass(frozen=True)
class Rounded(Handle):
    """What sums.rounded(dtype) gives: 64 x columns numbers in a warpgroup's registers, two to a word."""

    b: Builder
    words: tuple[str, ...]
    dtype: Scalar
    columns: int

    def describe(self) -> str:
        return f"sums of 64 x {self.columns} that are rounded to {self.dtype}"


@dataclasses.dataclass(frozen=True)
class _Factor:
    """A factor in shared memory as wgmma takes it: `name` is its descriptor, `positions` lie along the result, `depth` along what is summed; `steps`:
    where each step begins, in bytes (of words in registers, by number), from the descriptor's begin."""

    name: str
    positions: int
    depth: int
    steps: list[int]


_SWIZZLED = {128: 1, 64: 2, 32: 3}


def _factor(b: Builder, what: str, tile: Any, is_across: bool) -> _Factor:
    if not isinstance(tile, Tile) or tile.space != "shared":
        raise b.error(f"gpu.wgmma's {what} is {kind_of(tile)}; wanted: a tile in shared memory whose rows are swizzled",
                      "make it with gpu.shared((64, 64), bf16, swizzle=128)")
    if tile.dtype.name not in _NAMES:
        raise b.error(f"gpu.wgmma of {tile.dtype} is not supported; wanted: f16, bf16, or f32 (as tf32)")
    if is_across and tile.dtype == f32:
        raise b.error(f"gpu.wgmma's {what} is transposed and of f32; wanted: rows along what is summed, which is all that tf32 has")
    step = _NAMES[tile.dtype.name][1]
    swizzle, size = tile.swizzle, tile.dtype.bytes
    atom = swizzle // size  # elements of a row
    wanted = f"(n, rows, {atom}) or (rows, {atom})"
    if len(tile.shape) not in (2, 3) or not all(isinstance(one, int) for one in tile.shape) or tile.shape[-1] != atom or tile.strides[-2:] != (atom, 1):
        raise b.error(f"gpu.wgmma's {what} is {tile.describe()}; wanted: whole rows, {wanted}")
    count, rows = (1, tile.shape[0]) if len(tile.shape) == 2 else tile.shape[:2]
    block = swizzle * rows if len(tile.shape) == 2 else tile.strides[0] * size  # from one block of rows to the next
    if rows % (step if is_across else 8):
        raise b.error(f"gpu.wgmma's {what} has {rows} rows; wanted: a multiple of {step if is_across else 8}")
    if count > 1 and block % tile.repeats:
        raise b.error(f"gpu.wgmma's {what} is {tile.describe()}, whose blocks are {block} bytes apart; wanted: a multiple of {tile.repeats}")
    words = (_SWIZZLED[swizzle] << 62) | (8 * swizzle // 16 << 32)
    if is_across:  # rows lie along what is summed, blocks beside each other
        positions, depth = count * atom, rows
        steps = [at * swizzle for at in range(0, rows, step)]
        words |= (block // 16 & 0x3FFF) << 16
    else:
        positions, depth = rows, count * atom
        steps = [part * block + at for part in range(count) for at in range(0, swizzle, step * size)]
        words |= 1 << 16
    begin = b.op(f"llvm.ptrtoint {begin_of(b, 'gpu.wgmma', tile)} : !llvm.ptr<3> to i64")
    begin = b.op(f"arith.andi {b.op(f'arith.shrui {begin}, {b.constant_name(4)} : i64')}, {b.constant_name(0x3FFF)} : i64")
    signed = words - (1 << 64) if words >> 63 else words
    return _Factor(b.op(f"arith.ori {begin}, {b.constant_name(signed)} : i64"), positions, depth, steps)


@intrinsic
def sums(columns: int) -> Sums:
    """64 x `columns` sums of f32 of a warpgroup, zeros at first: what gpu.wgmma adds to. `columns`: a multiple of 8, at most 256.

    sums.count of them are the thread's own: sums[i], read and written, at (sums.row(i), sums.column(i)); sums.fill(0.0);
    sums.store(C[i:i + 64, j:j + 128]). A block has whole warpgroups, of 128 threads.
    """
    b = current("gpu.sums").b
    if not isinstance(columns, int) or isinstance(columns, bool) or columns % 8 or not 8 <= columns <= 256:
        raise b.error(f"gpu.sums of {kind_of(columns)} columns; wanted: a multiple of 8, 8 to 256")
    if b.block[0] * b.block[1] * b.block[2] % 128:
        raise b.error(f"a block has {b.block[0] * b.block[1] * b.block[2]} threads, and a warpgroup 128; wanted: a multiple of it")
    count = columns // 2
    made = Sums(b, Memory(b, f"sums_{len(b.locals)}", b.local(4 * count, 16), "local", f32, (count,), (1,)), columns, len(b.sums))
    made.check_written()  # in a loop they are the registers of the turn before
    b.sums.append(made)
    zero = implicit(b, 0.0, f32, "")
    for at in range(count):
        made.memory.set((at,), zero)
    return made


@intrinsic
def wgmma(to: Any, a: Any, b: Any, *, accumulate: Any = True, transpose_a: bool = False, transpose_b: bool = False) -> None:
    """Begins to[i, j] += sum over k of a[i, k] * b[j, k], by the 128 threads of a warpgroup, all of which call it; gpu.wgmma_wait waits.

    `to`: gpu.sums(n). `a`, `b`: tiles of f16, bf16 or f32 (cut to tf32; a tensor map with tf32=True rounds) in shared memory, made by
    gpu.shared(..., swizzle=) and copied by tensor maps of the same swizzle: a (64, e) and b (n, e), with e elements in a swizzled row (64 of bf16 in 128
    bytes), or (p, 64, e) and (p, n, e), where p * e elements are summed. `transpose_b` (of 16 bits): what is in a row lies along j, as (n // e, depth, e),
    each of which is a box of `depth` rows of a K x N array; `transpose_a` likewise. `accumulate`: False, or a bool of the kernel's that is: the sums begin
    anew. `a` may be sums.rounded(dtype), in registers. Threads that wrote a tile themselves say gpu.fence_async() before the barrier behind it. Each call is a group. Needs sm_90a.
    """
    w = current("gpu.wgmma").b
    if not isinstance(to, Sums):
        raise w.error(f"gpu.wgmma adds to {kind_of(to)}; wanted: gpu.sums(...)")
    if isinstance(a, Rounded) and transpose_a:
        raise w.error("gpu.wgmma's a is in registers and transposed; wanted: as the sums lie")
    left = (_Factor("", ROWS, a.columns, list(range(0, len(a.words), 4))) if isinstance(a, Rounded) else
            _factor(w, "a", a, bool(transpose_a)))
    right = _factor(w, "b", b, bool(transpose_b))
    if a.dtype != b.dtype:
        raise w.error(f"gpu.wgmma of {a.dtype} and {b.dtype}; wanted: one type")
    if left.positions != ROWS or right.positions != to.columns or left.depth != right.depth:
        raise w.error(f"gpu.wgmma of {left.positions} x {left.depth} and {right.positions} x {right.depth} to sums of {ROWS} x {to.columns}; "
                      f"wanted: {ROWS} x k and {to.columns} x k")
    if not isinstance(accumulate, bool) and not (isinstance(accumulate, Value) and accumulate.type == i1):
        raise w.error(f"accumulate is {kind_of(accumulate)}; wanted: a bool")
    w.need(90, "gpu.wgmma", is_only=True)
    name, step = _NAMES[a.dtype.name]
    count = to.count
    registers = "{" + ", ".join(f"${at}" for at in range(count)) + "}"
    is_held = isinstance(a, Rounded)
    ends = f"p, 1, 1{'' if step == 8 else f', {int(transpose_b)}' if is_held else f', {int(transpose_a)}, {int(transpose_b)}'};"
    operands = [(right.name, "i64", "l"), (w.op(f"arith.extui {as_value(w, accumulate).name} : i1 to i32"), "i32", "r")]
    operands += [(one, "i32", "r") for one in a.words] if is_held else [(left.name, "i64", "l")]
    lines = ["{", ".reg .pred p;", ".reg .b64 a, b;", "wgmma.fence.sync.aligned;"]
    for number, (of_a, of_b) in enumerate(zip(left.steps, right.steps)):  # a descriptor counts in 16 bytes
        if number < 2:
            lines.append(f"setp.ne.b32 p, {f'${count + 1}, 0' if number == 0 else '1, 0'};")
        factor = "{" + ", ".join(f"${count + 2 + of_a + k}" for k in range(4)) + "}" if is_held else "a"
        lines += [] if is_held else [f"add.s64 a, ${count + 2}, {of_a // 16};"]
        lines += [f"add.s64 b, ${count}, {of_b // 16};",
                  f"wgmma.mma_async.sync.aligned.m64n{to.columns}k{step}.f32.{name}.{name} {registers}, {factor}, b, {ends}"]
    lines += ["wgmma.commit_group.sync.aligned;", "}"]
    given = [to.memory.get((at,)).name for at in range(count)]
    _put(to, w.assembly("\n".join(lines), operands, [("f32", "f")] * count, given))
    w.flying = {**{number: min(behind + 1, _MOST_PENDING) for number, behind in w.flying.items()}, to.number: 0}


def _put(to: Sums, names: list[str]) -> None:
    for at, name in enumerate(names):
        to.memory.set((at,), Value(name, f32))


@intrinsic
def wgmma_wait(pending: int = 0) -> None:
    """Waits until at most `pending` of the warpgroup's products are on their way; the sums of the others are there, and their tiles may be written."""
    b = current("gpu.wgmma_wait").b
    if not isinstance(pending, int) or isinstance(pending, bool) or not 0 <= pending <= _MOST_PENDING:
        raise b.error(f"gpu.wgmma_wait waits for {kind_of(pending)}; wanted: a number from 0 to {_MOST_PENDING}")
    b.need(90, "gpu.wgmma_wait", is_only=True)
    # The wait hands the sums on: what reads them stands behind it, whatever moves. Those that are still added to are left alone.
    b.flying = {number: behind for number, behind in b.flying.items() if behind < pending}
    there = [one for one in b.sums if one.number not in b.flying]
    given = [one.memory.get((at,)).name for one in there for at in range(one.count)]
    made = b.assembly(f"wgmma.wait_group.sync.aligned {pending};", results=[("f32", "f")] * len(given), tied=given)
    at = 0
    for one in there:
        _put(one, made[at:at + one.count])
        at += one.count


def _registers(b: Builder, name: str, count: Any) -> str:
    if not isinstance(count, int) or isinstance(count, bool) or count % 8 or not 24 <= count <= 256:
        raise b.error(f"{name} to {kind_of(count)}; wanted: a multiple of 8, 24 to 256")
    b.need(90, name, is_only=True)
    return str(count)


@intrinsic
def give_registers(count: int) -> None:
    """The warpgroup goes on with `count` registers a thread and leaves the rest to others: a multiple of 8, 24 to 256. All of its warps call it, and
    have no fewer. Needs sm_90a."""
    b = current("gpu.give_registers").b
    b.line(f"nvvm.setmaxregister decrease {_registers(b, 'gpu.give_registers', count)}")


@intrinsic
def take_registers(count: int) -> None:
    """Waits until others have left enough, then goes on with `count` registers a thread: a multiple of 8, 24 to 256. Needs sm_90a."""
    b = current("gpu.take_registers").b
    b.line(f"nvvm.setmaxregister increase {_registers(b, 'gpu.take_registers', count)}")
