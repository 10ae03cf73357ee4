// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/scalar_type.h"

#include "ptx/words/word_table.h"

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

} // namespace tenon::ptx
