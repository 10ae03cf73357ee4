// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/program/register_program.h"

#include "abi/format/arithmetic.h"

#include <algorithm>

namespace tenon::compiler::host {
namespace {

using Wide = __int128;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

int64_t clampToInt64(Wide value) {
  return int64_t(std::clamp<Wide>(value, kMin, kMax));
}

bool isCommutative(Opcode opcode) {
  switch (opcode) {
  case Opcode::Add:
  case Opcode::Mul:
  case Opcode::AddWrap:
  case Opcode::MulWrap:
  case Opcode::Min:
  case Opcode::Max:
  case Opcode::And:
  case Opcode::Or:
  case Opcode::Xor:
  case Opcode::Eq:
    return true;
  case Opcode::Const:
  case Opcode::Arg:
  case Opcode::Dim:
  case Opcode::Sub:
  case Opcode::FloorDiv:
  case Opcode::CeilDiv:
  case Opcode::Mod:
  case Opcode::DivTrunc:
  case Opcode::RemTrunc:
  case Opcode::Lt:
  case Opcode::Select:
  case Opcode::Align:
  case Opcode::SignExtend:
  case Opcode::ZeroExtend:
  default: // floats, which are not reordered
    return false;
  }
}

/// What fails the call where an operation modulo 2^64 does not; any other opcode stays.
Opcode withoutWrap(Opcode opcode) {
  return opcode == Opcode::AddWrap   ? Opcode::Add
         : opcode == Opcode::SubWrap ? Opcode::Sub
         : opcode == Opcode::MulWrap ? Opcode::Mul
                                     : opcode;
}

/// Whether the result of any of these operands has 64 bits.
bool fits(Opcode opcode, Range a, Range b) {
  const auto inside = [](Wide value) { return value >= kMin && value <= kMax; };
  switch (opcode) {
  case Opcode::Add:
    return inside(Wide(a.low) + b.low) && inside(Wide(a.high) + b.high);
  case Opcode::Sub:
    return inside(Wide(a.low) - b.high) && inside(Wide(a.high) - b.low);
  default: // Mul
    return inside(Wide(a.low) * b.low) && inside(Wide(a.low) * b.high) && inside(Wide(a.high) * b.low) &&
           inside(Wide(a.high) * b.high);
  }
}

bool contains(Range outer, Range inner) {
  return outer.low <= inner.low && inner.high <= outer.high;
}

/// Smallest 2^n - 1 that is not below `value` (>= 0).
int64_t onesAtLeast(int64_t value) {
  uint64_t ones = 0;
  while (ones < uint64_t(value))
    ones = ones << 1 | 1;
  return int64_t(ones);
}

/// Bounds of a division that rounds in any way, for a dividend of any sign and a divisor that is positive.
Range quotientRange(Range a, Range b) {
  if (b.low <= 0)
    return a.low >= 0 && b.low >= 0 ? Range{0, a.high} : Range{};
  return {a.low >= 0 ? 0 : a.low, a.high <= 0 ? 0 : a.high};
}

} // namespace

Range signedRange(uint32_t bits) {
  if (bits >= 64)
    return {};
  int64_t half = int64_t(1) << (bits - 1);
  return {-half, half - 1};
}

Range unsignedRange(uint32_t bits) {
  return {0, int64_t((uint64_t(1) << bits) - 1)};
}

Register RegisterProgram::intern(const RegisterOperation &operation, Range range) {
  auto [found, isNew] = numbers_.try_emplace(operation, Register(operations_.size()));
  if (isNew) {
    operations_.push_back(operation);
    ranges_.push_back(range);
  }
  return found->second;
}

Register RegisterProgram::constant(int64_t value) {
  return intern({.opcode = Opcode::Const, .imm = value}, {value, value});
}

Register RegisterProgram::argument(uint32_t input, Range range) {
  return intern({.opcode = Opcode::Arg, .a = input}, range);
}

Register RegisterProgram::dim(uint32_t input, uint32_t dim) {
  return intern({.opcode = Opcode::Dim, .a = input, .b = dim}, {0, kMax});
}

std::optional<int64_t> RegisterProgram::constantValue(Register value) const {
  if (operations_[value].opcode != Opcode::Const)
    return std::nullopt;
  return operations_[value].imm;
}

Range RegisterProgram::binaryRange(Opcode opcode, Range a, Range b) const {
  switch (opcode) {
  case Opcode::Add:
    return {clampToInt64(Wide(a.low) + b.low), clampToInt64(Wide(a.high) + b.high)};
  case Opcode::Sub:
    return {clampToInt64(Wide(a.low) - b.high), clampToInt64(Wide(a.high) - b.low)};
  case Opcode::Mul: {
    Wide corners[4] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low, Wide(a.high) * b.high};
    return {clampToInt64(*std::min_element(corners, corners + 4)),
            clampToInt64(*std::max_element(corners, corners + 4))};
  }
  case Opcode::FloorDiv:
  case Opcode::CeilDiv:
  case Opcode::DivTrunc: {
    Range range = quotientRange(a, b);
    if (opcode == Opcode::CeilDiv && a.high > 0)
      range.high = std::max<int64_t>(range.high, 1);
    if (opcode == Opcode::FloorDiv && a.low < 0)
      range.low = std::min<int64_t>(range.low, -1);
    return range;
  }
  case Opcode::Mod: // of the sign of the divisor
    return b.low >= 0 ? Range{0, b.high > 0 ? b.high - 1 : 0} : Range{};
  case Opcode::RemTrunc: // of the sign of the dividend, and no larger
    return {std::min<int64_t>(a.low, 0), std::max<int64_t>(a.high, 0)};
  case Opcode::Min:
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  case Opcode::Max:
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  case Opcode::And:
    if (a.low < 0 && b.low < 0)
      return {};
    return {0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
  case Opcode::Or:
  case Opcode::Xor:
    return a.low >= 0 && b.low >= 0 ? Range{0, onesAtLeast(std::max(a.high, b.high))} : Range{};
  case Opcode::Eq:
  case Opcode::Lt:
    return {0, 1};
  case Opcode::Align:
    return {a.low, kMax};
  case Opcode::Const:
  case Opcode::Arg:
  case Opcode::Dim:
  case Opcode::Select:
  case Opcode::SignExtend:
  case Opcode::ZeroExtend:
  default: // real() knows them
    return {};
  }
}

// Identities with one operand known or both the same. Commutative operations have their constant in b (see binary()).
std::optional<Register> RegisterProgram::foldIdentity(Opcode opcode, Register a, Register b) {
  std::optional<int64_t> known = constantValue(b);
  bool isZero = known == 0, isOne = known == 1, isAllOnes = known == -1;
  Range left = range(a), right = range(b);
  switch (opcode) {
  case Opcode::Add:
  case Opcode::AddWrap:
    return isZero ? std::optional(a) : std::nullopt;
  case Opcode::Sub:
  case Opcode::SubWrap:
    return isZero ? std::optional(a) : a == b ? std::optional(constant(0)) : std::nullopt;
  case Opcode::Mul:
  case Opcode::MulWrap:
    return isOne ? std::optional(a) : isZero ? std::optional(b) : std::nullopt;
  case Opcode::FloorDiv:
  case Opcode::CeilDiv:
  case Opcode::DivTrunc:
  case Opcode::Align:
    return isOne ? std::optional(a) : std::nullopt;
  case Opcode::Mod:
  case Opcode::RemTrunc:
    return isOne ? std::optional(constant(0)) : std::nullopt;
  case Opcode::Min:
    return a == b || left.high <= right.low ? std::optional(a)
           : right.high <= left.low         ? std::optional(b)
                                            : std::nullopt;
  case Opcode::Max:
    return a == b || left.low >= right.high ? std::optional(a)
           : right.low >= left.high         ? std::optional(b)
                                            : std::nullopt;
  case Opcode::And:
    return isZero ? std::optional(b) : isAllOnes || a == b ? std::optional(a) : std::nullopt;
  case Opcode::Or:
    return isAllOnes ? std::optional(b) : isZero || a == b ? std::optional(a) : std::nullopt;
  case Opcode::Xor:
    return isZero ? std::optional(a) : a == b ? std::optional(constant(0)) : std::nullopt;
  case Opcode::Eq:
    if (a == b)
      return constant(1);
    return left.high < right.low || right.high < left.low ? std::optional(constant(0)) : std::nullopt;
  case Opcode::Lt:
    if (left.high < right.low)
      return constant(1);
    return a == b || left.low >= right.high ? std::optional(constant(0)) : std::nullopt;
  case Opcode::Const:
  case Opcode::Arg:
  case Opcode::Dim:
  case Opcode::Select:
  case Opcode::SignExtend:
  case Opcode::ZeroExtend:
  default:
    return std::nullopt;
  }
}

Register RegisterProgram::binary(Opcode opcode, Register a, Register b) {
  std::optional<int64_t> left = constantValue(a), right = constantValue(b);
  if (left && right)
    if (abi::ArithmeticResult result = abi::evaluate(opcode, *left, *right); result.ok())
      return constant(result.value);
  // What cannot overflow is one operation, whoever asks for it.
  if (const Opcode plain = withoutWrap(opcode); plain != opcode && fits(plain, range(a), range(b)))
    opcode = plain;
  // One order for operands that may swap: a constant second, otherwise ascending.
  if (isCommutative(opcode) && ((left && !right) || (left.has_value() == right.has_value() && a > b)))
    std::swap(a, b);
  if (std::optional<Register> folded = foldIdentity(opcode, a, b))
    return *folded;
  return intern({.opcode = opcode, .a = a, .b = b}, binaryRange(opcode, range(a), range(b)));
}

Register RegisterProgram::select(Register condition, Register whenTrue, Register whenFalse) {
  if (whenTrue == whenFalse)
    return whenTrue;
  if (std::optional<int64_t> known = constantValue(condition))
    return *known != 0 ? whenTrue : whenFalse;
  Range left = range(whenTrue), right = range(whenFalse);
  return intern({.opcode = Opcode::Select, .a = condition, .b = whenTrue, .c = whenFalse},
                {std::min(left.low, right.low), std::max(left.high, right.high)});
}

/// The register whose low `bits` are those of `value`: extensions of at least as many bits are looked through.
Register RegisterProgram::withoutExtensions(Register value, uint32_t bits) const {
  while (true) {
    const RegisterOperation &operation = operations_[value];
    bool extends = operation.opcode == Opcode::SignExtend || operation.opcode == Opcode::ZeroExtend;
    if (!extends || operation.imm < int64_t(bits))
      return value;
    value = operation.a;
  }
}

Register RegisterProgram::signExtend(Register a, uint32_t bits) {
  Range wanted = signedRange(bits);
  if (contains(wanted, range(a)))
    return a;
  a = withoutExtensions(a, bits);
  if (contains(wanted, range(a)))
    return a;
  if (std::optional<int64_t> known = constantValue(a))
    return constant(abi::evaluate(Opcode::SignExtend, *known, 0, 0, bits).value);
  return intern({.opcode = Opcode::SignExtend, .a = a, .imm = bits}, wanted);
}

Register RegisterProgram::zeroExtend(Register a, uint32_t bits) {
  if (bits >= 64)
    return a;
  Range wanted = unsignedRange(bits);
  if (contains(wanted, range(a)))
    return a;
  a = withoutExtensions(a, bits);
  if (contains(wanted, range(a)))
    return a;
  if (std::optional<int64_t> known = constantValue(a))
    return constant(abi::evaluate(Opcode::ZeroExtend, *known, 0, 0, bits).value);
  return intern({.opcode = Opcode::ZeroExtend, .a = a, .imm = bits}, wanted);
}

static Range rangeOfReal(uint32_t bits) {
  return bits == 64 ? Range{} : unsignedRange(bits);
}

Register RegisterProgram::real(Opcode opcode, uint32_t bits, Register a, Register b) {
  const bool isBinary = abi::operandCount(opcode) == 2;
  std::optional<int64_t> left = constantValue(a), right = isBinary ? constantValue(b) : 0;
  if (left && right)
    if (abi::ArithmeticResult result = abi::evaluate(opcode, *left, *right, 0, bits); result.ok())
      return constant(result.value);
  const bool compares = opcode == Opcode::FEq || opcode == Opcode::FLt || opcode == Opcode::FLe;
  return intern({.opcode = opcode, .a = a, .b = isBinary ? b : 0, .imm = bits}, compares ? Range{0, 1}
                                                                                : opcode == Opcode::FToInt
                                                                                    ? Range{}
                                                                                    : rangeOfReal(bits));
}

Register RegisterProgram::convertReal(abi::fb::ElementType from, abi::fb::ElementType to, Register a) {
  using enum abi::fb::ElementType;
  const int64_t types = abi::conversionOf(from, to);
  if (std::optional<int64_t> known = constantValue(a))
    return constant(abi::evaluate(Opcode::FConvert, *known, 0, 0, types).value);
  return intern({.opcode = Opcode::FConvert, .a = a, .imm = types}, rangeOfReal(to == F64 ? 64 : to == F32 ? 32 : 16));
}

std::string RegisterProgram::inputName(uint32_t input) const {
  return inputNames_ ? (*inputNames_)[input] : "argument " + std::to_string(input);
}

std::string RegisterProgram::describe(Register value) const {
  const RegisterOperation &operation = operations_[value];
  if (operation.opcode == Opcode::Const)
    return std::to_string(operation.imm);
  if (operation.opcode == Opcode::Arg)
    return inputName(operation.a);
  if (operation.opcode == Opcode::Dim && !inputName(operation.a).empty())
    return "dimension " + std::to_string(operation.b) + " of " + inputName(operation.a);
  return "";
}

std::vector<Register> RegisterProgram::compact(std::span<const Register> roots) {
  std::vector<bool> needed(operations_.size(), false);
  for (Register root : roots)
    if (root != kNoRegister)
      needed[root] = true;
  for (size_t i = operations_.size(); i-- > 0;) {
    const RegisterOperation &operation = operations_[i];
    uint32_t operands[3] = {operation.a, operation.b, operation.c};
    for (uint32_t n = 0; needed[i] && n < abi::operandCount(operation.opcode); ++n)
      needed[operands[n]] = true;
  }
  std::vector<Register> renumbered(operations_.size(), kNoRegister);
  std::vector<RegisterOperation> kept;
  std::vector<Range> keptRanges;
  numbers_.clear();
  for (size_t i = 0; i < operations_.size(); ++i) {
    if (!needed[i])
      continue;
    RegisterOperation operation = operations_[i];
    uint32_t *operands[3] = {&operation.a, &operation.b, &operation.c};
    for (uint32_t n = 0; n < abi::operandCount(operation.opcode); ++n)
      *operands[n] = renumbered[*operands[n]];
    renumbered[i] = Register(kept.size());
    numbers_.emplace(operation, renumbered[i]);
    kept.push_back(operation);
    keptRanges.push_back(ranges_[i]);
  }
  operations_ = std::move(kept);
  ranges_ = std::move(keptRanges);
  return renumbered;
}

} // namespace tenon::compiler::host
