// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/candidates.h"

#include "compiler/bridge/excerpts.h"
#include "compiler/bridge/locations.h"
#include "compiler/bridge/nesting.h"
#include "compiler/bridge/parse_module.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/input/parse_notes.h"
#include "support/files/file.h"
#include "support/process/large_stack.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdio>

using namespace mlir;

namespace tenon::compiler {
namespace {

/// A context as tenon-compile has it, with one text.
class Session {
public:
  Session(const std::string &text, const std::string &name) : context_(registry(), MLIRContext::Threading::DISABLED) {
    sources_.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
    bridge::shortenExcerpts(sources_);
    context_.printOpOnDiagnostic(false);
    context_.allowUnregisteredDialects();
  }
  MLIRContext &context() { return context_; }
  llvm::SourceMgr &sources() { return sources_; }
  OwningOpRef<ModuleOp> parse() { return bridge::parseModule(sources_, context_); }

private:
  static DialectRegistry registry() {
    DialectRegistry registry;
    registerPipelineDialects(registry);
    return registry;
  }

  MLIRContext context_;
  llvm::SourceMgr sources_;
};

/// Parsing and compiling take much of it.
void onLargeStack(const std::function<void()> &work) {
  if (Status ran = runWithLargeStack(bridge::kStackBytes, work); !ran.ok())
    std::fprintf(stderr, "%s\n", std::string(ran.message()).c_str());
}

std::optional<std::vector<Contraction>> list(const std::string &text, const std::string &name,
                                             const CompileOptions &options) {
  Session session(text, name);
  SourceMgrDiagnosticHandler handler(session.sources(), &session.context());
  input::ParseNotes notes(&session.context());
  OwningOpRef<ModuleOp> module = session.parse();
  if (!module)
    return std::nullopt;
  FailureOr<std::vector<codegen::TunableContraction>> found = findContractions(*module, options);
  if (failed(found))
    return std::nullopt;
  bridge::LocationMap locations;
  std::vector<Contraction> contractions;
  for (codegen::TunableContraction &each : *found) {
    if (llvm::any_of(contractions, [&](const Contraction &other) { return other.key == each.key; }))
      continue;
    auto of = llvm::find_if(each.targets, [&](const auto &one) { return one.target == options.targets.front(); });
    if (of == each.targets.end()) {
      module->emitError() << "the module names its targets, and " << options.targets.front().toString()
                          << " is none of them";
      return std::nullopt;
    }
    contractions.push_back({std::move(each.key), locations.toSource(each.place).toString(), std::move(each.program),
                            std::move(of->choices), std::move(of->chosen), of->isGiven});
  }
  return contractions;
}

std::optional<std::vector<uint8_t>> compile(const Contraction &contraction, const codegen::TileChoice *choice,
                                            const CompileOptions &options, std::string &why) {
  Session session(contraction.program, "contraction");
  llvm::raw_string_ostream messages(why);
  ScopedDiagnosticHandler handler(&session.context(), [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      messages << (why.empty() ? "" : "; ") << diagnostic.str();
  });
  OwningOpRef<ModuleOp> module = session.parse();
  if (!module)
    return std::nullopt;
  if (choice)
    module->walk([&](linalg::GenericOp op) {
      if (op.getNumReductionLoops() != 0)
        (void)setTilePin(op, choice->attribute(&session.context()));
    });
  CompileReport report;
  FailureOr<CompiledProgram> program = compileModule(*module, options, report);
  if (failed(program))
    return std::nullopt;
  return std::move(program->bytes);
}

} // namespace

std::optional<std::vector<Contraction>> listContractions(const std::string &path, const CompileOptions &options) {
  Result<std::string> text = readFile(path);
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", std::string(text.status().message()).c_str());
    return std::nullopt;
  }
  std::optional<std::vector<Contraction>> contractions;
  onLargeStack([&] { contractions = list(*text, path == "-" ? "<stdin>" : path, options); });
  return contractions;
}

std::optional<std::vector<uint8_t>> compileAlone(const Contraction &contraction, const codegen::TileChoice *choice,
                                                 const CompileOptions &options, std::string &why) {
  std::optional<std::vector<uint8_t>> bytes;
  onLargeStack([&] { bytes = compile(contraction, choice, options, why); });
  return bytes;
}

} // namespace tenon::compiler
