# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of a kernel's values. Numbers have a width, as NumPy's have: integers wrap, floats round."""
from __future__ import annotations

import dataclasses
import struct
from typing import Any

import math


@dataclasses.dataclass(frozen=True, repr=False)
class Scalar:
    """A number's type. In a kernel `f32(x)` converts; elsewhere it is a parameter of a kernel like any other."""

    name: str
    kind: str  # "int", "float", "bool"
    bits: int

    def __repr__(self) -> str:
        return self.name

    @property
    def mlir(self) -> str:
        return self.name

    @property
    def bytes(self) -> int:
        """Of an element in memory."""
        return max(self.bits // 8, 1)

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest integer."""
        return (0, 1) if self.kind == "bool" else (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)

    def __call__(self, value: Any) -> Any:
        raise TypeError(f"{self.name}(...) converts numbers in the body of a @gpu.kernel; it is not called elsewhere")


@dataclasses.dataclass(frozen=True, repr=False)
class Vector:
    """`count` numbers in registers, one beside the other."""

    element: Scalar
    count: int

    def __repr__(self) -> str:
        return f"vector of {self.count} {self.element}"

    @property
    def mlir(self) -> str:
        return f"vector<{self.count}x{self.element.mlir}>"


Type = Scalar | Vector

i1 = Scalar("i1", "bool", 1)
i8 = Scalar("i8", "int", 8)
i16 = Scalar("i16", "int", 16)
i32 = Scalar("i32", "int", 32)
i64 = Scalar("i64", "int", 64)
f16 = Scalar("f16", "float", 16)
bf16 = Scalar("bf16", "float", 16)
f32 = Scalar("f32", "float", 32)
f64 = Scalar("f64", "float", 64)
ALL = (i1, i8, i16, i32, i64, f16, bf16, f32, f64)
_MANTISSA = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_EXPONENT = {"f16": 15, "bf16": 127, "f32": 127, "f64": 1023}


def element_of(type: Type) -> Scalar:
    return type.element if isinstance(type, Vector) else type


def widens(a: Scalar, b: Scalar) -> bool:
    """Whether every number of type a is one of type b: then a becomes b where they meet."""
    if a == b:
        return True
    if a.kind == "int" and b.kind == "int":
        return a.bits < b.bits
    if a.kind == "float" and b.kind == "float":
        return _MANTISSA[a.name] <= _MANTISSA[b.name] and _EXPONENT[a.name] <= _EXPONENT[b.name]
    return False


def holds_exactly(type: Scalar, number: int) -> bool:
    """Whether an integer is a number of this type."""
    if type.kind == "float":
        try:
            return int(decode(type, encode(type, number))) == number
        except OverflowError:
            return False
    low, high = type.limits
    return low <= number <= high


def encode(type: Scalar, number: float) -> int:
    """The bits of the nearest number of a float type, ties to even. OverflowError: it is beyond the largest."""
    number = float(number)
    if type.name == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", number))[0]
        if math.isnan(number):
            return 0x7FC0
        # A double that was rounded to f32 lies on bf16's midpoint only if it was within half a last place of it: look again.
        low = bits & 0xFFFF
        if low == 0x8000:
            exact = struct.unpack("<f", struct.pack("<I", bits))[0]
            if abs(number) != abs(exact):
                return int(bits >> 16) + (1 if abs(number) > abs(exact) else 0)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        if rounded & 0x7FFF == 0x7F80 and not math.isinf(number):
            raise OverflowError("bf16")
        return int(rounded)
    codes = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}[type.name]
    if math.isnan(number):
        return {"f16": 0x7E00, "f32": 0x7FC00000, "f64": 0x7FF8000000000000}[type.name]
    return int(struct.unpack(codes[1], struct.pack(codes[0], number))[0])


def decode(type: Scalar, bits: int) -> float:
    """The number of these bits."""
    if type.name == "bf16":
        return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
    codes = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}[type.name]
    return float(struct.unpack(codes[0], struct.pack(codes[1], bits))[0])
