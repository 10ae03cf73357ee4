// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which family a scalar type belongs to: what decoding asks before it picks a handler.
#pragma once

#include "ptx/module.h"

namespace tenon::emulator {

inline bool isSingleOrDouble(ptx::ScalarType type) {
  return type == ptx::ScalarType::F32 || type == ptx::ScalarType::F64;
}
inline bool isHalf(ptx::ScalarType type) {
  return type == ptx::ScalarType::F16 || type == ptx::ScalarType::F16x2 || type == ptx::ScalarType::BF16 ||
         type == ptx::ScalarType::BF16x2;
}
inline bool isFloat(ptx::ScalarType type) {
  return isSingleOrDouble(type) || isHalf(type);
}
inline bool isSigned(ptx::ScalarType type) {
  return type == ptx::ScalarType::S8 || type == ptx::ScalarType::S16 || type == ptx::ScalarType::S32 ||
         type == ptx::ScalarType::S64;
}
inline bool isBits(ptx::ScalarType type) {
  return type == ptx::ScalarType::B8 || type == ptx::ScalarType::B16 || type == ptx::ScalarType::B32 ||
         type == ptx::ScalarType::B64;
}
inline bool isInteger(ptx::ScalarType type) {
  return isSigned(type) || type == ptx::ScalarType::U8 || type == ptx::ScalarType::U16 ||
         type == ptx::ScalarType::U32 || type == ptx::ScalarType::U64;
}

/// Bits of a width; None: there are no such registers.
inline ptx::ScalarType bitsOf(uint32_t bytes) {
  switch (bytes) {
  case 1:
    return ptx::ScalarType::B8;
  case 2:
    return ptx::ScalarType::B16;
  case 4:
    return ptx::ScalarType::B32;
  case 8:
    return ptx::ScalarType::B64;
  default:
    return ptx::ScalarType::None;
  }
}

} // namespace tenon::emulator
