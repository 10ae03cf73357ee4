// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A link in one page. A pass reports all that it finds and the next one goes on with what is left, so one run shows a
// user everything; only the assembler and the writer ask for a clean sheet.
#include "linker/link.h"

#include "linker/link_map.h"
#include "linker/passes/link_context.h"
#include "linker/passes/passes.h"
#include "linker/writer/executable_writer.h"

namespace tenon::linker {

/// Success, or how many errors were found since `errorsBefore`.
static Status failureSince(size_t errorsBefore, const LinkJob &job, const Diagnostics &diagnostics) {
  const size_t errors = diagnostics.errorCount() - errorsBefore;
  if (errors == 0)
    return okStatus();
  return makeError(StatusCode::InvalidArgument, "linking '", job.name, "' failed with ", errors,
                   errors == 1 ? " error" : " errors");
}

Result<LinkOutput> link(const LinkJob &job, Diagnostics &diagnostics) {
  const size_t errorsBefore = diagnostics.errorCount();
  auto kept = std::make_shared<LinkContext>(job, diagnostics);
  LinkContext &context = *kept;

  // The declarations must make sense before objects are held against them.
  checkJob(context);

  // Containers become the objects that they hold.
  expandObjects(context);

  // Read every object: tell its kind, parse it, compare its header with what it is claimed to be.
  loadInputs(context);

  // Objects of one name and target make one variant and share their symbols.
  formVariants(context);

  // One definition per name within a variant.
  resolveSymbols(context);

  // Objects that use each other's functions and variables become one.
  mergeObjects(context);

  // Match every export with its entry point in every variant, and follow what that entry reaches.
  resolveEntries(context);

  // What a kernel's author declared next to it is what was declared here.
  checkRecords(context);

  // Nothing reached may be left undefined.
  checkUnresolved(context);

  // The proof: what the kernel takes is what the layout promises to pass.
  checkParameters(context);

  // The proof: it does with each binding what the layout allows.
  checkAccess(context);

  // And with nothing else that would outlive its launch.
  checkModuleState(context);

  // Nothing is taken that a dispatch cannot pass.
  checkHandles(context);

  // The proof: it can be launched the way it is declared.
  checkLaunch(context);
  checkSharedMemory(context);

  // Whichever variant the loader takes, it is the same kernel.
  checkVariants(context);

  // Only what is proved is worth an assembler's time.
  TENON_RETURN_IF_ERROR(failureSince(errorsBefore, job, diagnostics));

  if (job.proveOnly) {
    checkUnchanged(context);
    TENON_RETURN_IF_ERROR(failureSince(errorsBefore, job, diagnostics));
    return LinkOutput{.kept = std::move(kept)};
  }

  // PTX becomes cubins, and the cubins are held against the declarations again.
  assembleImages(context);
  TENON_RETURN_IF_ERROR(failureSince(errorsBefore, job, diagnostics));

  // Everything holds: store images, kernels and the facts proved about them.
  LinkOutput output;
  TENON_ASSIGN_OR_RETURN(output.executable, writeExecutable(context));

  // And what was written is what was proved: no file has changed under the link.
  checkUnchanged(context);
  TENON_RETURN_IF_ERROR(failureSince(errorsBefore, job, diagnostics));
  output.map = mapOf(context);
  output.kept = std::move(kept);
  return output;
}

} // namespace tenon::linker
