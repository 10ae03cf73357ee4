// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An executable (.tnx): verification, then every view of what verified, as the loader, tenon-dump and --explain read
// it.
#include "fuzz.h"

#include "abi/format/views/executable_view.h"
#include "linker/tools/dump/dump.h"
#include "linker/tools/explain.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size); // aligned as a loader's
  Result<abi::ExecutableView> view = abi::ExecutableView::create(bytes, "fuzz.tnx");
  if (!view.ok())
    return 0;
  (void)linker::dumpExecutable(*view, size);
  JsonWriter json;
  linker::dumpExecutableJson(*view, size, json);
  (void)json.take();
  (void)linker::explainExecutable(*view, *linker::describeDevice("sm_90", "13.0"));
  for (uint32_t i = 0; i < view->raw().images()->size(); ++i)
    (void)view->imageBytes(i).ok();
  for (uint32_t ordinal = 0; ordinal < view->exportCount(); ++ordinal)
    for (const abi::Candidate &candidate : view->candidates(ordinal))
      (void)view->findKernel(candidate.variantIndex, ordinal);
  return 0;
}
