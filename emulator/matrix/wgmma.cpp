// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/matrix/wgmma.h"

#include "emulator/async/async.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/lanes.h"
#include "emulator/matrix/matrix_value.h"
#include "emulator/matrix/tensor_core.h"
#include "support/small_float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <cuda.h>
#include <vector>

namespace tenon::emulator {
namespace {

using ptx::ScalarType;
using TENON_LEVEL::at;
using TENON_LEVEL::matrixValue;
using TENON_LEVEL::storeMatrixValue;

constexpr uint32_t kRows = 16, kMostColumns = 256, kMostK = 32, kChunk = 16, kRegistersOfA = 4;

WgmmaForm unpack(int64_t packed) {
  auto field = [&](int shift) { return static_cast<uint32_t>(packed >> shift & 0xff); };
  WgmmaForm form;
  form.n = field(0) * 8;
  form.a = static_cast<WgmmaElement>(field(8));
  form.b = static_cast<WgmmaElement>(field(16));
  form.accumulator = static_cast<ScalarType>(field(24));
  uint32_t flags = field(32);
  form.aInRegisters = flags & 1;
  form.negateA = flags & 2;
  form.negateB = flags & 4;
  form.transposeA = flags & 8;
  form.transposeB = flags & 16;
  form.satfinite = flags & 32;
  return form;
}

float half(uint16_t bits) {
  uint32_t wide = (bits & 0x7fffu) << 13;
  float value = std::bit_cast<float>(wide) * 0x1p112f;
  if ((bits & 0x7c00) == 0x7c00)
    value = std::bit_cast<float>(wide | 0x7f800000u);
  return (bits & 0x8000) ? -value : value;
}

/// The 16 bytes of one chunk, as numbers.
void widenChunk(const uint8_t *bytes, WgmmaElement element, double *out) {
  static const std::array<std::array<float, 256>, 2> kBytes = [] {
    std::array<std::array<float, 256>, 2> table;
    for (uint32_t k = 0; k < 256; ++k) {
      table[0][k] = e4m3ToFloat(static_cast<uint8_t>(k));
      table[1][k] = e5m2ToFloat(static_cast<uint8_t>(k));
    }
    return table;
  }();
  uint16_t words[8];
  uint32_t longs[4];
  switch (element) {
  case WgmmaElement::F16:
    memcpy(words, bytes, kChunk);
    for (int k = 0; k < 8; ++k)
      out[k] = half(words[k]);
    return;
  case WgmmaElement::BF16:
    memcpy(words, bytes, kChunk);
    for (int k = 0; k < 8; ++k)
      out[k] = std::bit_cast<float>(static_cast<uint32_t>(words[k]) << 16);
    return;
  case WgmmaElement::TF32: // the low 13 bits are not looked at
    memcpy(longs, bytes, kChunk);
    for (int k = 0; k < 4; ++k)
      out[k] = std::bit_cast<float>(longs[k] & ~0x1fffu);
    return;
  case WgmmaElement::E4M3:
  case WgmmaElement::E5M2:
    for (int k = 0; k < 16; ++k)
      out[k] = kBytes[element == WgmmaElement::E5M2][bytes[k]];
    return;
  case WgmmaElement::S8:
    for (int k = 0; k < 16; ++k)
      out[k] = static_cast<int8_t>(bytes[k]);
    return;
  case WgmmaElement::U8:
    for (int k = 0; k < 16; ++k)
      out[k] = bytes[k];
    return;
  }
}

struct Descriptor {
  uint32_t start, leading, stride, base, span; // span: bytes of the swizzle, 16: none
  uint32_t phases;                             // of the swizzle, as a mask

  explicit Descriptor(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4), stride((bits >> 32 & 0x3fff) << 4),
        base(bits >> 49 & 7) {
    constexpr uint32_t kSpans[] = {16, 128, 64, 32};
    span = kSpans[bits >> 62];
    phases = span / 16 - 1;
  }
  uint32_t swizzle(uint32_t offset) const {
    uint32_t address = start + offset;
    return address ^ (((address >> 7) - base) & phases) << 4;
  }
  /// Chunk `k` (of two) of row `mn`, not transposed.
  uint32_t chunkOfRow(uint32_t mn, uint32_t k) const {
    uint32_t along = span == 16 ? k * leading : k * kChunk;
    return swizzle(mn % 8 * span + mn / 8 * stride + along);
  }
  /// Eight elements of 16 bits of M or N, from 8 `mnChunk` on, in row `k` of K: transposed.
  uint32_t chunkOfColumn(uint32_t mnChunk, uint32_t k) const {
    if (span == 16)
      return swizzle(mnChunk * stride + k % 8 * kChunk + k / 8 * leading);
    uint32_t perSpan = span / kChunk;
    return swizzle(mnChunk / perSpan * leading + mnChunk % perSpan * kChunk + k % 8 * span + k / 8 * stride);
  }
};

/// Rows (or columns) [first, first + count) of a tile, as tile[k][mn]. False: outside of the block's shared memory.
struct TileReader {
  Warp &warp;
  Descriptor descriptor;
  WgmmaElement element;
  bool transposed;
  uint32_t bad = 0;

