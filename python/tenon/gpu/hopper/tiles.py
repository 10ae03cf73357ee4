# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in shared memory whose rows are swizzled.

Rows of 128 bytes lie below each other, so that all threads which read one column would meet in the same banks. A tensor map therefore
moves each 16 bytes of a row to another place of that row, by the row's number: of an offset in bytes, bits 4 to 6 are flipped by bits
7 to 9. Rows of 64 and 32 bytes are swizzled by fewer bits. wgmma reads what lies so; so does A[i, j] of such an array.
"""
from __future__ import annotations

import dataclasses
from typing import Any

from ..kinds import Vector
from ..memory import Memory
from ..value import Value

SWIZZLES = (32, 64, 128)


@dataclasses.dataclass(frozen=True, eq=False)
class Tile(Memory):
    """`swizzle`: bytes of a row, the last dimension."""

    swizzle: int = 128

    @property
    def repeats(self) -> int:
        """Bytes behind which the swizzle begins again: eight rows. A tile begins at a multiple of it."""
        return 8 * self.swizzle

    def address(self) -> str:
        """Where an element lies, or a view begins, swizzled."""
        if self.is_multiple(self.repeats):
            return super().address()
        b, bytes = self.b, self.dtype.bytes
        offset = b.constant_name(self.offset * bytes)
        if self.moved is not None:
            moved = b.op(f"arith.muli {self.moved.name}, {b.constant_name(bytes)} : i64")
            offset = b.op(f"arith.addi {moved}, {offset} : i64")
        row = b.op(f"arith.shrui {offset}, {b.constant_name(7)} : i64")
        row = b.op(f"arith.andi {row}, {b.constant_name(self.swizzle // 16 - 1)} : i64")
        row = b.op(f"arith.shli {row}, {b.constant_name(4)} : i64")
        offset = b.op(f"arith.xori {offset}, {row} : i64")
        return b.op(f"llvm.getelementptr {self.pointer}[{offset}] : ({self.pointer_type}, i64) -> {self.pointer_type}, i8")

    def _vector(self) -> tuple[Vector, int]:
        kind, align = super()._vector()
        if kind.count * self.dtype.bytes > 16:
            raise self.b.error(f"a vector of {kind.count * self.dtype.bytes} bytes of {self.name}, whose rows are swizzled; wanted: at most 16, "
                               "which lie side by side")
        return kind, align


def swizzle_of(array: Memory) -> int:
    """Bytes of a swizzled row; 0: rows lie as they are."""
    return array.swizzle if isinstance(array, Tile) else 0


def begin_of(b: Any, what: str, array: Any) -> str:
    """Where a tile begins that is copied or multiplied: at a multiple of 128 bytes, of a swizzled array at one of eight rows."""
    repeats = array.repeats if isinstance(array, Tile) else 128
    b.align_shared(array.pointer, repeats)
    if not array.is_multiple(repeats):
        raise b.error(f"{what} of {array.describe()}, which need not begin at a multiple of {repeats} bytes",
                      f"make whole tiles dimensions of their own, as in gpu.shared((4, {', '.join(map(str, array.shape))}), ...)[k]")
    return str(array.address())


def is_dense(array: Memory) -> bool:
    """Whether the elements of a view lie one behind the other."""
    step = 1
    for extent, stride in reversed(list(zip(array.shape, array.strides))):
        if not isinstance(extent, int) or (stride != step and extent != 1):
            return False
        step *= extent
    return True


def is_value(given: Any) -> bool:
    """An integer, known or not."""
    return (isinstance(given, int) and not isinstance(given, bool)) or (
        isinstance(given, Value) and not isinstance(given.type, Vector) and given.type.kind == "int")
