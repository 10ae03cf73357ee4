// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch with every binding in memory of its own. Guarded, a binding stands between bytes that nobody may touch:
//
//   | guard, a multiple of 256 | shift | contents | guard |
//
// The shift is 0, or the alignment that the layout promises, so that the address is a multiple of that and of nothing
// more. Without guards the allocation ends where the contents do, which is where the emulator sees a read past the end.
#pragma once

#include "runtime/tools/check_kernel/case.h"
#include "runtime/tools/check_kernel/session.h"

#include <vector>

namespace tenon::runtime {

struct RunOptions {
  bool guarded = true;
  bool shifted = false;
  uint8_t guard = 0xa5;
  uint8_t fill = 0xcb;    // contents of an output before
  uint64_t displaced = 0; // bytes in front of everything, so that addresses differ from another run's
};

/// Bytes outside a binding that changed. Offsets count from the binding's first byte.
struct GuardDamage {
  uint32_t binding = 0;
  int64_t first = 0; // the one nearest to the contents
  uint64_t count = 0;
  uint8_t found = 0, expected = 0;
};

struct RunResult {
  std::vector<std::vector<uint8_t>> contents; // [bindings] after
  std::vector<GuardDamage> damage;
};

/// Runs the kernel once and waits. Aborted: it faulted, and the context is lost.
Result<RunResult> runCase(Device &device, const LoadedExport &kernel, const Case &inputs, const RunOptions &options);

} // namespace tenon::runtime
