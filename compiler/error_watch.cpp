// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/error_watch.h"

using namespace mlir;

namespace tenon::compiler {

ErrorWatch::ErrorWatch(ModuleOp module)
    : module_(module), handler_(module.getContext(), [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          hasError_ = true;
        return failure(); // not handled: it goes on to who prints it
      }) {}

LogicalResult ErrorWatch::fail(const CompileReport &report) {
  if (hasError_)
    return failure();
  const std::string phase = report.phases().empty() ? "parse" : report.phases().back().name;
  return module_.emitError() << "phase '" << phase
                             << "' failed and does not say why, which is a bug in the compiler; please report it";
}

} // namespace tenon::compiler
