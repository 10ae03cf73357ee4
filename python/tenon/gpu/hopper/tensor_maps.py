# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor maps: what a tile of an array is, so that one thread can have it copied while all others compute.

A map is a parameter of the kernel behind those of its signature. Who launches the kernel passes nothing for it: the runtime encodes it
from the array of the call. Elements of a tile that lie outside of the array arrive as zeros and are not written.
"""
from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..builder import Builder, Mapped, current
from ..intrinsics import intrinsic
from ..kinds import f32
from ..memory import Memory
from ..value import Handle, kind_of
from .barriers import Barrier, word
from .tiles import SWIZZLES, begin_of, is_dense, swizzle_of

_MAP = "!llvm.ptr"


@dataclasses.dataclass(frozen=True)
class TensorMap(Handle):
    """What gpu.tensor_map(array, box) gives. `bytes`: of a tile, what a barrier expects; `box`: its extents."""

    b: Builder
    array: Memory
    mapped: Mapped
    pointer: str

    def describe(self) -> str:
        return f"a tensor map of {self.array.name}"

    @property
    def box(self) -> tuple[int, ...]:
        return self.mapped.box

    @property
    def bytes(self) -> int:
        return math.prod(self.mapped.box) * self.array.dtype.bytes

    def _tile(self, what: str, tile: Any) -> str:
        """Where a tile begins in shared memory."""
        b, box = self.b, self.mapped.box
        if not isinstance(tile, Memory) or tile.space != "shared":
            raise b.error(f"{what} {kind_of(tile)}; wanted: shared memory")
        if tile.dtype != self.array.dtype:
            raise b.error(f"{what} {tile.describe()} of {tile.dtype}, and the elements of {self.array.name} are {self.array.dtype}")
        if not is_dense(tile) or math.prod(tile.shape) != math.prod(box) or tile.shape[-1] != box[-1]:
            raise b.error(f"{what} {tile.describe()}; wanted: as many elements as the box ({', '.join(map(str, box))}) has, one behind the other, in "
                          f"rows of {box[-1]}")
        if swizzle_of(tile) != self.mapped.swizzle:
            raise b.error(f"{what} {tile.describe()}, whose rows are {_swizzled(swizzle_of(tile))}; the tensor map's are {_swizzled(self.mapped.swizzle)}",
                          "say the same swizzle= of both")
        return begin_of(b, what.removesuffix(" to").removesuffix(" from"), tile)

    def _at(self, what: str, at: Any) -> tuple[list[tuple[str, str, str]], int]:
        """Coordinates as operands, innermost first, as PTX has them."""
        given = at if isinstance(at, tuple) else (at,)
        if len(given) != len(self.mapped.box):
            raise self.b.error(f"{what} begins at {len(given)} indices; wanted: {len(self.mapped.box)}, one for each dimension of {self.array.name}")
        return [(word(self.b, one, f"index {axis} of a tile"), "i32", "r") for axis, one in reversed(list(enumerate(given)))], len(given)

    @intrinsic
    def load(self, to: Any, at: Any, barrier: Any, multicast: Any = None) -> None:
        """Begins to copy the tile that begins at `at` (an index for each dimension) to shared memory. One thread asks for it; the barrier gets
        `bytes` when it is there, which barrier.expect(bytes) has said.

        `multicast`: of a cluster, the blocks that get it, a bit for each rank; at the same place of their shared memory, told to their barriers.
        """
        b = self.b
        address = self._tile("a tensor map loads to", to)
        if not isinstance(barrier, Barrier) or barrier.is_peers:
            raise b.error(f"a tensor map tells {kind_of(barrier)} when a tile is there; wanted: a barrier of gpu.mbarriers")
        indices, rank = self._at("a tile", at)
        operands = [(address, "!llvm.ptr<3>", "r"), (self.pointer, _MAP, "l"), *indices, (barrier.pointer, "!llvm.ptr<3>", "r")]
        text, mask = "", ""
        if multicast is not None:
            blocks = math.prod(b.cluster)
            if blocks == 1:
                raise b.error("a tensor map loads for several blocks, and the kernel has no cluster", "write @gpu.kernel(cluster=2)")
            if isinstance(multicast, int) and not 0 < multicast < 1 << blocks:
                raise b.error(f"multicast is {multicast}; wanted: a bit for each of the {blocks} blocks of a cluster, 1 to {(1 << blocks) - 1}")
            wide = word(b, multicast, "multicast")
            operands.append((b.op(f"arith.trunci {wide} : i32 to i16"), "i16", "h"))
            text, mask = ".multicast::cluster", f", ${rank + 3}"
        listed = ", ".join(f"${at + 2}" for at in range(rank))
        b.assembly(f"cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes{text} [$0], [$1, {{{listed}}}], [${rank + 2}]{mask};",
                   operands)

    @intrinsic
    def store(self, source: Any, at: Any) -> None:
        """Begins to copy a tile from shared memory to the array, at `at`. One thread asks for it, behind gpu.fence_async() by those who wrote the tile
        and a barrier; then gpu.store_commit() and gpu.store_wait(0)."""
        b = self.b
        self.array.check_written()
        address = self._tile("a tensor map stores from", source)
        indices, rank = self._at("a tile", at)
        listed = ", ".join(f"${at + 2}" for at in range(rank))
        b.assembly(f"cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [$1, {{{listed}}}], [$0];",
                   [(address, "!llvm.ptr<3>", "r"), (self.pointer, _MAP, "l"), *indices])

    @intrinsic
    def prefetch(self, at: Any = None) -> None:
        """Brings the map itself near, so that the first copy need not wait for it; with `at`, the tile that begins there, to the second-level cache."""
        operands: list[tuple[str, str, str]] = [(self.pointer, _MAP, "l")]
        if at is None:
            self.b.assembly("prefetch.tensormap [$0];", operands)
            return
        indices, rank = self._at("a tile", at)
        listed = ", ".join(f"${at + 1}" for at in range(rank))
        self.b.assembly(f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global [$0, {{{listed}}}];", [*operands, *indices])


def _swizzled(bytes: int) -> str:
    return f"swizzled by {bytes} bytes" if bytes else "not swizzled"


@intrinsic
def tensor_map(array: Any, box: Any, *, swizzle: int = 0, tf32: bool = False) -> TensorMap:
    """How tiles of `box` elements of a parameter are copied to shared memory and back: map.load(to, (row, column), barrier), map.store(from, at).

    `box`: 1 to 256 along each dimension. `swizzle`: 32, 64 or 128, bytes of a row of the tile, which then lies as an array made by
    gpu.shared(..., swizzle=) does; 0: rows lie as they are. `tf32`: f32 is rounded to tf32 on its way. The array begins at a multiple of 16 bytes, and so
    does each of its rows. The map is a parameter behind those of the signature, which a call does not pass. Needs sm_90.
    """
    b = current("gpu.tensor_map").b
    if not isinstance(array, Memory) or array.space != "global" or array.is_view:
        raise b.error(f"gpu.tensor_map of {kind_of(array)}; wanted: a parameter, whole")
    given = box if isinstance(box, tuple) else (box,)
    if len(given) != len(array.shape) or len(given) > 5 or not all(isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= 256 for one in given):
        raise b.error(f"the box of a tensor map of {array.describe()} is ({', '.join(str(one) if isinstance(one, int) else kind_of(one) for one in given)}); "
                      f"wanted: {len(array.shape)} numbers from 1 to 256" + ("" if len(array.shape) <= 5 else ", and at most 5 dimensions"))
    if array.dtype.kind == "bool":
        raise b.error(f"a tensor map of {array.dtype} is not supported; wanted: numbers")
    row = given[-1] * array.dtype.bytes
    if swizzle not in (0, *SWIZZLES):
        raise b.error(f"the swizzle of a tensor map is {kind_of(swizzle)}; wanted: 0, 32, 64 or 128")
    if row % 16 or (swizzle and row != swizzle):
        raise b.error(f"a row of the box has {row} bytes; wanted: " + (f"the {swizzle} of the swizzle" if swizzle else "a multiple of 16"))
    last = array.shape[-1]
    if len(given) > 1 and isinstance(last, int) and last * array.dtype.bytes % 16:
        raise b.error(f"a row of {array.name} has {last * array.dtype.bytes} bytes; wanted: a multiple of 16, for a tensor map", "pad the array")
    if tf32 and array.dtype != f32:
        raise b.error(f"a tensor map rounds {array.dtype} to tf32; wanted: f32")
    b.need(90, "gpu.tensor_map")
    b.alignments[array.name] = max(b.alignments.get(array.name, 0), 16)
    same = [one for one in b.maps if one.array == array.name]
    for one in same:
        if (one.box, one.swizzle, one.rounds_to_tf32) == (given, swizzle, bool(tf32)):
            return TensorMap(b, array, one, b.map_tensor(one))
    name = f"{array.pointer[1:]}_map{len(same) + 1 if same else ''}"
    made = Mapped(name, array.name, array.dtype, given, swizzle, bool(tf32))
    return TensorMap(b, array, made, b.map_tensor(made))


@intrinsic
def fence_async() -> None:
    """What the thread wrote to shared memory is seen by copies of tensor maps and by wgmma, which see memory in another way than threads.
    A barrier behind it tells the thread that asks for them."""
    b = current("gpu.fence_async").b
    b.need(90, "gpu.fence_async")
    b.assembly("fence.proxy.async.shared::cta;")


@intrinsic
def store_commit() -> None:
    """What the thread began to store by tensor maps since the last time is a group."""
    b = current("gpu.store_commit").b
    b.need(90, "gpu.store_commit")
    b.assembly("cp.async.bulk.commit_group;")


@intrinsic
def store_wait(pending: int, *, read: bool = False) -> None:
    """Waits until at most `pending` of the thread's groups of stores are on their way. `read`: until they have read their tiles, which may then be written
    again; what they store may come later."""
    b = current("gpu.store_wait").b
    if not isinstance(pending, int) or isinstance(pending, bool) or pending < 0:
        raise b.error(f"gpu.store_wait waits for {kind_of(pending)}; wanted: a number from 0")
    b.need(90, "gpu.store_wait")
    b.assembly(f"cp.async.bulk.wait_group{'.read' if read else ''} {pending};")
