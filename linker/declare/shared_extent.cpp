// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/shared_extent.h"

#include "linker/object/object.h"
#include "ptx/def_use.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

namespace tenon::linker {
namespace {

constexpr int64_t kLow = INT32_MIN, kHigh = UINT32_MAX;
constexpr int kRounds = 24; // a ring of buffers is counted through by then; what still grows has no limit

/// The values that a 32-bit register may have: between two numbers, with ones in these places only; and whether the
/// start of the block goes into it.
struct Value {
  bool isKnown = false; // some definition was seen
  bool isShared = false;
  int64_t low = 0, high = 0;
  uint32_t bits = 0; // of `low` to `high` as 32-bit words

  bool operator==(const Value &) const = default;
  static Value any() { return {true, false, kLow, kHigh, UINT32_MAX}; }
  static Value number(int64_t value) { return {true, false, value, value, uint32_t(value)}; }
  static Value upTo(int64_t high) { return range(0, high); }
  static Value range(int64_t low, int64_t high) {
    if (low < kLow || high > kHigh)
      return any();
    if (low < 0)
      return {true, false, low, high, UINT32_MAX};
    return {true, false, low, high, high ? UINT32_MAX >> std::countl_zero(uint32_t(high)) : 0};
  }
  static Value ofBits(uint32_t bits) { return {true, false, 0, bits, bits}; }

  bool isPlain() const { return isKnown && !isShared; }
  bool isNumber() const { return isPlain() && low == high; }
  Value join(const Value &other) const {
    if (!isKnown || !other.isKnown)
      return isKnown ? *this : other;
    return {true, isShared || other.isShared, std::min(low, other.low), std::max(high, other.high), bits | other.bits};
  }
};

uint32_t bytesOfType(std::string_view type) {
  if (type == "b128")
    return 16;
  if (type.size() < 2 || (type[0] != 'b' && type[0] != 'u' && type[0] != 's' && type[0] != 'f'))
    return 0;
  const std::string_view digits = type.substr(1);
  return digits == "64"                                ? 8
         : digits == "32" || digits.starts_with("32x") ? 4
         : digits.starts_with("16")                    ? 2
         : digits == "8"                               ? 1
                                                       : 0;
}

class ExtentFinder {
public:
  ExtentFinder(const ptx::Module &module, const ptx::Function &entry, const abi::Extent3 &workgroup)
      : module_(module), entry_(entry), workgroup_(workgroup), names_(module), uses_(ptx::computeDefUse(entry, names_)),
        values_(uses_.registerCount) {}

  std::optional<uint32_t> run() {
    if (isUsedByCallees())
      return std::nullopt;
    for (int round = 0; isChanged_; ++round) {
      isChanged_ = false;
      isWidening_ = round >= kRounds; // what still grows may have every value, once each
      sweep();
    }
    isChecking_ = true;
    sweep();
    if (escapes_ || extent_ > (uint64_t(1) << 20))
      return std::nullopt;
    return uint32_t((extent_ + 15) / 16 * 16);
  }

private:
  bool isDynamic(const ptx::NameRef &ref) const {
    return ref.kind == ptx::NameRef::Kind::ModuleVariable && isDynamicShared(module_.variables[ref.index]);
  }

  bool isUsedByCallees() const {
    for (const ptx::Function &function : module_.functions)
      if (!function.isEntry && !function.isDeclaration)
        for (const ptx::NameRef &ref : ptx::computeDefUse(function, names_).names)
          if (isDynamic(ref))
            return true;
    return false;
  }

  void sweep() {
    comparisons_.clear();
    for (uint32_t i = 0; i < entry_.instructions.size(); ++i) {
      instruction_ = &entry_.instructions[i];
      refs_ = uses_.namesOf(i);
      next_ = instruction_->predicate.empty() ? 0 : 1;
      step();
    }
  }

  /// Operands are read in the order of the text, as their names were resolved. No addresses.
  Value read(const ptx::Operand &operand) {
    switch (operand.kind) {
    case ptx::Operand::Kind::Integer:
      return Value::number(int32_t(operand.bits));
    case ptx::Operand::Kind::Name: {
      const ptx::NameRef ref = refs_[next_++];
      Value value = Value::any();
      if (ref.kind == ptx::NameRef::Kind::Register)
        value = values_[ref.index];
      else if (isDynamic(ref))
        value = {true, true, 0, 0, 0};
      else if (ref.kind == ptx::NameRef::Kind::Other)
        value = special(operand.name);
      return operand.offset ? add(value, Value::number(operand.offset)) : value;
    }
    default:
      for (const ptx::Operand &element : operand.elements)
        if (read(element).isShared)
          escape();
      return Value::any();
    }
  }

