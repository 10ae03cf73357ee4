// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix and mma.sync. The matrices of a product are spread out as doubles, multiplied by one triple loop in the
// order of k, and rounded once.
#include "emulator/matrix/matrix_ops.h"

#include "emulator/check/access_check.h"
#include "emulator/check/lane_addresses.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/matrix/matrix.h"
#include "emulator/matrix/matrix_value.h"
#include "emulator/matrix/tensor_core.h"

#include <cmath>

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

MatrixForm unpackForm(int64_t packed) {
  auto field = [&](int shift) { return static_cast<uint32_t>(packed >> shift & 0xff); };
  MatrixForm form{field(0),
                  field(8),
                  field(16),
                  static_cast<MatrixElement>(field(24)),
                  static_cast<MatrixElement>(field(32)),
                  static_cast<ScalarType>(field(40)),
                  field(48) != 0};
  return form;
}

struct Place {
  uint32_t row, column;
};
/// Element `i` (counted through the lane's registers) of A. `per`: elements in one 32-bit register.
[[gnu::always_inline]] inline Place placeA(uint32_t lane, uint32_t i, uint32_t per, uint32_t m) {
  uint32_t group = lane >> 2, thread = lane & 3, reg = i / per, inside = i % per;
  // Registers alternate between the upper and the lower half of the rows, pairs of registers between blocks of columns.
  uint32_t row = m == 8 ? group : group + 8 * (reg & 1);
  uint32_t columnBlock = m == 8 ? reg : reg >> 1;
  return {row, columnBlock * 4 * per + thread * per + inside};
}
[[gnu::always_inline]] inline Place placeB(uint32_t lane, uint32_t i, uint32_t per) {
  return {i / per * 4 * per + (lane & 3) * per + i % per, lane >> 2};
}
[[gnu::always_inline]] inline Place placeC(uint32_t lane, uint32_t i) {
  return {(lane >> 2) + 8 * (i >> 1), (lane & 3) * 2 + (i & 1)};
}

/// A lane's registers, as the elements of all lanes: element `i` of lane `l` is bits(i / per)[l * per + i % per].
template <ScalarType A, ScalarType B, ScalarType Accumulator>
void multiply(Warp &warp, const Decoded &i, uint32_t mask) {
  using Left = MatrixValue<A>;
  using Right = MatrixValue<B>;
  using Sum = MatrixValue<Accumulator>;
  if (mask != kAllLanes) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(mask)), 715, "mma by less than a whole warp");
    return;
  }
  MatrixForm form = unpackForm(i.imm);
  FragmentSizes sizes = fragmentSizes(form);
  const uint32_t *d = vectorOperands(warp, i), *a = d + sizes.c, *b = a + sizes.a, *c = b + sizes.b;
  alignas(64) double left[16 * 32], right[32 * 8], sum[16 * 8];
  constexpr uint32_t kPer = kPerRegister<typename Left::Bits>, kHeld = kPerRegister<typename Sum::Bits>;
  for (uint32_t r = 0; r < sizes.a; ++r) {
    const auto *bits = at<typename Left::Bits>(warp, a[r]);
    double values[kLanes * kPer];
    for (uint32_t k = 0; k < kLanes * kPer; ++k)
      values[k] = Left::load(bits[k]);
    for (uint32_t k = 0; k < kLanes * kPer; ++k) {
      Place place = placeA(k / kPer, r * kPer + k % kPer, kPer, form.m);
      left[place.row * form.k + place.column] = values[k];
    }
  }
  for (uint32_t r = 0; r < sizes.b; ++r) {
    const auto *bits = at<typename Right::Bits>(warp, b[r]);
    double values[kLanes * kPer];
    for (uint32_t k = 0; k < kLanes * kPer; ++k)
      values[k] = Right::load(bits[k]);
    for (uint32_t k = 0; k < kLanes * kPer; ++k) {
      Place place = placeB(k / kPer, r * kPer + k % kPer, kPer);
      right[place.row * 8 + place.column] = values[k];
    }
  }
  for (uint32_t r = 0; r < sizes.c; ++r) {
    const auto *bits = at<typename Sum::Bits>(warp, c[r]);
    for (uint32_t k = 0; k < kLanes * kHeld; ++k) {
      Place place = placeC(k / kHeld, r * kHeld + k % kHeld);
      sum[place.row * 8 + place.column] = Sum::load(bits[k]);
    }
  }
  MatrixSize size{form.m, 8, form.k};
  if constexpr (Accumulator == ScalarType::F32 || Accumulator == ScalarType::F16)
    multiplyAsTensorCore(left, right, sum, size, sumFormat(A, B, Accumulator));
  else
    multiplyStepByStep(left, right, sum, size);
  for (uint32_t r = 0; r < sizes.c; ++r) {
    auto *bits = at<typename Sum::Bits>(warp, d[r]);
    for (uint32_t k = 0; k < kLanes * kHeld; ++k) {
      Place place = placeC(k / kHeld, r * kHeld + k % kHeld);
      bits[k] = Sum::store(sum[place.row * 8 + place.column], form.satfinite);
    }
  }
}