  const uint8_t *chunk(uint32_t address) {
    uint32_t end = warp.sharedEnd & kRankOffsetMask;
    if (address < kSharedStart || address + kChunk > end) {
      bad = address;
      return nullptr;
    }
    return warp.block->sharedMemory + address;
  }
  bool read(uint32_t first, uint32_t count, double *tile, uint32_t pitch) {
    double values[16];
    uint32_t per = kChunk / wgmmaElementBytes(element);
    if (!transposed) {
      for (uint32_t mn = 0; mn < count; ++mn)
        for (uint32_t c = 0; c < 2; ++c) {
          const uint8_t *bytes = chunk(descriptor.chunkOfRow(first + mn, c));
          if (!bytes)
            return false;
          widenChunk(bytes, element, values);
          for (uint32_t k = 0; k < per; ++k)
            tile[(c * per + k) * pitch + mn] = values[k];
        }
      return true;
    }
    for (uint32_t k = 0; k < 2 * per; ++k)
      for (uint32_t c = 0; c < count / 8; ++c) {
        const uint8_t *bytes = chunk(descriptor.chunkOfColumn(first / 8 + c, k));
        if (!bytes)
          return false;
        widenChunk(bytes, element, tile + k * pitch + c * 8);
      }
    return true;
  }
};

/// A from registers: register r holds rows lane / 4 + 8 (r & 1), bytes 16 (r >> 1) + 4 (lane % 4) and on of K.
void readRegisters(Warp &warp, const uint32_t *registers, WgmmaElement element, double *tile) {
  uint32_t per = 4 / wgmmaElementBytes(element);
  for (uint32_t r = 0; r < kRegistersOfA; ++r)
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      uint8_t chunk[kChunk] = {};
      double values[16];
      memcpy(chunk, at<uint8_t>(warp, registers[r]) + lane * 4, 4);
      widenChunk(chunk, element, values);
      uint32_t row = lane / 4 + 8 * (r & 1), k = (r >> 1) * 4 * per + lane % 4 * per;
      for (uint32_t e = 0; e < per; ++e)
        tile[(k + e) * kRows + row] = values[e];
    }
}

void multiplyTiles(const double *a, const double *b, double *sum, uint32_t n, uint32_t k) {
  for (uint32_t row = 0; row < kRows; ++row)
    for (uint32_t step = 0; step < k; ++step) {
      double left = a[step * kRows + row];
      const double *right = b + step * kMostColumns;
      double *to = sum + row * kMostColumns;
      for (uint32_t column = 0; column < n; ++column)
        to[column] += left * right[column];
    }
}

/// The same as a tensor core adds, which takes strips of columns.
void multiplyTilesRounded(const double *a, const double *b, double *sum, uint32_t n, uint32_t k,
                          const WgmmaForm &form) {
  constexpr uint32_t kStrip = 32;
  auto smallest = [](WgmmaElement element) {
    switch (element) {
    case WgmmaElement::F16:
    case WgmmaElement::E5M2:
      return -14;
    case WgmmaElement::E4M3:
      return -6;
    default:
      return -126;
    }
  };
  const TENON_LEVEL::SumFormat format{smallest(form.a), smallest(form.b), wgmmaElementBytes(form.a) == 1 ? 13 : 25,
                                      form.accumulator == ScalarType::F16};
  double left[kRows * kMostK], right[kMostK * kStrip], strip[kRows * kStrip];
  for (uint32_t row = 0; row < kRows; ++row)
    for (uint32_t step = 0; step < k; ++step)
      left[row * k + step] = a[step * kRows + row];
  for (uint32_t first = 0; first < n; first += kStrip) {
    uint32_t width = std::min(kStrip, n - first);
    for (uint32_t step = 0; step < k; ++step)
      memcpy(right + step * width, b + step * kMostColumns + first, width * sizeof(double));
    for (uint32_t row = 0; row < kRows; ++row)
      memcpy(strip + row * width, sum + row * kMostColumns + first, width * sizeof(double));
    TENON_LEVEL::multiplyAsTensorCore(left, right, strip, {kRows, width, k}, format);
    for (uint32_t row = 0; row < kRows; ++row)
      memcpy(sum + row * kMostColumns + first, strip + row * width, width * sizeof(double));
  }
}

/// Visits the accumulators of the warp: (row, column, bytes of the element).
template <typename F> void eachAccumulator(Warp &warp, const WgmmaForm &form, const uint32_t *registers, F &&visit) {
  uint32_t bytes = ptx::byteSize(form.accumulator), perLane = form.n / 2;
  for (uint32_t e = 0; e < perLane; ++e) {
    uint32_t reg = e * bytes / 4, inside = e * bytes % 4;
    uint8_t *lanes = at<uint8_t>(warp, registers[reg]);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      visit(lane / 4 + 8 * (e >> 1 & 1), lane % 4 * 2 + (e & 1) + 8 * (e >> 2), lanes + lane * 4 + inside);
  }
}

void carryOut(Warp &warp, const Decoded &i, const uint32_t *d, uint64_t descriptorA, uint64_t descriptorB,
              bool accumulates) {
  WgmmaForm form = unpack(i.imm);
  const uint32_t *a = d + wgmmaAccumulators(form);
  uint32_t k = kWgmmaRowBytes / wgmmaElementBytes(form.a);
  alignas(64) double left[kMostK * kRows], right[kMostK * kMostColumns], sum[kRows * kMostColumns];
  auto outside = [&](char operand, uint32_t address) {
    char text[128];
    snprintf(text, sizeof text, "the descriptor of %c leads to 0x%x, outside of the block's shared memory [0x%x, 0x%x)",
             operand, address, kSharedStart, warp.sharedEnd & kRankOffsetMask);
    raiseFault(warp, i, 0, CUDA_ERROR_ILLEGAL_ADDRESS, text);
  };
  if (form.aInRegisters) {
    readRegisters(warp, a, form.a, left);
  } else {
    TileReader reader{warp, Descriptor(descriptorA), form.a, form.transposeA};
    if (!reader.read(warp.index % 4 * kRows, kRows, left, kRows))
      return outside('A', reader.bad);
  }
  TileReader reader{warp, Descriptor(descriptorB), form.b, form.transposeB};
  if (!reader.read(0, form.n, right, kMostColumns))
    return outside('B', reader.bad);
  if (form.negateA != form.negateB)
    for (uint32_t e = 0; e < k * kRows; ++e)
      left[e] = -left[e];
  if (accumulates)
    eachAccumulator(warp, form, d, [&](uint32_t row, uint32_t column, const uint8_t *bytes) {
      sum[row * kMostColumns + column] = matrixValue(bytes, form.accumulator);
    });
  else
    memset(sum, 0, sizeof sum);
  if (form.accumulator != ScalarType::S32)
    multiplyTilesRounded(left, right, sum, form.n, k, form);
  else
    multiplyTiles(left, right, sum, form.n, k);
  eachAccumulator(warp, form, d, [&](uint32_t row, uint32_t column, uint8_t *bytes) {
    storeMatrixValue(bytes, sum[row * kMostColumns + column], form.accumulator, form.satfinite);
  });
}

/// Keeps the accumulators, unless an earlier wgmma did, and overwrites them.
void postpone(Warp &warp, const Decoded &i, const uint32_t *d, PendingMultiply pending) {
  AsyncWork &work = asyncWork(warp);
  bool held = false;
  for (const PendingMultiply &other : work.multiplies)
    held |= other.frame == warp.frame && vectorOperands(warp, *other.instruction)[0] == d[0];
  uint32_t count = wgmmaAccumulators(unpack(i.imm));
  for (uint32_t r = 0; r < count; ++r) {
    uint8_t *lanes = at<uint8_t>(warp, d[r]);
    if (!held)
      pending.saved.insert(pending.saved.end(), lanes, lanes + kLanes * 4);
    memset(lanes, kPoison, kLanes * 4);
  }
  work.multiplies.push_back(std::move(pending));
}

void multiply(Warp &warp, const Decoded &i, uint32_t mask) {
  if (mask != kAllLanes) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(mask)), CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "wgmma by less than a whole warp");
    return;
  }
  WgmmaForm form = unpack(i.imm);
  const uint32_t *d = vectorOperands(warp, i), *a = d + wgmmaAccumulators(form);
  uint64_t descriptorA = form.aInRegisters ? 0 : at<uint64_t>(warp, a[0])[0];
  uint64_t descriptorB = at<uint64_t>(warp, a[form.aInRegisters ? kRegistersOfA : 1])[0];
  uint32_t predicate = *at<uint32_t>(warp, i.c);
  bool accumulates = ((i.flag & kThirdNegated ? ~predicate : predicate) & 1) != 0;
  if (!warp.executor->launch->checks.async)
    return carryOut(warp, i, d, descriptorA, descriptorB, accumulates);
  postpone(warp, i, d, {&i, warp.frame, descriptorA, descriptorB, accumulates, {}});
}

