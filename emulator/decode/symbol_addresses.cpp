// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/decode/symbol_addresses.h"

#include "emulator/machine/machine.h"

namespace tenon::emulator {

uint64_t functionAddress(const ptx::Module &module, std::string_view name) {
  const ptx::Function *function = module.findFunction(name);
  return function ? kFunctionBase + kFunctionStride * static_cast<uint64_t>(function - module.functions.data()) : 0;
}

} // namespace tenon::emulator
