// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/locations.h"

#include "compiler/dialect/hal/declarations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Path.h"

namespace tenon::compiler::bridge {
namespace {

/// "kernels.ptx: " before a finding about a whole file, which has no line to point at.
std::string wholeFilePrefix(const SourceLocation &where) {
  return where.known() && where.line == 0 ? where.file + ": " : std::string();
}

} // namespace

SourceLocation LocationMap::toSource(mlir::Location location) {
  SourceLocation where = sourceLocationOf(location);
  where.file = llvm::sys::path::filename(where.file).str();
  if (where.known())
    known_.try_emplace(where.toString(), location);
  return where;
}

mlir::Location LocationMap::toMlir(const SourceLocation &where, mlir::Location fallback) const {
  if (auto found = known_.find(where.toString()); found != known_.end())
    return found->second;
  if (!where.known() || where.line == 0)
    return fallback;
  return mlir::FileLineColLoc::get(fallback.getContext(), where.file, where.line, where.column);
}

static mlir::InFlightDiagnostic emit(Severity severity, mlir::Location location) {
  switch (severity) {
  case Severity::Error:
    return mlir::emitError(location);
  case Severity::Warning:
    return mlir::emitWarning(location);
  case Severity::Remark:
    return mlir::emitRemark(location);
  }
}

void report(const Diagnostics &diagnostics, const LocationMap &locations, mlir::Location fallback) {
  for (const Diagnostic &finding : diagnostics.items()) {
    mlir::Location location = locations.toMlir(finding.where, fallback);
    mlir::InFlightDiagnostic message = emit(finding.severity, location);
    message << wholeFilePrefix(finding.where);
    if (!finding.rule.empty())
      message << "[" << finding.rule << "] ";
    message << finding.message;
    for (const DiagnosticNote &note : finding.notes)
      message.attachNote(locations.toMlir(note.where, location)) << wholeFilePrefix(note.where) << note.message;
    if (!finding.fix.empty())
      message.attachNote(location) << "fix: " << finding.fix;
  }
}

} // namespace tenon::compiler::bridge
