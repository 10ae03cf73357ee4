// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/plan/function_data.h"

namespace tenon::runtime {

const abi::fb::Target *takenTarget(const abi::fb::Function &block, std::span<const int64_t> registers) {
  for (uint32_t i = 0; i < sizeOf(block.targets()); ++i) {
    const abi::fb::Target &target = *block.targets()->Get(i);
    if (target.condition() == kNoRegister || registers[target.condition()] != 0)
      return &target;
  }
  return nullptr;
}

bool hasBlocks(const abi::fb::Function &function) {
  return sizeOf(function.blocks()) != 0;
}

bool usesGlobals(const abi::fb::Function &function) {
  for (uint32_t i = 0; i < sizeOf(function.blocks()); ++i)
    if (const abi::fb::Function &block = *function.blocks()->Get(i); sizeOf(block.loads()) || sizeOf(block.stores()))
      return true;
  return false;
}

} // namespace tenon::runtime
