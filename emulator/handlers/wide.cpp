// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/wide.h"

#include "emulator/check/access_check.h"
#include "emulator/check/range_check.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/half_value.h"
#include "emulator/machine/lanes.h"
#include "emulator/memory/cell.h"

#include <algorithm>
#include <cstring>

namespace tenon::emulator {
namespace {

using ptx::ScalarType;
using TENON_LEVEL::at;

constexpr uint32_t kWideBytes = 16;

template <typename F>
void eachCell(Warp &warp, const Decoded &i, uint32_t mask, uint32_t size, bool isWrite, F &&visit) {
  int64_t addresses[kLanes];
  for (uint32_t rest = resolveLanes(warp, i, mask, static_cast<MemorySpace>(i.flag), size, isWrite, addresses); rest;
       rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    visit(l, reinterpret_cast<uint8_t *>(addresses[l]));
  }
}

uint8_t *wideAt(Warp &warp, uint32_t operand, uint32_t lane) {
  return at<uint8_t>(warp, operand) + lane * kWideBytes;
}

void loadWide(Warp &warp, const Decoded &i, uint32_t mask) {
  eachCell(warp, i, mask, kWideBytes, false,
           [&](uint32_t l, const uint8_t *cell) { memcpy(wideAt(warp, i.d, l), cell, kWideBytes); });
}
void storeWide(Warp &warp, const Decoded &i, uint32_t mask) {
  eachCell(warp, i, mask, kWideBytes, true,
           [&](uint32_t l, uint8_t *cell) { memcpy(cell, wideAt(warp, i.b, l), kWideBytes); });
}
using Wide = unsigned __int128;
Wide wideValue(Warp &warp, uint32_t operand, uint32_t lane) {
  Wide value;
  memcpy(&value, wideAt(warp, operand, lane), kWideBytes);
  return value;
}
/// Every processor of x86-64-v2 has the instruction. Returns what was there.
Wide compareAndSwap(Wide *cell, Wide expected, Wide value) {
  uint64_t low = static_cast<uint64_t>(expected), high = static_cast<uint64_t>(expected >> 64);
  asm volatile("lock cmpxchg16b %0" // a builtin would call libatomic, this file is compiled for any x86-64
               : "+m"(*cell), "+a"(low), "+d"(high)
               : "b"(static_cast<uint64_t>(value)), "c"(static_cast<uint64_t>(value >> 64))
               : "cc", "memory");
  return static_cast<Wide>(high) << 64 | low;
}
template <bool Cas> void atomicWide(Warp &warp, const Decoded &i, uint32_t mask) {
  eachCell(warp, i, mask, kWideBytes, true, [&](uint32_t l, uint8_t *at) {
    Wide *cell = reinterpret_cast<Wide *>(at), expected = Cas ? wideValue(warp, i.b, l) : 0;
    Wide value = wideValue(warp, Cas ? i.c : i.b, l), old = compareAndSwap(cell, expected, value);
    while (!Cas && old != expected)
      old = compareAndSwap(cell, expected = old, value);
    if (i.d != kNoOperand)
      memcpy(wideAt(warp, i.d, l), &old, kWideBytes);
  });
}

void packWide(Warp &warp, const Decoded &i, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    uint64_t halves[2] = {at<uint64_t>(warp, i.a)[l], at<uint64_t>(warp, i.b)[l]};
    memcpy(wideAt(warp, i.d, l), halves, kWideBytes);
  }
}
void unpackWide(Warp &warp, const Decoded &i, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    uint64_t halves[2];
    memcpy(halves, wideAt(warp, i.a, l), kWideBytes);
    if (i.d != kNoOperand)
      at<uint64_t>(warp, i.d)[l] = halves[0];
    if (i.e != kNoOperand)
      at<uint64_t>(warp, i.e)[l] = halves[1];
  }
}

float combine(AtomicOp op, float old, float value) {
  if (op == AtomicOp::Add)
    return old + value;
  if (old != old || value != value) // the number wins
    return old != old ? value : old;
  return op == AtomicOp::Min ? std::min(old, value) : std::max(old, value);
}
template <typename Convert> void combineHalf(AtomicOp op, uint8_t *cell, const uint8_t *value) {
  uint16_t old, addend;
  memcpy(&old, cell, 2);
  memcpy(&addend, value, 2);
  old = Convert::narrow(combine(op, Convert::widen(old), Convert::widen(addend)));
  memcpy(cell, &old, 2);
}
void combineElement(AtomicOp op, ScalarType type, uint8_t *cell, const uint8_t *value) {
  switch (type) {
  case ScalarType::F16x2:
    combineHalf<HalfConvert>(op, cell + 2, value + 2);
    [[fallthrough]];
  case ScalarType::F16:
    return combineHalf<HalfConvert>(op, cell, value);
  case ScalarType::BF16x2:
    combineHalf<BFloatConvert>(op, cell + 2, value + 2);
    [[fallthrough]];
  case ScalarType::BF16:
    return combineHalf<BFloatConvert>(op, cell, value);
  default: {
    float old, addend;
    memcpy(&old, cell, 4);
    memcpy(&addend, value, 4);
    old = addSingle(old, addend, true); // f32 is only added, and subnormals flushed
    memcpy(cell, &old, 4);
  }
  }
}

/// Each element of a vector is changed atomically, the vector is not (PTX ISA, "atom").
template <typename T> T combineCell(AtomicOp op, ScalarType type, uint8_t *cell, const uint8_t *value, bool contended) {
  return replaceCell(reinterpret_cast<T *>(cell), contended, [&](T old) {
    combineElement(op, type, reinterpret_cast<uint8_t *>(&old), value);
    return old;
  });
}

void vectorAtomic(Warp &warp, const Decoded &i, uint32_t mask) {
  const bool contended = warp.executor->shared != nullptr;
  AtomicOp op = static_cast<AtomicOp>(i.e & 0xff);
  ScalarType type = static_cast<ScalarType>(i.e >> 8 & 0xff);
  uint32_t count = i.e >> 16 & 0xff, size = ptx::byteSize(type);
  bool returns = i.e >> 24 != 0;
  const uint32_t *values = vectorOperands(warp, i), *destinations = values + count;
  eachCell(warp, i, mask, size * count, true, [&](uint32_t l, uint8_t *cell) {
    uint32_t old[kWideBytes / 2]; // all values are read before a destination is written: they may share registers
    for (uint32_t k = 0; k < count; ++k) {
      const uint8_t *value = at<uint8_t>(warp, values[k]) + l * size;
      old[k] = size == 2 ? combineCell<uint16_t>(op, type, cell + k * size, value, contended)
                         : combineCell<uint32_t>(op, type, cell + k * size, value, contended);
    }
    for (uint32_t k = 0; returns && k < count; ++k)
      if (destinations[k] != kNoOperand)
        memcpy(at<uint8_t>(warp, destinations[k]) + l * size, &old[k], size);
  });
}

} // namespace

Handler loadWideHandler() {
  return &loadWide;
}
Handler storeWideHandler() {
  return &storeWide;
}
Handler atomicWideHandler(bool cas) {
  return cas ? &atomicWide<true> : &atomicWide<false>;
}
Handler packWideHandler() {
  return &packWide;
}
Handler unpackWideHandler() {
  return &unpackWide;
}
Handler vectorAtomicHandler() {
  return &vectorAtomic;
}
uint32_t packVectorAtomic(AtomicOp op, ScalarType type, uint32_t count, bool returns) {
  return static_cast<uint32_t>(op) | static_cast<uint32_t>(type) << 8 | count << 16 | uint32_t(returns) << 24;
}

} // namespace tenon::emulator
