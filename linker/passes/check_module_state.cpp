// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A variable of the module (`__device__ int counter;`) outlives the launch: what one dispatch writes, the next one
// finds, in any order that the program's queues happen to run them; and each image that is loaded has a variable of its
// own. A program that passes its memory as bindings has none of this, so a kernel that writes one is pointed out.
#include "linker/access/trace/source_line.h"
#include "linker/passes/passes.h"
#include "support/text/nearest_names.h"

namespace tenon::linker {
namespace {

/// "'counter'", "one of 'a' and 'b'": variables of global memory that the kernel reaches.
std::string variablesText(const Kernel &kernel) {
  std::vector<std::string> names;
  for (const ptx::Variable *variable : kernel.reachable.variables)
    if (variable->space == ptx::StateSpace::Global)
      names.emplace_back(variable->name);
  if (names.empty())
    return "its module's memory";
  return names.size() == 1 ? concat("variable '", names.front(), "'") : concat("one of ", quotedList(names, "or"));
}

void checkKernel(LinkContext &context, const Kernel &kernel) {
  if (!kernel.trace || !kernel.trace->writesModule || kernel.object->input->origin != abi::Origin::HandWritten)
    return;
  const AccessPlace &place = *kernel.trace->writesModule;
  const ptx::Function &body = kernel.object->bodyOf(place.function);
  const ptx::Instruction &instruction = body.instructions[place.instruction];
  Diagnostic &warning =
      context.diagnostics.warning(kernel.object->placeOf(instruction), "K-14",
                                  concat("'", kernel.entry->name, "' writes ", variablesText(kernel), " (",
                                         instruction.form(), "), which keeps its value from one launch to the next"));
  if (std::optional<SourceLocation> line = sourceLine(kernel.object->module, body, place.instruction))
    warning.note(*line, "the source line of this instruction");
  for (const ptx::Variable *variable : kernel.reachable.variables)
    if (variable->space == ptx::StateSpace::Global) {
      warning.note(kernel.object->placeOf(*variable), concat("'", variable->name, "' is defined here"));
      break;
    }
  noteDeclared(warning, context.exportOf(kernel))
      .withFix("pass the memory as a binding, so that the program orders and keeps it");
}

} // namespace

void checkModuleState(LinkContext &context) {
  for (const Variant &variant : context.variants)
    for (const Kernel &kernel : variant.kernels)
      checkKernel(context, kernel);
}

} // namespace tenon::linker
