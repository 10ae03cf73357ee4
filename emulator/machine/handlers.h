// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables from what an instruction says (operation, types, rounding, ...) to the handler that executes it. The files
// behind them are compiled for x86-64-v2 and for v3 (AVX2, FMA, F16C), with the same results; the best set that the
// processor can run is chosen when the library loads. A null handler means: not supported, which the decoder reports.
#pragma once

#include "emulator/machine/machine.h"
#include "ptx/module.h"

namespace tenon::emulator {

enum class IntOp : uint8_t {
  Add,
  Sub,
  MulLo,
  MulHi,
  MulWide,
  MadLo,
  MadHi,
  MadWide,
  Mul24Lo,
  Mul24Hi,
  Mad24Lo,
  Mad24Hi,
  AddSat,
  SubSat,
  MadHiSat,
  Mad24HiSat,
  Div,
  Rem,
  Min,
  Max,
  MinRelu,
  MaxRelu,
  Abs,
  Neg,
  And,
  Or,
  Xor,
  Not,
  Cnot,
  Shl,
  Shr,
  Popc,
  Clz,
  Brev,
  Bfind,
  BfindShift,
  Bfe,
  Bfi,
  BmskClamp,
  BmskWrap,
  SzextClamp,
  SzextWrap,
  Sad,
  Prmt,
  PrmtF4e,
  PrmtB4e,
  PrmtRc8,
  PrmtEcl,
  PrmtEcr,
  PrmtRc16,
  Lop3,
  ShfLeftClamp,
  ShfLeftWrap,
  ShfRightClamp,
  ShfRightWrap,
  Dp4a,
  Dp2aLo,
  Dp2aHi,
  Fns,
  CarryAdd,
  CarrySub,
  CarryMadLo,
  CarryMadHi, // Decoded::flag: kCarryIn | kCarryOut, `e`: the carry mask
  Mov,
  Select, // Select: d = c (a predicate) ? a : b
};
inline constexpr uint8_t kCarryIn = 1, kCarryOut = 2;

enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class BoolOp : uint8_t { None, And, Or, Xor };
/// What a comparison writes: predicates (`d`, and `e` for the negation), or all ones / 1.0 of `bytes`.
/// Decoded::flag holds BoolOp | kThirdNegated; `c` the third predicate.
inline constexpr uint8_t kThirdNegated = 0x10;

enum class Rounding : uint8_t { None, Rn, Rz, Rm, Rp, Rna, Rni, Rzi, Rmi, Rpi };
enum class FloatOp : uint8_t {
  Add,
  Sub,
  Mul,
  Fma,
  Div,
  DivApprox,
  DivFull,
  Min,
  Max,
  MinNan,
  MaxNan,
  MinXorsignAbs,
  MaxXorsignAbs,
  MinNanXorsignAbs,
  MaxNanXorsignAbs,
  Abs,
  Neg,
  Sqrt,
  SqrtApprox,
  Rcp,
  RcpApprox,
  RsqrtApprox,
  Ex2,
  Lg2,
  Sin,
  Cos,
  Tanh,
  Copysign,
  FmaRelu,
};
struct FloatForm {
  FloatOp op;
  ptx::ScalarType type;
  Rounding rounding = Rounding::None;
  bool ftz = false, sat = false;
};
struct ConvertForm {
  ptx::ScalarType to, from;
  Rounding rounding = Rounding::None;
  bool ftz = false, sat = false, relu = false, satfinite = false;
};
enum class TestProperty : uint8_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

/// SharedCluster is known to decoding alone: such accesses become generic ones.
enum class MemorySpace : uint8_t { Generic, Global, Shared, Local, Param, Const, SharedCluster };
enum class AtomicOp : uint8_t { Add, Inc, Dec, Min, Max, And, Or, Xor, Exch, Cas };

struct MatrixForm; // matrix.h
enum class ShuffleMode : uint8_t { Up, Down, Butterfly, Index };

struct HandlerTable {
  Handler (*integer)(IntOp op, ptx::ScalarType type);
  /// d = a == ..., as predicate masks.
  Handler (*compare)(Comparison comparison, ptx::ScalarType type, bool ftz);
  /// As compare, writing 0 or all ones (`resultFloat`: 1.0) of type `result`.
  Handler (*set)(Comparison comparison, ptx::ScalarType type, bool ftz, ptx::ScalarType result);
  Handler (*floating)(const FloatForm &form);
  Handler (*half)(const FloatForm &form); // f16, bf16 and their pairs
  Handler (*halfCompare)(Comparison comparison, ptx::ScalarType type, bool ftz);
  Handler (*halfSet)(Comparison comparison, ptx::ScalarType type, bool ftz, ptx::ScalarType result);
  Handler (*convert)(const ConvertForm &form);
  Handler (*testp)(TestProperty property, ptx::ScalarType type);
  /// isStrong: other blocks may look at the same place now (.volatile, .relaxed, .acquire, .release, .mmio).
  Handler (*load)(MemorySpace space, uint32_t bytes, uint32_t count, bool isStrong);
  Handler (*store)(MemorySpace space, uint32_t bytes, uint32_t count, bool isStrong);
  /// d = value of another lane, `target` (predicate, optional) = the source was in range. a: value, b: lane operand,
  /// c: clamp; isFixed: a FixedShuffle at `list` instead of b and c.
  Handler (*shuffle)(ShuffleMode mode, bool isFixed);
  /// mov d, {..} (packs) and mov {..}, a: `count` parts of a register of `bytes`, at `list`.
  Handler (*pack)(bool packs, uint32_t bytes, uint32_t count);
  // Of a whole warp: matrix_ops.h.
  Handler (*loadMatrix)();
  Handler (*multiplyMatrix)(const MatrixForm &form);
  Handler (*loadFragment)();
  Handler (*storeFragment)();
  Handler (*multiplyFragments)();
};
const HandlerTable &handlersV2();
const HandlerTable &handlersV3();
/// The fastest that this processor runs, or what was chosen.
const HandlerTable &handlers();
enum class Level : uint8_t { V2, V3 };
/// Before a kernel is decoded. False: this processor does not run it.
bool chooseLevel(Level level);

// Handlers that exist once (atomic.cpp, data.cpp, warp_ops.cpp).
/// atom (`d` may be kNoOperand: red). `imm` is the address offset, `flag` the MemorySpace.
Handler atomicHandler(AtomicOp op, ptx::ScalarType type);

} // namespace tenon::emulator
