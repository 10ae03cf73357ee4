// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/access/trace/module_tracer.h"

namespace tenon::linker {

ModuleTracer::ModuleTracer(const ptx::Module &module) : module_(module) {
  plans_.names.learn(module);
  for (const ptx::Function &function : module.functions)
    if (!function.isEntry && !function.isDeclaration)
      plans_.add(module, function, builder_);
}

KernelTrace ModuleTracer::trace(const ptx::Function &entry, const ParameterSlots &slots) {
  Plan plan;
  builder_.run(module_, entry, plans_.names, slots, plan);
  return tracer_.run(module_, plans_, plan, slots);
}

} // namespace tenon::linker
