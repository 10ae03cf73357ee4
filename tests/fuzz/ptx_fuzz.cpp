// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX parser, and what is computed from a module without a declaration: control flow, definitions, printing.
#include "fuzz.h"

#include "ptx/control_flow.h"
#include "ptx/def_use.h"
#include "ptx/parse/parser.h"
#include "ptx/printer.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diagnostics diagnostics;
  std::string text(reinterpret_cast<const char *>(data), size);
  const ptx::Module module = ptx::parse(std::make_shared<const SourceFile>("fuzz.ptx", std::move(text)), diagnostics);
  (void)diagnostics.toString();
  const ptx::ModuleNames names(module);
  for (const ptx::Function &function : module.functions) {
    (void)ptx::computeControlFlow(function);
    (void)ptx::computeDefUse(function, names);
  }
  (void)ptx::print(module);
  return 0;
}
