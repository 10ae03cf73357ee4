// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bits of one integer: fields, masks, counts, bytes (PTX ISA, "Integer Arithmetic" and "Data Movement": bfe, bfi,
// bfind, brev, bmsk, szext, prmt, fns). In a namespace per instruction set, like lanes.h.
#pragma once

#include "emulator/machine/lanes.h"

#include <type_traits>

namespace tenon::emulator::TENON_LEVEL {

template <typename T> inline constexpr uint32_t kBits = sizeof(T) * 8;

/// Of position and length of a field, 32-bit instructions look at the lowest byte; 64-bit ones at the whole number.
template <typename T> inline void limitField(uint32_t &position, uint32_t &length) {
  position = sizeof(T) == 8 ? (position < 255 ? position : 255) : position & 0xff;
  length = sizeof(T) == 8 ? (length < 255 ? length : 255) : length & 0xff;
}
template <typename T> inline T bitFieldExtract(T value, uint32_t position, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t kMsb = kBits<T> - 1;
  limitField<T>(position, length);
  U bits = static_cast<U>(value);
  bool sign = false;
  if (std::is_signed_v<T> && length != 0) {
    uint32_t at = position + length - 1;
    sign = bits >> (at < kMsb ? at : kMsb) & 1;
  }
  // Bits that exist: the smaller of `length` and what is left above `position`.
  uint32_t have = position > kMsb ? 0 : (length < kMsb + 1 - position ? length : kMsb + 1 - position);
  U mask = have > kMsb ? ~U(0) : (U(1) << have) - 1;
  U field = position > kMsb ? 0 : static_cast<U>(bits >> position) & mask;
  return static_cast<T>(sign ? field | ~mask : field);
}
template <typename U> inline U bitFieldInsert(U field, U into, uint32_t position, uint32_t length) {
  constexpr uint32_t kMsb = kBits<U> - 1;
  limitField<U>(position, length);
  if (position > kMsb)
    return into;
  U mask = (length > kMsb ? ~U(0) : (U(1) << length) - 1) << position;
  return (into & ~mask) | (field << position & mask);
}
template <typename T> inline uint32_t findMostSignificant(T value, bool shiftAmount) {
  using U = std::make_unsigned_t<T>;
  U bits = static_cast<U>(std::is_signed_v<T> && value < 0 ? ~value : value);
  if (bits == 0)
    return 0xffffffffu;
  uint32_t leading = kBits<T> == 64 ? static_cast<uint32_t>(__builtin_clzll(bits))
                                    : static_cast<uint32_t>(__builtin_clz(static_cast<uint32_t>(bits)));
  return shiftAmount ? leading : kBits<T> - 1 - leading;
}
template <typename U> inline U reverseBits(U value) {
  if constexpr (sizeof(U) == 8)
    return __builtin_bitreverse64(value);
  else
    return __builtin_bitreverse32(value);
}
inline uint32_t bitMask(uint32_t start, uint32_t width, bool clamp) {
  if (clamp && start >= 32)
    return 0;
  uint32_t s = start & 31, w = width & 31;
  uint32_t low = ~0u << s;
  bool over = s + w >= 32 || (clamp && width >= 32);
  return over ? low : low & ~(~0u << (s + w));
}
template <typename T> inline uint32_t signZeroExtend(T value, uint32_t width, bool clamp) {
  uint32_t bits = static_cast<uint32_t>(value), w = width & 31;
  if (clamp && width >= 32)
    return bits;
  uint32_t mask = ~0u << w;
  bool sign = std::is_signed_v<T> && w != 0 && (bits >> ((w - 1) & 31) & 1);
  return sign ? bits | mask : bits & ~mask;
}
inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (uint32_t k = 0; k < 4; ++k) {
    uint32_t nibble = selector >> (4 * k) & 0xf;
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (nibble & 7))) & 0xff;
    if (nibble & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << (8 * k);
  }
  return result;
}
// prmt's named modes: the selector for c & 3 = 0, 1, 2, 3.
inline constexpr uint32_t kF4e[4] = {0x3210, 0x4321, 0x5432, 0x6543}, kB4e[4] = {0x5670, 0x6701, 0x7012, 0x0123},
                          kRc8[4] = {0x0000, 0x1111, 0x2222, 0x3333}, kEcl[4] = {0x3210, 0x3211, 0x3222, 0x3333},
                          kEcr[4] = {0x0000, 0x1110, 0x2210, 0x3210}, kRc16[4] = {0x1010, 0x3232, 0x1010, 0x3232};

/// Position of the n-th set bit (PTX: fns).
inline uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  uint32_t found = 0xffffffffu;
  if (offset == INT32_MIN) // what devices answer
    return 0;
  if (offset == 0)
    return base < 32 && (mask >> base & 1) ? base : found;
  int32_t position = static_cast<int32_t>(base);
  int32_t count = offset > 0 ? offset - 1 : -offset - 1;
  int32_t step = offset > 0 ? 1 : -1;
  for (; position >= 0 && position < 32; position += step)
    if (mask >> position & 1) {
      if (count-- == 0)
        return static_cast<uint32_t>(position);
    }
  return found;
}

} // namespace tenon::emulator::TENON_LEVEL
