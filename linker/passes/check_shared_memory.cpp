// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory comes in two parts: variables with a size, at most 48 KiB per kernel (ptxas refuses more), and one
// block whose size the launch gives, `.extern .shared x[]` in PTX. A cubin does not show that a kernel uses the second,
// and a launch that forgets it reads past the first, so it is checked here, from the PTX.
#include "abi/arch_table.h"
#include "linker/passes/passes.h"

namespace tenon::linker {

static void checkKernel(LinkContext &context, const Kernel &kernel) {
  const abi::Export &declared = context.exportOf(kernel);
  const uint64_t bytes = kernel.reachable.staticSharedBytes();
  if (bytes > abi::kMaxStaticSharedBytes) {
    Diagnostic &error = context.diagnostics.error(kernel.object->placeOf(*kernel.entry), "K-9",
                                                  concat("'", kernel.entry->name, "' reaches ", bytes,
                                                         " bytes of static shared memory, at most ",
                                                         abi::kMaxStaticSharedBytes, " are allowed"));
    auto note = [&](const ptx::Variable &variable) {
      if (variable.space == ptx::StateSpace::Shared)
        error.note(kernel.object->placeOf(variable), concat("'", variable.name, "': ", variable.bytes(), " bytes"));
    };
    for (const ptx::Variable *variable : kernel.reachable.variables)
      note(*variable);
    for (const ptx::Variable *variable : kernel.reachable.localShared)
      note(*variable);
    noteDeclared(error, declared)
        .withFix("make the large ones dynamic (extern __shared__) and declare dynamic shared bytes");
  }
  if (const ptx::Variable *dynamic = kernel.reachable.dynamicShared; dynamic && declared.launch.dynamicSharedBytes == 0)
    noteDeclared(
        context.diagnostics.error(kernel.object->placeOf(*dynamic), "K-9",
                                  concat("'", kernel.entry->name, "' reaches '", dynamic->name,
                                         "' (extern __shared__), the export declares no dynamic shared memory")),
        declared)
        .withFix("declare the bytes that the kernel needs: dynamic_shared_bytes in a manifest, workgroup_local_memory "
                 "in MLIR");
}

void checkSharedMemory(LinkContext &context) {
  for (const Variant &variant : context.variants)
    for (const Kernel &kernel : variant.kernels)
      checkKernel(context, kernel);
}

} // namespace tenon::linker
