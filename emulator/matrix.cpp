#include "emulator/matrix.h"

#include "emulator/check.h"
#include "emulator/lanes.h"
#include "emulator/tensor_core.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon::emulator {
namespace {

using ptx::ScalarType;
using TENON_LEVEL::at;

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
    return 1;
  }
  return 0;
}

struct Place {
  uint32_t row, column;
};
/// Element `i` (counted through the lane's registers) of A. `per`: elements in one 32-bit register.
Place placeA(uint32_t lane, uint32_t i, uint32_t per, uint32_t m) {
  uint32_t group = lane >> 2, thread = lane & 3, reg = i / per, inside = i % per;
  // Registers alternate between the upper and the lower half of the rows, pairs of registers between blocks of columns.
  uint32_t row = m == 8 ? group : group + 8 * (reg & 1);
  uint32_t columnBlock = m == 8 ? reg : reg >> 1;
  return {row, columnBlock * 4 * per + thread * per + inside};
}
Place placeB(uint32_t lane, uint32_t i, uint32_t per) {
  return {i / per * 4 * per + (lane & 3) * per + i % per, lane >> 2};
}
Place placeC(uint32_t lane, uint32_t i) {
  return {(lane >> 2) + 8 * (i >> 1), (lane & 3) * 2 + (i & 1)};
}

double valueOf(const uint8_t *bytes, MatrixElement element) {
  switch (element) {
  case MatrixElement::F16: {
    _Float16 v;
    memcpy(&v, bytes, 2);
    return static_cast<double>(static_cast<float>(v));
  }
  case MatrixElement::BF16: {
    uint16_t v;
    memcpy(&v, bytes, 2);
    return std::bit_cast<float>(static_cast<uint32_t>(v) << 16);
  }
  case MatrixElement::TF32: { // the low 13 bits are not looked at
    uint32_t v;
    memcpy(&v, bytes, 4);
    return std::bit_cast<float>(v & ~0x1fffu);
  }
  case MatrixElement::F64: {
    double v;
    memcpy(&v, bytes, 8);
    return v;
  }
  case MatrixElement::S8:
    return static_cast<int8_t>(*bytes);
  case MatrixElement::U8:
    return *bytes;
  }
  return 0;
}

/// Bytes of element `i` of the lane's fragment, whose registers are `width` bytes wide.
uint8_t *fragmentElement(Warp &warp, const uint32_t *registers, uint32_t lane, uint32_t i, uint32_t bytes,
                         uint32_t width) {
  uint32_t per = width / bytes;
  return at<uint8_t>(warp, registers[i / per]) + lane * width + i % per * bytes;
}

void multiply(Warp &warp, const Decoded &i, uint32_t mask) {
  if (mask != kAllLanes) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(mask)), 715, "mma by less than a whole warp");
    return;
  }
  MatrixForm form = unpackForm(i.imm);
  FragmentSizes sizes = fragmentSizes(form);
  const uint32_t *d = vectorOperands(warp, i), *a = d + sizes.c, *b = a + sizes.a, *c = b + sizes.b;
  double left[16 * 64], right[64 * 8], sum[16 * 8];
  uint32_t bytes = elementBytes(form.a), width = std::max(4u, bytes), per = width / bytes;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    for (uint32_t e = 0; e < sizes.a * per; ++e) {
      Place place = placeA(lane, e, per, form.m);
      left[place.row * form.k + place.column] = valueOf(fragmentElement(warp, a, lane, e, bytes, width), form.a);
    }
    for (uint32_t e = 0; e < sizes.b * per; ++e) {
      Place place = placeB(lane, e, per);
      right[place.row * 8 + place.column] = valueOf(fragmentElement(warp, b, lane, e, bytes, width), form.b);
    }
  }
  uint32_t accumulator = ptx::byteSize(form.accumulator), accumulatorWidth = std::max(4u, accumulator);
  uint32_t held = sizes.c * (accumulatorWidth / accumulator);
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t e = 0; e < held; ++e) {
      Place place = placeC(lane, e);
      sum[place.row * 8 + place.column] =
          matrixValue(fragmentElement(warp, c, lane, e, accumulator, accumulatorWidth), form.accumulator);
    }
  bool isFloat = form.accumulator == ScalarType::F32 || form.accumulator == ScalarType::F16;
  MatrixSize size{form.m, form.n, form.k};
  if (isFloat)
    multiplyAsTensorCore(left, right, sum, size, form.a == MatrixElement::F16 ? -14 : -126,
                         form.accumulator == ScalarType::F16);
  else
    multiplyStepByStep(left, right, sum, size);
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t e = 0; e < held; ++e) {
      Place place = placeC(lane, e);
      storeMatrixValue(fragmentElement(warp, d, lane, e, accumulator, accumulatorWidth),
                       sum[place.row * 8 + place.column], form.accumulator, form.satfinite);
    }
}

/// Host addresses of the rows of ldmatrix and stmatrix: lanes 8j to 8j+7 hold those of matrix j. False: a fault was
/// raised.
bool resolveRows(Warp &warp, const Decoded &i, uint32_t mask, bool isWrite, int64_t (&rows)[kLanes]) {
  uint32_t count = i.flag & 0x7f;
  uint32_t needed = count == 4 ? kAllLanes : (1u << (8 * count)) - 1;
  for (uint32_t l = 0; l < kLanes; ++l)
    rows[l] = static_cast<uint32_t>(
        (i.addressMode == AddressMode::Register32 ? at<uint32_t>(warp, i.a)[l] : at<int64_t>(warp, i.a)[l]) + i.imm);
  return (mask & needed) == needed && resolveSlowly(warp, i, needed, MemorySpace::Shared, 16, isWrite, rows) == needed;
}

