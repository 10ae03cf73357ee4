// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small facts about the parts of a module: spellings and sizes of types, look-up by name.
#include "ptx/module.h"

#include <algorithm>

namespace tenon::ptx {
bool Instruction::hasModifier(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Instruction::form() const {
  std::string out(opcode);
  for (std::string_view modifier : modifiers) {
    out += '.';
    out += modifier;
  }
  return out;
}

uint64_t Variable::bytes() const {
  uint64_t total = uint64_t(byteSize(type)) * vectorWidth;
  for (const std::optional<uint64_t> &extent : dimensions)
    if (__builtin_mul_overflow(total, extent.value_or(0), &total))
      return UINT64_MAX;
  return total;
}

uint32_t Variable::effectiveAlignment() const {
  if (alignment != 0)
    return alignment;
  return std::max(1u, byteSize(type) * vectorWidth);
}

const Function *Module::findFunction(std::string_view name) const {
  const Function *found = nullptr;
  for (const Function &function : functions) {
    if (function.name != name)
      continue;
    if (!function.isDeclaration)
      return &function;
    if (!found)
      found = &function;
  }
  // An alias stands for a definition, never for another alias (PTX ISA, ".alias").
  for (const Alias &alias : aliases)
    if (alias.name == name)
      for (const Function &function : functions)
        if (function.name == alias.target && !function.isDeclaration)
          return &function;
  return found;
}

const Variable *Module::findVariable(std::string_view name) const {
  const Variable *found = nullptr;
  for (const Variable &variable : variables) {
    if (variable.name != name)
      continue;
    if (!variable.isExtern)
      return &variable;
    if (!found)
      found = &variable;
  }
  return found;
}

} // namespace tenon::ptx
