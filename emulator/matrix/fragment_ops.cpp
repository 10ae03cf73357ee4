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
#include <cstring>
#include <cuda.h>

namespace tenon::emulator::TENON_LEVEL {
namespace {

using ptx::ScalarType;

Fragment readFragment(const uint32_t *words) {
  return {static_cast<ScalarType>(words[0] & 0xff), words[0] >> 8 & 0xff, words[0] >> 16 & 0xff, words[1] & 0xff,
          (words[1] >> 8 & 1) != 0};
}

/// Rows (columns, if column-major) of a fragment.
uint32_t lineCount(const Fragment &fragment) {
  return fragment.columnMajor ? fragment.columns : fragment.rows;
}
uint32_t lineLength(const Fragment &fragment) {
  return fragment.columnMajor ? fragment.rows : fragment.columns;
}

/// Host addresses of the lines of the matrix in memory. False: a fault was raised.
/// @param stored [lines][length] elements that are written, where somebody compares them with what is there
bool resolveLines(Warp &warp, const Decoded &i, uint32_t mask, const Fragment &fragment, bool isWrite,
                  const uint8_t *stored, int64_t (&lines)[kLanes]) {
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
  const uint32_t count = lineCount(fragment), length = lineLength(fragment), bytes = fragment.elementBytes();
  uint32_t used = count == kLanes ? kAllLanes : (1u << count) - 1;
  int64_t last[kLanes] = {};
  for (uint32_t l = 0; l < kLanes; ++l) {
    lines[l] = static_cast<int64_t>(base(0) + static_cast<uint64_t>(stride[0]) * l * bytes);
    last[l] = lines[l] + (length - 1) * bytes;
  }
  auto resolve = [&](uint32_t k, int64_t *addresses) {
    uint8_t values[kLanes * sizeof(uint64_t)] = {};
    for (uint32_t l = 0; stored && l < count; ++l)
      memcpy(values + l * bytes, stored + (l * length + k) * bytes, bytes);
    return resolveSlowly(warp, i, used, space, bytes, isWrite, addresses, stored ? values : nullptr) == used;
  };
  if (warp.executor->checker) // shadow memory sees every element
    for (uint32_t k = 1; k + 1 < length; ++k) {
      int64_t inner[kLanes];
      for (uint32_t l = 0; l < kLanes; ++l)
        inner[l] = lines[l] + k * bytes;
      if (!resolve(k, inner))
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
  return resolve(0, lines) && resolve(length - 1, last);
}

constexpr uint32_t kMostElements = 32 * 16;

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

/// T: as many bytes as elements have.
template <bool IsStore, typename T>
void moveFragment(Warp &warp, const Decoded &i, uint32_t mask, const Fragment &fragment, const uint32_t *registers) {
  T stored[kMostElements];
  int64_t lines[kLanes] = {};
  const bool isCompared = IsStore && warp.executor->checker && mask == kAllLanes;
  if (isCompared) {
    for (uint32_t l = 0; l < lineCount(fragment); ++l)
      lines[l] = reinterpret_cast<int64_t>(stored + l * lineLength(fragment));
    moveElements<true, T>(warp, fragment, registers, lines);
  }
  if (resolveLines(warp, i, mask, fragment, IsStore, isCompared ? reinterpret_cast<const uint8_t *>(stored) : nullptr,
                   lines))
    moveElements<IsStore, T>(warp, fragment, registers, lines);
}

/// wmma.load and wmma.store.
template <bool IsStore> void moveFragment(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = vectorOperands(warp, i), *registers = operands + kFragmentWords;
  const Fragment fragment = readFragment(operands);
  switch (fragment.elementBytes()) {
  case 1:
    return moveFragment<IsStore, uint8_t>(warp, i, mask, fragment, registers);
  case 2:
    return moveFragment<IsStore, uint16_t>(warp, i, mask, fragment, registers);
  case 4:
    return moveFragment<IsStore, uint32_t>(warp, i, mask, fragment, registers);
  default:
    return moveFragment<IsStore, uint64_t>(warp, i, mask, fragment, registers);
  }
}

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
