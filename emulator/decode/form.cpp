// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/form.h"

namespace tenon::emulator {

using ptx::ScalarType;

bool Form::take(std::string_view modifier) {
  for (size_t k = 0; k < instruction_.modifiers.size() && k < 64; ++k)
    if (!(taken_ >> k & 1) && instruction_.modifiers[k] == modifier) {
      taken_ |= uint64_t(1) << k;
      return true;
    }
  return false;
}

int Form::takeOneOf(std::initializer_list<std::string_view> choices) {
  int index = 0;
  for (std::string_view choice : choices) {
    if (take(choice))
      return index;
    ++index;
  }
  return -1;
}

ScalarType Form::takeType() {
  for (size_t k = 0; k < instruction_.modifiers.size() && k < 64; ++k)
    if (!(taken_ >> k & 1))
      if (ScalarType type = ptx::parseScalarType(instruction_.modifiers[k]); type != ScalarType::None) {
        taken_ |= uint64_t(1) << k;
        return type;
      }
  return ScalarType::None;
}

Rounding Form::takeRounding() {
  switch (takeOneOf({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"})) {
  case 0:
    return Rounding::Rn;
  case 1:
    return Rounding::Rz;
  case 2:
    return Rounding::Rm;
  case 3:
    return Rounding::Rp;
  case 4:
    return Rounding::Rna;
  case 5:
    return Rounding::Rni;
  case 6:
    return Rounding::Rzi;
  case 7:
    return Rounding::Rmi;
  case 8:
    return Rounding::Rpi;
  default:
    return Rounding::None;
  }
}

std::string_view Form::left() const {
  for (size_t k = 0; k < instruction_.modifiers.size(); ++k)
    if (k >= 64 || !(taken_ >> k & 1))
      return instruction_.modifiers[k];
  return {};
}

} // namespace tenon::emulator
