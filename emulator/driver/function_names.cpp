// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/function_names.h"

#include <iterator>

namespace tenon::emulator {

std::vector<std::string> functionNames() {
#define TENON_FUNCTION(name) #name,
  static constexpr const char *kNames[] = {
#include "emulator/driver/functions.inc"
  };
#undef TENON_FUNCTION
  return {std::begin(kNames), std::end(kNames)};
}

} // namespace tenon::emulator