  Value special(std::string_view name) const {
    if (name == "%laneid")
      return Value::upTo(31);
    for (size_t i = 0; i < 3; ++i) {
      const char axis = "xyz"[i];
      if (name.size() > 2 && name.back() == axis && name.substr(0, name.size() - 2) == "%tid")
        return Value::upTo(int64_t(workgroup_[i]) - 1);
      if (name.size() > 2 && name.back() == axis && name.substr(0, name.size() - 2) == "%ntid")
        return Value::number(workgroup_[i]);
    }
    return Value::any();
  }

  static Value add(const Value &a, const Value &b) {
    if (!a.isKnown || !b.isKnown)
      return {};
    Value out = Value::range(a.low + b.low, a.high + b.high);
    if (out.low >= 0 && a.low >= 0 && b.low >= 0 && (a.bits & b.bits) == 0) // no carries
      out.bits = a.bits | b.bits;
    out.isShared = a.isShared || b.isShared;
    return out;
  }
  static Value multiply(const Value &a, const Value &b) {
    if (!a.isPlain() || !b.isPlain() || a.low < 0 || b.low < 0 || a.high > UINT16_MAX * int64_t(16) ||
        b.high > UINT16_MAX * int64_t(16))
      return Value::any();
    Value out = Value::range(a.low * b.low, a.high * b.high);
    const Value &factor = a.isNumber() ? a : b, &other = a.isNumber() ? b : a;
    if (factor.isNumber() && std::has_single_bit(uint64_t(factor.low)) && out.high <= UINT32_MAX)
      out.bits &= other.bits << std::countr_zero(uint64_t(factor.low));
    return out;
  }

  /// The result of the instruction, from values without the block's start. `sources` are its operands behind the first.
  Value compute(const std::vector<Value> &sources) {
    const std::string_view opcode = instruction_->opcode;
    const size_t count = sources.size();
    if (instruction_->hasModifier("b64") || instruction_->hasModifier("u64") || instruction_->hasModifier("s64"))
      return std::any_of(sources.begin(), sources.end(), [](const Value &value) { return value.isShared; })
                 ? escape()
                 : Value::any();
    if (count == 1 && (opcode == "mov" || opcode == "cvt"))
      return sources[0].low < 0 && opcode == "cvt" && !instruction_->hasModifier("s32") ? Value::any() : sources[0];
    for (const Value &source : sources)
      if (source.isShared && opcode != "add" && opcode != "sub" && opcode != "selp" && opcode != "mad")
        return escape();
    if (count == 2) {
      const Value &a = sources[0], &b = sources[1];
      if (opcode == "add")
        return a.isShared && b.isShared ? escape() : add(a, b);
      if (opcode == "sub")
        return b.isShared ? escape() : add(a, Value::range(-b.high, -b.low));
      if (opcode == "mul" && instruction_->hasModifier("lo"))
        return multiply(a, b);
      if (opcode == "shl" && b.isNumber() && b.low >= 0 && b.low < 31) {
        Value out = multiply(a, Value::number(int64_t(1) << b.low));
        return out == Value::any() ? Value::ofBits(a.bits << b.low) : out;
      }
      if (opcode == "shr" && b.isNumber() && b.low >= 0 && b.low < 32)
        return a.low >= 0                         ? narrowed(a.low >> b.low, a.high >> b.low, a.bits >> b.low)
               : instruction_->hasModifier("s32") ? Value::any()
                                                  : Value::ofBits(a.bits >> b.low);
      if (opcode == "and")
        return narrowed(0, INT64_MAX, a.bits & b.bits);
      if (opcode == "or" || opcode == "xor")
        return Value::ofBits(a.bits | b.bits);
      if (opcode == "rem" && b.isNumber() && b.low > 0 && a.low >= 0)
        return Value::upTo(std::min(a.high, b.low - 1));
      if (opcode == "div" && b.isNumber() && b.low > 0 && a.low >= 0)
        return Value::range(a.low / b.low, a.high / b.low);
      if (opcode == "min" && a.low >= 0 && b.low >= 0)
        return Value::range(std::min(a.low, b.low), std::min(a.high, b.high));
      if (opcode == "max" && a.low >= 0 && b.low >= 0)
        return Value::range(std::max(a.low, b.low), std::max(a.high, b.high));
    }
    if (count == 3) {
      const Value &a = sources[0], &b = sources[1], &c = sources[2];
      if (opcode == "mad" && instruction_->hasModifier("lo"))
        return a.isShared || b.isShared ? escape() : add(multiply(a, b), c);
      if (opcode == "bfe" && instruction_->hasModifier("u32") && c.isNumber() && c.low >= 0 && c.low < 31)
        return Value::upTo((int64_t(1) << c.low) - 1);
    }
    return Value::any();
  }

