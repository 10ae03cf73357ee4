// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/machine/decoded_kernel.h"

namespace tenon::emulator {

const uint32_t *vectorOperands(const Warp &warp, const Decoded &instruction) {
  return warp.frame->code->operands.data() + instruction.list;
}

} // namespace tenon::emulator
