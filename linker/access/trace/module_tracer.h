// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traces kernels of a module that keeps its bodies: for drafts and tests. A link goes by ObjectReader, which keeps
// none.
#pragma once

#include "linker/access/plan/plan_table.h"
#include "linker/access/trace/kernel_tracer.h"

namespace tenon::linker {

/// Traces the kernels of a module that has its bodies. They are prepared once, also when many kernels call them.
class ModuleTracer {
public:
  explicit ModuleTracer(const ptx::Module &module);

  /// @param entry  a kernel with a body, of the module
  KernelTrace trace(const ptx::Function &entry, const ParameterSlots &slots);
  /// @param pointers  [parameters] which of them are declared as pointers; the rest are constants
  KernelTrace trace(const ptx::Function &entry, const std::vector<bool> &pointers) {
    return trace(entry, slotPerParameter(pointers));
  }

private:
  const ptx::Module &module_;
  PlanTable plans_;
  PlanBuilder builder_;
  KernelTracer tracer_;
};

} // namespace tenon::linker
