// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file has a context of its own: its dialects are not those of programs, and the same name may mean another thing
// there.
#include "compiler/bridge/gpu_object.h"

#include "compiler/bridge/parse_module.h"
#include "compiler/codegen/ptx/compile_gpu.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace tenon::compiler::bridge {

namespace {

/// The same place, in the context of the program: of the object at `path`, which is called `name` where it is parsed,
/// or of the file that it was made from and names in its locations.
Location placeIn(MLIRContext *context, StringRef path, StringRef name, Location place, Location otherwise) {
  if (auto known = place->findInstanceOf<FileLineColLoc>()) {
    const StringRef file = known.getFilename().getValue();
    return FileLineColLoc::get(context, file == name ? path : file, known.getLine(), known.getColumn());
  }
  return otherwise;
}

} // namespace

bool isGpuObject(std::string_view path) {
  return path.ends_with(".mlir") || path.ends_with(".mlirbc");
}

FailureOr<std::string> compileGpuObject(const std::string &path, std::string_view name, std::string_view bytes,
                                        abi::TargetArch arch, const codegen::PtxOptions &options, Location namedAt) {
  DialectRegistry registry;
  codegen::registerGpuDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  bool hasError = false;
  ScopedDiagnosticHandler forward(&context, [&](mlir::Diagnostic &found) {
    hasError |= found.getSeverity() == DiagnosticSeverity::Error;
    const Location place = placeIn(namedAt.getContext(), path, name, found.getLocation(), namedAt);
    InFlightDiagnostic told = found.getSeverity() == DiagnosticSeverity::Error     ? emitError(place)
                              : found.getSeverity() == DiagnosticSeverity::Warning ? emitWarning(place)
                                                                                   : emitRemark(place);
    told << found.str();
    for (mlir::Diagnostic &note : found.getNotes())
      told.attachNote(placeIn(namedAt.getContext(), path, name, note.getLocation(), place)) << note.str();
    told.attachNote(namedAt) << "the object is named here, for " << arch.toString();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy({bytes.data(), bytes.size()}, llvm::Twine(name)),
                             llvm::SMLoc());
  OwningOpRef<ModuleOp> file = parseModule(sources, context);
  FailureOr<std::string> ptx = failure();
  bool returned = true;
  if (file) {
    // MLIR's own lowerings take what is valid for granted that is not.
    llvm::CrashRecoveryContext::Enable();
    returned = llvm::CrashRecoveryContext().RunSafely([&] { ptx = codegen::compileGpuModule(*file, arch, options); });
    llvm::CrashRecoveryContext::Disable();
  }
  if (!returned) {
    file.release(); // what is left of it cannot be taken apart
    return emitError(namedAt) << "MLIR's lowering fails on the gpu.module of '" << path << "'";
  }
  if (failed(ptx) && !hasError)
    return emitError(namedAt) << "the gpu.module of '" << path << "' does not lower to PTX for " << arch.toString();
  return ptx;
}

} // namespace tenon::compiler::bridge
