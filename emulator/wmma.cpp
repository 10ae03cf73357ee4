#include "emulator/wmma.h"

#include "emulator/check.h"
#include "emulator/lanes.h"
#include "emulator/matrix.h"
#include "emulator/tensor_core.h"

#include <cmath>
#include <cuda.h>

namespace tenon::emulator {
namespace {

using ptx::ScalarType;
using TENON_LEVEL::at;

Fragment readFragment(const uint32_t *words) {
  return {static_cast<ScalarType>(words[0] & 0xff), words[0] >> 8 & 0xff, words[0] >> 16 & 0xff, words[1] & 0xff,
          (words[1] >> 8 & 1) != 0};
}

/// Where element `e` of lane `lane` lies in the register file.
uint8_t *elementIn(Warp &warp, const Fragment &fragment, const uint32_t *registers, uint32_t lane, uint32_t e) {
  uint32_t bytes = fragment.elementBytes(), width = fragment.registerBytes(), per = width / bytes;
  return at<uint8_t>(warp, registers[e / per]) + lane * width + e % per * bytes;
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
  // Both ends of a line in bounds: so is what lies between, which is shorter than the gap between two allocations.
  return resolveSlowly(warp, i, used, space, bytes, isWrite, lines) == used &&
         resolveSlowly(warp, i, used, space, bytes, isWrite, last) == used;
}

/// Host address of element `slot` (row-major) of a matrix with resolved lines.
uint8_t *elementAt(const Fragment &fragment, const int64_t (&lines)[kLanes], uint32_t slot) {
  uint32_t row = slot / fragment.columns, column = slot % fragment.columns;
  uint32_t line = fragment.columnMajor ? column : row, index = fragment.columnMajor ? row : column;
  return reinterpret_cast<uint8_t *>(lines[line]) + index * fragment.elementBytes();
}

void loadFragment(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = vectorOperands(warp, i);
  Fragment fragment = readFragment(operands);
  int64_t lines[kLanes];
  if (!resolveLines(warp, i, mask, fragment, false, lines))
    return;
  uint32_t perLane = fragment.perLane(), total = fragment.rows * fragment.columns;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t e = 0; e < perLane; ++e)
      memcpy(elementIn(warp, fragment, operands + kFragmentWords, lane, e),
             elementAt(fragment, lines, (lane * perLane + e) % total), fragment.elementBytes());
}

void storeFragment(Warp &warp, const Decoded &i, uint32_t mask) {
  const uint32_t *operands = vectorOperands(warp, i);
  Fragment fragment = readFragment(operands);
  int64_t lines[kLanes];
  if (!resolveLines(warp, i, mask, fragment, true, lines))
    return;
  uint32_t perLane = fragment.perLane(), total = fragment.rows * fragment.columns;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t e = 0; e < perLane; ++e)
      memcpy(elementAt(fragment, lines, (lane * perLane + e) % total),
             elementIn(warp, fragment, operands + kFragmentWords, lane, e), fragment.elementBytes());
}

constexpr uint32_t kMostElements = 32 * 16;

void gather(Warp &warp, const Fragment &fragment, const uint32_t *registers, double (&out)[kMostElements]) {
  uint32_t perLane = fragment.perLane(), total = fragment.rows * fragment.columns;
  for (uint32_t slot = 0; slot < total; ++slot)
    out[slot] = matrixValue(elementIn(warp, fragment, registers, slot / perLane, slot % perLane), fragment.element);
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
  double left[kMostElements], right[kMostElements], sum[kMostElements];
  gather(warp, a, registers + d.registers, left);
  gather(warp, b, registers + d.registers + a.registers, right);
  gather(warp, c, registers + d.registers + a.registers + b.registers, sum);
  bool isFloat = d.element == ScalarType::F32 || d.element == ScalarType::F16;
  MatrixSize size{d.rows, d.columns, a.columns};
  if (isFloat)
    multiplyAsTensorCore(left, right, sum, size, a.element == ScalarType::F16 ? -14 : -126,
                         d.element == ScalarType::F16);
  else
    multiplyStepByStep(left, right, sum, size);
  uint32_t perLane = d.perLane();
  for (uint32_t slot = 0; slot < d.rows * d.columns; ++slot)
    storeMatrixValue(elementIn(warp, d, registers, slot / perLane, slot % perLane), sum[slot], d.element, i.flag & 1);
}

} // namespace

uint32_t Fragment::elementBytes() const {
  return element == ScalarType::TF32 ? 4 : ptx::byteSize(element);
}

void pushFragment(const Fragment &fragment, std::vector<uint32_t> &operands) {
  operands.push_back(static_cast<uint32_t>(fragment.element) | fragment.rows << 8 | fragment.columns << 16);
  operands.push_back(fragment.registers | static_cast<uint32_t>(fragment.columnMajor) << 8);
}

std::optional<Fragment> findFragment(FragmentUse use, uint32_t m, uint32_t n, uint32_t k, ScalarType element) {
  Fragment fragment;
  fragment.element = element;
  fragment.rows = use == FragmentUse::B ? k : m;
  fragment.columns = use == FragmentUse::A ? k : n;
  bool isInput = use != FragmentUse::Accumulator;
  bool deep = (m == 16 && n == 16) || (m == 8 && n == 32) || (m == 32 && n == 8);
  uint32_t elements = fragment.rows * fragment.columns;
  switch (element) {
  case ScalarType::F16:
    if (k != 16 || !deep)
      return std::nullopt;
    fragment.registers = isInput ? 8 : 4;
    return fragment;
  case ScalarType::BF16:
  case ScalarType::S8:
  case ScalarType::U8:
    if (k != 16 || !deep || !isInput)
      return std::nullopt;
    fragment.registers = elements * fragment.elementBytes() / (4 * kLanes);
    return fragment;
  case ScalarType::F32:
    if (!deep || isInput || !(k == 16 || (k == 8 && m == 16)))
      return std::nullopt;
    fragment.registers = 8;
    return fragment;
  case ScalarType::S32:
    if (k != 16 || !deep || isInput)
      return std::nullopt;
    fragment.registers = 8;
    return fragment;
  case ScalarType::TF32:
    if (m != 16 || n != 16 || k != 8 || !isInput)
      return std::nullopt;
    fragment.registers = 4;
    return fragment;
  case ScalarType::F64:
    if (m != 8 || n != 8 || k != 4)
      return std::nullopt;
    fragment.registers = isInput ? 1 : 2;
    return fragment;
  default:
    return std::nullopt;
  }
}

Handler loadFragmentHandler() {
  return &loadFragment;
}
Handler storeFragmentHandler() {
  return &storeFragment;
}
Handler multiplyFragmentsHandler() {
  return &multiplyFragments;
}

} // namespace tenon::emulator
