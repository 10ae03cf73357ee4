// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans and the tracer of a module that has its bodies.
#include "linker/access/trace.h"

namespace tenon::linker {

void Plans::add(const ptx::Module &module, const ptx::Function &function, PlanBuilder &builder) {
  Plan plan;
  builder.run(module, function, names, plan);
  keep(std::move(plan));
}

void Plans::keep(Plan plan) {
  const uint32_t function = plan.function;
  if (plans_.size() <= function)
    plans_.resize(function + 1);
  plans_[function] = std::make_unique<Plan>(std::move(plan));
}

void Plans::drop(uint32_t function) {
  if (function < plans_.size())
    plans_[function].reset();
}

AccessTracer::AccessTracer(const ptx::Module &module) : module_(module) {
  plans_.names.learn(module);
  for (const ptx::Function &function : module.functions)
    if (!function.isEntry && !function.isDeclaration)
      plans_.add(module, function, builder_);
}

KernelTrace AccessTracer::trace(const ptx::Function &entry, const std::vector<bool> &pointers) {
  Plan plan;
  builder_.run(module_, entry, plans_.names, plan);
  return tracer_.run(module_, plans_, plan, pointers);
}

} // namespace tenon::linker