/// Lane l receives elements 2(l%4), 2(l%4)+1 of row l/4.
void loadMatrix(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t count = i.flag & 0x7f;
  bool transposed = i.flag & 0x80;
  int64_t rows[kLanes] = {};
  if (!resolveRows(warp, i, mask, false, rows))
    return;
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
    TENON_LEVEL::write(at<uint32_t>(warp, operands[j]), result[j], mask);
}

void storeMatrix(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t count = i.flag & 0x7f;
  bool transposed = i.flag & 0x80;
  int64_t rows[kLanes] = {};
  if (!resolveRows(warp, i, mask, true, rows))
    return;
  const uint32_t *operands = vectorOperands(warp, i);
  for (uint32_t j = 0; j < count; ++j)
    for (uint32_t k = 0; k < 2 * kLanes; ++k) { // element k % 2 of lane k / 2
      uint32_t r = k / 8, c = k % 8;
      uint16_t value = static_cast<uint16_t>(at<uint32_t>(warp, operands[j])[k / 2] >> (16 * (k % 2)));
      reinterpret_cast<uint16_t *>(rows[8 * j + (transposed ? c : r)])[transposed ? r : c] = value;
    }
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

double matrixValue(const uint8_t *bytes, ScalarType type) {
  switch (type) {
  case ScalarType::F32: {
    float v;
    memcpy(&v, bytes, 4);
    return static_cast<double>(v);
  }
  case ScalarType::S32: {
    int32_t v;
    memcpy(&v, bytes, 4);
    return v;
  }
  case ScalarType::F64:
    return valueOf(bytes, MatrixElement::F64);
  case ScalarType::BF16:
    return valueOf(bytes, MatrixElement::BF16);
  case ScalarType::TF32:
    return valueOf(bytes, MatrixElement::TF32);
  case ScalarType::S8:
    return valueOf(bytes, MatrixElement::S8);
  case ScalarType::U8:
    return valueOf(bytes, MatrixElement::U8);
  default:
    return valueOf(bytes, MatrixElement::F16);
  }
}

void storeMatrixValue(uint8_t *bytes, double value, ScalarType type, bool satfinite) {
  switch (type) {
  case ScalarType::F32: {
    float v = static_cast<float>(value);
    uint32_t bits = v == v ? std::bit_cast<uint32_t>(v) : 0x7fffffffu;
    memcpy(bytes, &bits, 4);
    break;
  }
  case ScalarType::F64:
    memcpy(bytes, &value, 8);
    break;
  case ScalarType::S32: { // exact: at most 32 products of 16 bits and a 32-bit sum fit a double
    int64_t wide = static_cast<int64_t>(value);
    int32_t v =
        satfinite ? static_cast<int32_t>(std::clamp<int64_t>(wide, INT32_MIN, INT32_MAX)) : static_cast<int32_t>(wide);
    memcpy(bytes, &v, 4);
    break;
  }
  default: {
    uint16_t v = value == value ? std::bit_cast<uint16_t>(static_cast<_Float16>(value)) : 0x7fff;
    v = v == 0x8000 ? 0 : v; // tensor cores have no negative zero
    memcpy(bytes, &v, 2);
    break;
  }
  }
}

int64_t packForm(const MatrixForm &form) {
  auto put = [](uint64_t value, int shift) { return static_cast<int64_t>(value << shift); };
  return put(form.m, 0) | put(form.n, 8) | put(form.k, 16) | put(static_cast<uint64_t>(form.a), 24) |
         put(static_cast<uint64_t>(form.b), 32) | put(static_cast<uint64_t>(form.accumulator), 40) |
         put(form.satfinite, 48);
}

FragmentSizes fragmentSizes(const MatrixForm &form) {
  uint32_t bytes = elementBytes(form.a);
  bool isInteger = bytes == 1, isHalf = bytes == 2;
  if (bytes != elementBytes(form.b) || form.n != 8 || (!isInteger && form.a != form.b))
    return {};
  if (form.a == MatrixElement::F64)
    return form.m == 8 && form.k == 4 && form.accumulator == ScalarType::F64 ? FragmentSizes{1, 1, 2} : FragmentSizes{};
  bool shape = form.m == 16 && (isInteger ? form.k == 16 || form.k == 32
                                : isHalf  ? form.k == 8 || form.k == 16
                                          : form.k == 4 || form.k == 8);
  bool halfAccumulator = form.a == MatrixElement::F16 && form.accumulator == ScalarType::F16;
  if (!shape || !(halfAccumulator || form.accumulator == (isInteger ? ScalarType::S32 : ScalarType::F32)) ||
      (form.satfinite && !isInteger))
    return {};
  uint32_t elements = form.k * bytes / 16; // registers of B: k rows over 4 threads, 4 bytes each
  return {2 * elements, elements, halfAccumulator ? 2u : 4u};
}

Handler multiplyHandler() {
  return &multiply;
}
Handler loadMatrixHandler() {
  return &loadMatrix;
}
Handler storeMatrixHandler() {
  return &storeMatrix;
}
Handler transposeMatrixHandler() {
  return &transposeMatrix;
}

} // namespace tenon::emulator
