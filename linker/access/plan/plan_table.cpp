// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/plan/plan_table.h"

#include <utility>

namespace tenon::linker {

void PlanTable::add(const ptx::Module &module, const ptx::Function &function, PlanBuilder &builder) {
  Plan plan;
  builder.run(module, function, names, {}, plan);
  keep(std::move(plan));
}

void PlanTable::keep(Plan plan) {
  const uint32_t function = plan.function;
  if (plans_.size() <= function)
    plans_.resize(function + 1);
  plans_[function] = std::make_unique<Plan>(std::move(plan));
}

} // namespace tenon::linker
