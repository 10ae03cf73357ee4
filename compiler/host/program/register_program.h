// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The register program of a function: its index and scalar arithmetic as straight-line int64 operations.
//
// A function of a program has no code of its own to run on the host. What it computes outside its kernels (sizes, grid
// dimensions, scalar arguments) becomes registers: each is written once, by an operation that reads only registers
// before it, so the runtime evaluates them in one pass. Building folds constants and gives equal operations one
// register; the known range of each register lets widening and comparisons fold too.
// A block of a function has a program of its own, whose arguments are what it is handed.
// What an operation computes: abi/format/arithmetic.h.
#pragma once

#include "abi/format/program_generated.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace tenon::compiler::host {

using Register = uint32_t;
using Opcode = abi::fb::RegisterOpcode;
/// "No register": also what the file writes for an absent one.
inline constexpr Register kNoRegister = std::numeric_limits<uint32_t>::max();

/// Inclusive bounds of what a register can hold.
struct Range {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  bool operator==(const Range &) const = default;
};
/// Range of a two's-complement integer of `bits` bits, 1 <= bits <= 64.
Range signedRange(uint32_t bits);
/// Range of an unsigned integer of `bits` bits, 1 <= bits <= 63.
Range unsignedRange(uint32_t bits);

struct RegisterOperation {
  Opcode opcode = Opcode::Const;
  uint32_t a = 0;  // register; Arg and Dim: the input
  uint32_t b = 0;  // register; Dim: the dimension
  uint32_t c = 0;  // register
  int64_t imm = 0; // Const: the value; SignExtend, ZeroExtend, floats: bits; FConvert: types
  auto operator<=>(const RegisterOperation &) const = default;
};

class RegisterProgram {
public:
  Register constant(int64_t value);
  /// Scalar input `input`; `range` is what its type can hold.
  Register argument(uint32_t input, Range range = {});
  /// Size of dimension `dim` of tensor input `input`.
  Register dim(uint32_t input, uint32_t dim);
  /// Add Sub Mul FloorDiv CeilDiv Mod DivTrunc RemTrunc Min Max And Or Xor Eq Lt Align. An operation that would fail
  /// (overflow, division by zero) is kept, and fails the call.
  Register binary(Opcode opcode, Register a, Register b);
  Register select(Register condition, Register whenTrue, Register whenFalse);
  /// The low `bits` of a, 1 <= bits <= 64.
  Register signExtend(Register a, uint32_t bits);
  Register zeroExtend(Register a, uint32_t bits);
  /// FAdd .. FToInt on floats of `bits` bits, 32 or 64, held as their bits; b is not read by those of one operand.
  Register real(Opcode opcode, uint32_t bits, Register a, Register b = 0);
  Register convertReal(abi::fb::ElementType from, abi::fb::ElementType to, Register a);

  Register add(Register a, Register b) { return binary(Opcode::Add, a, b); }
  Register mul(Register a, Register b) { return binary(Opcode::Mul, a, b); }
  Register equal(Register a, Register b) { return binary(Opcode::Eq, a, b); }
  Register less(Register a, Register b) { return binary(Opcode::Lt, a, b); }
  /// 1 - a for a register that is 0 or 1.
  Register logicalNot(Register a) { return binary(Opcode::Xor, a, constant(1)); }

  const std::vector<RegisterOperation> &operations() const { return operations_; }
  std::optional<int64_t> constantValue(Register value) const;
  Range range(Register value) const { return ranges_[value]; }
  bool isNonNegative(Register value) const { return ranges_[value].low >= 0; }
  /// "dimension 1 of argument 0", "argument 2", "64"; empty for a computed register.
  std::string describe(Register value) const;
  /// Of a block, which may take values of other blocks. names: [inputs] what each is to the caller, "argument 2";
  /// empty: computed.
  void nameInputs(std::vector<std::string> names) { inputNames_ = std::move(names); }

  /// Drops every register that none of `roots` needs and renumbers the rest in order.
  /// @return [n] the new number of each old register; kNoRegister: dropped
  std::vector<Register> compact(std::span<const Register> roots);

private:
  Register intern(const RegisterOperation &operation, Range range);
  std::optional<Register> foldIdentity(Opcode opcode, Register a, Register b);
  Register withoutExtensions(Register value, uint32_t bits) const;
  Range binaryRange(Opcode opcode, Range a, Range b) const;

  std::string inputName(uint32_t input) const;

  std::vector<RegisterOperation> operations_;
  std::vector<Range> ranges_;
  std::optional<std::vector<std::string>> inputNames_; // none: they are the function's arguments
  std::map<RegisterOperation, Register> numbers_;
};

} // namespace tenon::compiler::host
