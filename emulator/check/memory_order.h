// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction says about order: whether its access is strong (seen by others as a whole, in some order:
// atomics, volatile, relaxed), whether it acquires or releases, and what a fence covers. The interpreter needs none of
// this; the race detector does.
//
// Source: PTX ISA, "Memory Consistency Model": strong operations, release and acquire patterns.
#pragma once

#include "ptx/module.h"

namespace tenon::emulator {

struct MemoryOrder {
  bool strong = false;
  bool acquire = false, release = false;
  bool readModifyWrite = false;
  bool compareAndSwap = false; // atom.cas
  bool asynchronous = false;   // cp.async: the bytes come later
  bool isFence = false;
  bool wide = false; // beyond the block: .cluster, .gpu, .sys
};

MemoryOrder memoryOrderOf(const ptx::Instruction &instruction);

} // namespace tenon::emulator
