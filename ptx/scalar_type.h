// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of PTX's registers, variables and instructions, and which family each belongs to (PTX ISA, "Types").
#pragma once

#include <cstdint>
#include <string_view>

namespace tenon::ptx {

enum class ScalarType : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  F32x2,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  U16x2,
  S16x2,
  TexRef,
  SamplerRef,
  SurfRef
};
/// "f32" -> F32; None for other words.
ScalarType parseScalarType(std::string_view word);
/// "f32".
std::string_view spelling(ScalarType type);
/// Bytes of one value; Pred counts 1, None 0.
uint32_t byteSize(ScalarType type);
/// .texref, .samplerref, .surfref: handles of 8 bytes whose initialisers are fields.
bool isOpaque(ScalarType type);

/// f32, f64.
constexpr bool isSingleOrDouble(ScalarType type) {
  return type == ScalarType::F32 || type == ScalarType::F64;
}
/// f16, bf16 and their pairs.
constexpr bool isHalf(ScalarType type) {
  return type == ScalarType::F16 || type == ScalarType::F16x2 || type == ScalarType::BF16 || type == ScalarType::BF16x2;
}
/// What arithmetic takes as floating point: isSingleOrDouble and isHalf.
constexpr bool isFloat(ScalarType type) {
  return isSingleOrDouble(type) || isHalf(type);
}
/// s8 to s64.
constexpr bool isSigned(ScalarType type) {
  return type >= ScalarType::S8 && type <= ScalarType::S64;
}
/// u8 to u64 and s8 to s64.
constexpr bool isInteger(ScalarType type) {
  return type >= ScalarType::U8 && type <= ScalarType::S64;
}
/// b8 to b64.
constexpr bool isBits(ScalarType type) {
  return type >= ScalarType::B8 && type <= ScalarType::B64;
}
/// Bits of a width in bytes; None: there are no such registers.
constexpr ScalarType bitsOf(uint32_t bytes) {
  switch (bytes) {
  case 1:
    return ScalarType::B8;
  case 2:
    return ScalarType::B16;
  case 4:
    return ScalarType::B32;
  case 8:
    return ScalarType::B64;
  default:
    return ScalarType::None;
  }
}

} // namespace tenon::ptx
