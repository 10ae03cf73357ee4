// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/locations.h"

#include "compiler/dialect/hal/declarations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tenon::compiler::bridge {
namespace {

/// "kernels.ptx: " before a finding about a whole file, which has no line to point at.
std::string wholeFilePrefix(const SourceLocation &where) {
  return where.known() && where.line == 0 ? where.file + ": " : std::string();
}

} // namespace

std::string LocationMap::fileId(const std::string &path) {
  std::string &id = ids_[path];
  if (id.empty()) {
    id = llvm::sys::path::filename(path).str();
    if (const unsigned number = ++named_[id]; number > 1)
      id += "#" + std::to_string(number);
  }
  return id;
}

SourceLocation LocationMap::toSource(Location location) {
  SourceLocation where = sourceLocationOf(location);
  if (!where.known())
    return where;
  where.file = fileId(where.file);
  known_.try_emplace(where.toString(), location);
  return where;
}

Location LocationMap::toMlir(const SourceLocation &where, Location fallback) const {
  if (auto found = known_.find(where.toString()); found != known_.end())
    return found->second;
  if (!where.known() || where.line == 0)
    return fallback;
  return FileLineColLoc::get(fallback.getContext(), where.file, where.line, where.column);
}

static InFlightDiagnostic emit(Severity severity, Location location) {
  switch (severity) {
  case Severity::Error:
    return emitError(location);
  case Severity::Warning:
    return emitWarning(location);
  case Severity::Remark:
    return emitRemark(location);
  }
}

void report(const Diagnostics &diagnostics, const LocationMap &locations, Location fallback) {
  for (const Diagnostic &finding : diagnostics.items()) {
    Location location = locations.toMlir(finding.where, fallback);
    InFlightDiagnostic message = emit(finding.severity, location);
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
