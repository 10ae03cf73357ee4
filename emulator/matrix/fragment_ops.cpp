// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma.load, wmma.store, wmma.mma.
#include "emulator/check/access_check.h"
#include "emulator/check/lane_addresses.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/matrix/matrix_ops.h"
#include "emulator/matrix/matrix_value.h"
#include "emulator/matrix/tensor_core.h"
#include "emulator/matrix/wmma.h"

#include <cmath>
#include <cuda.h>

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

Fragment readFragment(const uint32_t *words) {
  return {static_cast<ScalarType>(words[0] & 0xff), words[0] >> 8 & 0xff, words[0] >> 16 & 0xff, words[1] & 0xff,
          (words[1] >> 8 & 1) != 0};
}

/// Host addresses of the rows (columns, if column-major) of the matrix in memory. False: a fault was raised.
bool resolveLines(Warp &warp, const Decoded &i, uint32_t mask, const Fragment &fragment, bool isWrite,
                  int64_t (&lines)[kLanes]) {
  if (mask != kAllLanes) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(mask)), CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "wmma by less than a whole warp");
    return false;
  }
  bool wide = i.addressMode == AddressMode::Register64;
  MemorySpace space = static_cast<MemorySpace>(i.flag);
  auto base = [&](uint32_t l) -> uint64_t {
    uint64_t address = (wide ? at<uint64_t>(warp, i.a)[l] : at<uint32_t>(warp, i.a)[l]) + static_cast<uint64_t>(i.imm);
    return wide && space != MemorySpace::Shared ? address : static_cast<uint32_t>(address);
  };
  const uint32_t *stride = at<uint32_t>(warp, i.b);
  for (uint32_t l = 1; l < kLanes; ++l)
    if (base(l) != base(0) || stride[l] != stride[0]) {
      raiseFault(warp, i, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 "wmma with another address or stride than the warp's first lane");
      return false;
    }
  uint32_t count = fragment.columnMajor ? fragment.columns : fragment.rows;
  uint32_t length = fragment.columnMajor ? fragment.rows : fragment.columns, bytes = fragment.elementBytes();
  uint32_t used = count == kLanes ? kAllLanes : (1u << count) - 1;
  int64_t last[kLanes] = {};
  for (uint32_t l = 0; l < kLanes; ++l) {
    lines[l] = static_cast<int64_t>(base(0) + static_cast<uint64_t>(stride[0]) * l * bytes);
    last[l] = lines[l] + (length - 1) * bytes;
  }
  if (warp.executor->checker) // shadow memory sees every element
    for (uint32_t k = 1; k + 1 < length; ++k) {
      int64_t inner[kLanes];
      for (uint32_t l = 0; l < kLanes; ++l)
        inner[l] = lines[l] + k * bytes;
      if (resolveSlowly(warp, i, used, space, bytes, isWrite, inner) != used)
        return false;
    }
  // Nearly always in the range that this instruction was last found to access.
  if (!warp.executor->checker && wide && space != MemorySpace::Shared) {
    const CheckedRange &range = warp.executor->ranges[i.target];
    uint64_t begin = base(0) - static_cast<uint64_t>(range.low), room = static_cast<uint64_t>(range.high - range.low),
             reach = static_cast<uint64_t>(stride[0]) * (count - 1) * bytes + length * bytes;
    if (base(0) % bytes == 0 && begin < room && reach <= room - begin) {
      for (uint32_t l = 0; l < count; ++l)
        lines[l] += static_cast<int64_t>(warp.executor->hostBias);
      return true;
    }
  }
  // Both ends of a line in bounds: so is what lies between, which is shorter than the gap between two allocations.
  return resolveSlowly(warp, i, used, space, bytes, isWrite, lines) == used &&
         resolveSlowly(warp, i, used, space, bytes, isWrite, last) == used;
}

/// Each element of a fragment has one place in memory. T: an element's bytes.
template <bool IsStore, typename T>
void moveElements(Warp &warp, const Fragment &fragment, const uint32_t *registers, const int64_t (&lines)[kLanes]) {
  constexpr uint32_t kPer = sizeof(T) >= 4 ? 1 : 4 / sizeof(T); // elements of a register
  const uint32_t perLane = fragment.registers * kPer, last = fragment.rows * fragment.columns - 1; // powers of two
  const uint32_t shift = static_cast<uint32_t>(__builtin_ctz(fragment.columns)), columnMask = fragment.columns - 1;
  for (uint32_t r = 0; r < fragment.registers; ++r) {
    T *held = at<T>(warp, registers[r]);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      for (uint32_t k = 0; k < kPer; ++k, ++held) {
        uint32_t slot = (lane * perLane + r * kPer + k) & last, row = slot >> shift, column = slot & columnMask;
        uint32_t line = fragment.columnMajor ? column : row, index = fragment.columnMajor ? row : column;
        T *stored = reinterpret_cast<T *>(lines[line]) + index;
        IsStore ? *stored = *held : *held = *stored;
      }
  }
}