void commit(Warp &warp, const Decoded &, uint32_t) {
  if (warp.async)
    warp.async->multiplyGroups.push_back(warp.async->multiplies.size());
}

void wait(Warp &warp, const Decoded &i, uint32_t) {
  if (!warp.async)
    return;
  AsyncWork &work = *warp.async;
  size_t keep = static_cast<size_t>(i.imm), groups = work.multiplyGroups.size();
  if (groups <= keep)
    return;
  size_t due = work.multiplyGroups[groups - keep - 1];
  for (size_t k = 0; k < due && !warp.executor->failed(); ++k) {
    PendingMultiply &pending = work.multiplies[k];
    if (pending.frame != warp.frame) // the function that issued it has returned: its registers are gone
      continue;
    const uint32_t *d = vectorOperands(warp, *pending.instruction);
    for (size_t r = 0; r * kLanes * 4 < pending.saved.size(); ++r)
      memcpy(at<uint8_t>(warp, d[r]), pending.saved.data() + r * kLanes * 4, kLanes * 4);
    carryOut(warp, *pending.instruction, d, pending.a, pending.b, pending.accumulates);
  }
  // Accumulators that a later multiply still holds are its own from here on.
  for (size_t k = due; k < work.multiplies.size(); ++k) {
    PendingMultiply &later = work.multiplies[k];
    if (!later.saved.empty())
      continue;
    const uint32_t *d = vectorOperands(warp, *later.instruction);
    bool isFirst = true;
    for (size_t j = due; j < k; ++j)
      isFirst &= vectorOperands(warp, *work.multiplies[j].instruction)[0] != d[0];
    if (!isFirst)
      continue;
    for (uint32_t r = 0; r < wgmmaAccumulators(unpack(later.instruction->imm)); ++r) {
      uint8_t *lanes = at<uint8_t>(warp, d[r]);
      later.saved.insert(later.saved.end(), lanes, lanes + kLanes * 4);
      memset(lanes, kPoison, kLanes * 4);
    }
  }
  work.multiplies.erase(work.multiplies.begin(), work.multiplies.begin() + static_cast<ptrdiff_t>(due));
  work.multiplyGroups.erase(work.multiplyGroups.begin(),
                            work.multiplyGroups.begin() + static_cast<ptrdiff_t>(groups - keep));
  for (size_t &end : work.multiplyGroups)
    end -= due;
}

} // namespace

