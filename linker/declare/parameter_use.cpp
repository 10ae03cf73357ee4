// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One set of parameters for each register, grown until nothing changes. Control flow is not looked at: a register that
// holds this on one way and that on another holds both.
#include "linker/declare/parameter_use.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace tenon::linker {
namespace {

using Origins = std::set<uint32_t>; // parameter numbers

bool isOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Scan {
public:
  explicit Scan(const ptx::Function &entry) : entry_(entry), uses_(entry.parameters.size()) {
    for (uint32_t i = 0; i < entry.parameters.size(); ++i)
      parameters_[entry.parameters[i].name] = i;
  }

  std::vector<ParameterUse> run() {
    do {
      changed_ = false;
      for (const ptx::Instruction &instruction : entry_.instructions)
        propagate(instruction);
    } while (changed_);
    for (const ptx::Instruction &instruction : entry_.instructions)
      judge(instruction);
    return std::move(uses_);
  }

private:
  static bool isParameterLoad(const ptx::Instruction &instruction) {
    return instruction.opcode == "ld" && instruction.hasModifier("param") && instruction.operands.size() == 2;
  }

  /// The parameter that an address or a name stands for.
  const uint32_t *parameterOf(const ptx::Operand &operand) const {
    const ptx::Operand &base = operand.kind == ptx::Operand::Kind::Address ? operand.elements.front() : operand;
    auto found = parameters_.find(base.name);
    return base.kind == ptx::Operand::Kind::Name && found != parameters_.end() ? &found->second : nullptr;
  }

  Origins originsOf(const ptx::Operand &operand) const {
    Origins origins;
    if (operand.kind == ptx::Operand::Kind::Name) {
      if (auto found = registers_.find(operand.name); found != registers_.end())
        origins = found->second;
    }
    for (const ptx::Operand &element : operand.elements)
      origins.merge(originsOf(element));
    return origins;
  }

  void grow(const ptx::Operand &target, const Origins &origins) {
    if (target.kind == ptx::Operand::Kind::Name && !origins.empty()) {
      Origins &known = registers_[target.name];
      const size_t before = known.size();
      known.insert(origins.begin(), origins.end());
      changed_ |= known.size() != before;
    }
    for (const ptx::Operand &element : target.elements)
      grow(element, origins);
  }

  void propagate(const ptx::Instruction &instruction) {
    const ptx::List<ptx::Operand> &operands = instruction.operands;
    if (isParameterLoad(instruction)) {
      if (const uint32_t *parameter = parameterOf(operands[1]))
        grow(operands[0], {*parameter});
      return;
    }
    if (operands.size() < 2)
      return;
    if (isOneOf(instruction.opcode, {"mov", "cvta", "add", "sub", "selp", "and", "or", "min", "max"})) {
      for (size_t i = 1; i < operands.size(); ++i) {
        if (const uint32_t *parameter = parameterOf(operands[i])) // mov.b64 %rd1, k_param_0: the address of a parameter
          grow(operands[0], {*parameter});
        grow(operands[0], originsOf(operands[i]));
      }
    } else if (instruction.opcode == "mad" && operands.size() == 4) {
      grow(operands[0], originsOf(operands[3])); // the addend; the factors make an index
    }
  }

  void reach(const ptx::Operand &base) {
    const Origins origins = originsOf(base);
    for (uint32_t parameter : origins)
      (origins.size() == 1 ? uses_[parameter].isAddress : uses_[parameter].maybeAddress) = true;
  }

  void judge(const ptx::Instruction &instruction) {
    const ptx::List<ptx::Operand> &operands = instruction.operands;
    if (isParameterLoad(instruction)) {
      if (const uint32_t *parameter = parameterOf(operands[1]))
        for (std::string_view modifier : instruction.modifiers)
          uses_[*parameter].isFloat |= isFloat(ptx::parseScalarType(modifier));
    } else if (instruction.opcode == "cvta" && operands.size() == 2) {
      reach(operands[1]);
    } else {
      for (const ptx::Operand &operand : operands)
        if (operand.kind == ptx::Operand::Kind::Address)
          reach(operand.elements.front());
    }
  }

  const ptx::Function &entry_;
  std::vector<ParameterUse> uses_;
  std::map<std::string_view, uint32_t> parameters_;
  std::map<std::string_view, Origins> registers_;
  bool changed_ = false;
};

} // namespace

std::vector<ParameterUse> findParameterUses(const ptx::Function &entry) {
  return Scan(entry).run();
}

} // namespace tenon::linker