  /// 16-bit arithmetic wraps earlier, and its signs reach other places.
  Value fitted(const Value &value) const {
    const bool isNarrow =
        std::any_of(instruction_->modifiers.begin(), instruction_->modifiers.end(), [](auto modifier) {
          return modifier.size() > 1 && (modifier.substr(1) == "16" || modifier.substr(1) == "8");
        });
    return isNarrow && (value.low < 0 || value.high > INT8_MAX) ? Value::any() : value;
  }

  static Value narrowed(int64_t low, int64_t high, uint32_t bits) {
    return {true, false, low, std::min(high, int64_t(bits)), bits};
  }

  /// selp d, a, b, p: where p compares one of the two with a number, the other side of it is out of the question.
  Value select() {
    Value sources[2] = {read(instruction_->operands[1]), read(instruction_->operands[2])};
    const ptx::NameRef predicate = refs_[next_];
    if (predicate.kind == ptx::NameRef::Kind::Register && predicate.index < values_.size())
      for (int side = 0; side < 2; ++side)
        limit(instruction_->operands[size_t(1 + side)], predicate.index, side == 0, sources[side]);
    return sources[0].join(sources[1]);
  }
  void limit(const ptx::Operand &operand, uint32_t predicate, bool isTrue, Value &value) const {
    const Comparison *found = nullptr;
    for (const Comparison &comparison : comparisons_)
      if (comparison.predicate == predicate && operand.kind == ptx::Operand::Kind::Name &&
          comparison.name == operand.name)
        found = &comparison;
    if (!found || uses_.definitions[predicate] != 1 || !value.isPlain())
      return;
    std::string_view relation = found->relation;
    if (!isTrue)
      relation = relation == "gt"   ? "le"
                 : relation == "ge" ? "lt"
                 : relation == "lt" ? "ge"
                 : relation == "le" ? "gt"
                                    : "";
    int64_t low = value.low, high = value.high;
    if (relation == "lt" || relation == "le")
      high = std::min(high, found->number - (relation == "lt"));
    else if (relation == "gt" || relation == "ge")
      low = std::max(low, found->number + (relation == "gt"));
    if (low <= high)
      value = Value::range(low, high);
  }

  Value escape() {
    escapes_ |= isChecking_;
    return Value::any();
  }

  void compare() {
    const auto &operands = instruction_->operands;
    if (operands.size() != 3 || operands[0].kind != ptx::Operand::Kind::Name ||
        operands[1].kind != ptx::Operand::Kind::Name || operands[2].kind != ptx::Operand::Kind::Integer ||
        instruction_->modifiers.size() < 2 || refs_[next_ + 1].kind != ptx::NameRef::Kind::Register ||
        uses_.definitions[refs_[next_ + 1].index] != 1)
      return;
    const std::string_view type = instruction_->modifiers[1];
    if (type == "s32" || (type == "u32" && int32_t(operands[2].bits) >= 0))
      comparisons_.push_back(
          {refs_[next_].index, operands[1].name, instruction_->modifiers[0], int32_t(operands[2].bits)});
  }

  void define(uint32_t index, const Value &value) {
    Value joined = values_[index].join(value);
    if (joined == values_[index])
      return;
    isChanged_ = true;
    if (isWidening_)
      joined = {true, joined.isShared, kLow, kHigh, UINT32_MAX};
    values_[index] = joined;
  }

