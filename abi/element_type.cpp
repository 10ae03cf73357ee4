// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One row per element type, in the frozen order of the schema.
#include "abi/element_type.h"

#include <array>

namespace tenon::abi {

namespace {
struct Row {
  std::string_view spelling;
  uint32_t bytes;
  bool isFloat;
};
} // namespace

static constexpr std::array<Row, 10> kRows = {{
    {"i1", 1, false},
    {"i8", 1, false},
    {"i16", 2, false},
    {"i32", 4, false},
    {"i64", 8, false},
    {"f16", 2, true},
    {"bf16", 2, true},
    {"f32", 4, true},
    {"f64", 8, true},
    {"index", 8, false},
}};

static_assert(static_cast<size_t>(ElementType::Index) + 1 == kRows.size());

/// A number that no file may have (F-5), but that a manifest's JSON can.
static constexpr Row kUnknown = {"?", 0, false};

static const Row &row(ElementType type) {
  size_t index = static_cast<size_t>(type);
  return index < kRows.size() ? kRows[index] : kUnknown;
}

uint32_t byteSize(ElementType type) {
  return row(type).bytes;
}

bool isFloat(ElementType type) {
  return row(type).isFloat;
}

std::string_view spelling(ElementType type) {
  return row(type).spelling;
}

std::optional<ElementType> parseElementType(std::string_view word) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].spelling == word)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

} // namespace tenon::abi