/// Lanes 8j to 8j+7 hold the addresses of the rows of matrix j; lane l receives elements 2(l%4), 2(l%4)+1 of row l/4.
void loadMatrix(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t count = i.flag & 0x7f;
  bool transposed = i.flag & 0x80;
  int64_t rows[kLanes] = {};
  uint32_t needed = count == 4 ? kAllLanes : (1u << (8 * count)) - 1;
  if ((mask & needed) != needed)
    return;
  LaneAddresses found;
  if (!warp.executor->checker && findLanes<MemorySpace::Shared, 16>(warp, i, needed, found)) {
    for (uint32_t l = 0; l < kLanes; ++l)
      rows[l] = reinterpret_cast<int64_t>(found.lane(l));
  } else {
    for (uint32_t l = 0; l < kLanes; ++l)
      rows[l] = static_cast<uint32_t>(
          (i.addressMode == AddressMode::Register32 ? at<uint32_t>(warp, i.a)[l] : at<int64_t>(warp, i.a)[l]) + i.imm);
    if (resolveSlowly(warp, i, needed, MemorySpace::Shared, 16, false, rows) != needed)
      return;
  }
  const uint32_t *operands = vectorOperands(warp, i);
  uint32_t result[4][kLanes];
  for (uint32_t j = 0; j < count; ++j)
    for (uint32_t l = 0; l < kLanes; ++l) {
      auto element = [&](uint32_t row, uint32_t column) -> uint32_t {
        return reinterpret_cast<const uint16_t *>(rows[8 * j + row])[column];
      };
      uint32_t r = l / 4, c = l % 4 * 2;
      result[j][l] = transposed ? element(c, r) | element(c + 1, r) << 16 : element(r, c) | element(r, c + 1) << 16;
    }
  for (uint32_t j = 0; j < count; ++j)
    write(at<uint32_t>(warp, operands[j]), result[j], mask);
}

/// Of floats.
template <ScalarType A, ScalarType B> Handler multiplyBytes(ScalarType accumulator) {
  return accumulator == ScalarType::F16 ? &multiply<A, B, ScalarType::F16> : &multiply<A, B, ScalarType::F32>;
}

} // namespace

Handler multiplyMatrixHandler(const MatrixForm &form) {
  switch (form.a) {
  case MatrixElement::F16:
    return form.accumulator == ScalarType::F16 ? &multiply<ScalarType::F16, ScalarType::F16, ScalarType::F16>
                                               : &multiply<ScalarType::F16, ScalarType::F16, ScalarType::F32>;
  case MatrixElement::BF16:
    return &multiply<ScalarType::BF16, ScalarType::BF16, ScalarType::F32>;
  case MatrixElement::TF32:
    return &multiply<ScalarType::TF32, ScalarType::TF32, ScalarType::F32>;
  case MatrixElement::F64:
    return &multiply<ScalarType::F64, ScalarType::F64, ScalarType::F64>;
  case MatrixElement::E4M3:
    return form.b == MatrixElement::E4M3 ? multiplyBytes<ScalarType::E4M3, ScalarType::E4M3>(form.accumulator)
                                         : multiplyBytes<ScalarType::E4M3, ScalarType::E5M2>(form.accumulator);
  case MatrixElement::E5M2:
    return form.b == MatrixElement::E4M3 ? multiplyBytes<ScalarType::E5M2, ScalarType::E4M3>(form.accumulator)
                                         : multiplyBytes<ScalarType::E5M2, ScalarType::E5M2>(form.accumulator);
  case MatrixElement::S8:
    return form.b == MatrixElement::S8 ? &multiply<ScalarType::S8, ScalarType::S8, ScalarType::S32>
                                       : &multiply<ScalarType::S8, ScalarType::U8, ScalarType::S32>;
  case MatrixElement::U8:
    return form.b == MatrixElement::S8 ? &multiply<ScalarType::U8, ScalarType::S8, ScalarType::S32>
                                       : &multiply<ScalarType::U8, ScalarType::U8, ScalarType::S32>;
  }
  return nullptr;
}
Handler loadMatrixHandler() {
  return &loadMatrix;
}

} // namespace tenon::emulator::TENON_LEVEL
