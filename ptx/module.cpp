// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small facts about the parts of a module: spellings and sizes of types, look-up by name.
#include "ptx/module.h"

#include "ptx/word_table.h"

#include <algorithm>
#include <iterator>

namespace tenon::ptx {
namespace {

struct TypeRow {
  std::string_view word;
  uint32_t bytes;
};

// Indexed by ScalarType.
constexpr TypeRow kTypes[] = {
    {"", 0},      {"pred", 1},   {"b8", 1},         {"b16", 2},     {"b32", 4},    {"b64", 8},    {"b128", 16},
    {"u8", 1},    {"u16", 2},    {"u32", 4},        {"u64", 8},     {"s8", 1},     {"s16", 2},    {"s32", 4},
    {"s64", 8},   {"f16", 2},    {"f16x2", 4},      {"bf16", 2},    {"bf16x2", 4}, {"tf32", 4},   {"f32", 4},
    {"f64", 8},   {"f32x2", 8},  {"e4m3", 1},       {"e5m2", 1},    {"e4m3x2", 2}, {"e5m2x2", 2}, {"u16x2", 4},
    {"s16x2", 4}, {"texref", 8}, {"samplerref", 8}, {"surfref", 8},
};
static_assert(std::size(kTypes) == static_cast<size_t>(ScalarType::SurfRef) + 1);
constexpr WordTable<128> kTypeTable(kTypes);

} // namespace

ScalarType parseScalarType(std::string_view word) {
  const int row = kTypeTable.find(kTypes, word);
  return row < 0 ? ScalarType::None : static_cast<ScalarType>(row);
}

std::string_view spelling(ScalarType type) {
  return kTypes[static_cast<size_t>(type)].word;
}

uint32_t byteSize(ScalarType type) {
  return kTypes[static_cast<size_t>(type)].bytes;
}

bool isOpaque(ScalarType type) {
  return type == ScalarType::TexRef || type == ScalarType::SamplerRef || type == ScalarType::SurfRef;
}

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
