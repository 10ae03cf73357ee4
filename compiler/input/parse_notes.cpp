// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/parse_notes.h"

#include "compiler/dialect/Dialects.h"
#include "compiler/dialect/OtherYears.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "support/text/nearest_names.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// The operation that an error of the parser names; "" where it is about something else. MLIR says it in two ways, one
/// for dialects that are there and one for others.
StringRef unknownOperation(StringRef text) {
  constexpr StringLiteral kStart = "custom op '";
  if (!text.contains("is unknown") && !text.contains("not found for custom op '"))
    return {};
  const size_t at = text.find(kStart);
  return at == StringRef::npos ? StringRef() : text.drop_front(at + kStart.size()).split('\'').first;
}

std::vector<std::string> operationsOf(MLIRContext *context, StringRef dialect) {
  std::vector<std::string> names;
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (name.getDialectNamespace() == dialect && name.getStringRef() == unmarkOtherYears(name.getStringRef()))
      names.push_back(name.getStringRef().str());
  return names;
}

/// "torch.add", which no dialect here has, in a dialect that is known or not.
void noteOperation(Diagnostic &error, MLIRContext *context, StringRef name) {
  const StringRef dialect = name.split('.').first;
  if (name == "iree_linalg_ext.group_matmul") {
    error.attachNote()
        << "this is of 2026; write a linalg.matmul for each group, of the rows that tensor.extract_slice "
           "takes out between two offsets, and tensor.insert_slice its result";
    return;
  }
  if (name.contains('.') && context->getLoadedDialect(dialect)) {
    std::vector<std::string> near = nearestNames(std::string_view(name), operationsOf(context, dialect));
    if (!near.empty())
      error.attachNote() << "did you mean " << quotedList(near, "or") << "?";
    else
      error.attachNote() << "dialect '" << dialect << "' is read, this operation of it is not supported";
    return;
  }
  const ReadDialects read = readDialects();
  error.attachNote() << "read are " << quotedList(read.own) << ", and of MLIR " << quotedList(read.ofMlir)
                     << "; lower what a model's front end writes (StableHLO, Torch) to linalg on "
                        "tensors first, as iree-compile --compile-to=input does";
}

/// The type that an error of hal's generated parser names; "" where it is about something else.
StringRef unknownHalType(StringRef text) {
  if (!text.starts_with("unknown ") || !text.ends_with("` in dialect `hal`") || !text.contains(" type `"))
    return {};
  return text.split('`').second.split('`').first;
}

/// IREE's ABI hands buffers over; what is written by hand, or printed before that ABI, has tensors.
void noteHalType(Diagnostic &error, StringRef name) {
  if (name.starts_with("buffer"))
    error.attachNote() << "a tensor is wanted: a program's functions take and return tensors, as tensor<4xf32>, or "
                          "tensor<?xf32> where the call says how large it is";
  else
    error.attachNote()
        << "!hal.device, !hal.buffer_view, !hal.fence and !hal.tensor_map are the types of hal that are read";
}

} // namespace

ParseNotes::ParseNotes(MLIRContext *context) : ScopedDiagnosticHandler(context) {
  setHandler([context](Diagnostic &diagnostic) {
    const std::string text = diagnostic.str();
    if (std::string own = unmarkOtherYears(text);
        diagnostic.getSeverity() == DiagnosticSeverity::Error && own != text) {
      InFlightDiagnostic again = emitError(diagnostic.getLocation()) << own;
      for (Diagnostic &note : diagnostic.getNotes())
        again.attachNote(note.getLocation()) << note.str();
      return success();
    }
    if (StringRef name = unknownOperation(text); diagnostic.getSeverity() == DiagnosticSeverity::Error && !name.empty())
      noteOperation(diagnostic, context, name);
    if (StringRef name = unknownHalType(text); diagnostic.getSeverity() == DiagnosticSeverity::Error && !name.empty())
      noteHalType(diagnostic, name);
    return failure(); // the next handler prints it
  });
}

} // namespace tenon::compiler::input