/// wmma.load and wmma.store.
template <bool IsStore> void moveFragment(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = vectorOperands(warp, i);
  Fragment fragment = readFragment(operands);
  int64_t lines[kLanes];
  if (!resolveLines(warp, i, mask, fragment, IsStore, lines))
    return;
  switch (fragment.elementBytes()) {
  case 1:
    return moveElements<IsStore, uint8_t>(warp, fragment, operands + kFragmentWords, lines);
  case 2:
    return moveElements<IsStore, uint16_t>(warp, fragment, operands + kFragmentWords, lines);
  case 4:
    return moveElements<IsStore, uint32_t>(warp, fragment, operands + kFragmentWords, lines);
  default:
    return moveElements<IsStore, uint64_t>(warp, fragment, operands + kFragmentWords, lines);
  }
}

constexpr uint32_t kMostElements = 32 * 16;

/// Calls F with the matrix value of the fragment's type.
template <typename F> void withElement(ScalarType type, F f) {
  switch (type) {
  case ScalarType::F16:
    return f(MatrixValue<ScalarType::F16>());
  case ScalarType::BF16:
    return f(MatrixValue<ScalarType::BF16>());
  case ScalarType::TF32:
    return f(MatrixValue<ScalarType::TF32>());
  case ScalarType::F32:
    return f(MatrixValue<ScalarType::F32>());
  case ScalarType::F64:
    return f(MatrixValue<ScalarType::F64>());
  case ScalarType::S8:
    return f(MatrixValue<ScalarType::S8>());
  case ScalarType::U8:
    return f(MatrixValue<ScalarType::U8>());
  default:
    return f(MatrixValue<ScalarType::S32>());
  }
}

void gather(Warp &warp, const Fragment &fragment, const uint32_t *registers, double (&out)[kMostElements]) {
  withElement(fragment.element, [&](auto value) {
    using Value = decltype(value);
    using Bits = typename Value::Bits;
    constexpr uint32_t kPer = kPerRegister<Bits>;
    uint32_t perLane = fragment.perLane(), lanes = fragment.rows * fragment.columns / perLane;
    for (uint32_t r = 0; r < fragment.registers; ++r) {
      const Bits *bits = at<Bits>(warp, registers[r]);
      for (uint32_t lane = 0; lane < lanes; ++lane)
        for (uint32_t k = 0; k < kPer; ++k)
          out[lane * perLane + r * kPer + k] = Value::load(bits[lane * kPer + k]);
    }
  });
}

void multiplyFragments(Warp &warp, const Decoded &i, uint32_t mask) {
  if (mask != kAllLanes) {
    raiseFault(warp, i, static_cast<uint32_t>(__builtin_ctz(mask)), CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "wmma by less than a whole warp");
    return;
  }
  const uint32_t *operands = vectorOperands(warp, i);
  Fragment fragments[4];
  for (uint32_t k = 0; k < 4; ++k)
    fragments[k] = readFragment(operands + k * kFragmentWords);
  const auto &[d, a, b, c] = fragments;
  const uint32_t *registers = operands + 4 * kFragmentWords;
  alignas(64) double left[kMostElements], right[kMostElements], sum[kMostElements];
  gather(warp, a, registers + d.registers, left);
  gather(warp, b, registers + d.registers + a.registers, right);
  gather(warp, c, registers + d.registers + a.registers + b.registers, sum);
  MatrixSize size{d.rows, d.columns, a.columns};
  if (d.element == ScalarType::F32 || d.element == ScalarType::F16)
    multiplyAsTensorCore(left, right, sum, size, sumFormat(a.element, a.element, d.element));
  else
    multiplyStepByStep(left, right, sum, size);
  bool satfinite = i.flag & 1;
  withElement(d.element, [&](auto value) {
    using Value = decltype(value);
    using Bits = typename Value::Bits;
    if constexpr (requires { Value::store(0.0, false); }) {
      constexpr uint32_t kPer = kPerRegister<Bits>;
      uint32_t perLane = d.perLane(), lanes = d.rows * d.columns / perLane;
      for (uint32_t r = 0; r < d.registers; ++r) {
        Bits *bits = at<Bits>(warp, registers[r]);
        for (uint32_t lane = 0; lane < lanes; ++lane)
          for (uint32_t k = 0; k < kPer; ++k)
            bits[lane * kPer + k] = Value::store(sum[lane * perLane + r * kPer + k], satfinite);
      }
    }
  });
}

} // namespace

Handler loadFragmentHandler() {
  return &moveFragment<false>;
}
Handler storeFragmentHandler() {
  return &moveFragment<true>;
}
Handler multiplyFragmentsHandler() {
  return &multiplyFragments;
}

} // namespace tenon::emulator::TENON_LEVEL
