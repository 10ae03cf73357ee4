// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/memory_order.h"

#include <algorithm>

namespace tenon::emulator {

MemoryOrder memoryOrderOf(const ptx::Instruction &instruction) {
  auto has = [&](std::string_view modifier) {
    return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) !=
           instruction.modifiers.end();
  };
  MemoryOrder order;
  std::string_view opcode = instruction.opcode;
  order.wide = !has("cta");
  if (opcode == "membar" || (opcode == "fence" && !has("proxy"))) {
    order.isFence = true;
    order.acquire = !has("release");
    order.release = !has("acquire");
    return order;
  }
  order.acquire = has("acquire") || has("acq_rel");
  order.release = has("release") || has("acq_rel");
  order.readModifyWrite = opcode == "atom" || opcode == "red";
  order.compareAndSwap = opcode == "atom" && has("cas");
  order.strong = order.readModifyWrite || order.acquire || order.release || has("relaxed") || has("volatile") ||
                 has("mmio") || (opcode == "mbarrier" && !has("init"));
  if (opcode == "cp" && has("async")) {
    order.strong = has("mbarrier");
    order.asynchronous = !has("mbarrier");
  }
  return order;
}

} // namespace tenon::emulator
