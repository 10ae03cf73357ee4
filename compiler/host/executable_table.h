// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the host program needs to know of the executables it dispatches to, once they are linked.
#pragma once

#include "compiler/dialect/hal/HalOps.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <vector>

namespace tenon::compiler::host {

struct LinkedExport {
  hal::ExecutableExportOp op; // its layout and count region
  uint32_t ordinal = 0;
  bool isGenerated = false; // the compiler made it
  /// [bindings] false: declared ReadOnly. An operand bound where the kernel may write is memory of the call (F-21).
  std::vector<bool> mayWrite;
};

struct LinkedExecutable {
  uint32_t index = 0; // into Program::executables
  llvm::StringMap<LinkedExport> exports;
};

/// By the symbol of the hal.executable.source.
using ExecutableTable = llvm::StringMap<LinkedExecutable>;

} // namespace tenon::compiler::host