uint32_t wgmmaElementBytes(WgmmaElement element) {
  switch (element) {
  case WgmmaElement::F16:
  case WgmmaElement::BF16:
    return 2;
  case WgmmaElement::TF32:
    return 4;
  case WgmmaElement::E4M3:
  case WgmmaElement::E5M2:
  case WgmmaElement::S8:
  case WgmmaElement::U8:
    return 1;
  }
  return 1;
}

uint32_t wgmmaAccumulators(const WgmmaForm &form) {
  return form.accumulator == ScalarType::F16 ? form.n / 4 : form.n / 2;
}

int64_t packWgmma(const WgmmaForm &form) {
  uint64_t flags = uint64_t(form.aInRegisters) | uint64_t(form.negateA) << 1 | uint64_t(form.negateB) << 2 |
                   uint64_t(form.transposeA) << 3 | uint64_t(form.transposeB) << 4 | uint64_t(form.satfinite) << 5;
  return static_cast<int64_t>(uint64_t(form.n / 8) | uint64_t(form.a) << 8 | uint64_t(form.b) << 16 |
                              uint64_t(form.accumulator) << 24 | flags << 32);
}

Handler wgmmaHandler() {
  return &multiply;
}
Handler wgmmaCommitHandler() {
  return &commit;
}
Handler wgmmaWaitHandler() {
  return &wait;
}

} // namespace tenon::emulator
