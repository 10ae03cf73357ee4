// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plans of one module, by function.
#pragma once

#include "linker/access/plan/plan_builder.h"

#include <memory>
#include <vector>

namespace tenon::linker {

/// The plans of one module's functions. A module may grow under it, and lose its bodies once they are planned.
class PlanTable {
public:
  /// Plans a function that has its body, for good.
  void add(const ptx::Module &module, const ptx::Function &function, PlanBuilder &builder);
  /// Takes in a plan that was made.
  void keep(Plan plan);
  /// The plan of a function, or null: it has no body, or none was added.
  Plan *find(uint32_t function) { return function < plans_.size() ? plans_[function].get() : nullptr; }

  /// Names that the module has so far. To be learnt again when it has grown.
  ptx::ModuleNames names;

private:
  std::vector<std::unique_ptr<Plan>> plans_; // by function
};

} // namespace tenon::linker
