// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/llvm_errors.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <new>

namespace tenon::compiler::bridge {

static void onMissingMemory(void *, const char *, bool) {
  if (std::new_handler handler = std::get_new_handler())
    handler();
  std::abort();
}

static void onFatalError(void *program, const char *reason, bool) {
  llvm::errs() << static_cast<const char *>(program) << ": error: LLVM gives up: " << reason << "\n";
  std::abort();
}

void reportLlvmErrors(const char *program) {
  llvm::install_bad_alloc_error_handler(onMissingMemory);
  llvm::install_fatal_error_handler(onFatalError, const_cast<char *>(program));
}

} // namespace tenon::compiler::bridge
