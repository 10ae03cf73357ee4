// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Some parsers of MLIR's own operations go on after a mistake with an attribute that is not there (linalg.transpose
// with `permutation = [2x]`, in 22.1). They have reported the mistake by then, so that what is left is to end with an
// error. Others end without a report (tosa.clamp with `{> = 1}`), which is one here.
#include "compiler/bridge/parse_module.h"

#include "compiler/bridge/nesting.h"
#include "compiler/dialect/OtherYears.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CrashRecoveryContext.h"

using namespace mlir;

namespace tenon::compiler::bridge {
namespace {

/// What an editor put in front of the text, which MLIR's lexer calls an unexpected character; "" where there is
/// nothing.
llvm::StringRef byteOrderMistake(llvm::StringRef text) {
  if (text.starts_with("\xEF\xBB\xBF"))
    return "the text begins with a byte order mark; save it as UTF-8 without one";
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return "the text is UTF-16; save it as UTF-8 without a byte order mark";
  return {};
}

} // namespace

OwningOpRef<ModuleOp> parseModule(llvm::SourceMgr &sources, MLIRContext &context, bool *crashed) {
  const llvm::MemoryBuffer &buffer = *sources.getMemoryBuffer(sources.getMainFileID());
  const llvm::StringRef text = buffer.getBuffer();
  if (const llvm::StringRef mistake = byteOrderMistake(text); !mistake.empty()) {
    emitError(FileLineColLoc::get(&context, buffer.getBufferIdentifier(), 1, 1)) << mistake;
    return {};
  }
  if (const std::optional<NestingMistake> mistake = findNestingMistake({text.data(), text.size()})) {
    const auto [line, column] =
        sources.getLineAndColumn(llvm::SMLoc::getFromPointer(text.data() + mistake->offset), sources.getMainFileID());
    emitError(FileLineColLoc::get(&context, buffer.getBufferIdentifier(), line, column)) << mistake->message;
    return {};
  }
  // Messages are shown with the file's own lines, by whoever handles them.
  const std::optional<std::string> marked = markOtherYears(text);
  llvm::SourceMgr markedSources;
  if (marked)
    markedSources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(*marked, buffer.getBufferIdentifier()), {});
  ModuleOp parsed;
  bool isReported = false;
  const ScopedDiagnosticHandler watch(&context, [&](Diagnostic &diagnostic) {
    isReported |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return failure(); // the next handler prints it
  });
  llvm::CrashRecoveryContext::Enable();
  const bool returned = llvm::CrashRecoveryContext().RunSafely([&] {
    if (OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(marked ? markedSources : sources, &context))
      parsed = module.release();
  });
  llvm::CrashRecoveryContext::Disable();
  if (crashed)
    *crashed = !returned;
  const Location begin = FileLineColLoc::get(&context, buffer.getBufferIdentifier(), 1, 1);
  constexpr char lookFor[] =
      "without a word: look for attributes in braces that are none (operations of tosa that have a mode), and kinds of "
      "operations of linalg that are not for their elements";
  if (!returned && isReported)
    emitError(begin) << "MLIR's parser fails on this text; what it reported before is what to mend";
  else if (!returned)
    emitError(begin) << "MLIR's parser fails on this text " << lookFor;
  else if (!parsed && !isReported)
    emitError(begin) << "MLIR's parser refuses this text " << lookFor;
  return OwningOpRef<ModuleOp>(parsed);
}

} // namespace tenon::compiler::bridge
