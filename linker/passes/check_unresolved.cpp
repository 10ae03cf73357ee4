// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel runs only when everything that it calls is in its image. The driver itself brings four functions (seen with
// ptxas and the driver's JIT); all others come from another object or from a library that was not linked in.
#include "linker/passes/passes.h"

#include <algorithm>
#include <set>

namespace tenon::linker {
namespace {

constexpr std::string_view kDriverFunctions[] = {"vprintf", "__assertfail", "malloc", "free"};

bool isResolvedByDriver(const UnresolvedName &name) {
  return name.isFunction &&
         std::find(std::begin(kDriverFunctions), std::end(kDriverFunctions), name.name) != std::end(kDriverFunctions);
}

std::string fixFor(std::string_view name) {
  if (name.starts_with("__nv_"))
    return "it is a function of libdevice: compile with nvcc, or link libdevice.10.bc into the bitcode before llc";
  if (name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer") ||
      name.starts_with("cudaDevice"))
    return "it is a function of cudadevrt (kernels that launch kernels), which is not supported: launch from the host";
  return "give the object that defines it for the same variant as well, put its definition into the same translation "
         "unit, or take the call out";
}

void report(LinkContext &context, const Variant &variant, const Kernel &kernel, const UnresolvedName &name) {
  const abi::Export &declared = context.exportOf(kernel);
  std::string user = name.user ? concat("'", name.user->name, "'") : "an initialiser";
  std::string text = concat(name.isFunction ? "function '" : "variable '", name.name, "', used by ", user);
  if (!name.user || name.user != kernel.entry)
    text += concat(" (reached from '", kernel.entry->name, "')");
  Diagnostic &error = context.diagnostics.error(
      name.where, "K-10", concat(text, ", is defined in no object of variant '", variant.name, "'"));
  if (name.declaredAt.known())
    error.note(name.declaredAt, "declared .extern here");
  else
    error.note(name.where, "and declared nowhere");
  noteDeclared(error, declared).withFix(fixFor(name.name));
}

} // namespace

void checkUnresolved(LinkContext &context) {
  for (const Variant &variant : context.variants) {
    if (variant.hasDuplicates || !variant.complete)
      continue; // what is missing may be in an object that was not loaded or not merged
    std::set<std::pair<const Object *, std::string_view>> reported; // membership only
    for (const Kernel &kernel : variant.kernels)
      for (const UnresolvedName &name : kernel.reachable.unresolved)
        if (!isResolvedByDriver(name) && reported.emplace(kernel.object, name.name).second)
          report(context, variant, kernel, name);
  }
}

} // namespace tenon::linker