  void step() {
    const auto &operands = instruction_->operands;
    if (instruction_->opcode == "setp")
      compare();
    const bool isDefinition = ptx::writesFirstOperand(*instruction_) && operands[0].kind == ptx::Operand::Kind::Name &&
                              refs_[next_].kind == ptx::NameRef::Kind::Register;
    const size_t takesAddress = accessedOperand();
    if (isDefinition && takesAddress == 0) {
      const uint32_t result = refs_[next_++].index;
      if (instruction_->opcode == "selp" && operands.size() == 4)
        return define(result, select());
      std::vector<Value> sources;
      for (size_t i = 1; i < operands.size(); ++i)
        sources.push_back(read(operands[i]));
      if (std::all_of(sources.begin(), sources.end(), [](const Value &value) { return value.isKnown; }))
        define(result, fitted(compute(sources)));
      return;
    }
    // Memory, control and what has several results: addresses are judged, everything that is written is unknown.
    for (size_t i = 0; i < operands.size(); ++i)
      visit(operands[i], i == 0 && ptx::writesFirstOperand(*instruction_));
  }

  void visit(const ptx::Operand &operand, bool isResult) {
    if (operand.kind == ptx::Operand::Kind::Address) {
      for (size_t i = 0; i < operand.elements.size(); ++i)
        if (const Value base = read(operand.elements[i]); base.isShared && i == 0)
          access(base, operand.offset);
        else if (base.isShared)
          escape();
    } else if (operand.kind == ptx::Operand::Kind::Name && !isResult) {
      if (read(operand).isShared) // stored, passed, or an operand of an instruction that is no arithmetic
        escape();
    } else if (operand.kind == ptx::Operand::Kind::Name) {
      if (const ptx::NameRef ref = refs_[next_++]; ref.kind == ptx::NameRef::Kind::Register)
        define(ref.index, Value::any());
    } else {
      for (const ptx::Operand &element : operand.elements)
        visit(element, isResult);
    }
  }

  /// 1 where the instruction has an address among its operands.
  size_t accessedOperand() const {
    return std::any_of(instruction_->operands.begin(), instruction_->operands.end(),
                       [](const ptx::Operand &operand) { return operand.kind == ptx::Operand::Kind::Address; });
  }

  void access(const Value &base, int64_t offset) {
    if (!isChecking_)
      return;
    if (base.low + offset < 0 || base.high == kHigh)
      escapes_ = true;
    else
      extent_ = std::max(extent_, uint64_t(base.high + offset) + accessedBytes());
  }

  uint64_t accessedBytes() {
    const std::string_view opcode = instruction_->opcode;
    if (opcode == "ldmatrix" || opcode == "stmatrix")
      return 16; // each lane names a row
    if (opcode == "mbarrier")
      return 8;
    if (opcode == "cp" && instruction_->hasModifier("async") && !instruction_->hasModifier("bulk") &&
        instruction_->operands.size() >= 3 && instruction_->operands[2].kind == ptx::Operand::Kind::Integer)
      return instruction_->operands[2].bits;
    if (opcode != "ld" && opcode != "st" && opcode != "atom" && opcode != "red") {
      escapes_ = true;
      return 0;
    }
    uint64_t bytes = 0, width = 1;
    for (std::string_view modifier : instruction_->modifiers) {
      if (modifier == "v2" || modifier == "v4" || modifier == "v8")
        width = uint64_t(modifier[1] - '0');
      else if (const uint32_t size = bytesOfType(modifier))
        bytes = size;
    }
    escapes_ |= bytes == 0;
    return bytes * width;
  }

  struct Comparison {
    uint32_t predicate = 0;
    std::string_view name, relation;
    int64_t number = 0;
  };

  const ptx::Module &module_;
  const ptx::Function &entry_;
  const abi::Extent3 workgroup_;
  const ptx::ModuleNames names_;
  const ptx::DefUse uses_;
  std::vector<Value> values_; // by register
  std::vector<Comparison> comparisons_;
  const ptx::Instruction *instruction_ = nullptr;
  std::span<const ptx::NameRef> refs_; // of instruction_
  size_t next_ = 0;                    // into refs_
  bool isChanged_ = true, isWidening_ = false, isChecking_ = false, escapes_ = false;
  uint64_t extent_ = 0;
};

} // namespace

std::optional<uint32_t> sharedExtent(const ptx::Module &module, const ptx::Function &entry,
                                     const abi::Extent3 &workgroup) {
  return ExtentFinder(module, entry, workgroup).run();
}

} // namespace tenon::linker
