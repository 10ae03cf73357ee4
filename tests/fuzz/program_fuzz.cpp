// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program (.tenon): verification of its functions, commands and nested executables, then its views.
#include "fuzz.h"

#include "abi/format/views/program_view.h"
#include "linker/tools/dump/dump.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::vector<uint8_t> bytes(data, data + size);
  Result<abi::ProgramView> view = abi::ProgramView::create(bytes, "fuzz.tenon");
  if (!view.ok())
    return 0;
  (void)linker::dumpProgram(*view, size);
  JsonWriter json;
  linker::dumpProgramJson(*view, size, json);
  (void)json.take();
  (void)view->findFunction("main").ok();
  return 0;
}
