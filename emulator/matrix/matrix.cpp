// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/matrix/matrix.h"

#include "emulator/check/access_check.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/lanes.h"

#include <cstring>

namespace tenon::emulator {

using ptx::ScalarType;
using TENON_LEVEL::at;

namespace {
uint32_t elementBytes(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
  case MatrixElement::BF16:
    return 2;
  case MatrixElement::TF32:
    return 4;
  case MatrixElement::F64:
    return 8;
  case MatrixElement::S8:
  case MatrixElement::U8:
  case MatrixElement::E4M3:
  case MatrixElement::E5M2:
    return 1;
  }
  return 0;
}

bool isByteFloat(MatrixElement element) {
  return element == MatrixElement::E4M3 || element == MatrixElement::E5M2;
}

/// Host addresses of the rows of stmatrix: lanes 8j to 8j+7 hold those of matrix j. False: a fault was
/// raised.
bool resolveRows(Warp &warp, const Decoded &i, uint32_t mask, const uint16_t *values, int64_t (&rows)[kLanes]) {
  uint32_t count = i.flag & 0x7f;
  uint32_t needed = count == 4 ? kAllLanes : (1u << (8 * count)) - 1;
  for (uint32_t l = 0; l < kLanes; ++l)
    rows[l] = static_cast<uint32_t>(
        (i.addressMode == AddressMode::Register32 ? at<uint32_t>(warp, i.a)[l] : at<int64_t>(warp, i.a)[l]) + i.imm);
  return (mask & needed) == needed && resolveSlowly(warp, i, needed, MemorySpace::Shared, 16, true, rows,
                                                    reinterpret_cast<const uint8_t *>(values)) == needed;
}

void storeMatrix(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t count = i.flag & 0x7f;
  bool transposed = i.flag & 0x80;
  uint16_t values[kLanes][8] = {};
  const uint32_t *operands = vectorOperands(warp, i);
  for (uint32_t j = 0; j < count; ++j)
    for (uint32_t k = 0; k < 2 * kLanes; ++k) { // element k % 2 of lane k / 2
      uint32_t r = k / 8, c = k % 8;
      values[8 * j + (transposed ? c : r)][transposed ? r : c] =
          static_cast<uint16_t>(at<uint32_t>(warp, operands[j])[k / 2] >> (16 * (k % 2)));
    }
  int64_t rows[kLanes] = {};
  if (resolveRows(warp, i, mask, values[0], rows))
    for (uint32_t row = 0; row < 8 * count; ++row)
      memcpy(reinterpret_cast<void *>(rows[row]), values[row], sizeof values[row]);
}

void transposeMatrix(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *a = at<uint32_t>(warp, i.a);
  uint32_t result[kLanes];
  auto element = [&](uint32_t row, uint32_t column) { return a[row * 4 + column / 2] >> (16 * (column % 2)) & 0xffff; };
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = element(l % 4 * 2, l / 4) | element(l % 4 * 2 + 1, l / 4) << 16;
  TENON_LEVEL::write(at<uint32_t>(warp, i.d), result, mask);
}

} // namespace

int64_t packForm(const MatrixForm &form) {
  auto put = [](uint64_t value, int shift) { return static_cast<int64_t>(value << shift); };
  return put(form.m, 0) | put(form.n, 8) | put(form.k, 16) | put(static_cast<uint64_t>(form.a), 24) |
         put(static_cast<uint64_t>(form.b), 32) | put(static_cast<uint64_t>(form.accumulator), 40) |
         put(form.satfinite, 48);
}

FragmentSizes fragmentSizes(const MatrixForm &form) {
  uint32_t bytes = elementBytes(form.a);
  bool isFloat = isByteFloat(form.a), isInteger = bytes == 1 && !isFloat, isHalf = bytes == 2;
  if (bytes != elementBytes(form.b) || isFloat != isByteFloat(form.b) || form.n != 8 ||
      (bytes != 1 && form.a != form.b))
    return {};
  if (form.a == MatrixElement::F64) {
    if (form.accumulator != ScalarType::F64 || form.satfinite || (form.m == 8 && form.k != 4) || form.k > 16)
      return {};
    return {form.m / 8 * form.k / 4, form.k / 4, form.m / 4};
  }
  if (isInteger && form.m == 8 && form.k == 16 && form.accumulator == ScalarType::S32)
    return {1, 1, 2};
  bool shape = form.m == 16 && (isFloat     ? form.k == 32
                                : isInteger ? form.k == 16 || form.k == 32
                                : isHalf    ? form.k == 8 || form.k == 16
                                            : form.k == 4 || form.k == 8);
  bool halfAccumulator = (form.a == MatrixElement::F16 || isFloat) && form.accumulator == ScalarType::F16;
  if (!shape || !(halfAccumulator || form.accumulator == (isInteger ? ScalarType::S32 : ScalarType::F32)) ||
      (form.satfinite && !isInteger))
    return {};
  uint32_t elements = form.k * bytes / 16; // registers of B: k rows over 4 threads, 4 bytes each
  return {2 * elements, elements, halfAccumulator ? 2u : 4u};
}

Handler storeMatrixHandler() {
  return &storeMatrix;
}
Handler transposeMatrixHandler() {
  return &transposeMatrix;
}

} // namespace tenon::emulator
