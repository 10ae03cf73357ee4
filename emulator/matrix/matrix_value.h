// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One element of a matrix: every type that a tensor core reads or accumulates is exact in a double; storing rounds once
// to the nearest. Compiled per instruction set (lanes.h): without F16C a conversion of halves is a call.
#pragma once

#include "emulator/machine/float_bits.h"
#include "support/small_float.h"

#include <algorithm>

namespace tenon::emulator::TENON_LEVEL {

template <ptx::ScalarType Type> struct MatrixValue;

template <> struct MatrixValue<ptx::ScalarType::F16> {
  using Bits = uint16_t;
  static double load(Bits bits) { return static_cast<double>(widen<HalfFormat>(bits)); }
  static Bits store(double value, bool) {
    Bits bits = value == value ? std::bit_cast<Bits>(static_cast<_Float16>(value)) : HalfFormat::kNan;
    return bits == 0x8000 ? 0 : bits; // tensor cores have no negative zero
  }
};
template <> struct MatrixValue<ptx::ScalarType::BF16> {
  using Bits = uint16_t;
  static double load(Bits bits) { return static_cast<double>(widen<BFloatFormat>(bits)); }
};
template <> struct MatrixValue<ptx::ScalarType::TF32> { // the low 13 bits are not looked at
  using Bits = uint32_t;
  static double load(Bits bits) { return static_cast<double>(std::bit_cast<float>(bits & ~0x1fffu)); }
};
template <> struct MatrixValue<ptx::ScalarType::F32> {
  using Bits = uint32_t;
  static double load(Bits bits) { return static_cast<double>(std::bit_cast<float>(bits)); }
  static Bits store(double value, bool) {
    float v = static_cast<float>(value);
    return v == v ? std::bit_cast<uint32_t>(v) : 0x7fffffffu;
  }
};
template <> struct MatrixValue<ptx::ScalarType::F64> {
  using Bits = uint64_t;
  static double load(Bits bits) { return std::bit_cast<double>(bits); }
  static Bits store(double value, bool) { return std::bit_cast<Bits>(value); }
};
template <> struct MatrixValue<ptx::ScalarType::S8> {
  using Bits = uint8_t;
  static double load(Bits bits) { return static_cast<int8_t>(bits); }
};
template <> struct MatrixValue<ptx::ScalarType::U8> {
  using Bits = uint8_t;
  static double load(Bits bits) { return bits; }
};
template <> struct MatrixValue<ptx::ScalarType::E4M3> {
  using Bits = uint8_t;
  static double load(Bits bits) { return static_cast<double>(e4m3ToFloat(bits)); }
};
template <> struct MatrixValue<ptx::ScalarType::E5M2> {
  using Bits = uint8_t;
  static double load(Bits bits) { return static_cast<double>(e5m2ToFloat(bits)); }
};
template <> struct MatrixValue<ptx::ScalarType::S32> {
  using Bits = uint32_t;
  static double load(Bits bits) { return static_cast<int32_t>(bits); }
  /// Exact: at most 32 products of 16 bits and a 32-bit sum fit a double. satfinite clamps instead of wrapping.
  static Bits store(double value, bool satfinite) {
    int64_t wide = static_cast<int64_t>(value);
    return static_cast<Bits>(satfinite ? std::clamp<int64_t>(wide, INT32_MIN, INT32_MAX) : wide);
  }
};

/// An accumulator, by a type that is known when the instruction runs.
inline double matrixValue(const uint8_t *bytes, ptx::ScalarType type) {
  auto load = [&](auto value) {
    typename decltype(value)::Bits bits;
    memcpy(&bits, bytes, sizeof bits);
    return value.load(bits);
  };
  switch (type) {
  case ptx::ScalarType::F32:
    return load(MatrixValue<ptx::ScalarType::F32>());
  case ptx::ScalarType::F64:
    return load(MatrixValue<ptx::ScalarType::F64>());
  case ptx::ScalarType::S32:
    return load(MatrixValue<ptx::ScalarType::S32>());
  default:
    return load(MatrixValue<ptx::ScalarType::F16>());
  }
}
inline void storeMatrixValue(uint8_t *bytes, double value, ptx::ScalarType type, bool satfinite) {
  auto store = [&](auto to) {
    typename decltype(to)::Bits bits = to.store(value, satfinite);
    memcpy(bytes, &bits, sizeof bits);
  };
  switch (type) {
  case ptx::ScalarType::F32:
    return store(MatrixValue<ptx::ScalarType::F32>());
  case ptx::ScalarType::F64:
    return store(MatrixValue<ptx::ScalarType::F64>());
  case ptx::ScalarType::S32:
    return store(MatrixValue<ptx::ScalarType::S32>());
  default:
    return store(MatrixValue<ptx::ScalarType::F16>());
  }
}

/// Bits of a lane's element, in registers of 32 bits (64 for doubles).
template <typename Bits> inline constexpr uint32_t kPerRegister = sizeof(Bits) >= 4 ? 1 : 4 / sizeof(Bits);

} // namespace tenon::emulator::TENON_LEVEL
