// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/matrix/wmma.h"

namespace tenon::emulator {

using ptx::ScalarType;

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

} // namespace tenon::emulator
