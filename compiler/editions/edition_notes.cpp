// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/editions/edition_notes.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon::compiler::editions {

static void print(const mlir::Diagnostic &diagnostic, llvm::raw_ostream &out) {
  out << int(diagnostic.getSeverity()) << ' ' << diagnostic.getLocation() << ' ' << diagnostic.str() << '\n';
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    print(note, out);
}

EditionNotes::EditionNotes(MLIRContext *context)
    : handler_(context, [this](mlir::Diagnostic &diagnostic) { return handle(diagnostic); }) {}

void EditionNotes::begin(std::string targets) {
  targets_ = std::move(targets);
  before_.merge(now_);
  now_.clear();
}

LogicalResult EditionNotes::handle(mlir::Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(diagnostic, stream);
  if (before_.contains(text))
    return success(); // handled
  now_.insert(std::move(text));
  if (!targets_.empty())
    diagnostic << " (for " << targets_ << ")";
  return failure(); // to who prints it
}

} // namespace tenon::compiler::editions
