// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A texture, surface or sampler is a handle that the CUDA runtime makes; in PTX it is a plain 64-bit parameter (PTX
// ISA, "Texture Instructions", "Surface Instructions"). A dispatch passes buffers and scalars, so a kernel that uses
// one would be handed an address or a number as a handle: it is refused by the instruction that gives it away.
#include "linker/passes/passes.h"

namespace tenon::linker {

static void checkKernel(LinkContext &context, const Kernel &kernel) {
  for (const ptx::Function *function : kernel.reachable.functions) {
    const uint32_t first = kernel.object->factsOf(*function).handleUse;
    if (first == BodyFacts::kNone)
      continue;
    const ptx::Instruction *use = &kernel.object->bodyOf(kernel.object->indexOf(*function)).instructions[first];
    const bool isSurface = use->opcode.starts_with("su");
    std::string where = function == kernel.entry
                            ? concat("'", function->name, "'")
                            : concat("'", function->name, "', which '", kernel.entry->name, "' reaches,");
    Diagnostic &error = context.diagnostics.error(kernel.object->placeOf(*use), "K-19",
                                                  concat(where, " uses a ", isSurface ? "surface" : "texture", " ('",
                                                         use->form(), "'), a dispatch passes buffers and scalars"));
    noteDeclared(error, context.exportOf(kernel))
        .withFix(isSurface ? "read and write the data through a pointer: a binding"
                           : "read the data through a pointer: a read-only binding is cached as textures are");
    return; // one is enough to say so
  }
}

void checkHandles(LinkContext &context) {
  for (const Variant &variant : context.variants)
    for (const Kernel &kernel : variant.kernels)
      checkKernel(context, kernel);
}

} // namespace tenon::linker
