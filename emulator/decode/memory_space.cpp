// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/memory_space.h"

namespace tenon::emulator {

std::optional<MemorySpace> takeSpace(Form &form) {
  switch (form.takeOneOf({"global", "shared", "shared::cta", "local", "param", "param::entry", "param::func", "const",
                          "shared::cluster"})) {
  case 0:
    return MemorySpace::Global;
  case 1:
  case 2:
    return MemorySpace::Shared;
  case 3:
    return MemorySpace::Local;
  case 4:
  case 5:
  case 6:
    return MemorySpace::Param;
  case 7:
    return MemorySpace::Const;
  case 8:
    return MemorySpace::SharedCluster;
  default:
    return std::nullopt;
  }
}

} // namespace tenon::emulator
