# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor cores, and copies to shared memory that go on while the kernel computes: sm_80 and later.

A warp multiplies small matrices, C += A * B, of which each lane holds a few elements in vectors. Of lane l, with g = l // 4 and t = l % 4:

    f16, bf16   A is 16 x 16, a vector of 8: rows g, g, g + 8, g + 8, g, g, g + 8, g + 8; columns 2t, 2t + 1 four times, the last two pairs + 8
                B is 16 x 8, a vector of 4: rows 2t, 2t + 1, 2t + 8, 2t + 9 of column g
    f32 (tf32)  A is 16 x 8, a vector of 4: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
                B is 8 x 8, a vector of 2: rows t, t + 4 of column g
    both        C is 16 x 8, a vector of 4 f32: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
"""
from __future__ import annotations

from typing import Any

from .builder import current
from .intrinsics import intrinsic
from .memory import Memory
from .kinds import Vector, bf16, f16, f32
from .value import Value, kind_of


def _registers(b: Any, value: Value, element: str, count: int, each: int) -> list[str]:
    """A vector as `count` registers of `each` elements."""
    kind = value.type.mlir
    if each == 1:
        lanes = [b.op(f"vector.extract {value.name}[{at}] : {value.dtype.mlir} from {kind}") for at in range(count)]
        return [b.op(f"arith.bitcast {one} : f32 to i32") for one in lanes] if element == "i32" else lanes
    return [b.op(f"vector.shuffle {value.name}, {value.name} [{', '.join(str(each * at + lane) for lane in range(each))}] : {kind}, {kind}")
            for at in range(count)]


@intrinsic
def mma(a: Any, b: Any, c: Any) -> Value:
    """c + a * b of one warp's fragments, which lie as this module says. a and b are f16, bf16 or f32 (which is rounded to tf32), c is f32.

    All 32 lanes of a warp take part. Needs sm_80.
    """
    w = current("gpu.mma").b
    for name, one in (("a", a), ("b", b), ("c", c)):
        if not isinstance(one, Value) or not isinstance(one.type, Vector):
            raise w.error(f"gpu.mma's {name} is {kind_of(one)}; wanted: a vector", "make it with gpu.vector, gpu.splat, gpu.load or gpu.load_matrices")
    shapes = {(Vector(f16, 8), Vector(f16, 4)): (16, "f16", 4, 2, 2), (Vector(bf16, 8), Vector(bf16, 4)): (16, "bf16", 4, 2, 2),
              (Vector(f32, 4), Vector(f32, 2)): (8, "i32", 4, 2, 1)}
    found = shapes.get((a.type, b.type))
    if found is None or c.type != Vector(f32, 4):
        raise w.error(f"gpu.mma of a {a.type}, a {b.type} and a {c.type}; wanted: 8 and 4 of f16 or bf16, or 4 and 2 of f32, and 4 of f32")
    k, element, count_a, count_b, each = found
    w.need(80, "gpu.mma")
    of_a, of_b = _registers(w, a, element, count_a, each), _registers(w, b, element, count_b, each)
    of_c = _registers(w, c, "f32", 4, 1)
    types = {"f16": "", "bf16": "", "i32": "multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, "}
    operand = f"vector<2x{element}>" if each == 2 else "i32"
    if element == "bf16":  # two of them are a register of 32 bits
        of_a, of_b = ([w.op(f"llvm.bitcast {one} : {operand} to i32") for one in listed] for listed in (of_a, of_b))
        operand = "i32"
        types["bf16"] = "multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, "
    struct = "!llvm.struct<(f32, f32, f32, f32)>"
    made = w.op(f"nvvm.mma.sync A[{', '.join(of_a)}] B[{', '.join(of_b)}] C[{', '.join(of_c)}] {{layoutA = #nvvm.mma_layout<row>, "
                f"layoutB = #nvvm.mma_layout<col>, {types[element]}shape = #nvvm.shape<m = 16, n = 8, k = {k}>}} : "
                f"({operand}, {operand}, f32) -> {struct}")
    lanes = [w.op(f"llvm.extractvalue {made}[{at}] : {struct}") for at in range(4)]
    return Value(w.op(f"vector.from_elements {', '.join(lanes)} : {c.type.mlir}"), c.type)


@intrinsic
def load_matrices(row: Any, count: int, transposed: bool = False) -> Value:
    """1, 2 or 4 matrices of 8 x 8 elements of 16 bits from shared memory, as gpu.mma takes them: a vector of 2 * count elements of each lane.

    `row`: 8 elements side by side, at a multiple of 16 bytes. Lane l says row l % 8 of matrix l // 8; with fewer matrices the other lanes'
    rows do not matter, but lie in the array. Lane l gets elements 2 * (l % 4) and the next of row l // 4 of each matrix, of its column if
    `transposed`.
    """
    b = current("gpu.load_matrices").b
    if not isinstance(row, Memory) or row.space != "shared":
        raise b.error(f"gpu.load_matrices of {kind_of(row)}; wanted: a row in shared memory")
    if row.dtype not in (f16, bf16) or row.shape != (8,) or row.strides != (1,):
        raise b.error(f"gpu.load_matrices of {row.describe()} of {row.dtype}; wanted: 8 elements of f16 or bf16 side by side", "cut it as in A[i, j:j + 8]")
    if count not in (1, 2, 4) or isinstance(count, bool):
        raise b.error(f"gpu.load_matrices loads {kind_of(count)} matrices; wanted: 1, 2 or 4")
    b.need(75, "gpu.load_matrices")
    given = "i32" if count == 1 else f"!llvm.struct<({', '.join(['i32'] * count)})>"
    made = b.op(f"nvvm.ldmatrix {row.address()} {{num = {count} : i32, layout = #nvvm.mma_layout<{'col' if transposed else 'row'}>, "
                f"shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}} : (!llvm.ptr<3>) -> {given}")
    words = [made] if count == 1 else [b.op(f"llvm.extractvalue {made}[{at}] : {given}") for at in range(count)]
    packed, kind = b.op(f"vector.from_elements {', '.join(words)} : vector<{count}xi32>"), Vector(row.dtype, 2 * count)
    return Value(b.op(f"vector.bitcast {packed} : vector<{count}xi32> to {kind.mlir}"), kind)


@intrinsic
def copy_async(to: Any, source: Any) -> None:
    """Copies 4, 8 or 16 bytes from a parameter to shared memory, side by side in both, while the thread goes on. gpu.copy_commit() ends a group of
    copies, gpu.copy_wait(n) waits until at most n of the thread's groups are on their way; a barrier then shows them to others. Needs sm_80."""
    b = current("gpu.copy_async").b
    for name, one, space in (("to", to, "shared"), ("from", source, "global")):
        if not isinstance(one, Memory) or one.space != space:
            raise b.error(f"gpu.copy_async copies {name} {kind_of(one)}; wanted: {'shared memory' if space == 'shared' else 'a parameter'}")
    if to.dtype != source.dtype or to.shape != source.shape or len(to.shape) != 1 or to.strides != (1,) or source.strides != (1,):
        raise b.error(f"gpu.copy_async copies {source.describe()} to {to.describe()}; wanted: as many elements of one type, side by side",
                      "cut both as in A[i, j:j + 4]")
    size = to.shape[0] * to.dtype.bytes if isinstance(to.shape[0], int) else 0
    if size not in (4, 8, 16):
        raise b.error(f"gpu.copy_async copies {size or 'an unknown number of'} bytes; wanted: 4, 8 or 16")
    b.need(80, "gpu.copy_async")
    b.alignments[source.name] = max(b.alignments.get(source.name, 0), size)
    b.line(f"nvvm.cp.async.shared.global {to.address()}, {source.address()}, {size}, cache = {'cg' if size == 16 else 'ca'} : !llvm.ptr<3>, !llvm.ptr<1>")


@intrinsic
def copy_commit() -> None:
    """What the thread began to copy since the last time is a group."""
    b = current("gpu.copy_commit").b
    b.need(80, "gpu.copy_commit")
    b.line("nvvm.cp.async.commit.group")


@intrinsic
def copy_wait(groups: int) -> None:
    """Waits until at most so many groups of the thread's copies are on their way; 0 waits for all."""
    b = current("gpu.copy_wait").b
    if not isinstance(groups, int) or groups < 0:
        raise b.error(f"gpu.copy_wait waits for {kind_of(groups)}; wanted: a number from 0 that is known when the kernel is made")
    b.line(f"nvvm.cp.async.wait.group {groups}")
