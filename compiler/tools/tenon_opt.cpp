// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-opt: runs chosen passes over a module and prints it; the tool that pass tests call.
#include "compiler/bridge/excerpts.h"
#include "compiler/bridge/llvm_errors.h"
#include "compiler/bridge/nesting.h"
#include "compiler/bridge/parse_module.h"
#include "compiler/codegen/Passes.h"
#include "compiler/dialect/Dialects.h"
#include "compiler/dialect/OtherYears.h"
#include "compiler/dialect/transforms/Passes.h"
#include "compiler/dispatch/Passes.h"
#include "compiler/host/Passes.h"
#include "compiler/input/Passes.h"
#include "compiler/pipeline.h"
#include "support/files/file.h"
#include "support/memory.h"
#include "support/process/command_line.h"
#include "support/process/large_stack.h"
#include "support/process/terminal.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

constexpr char kTool[] = "tenon-opt";

/// Whether MLIR's parser comes to an end by a signal on this text, which is then reported. What is wrong otherwise is
/// left to MlirOptMain(), which parses again.
bool endsParser(const std::string &text, llvm::StringRef name, const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, name), llvm::SMLoc());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const SourceMgrDiagnosticHandler handler(sources, &context, stream);
  bool crashed = false;
  (void)tenon::compiler::bridge::parseModule(sources, context, &crashed);
  if (crashed)
    llvm::errs() << messages;
  return crashed;
}

/// What MLIR's own options do not answer: --version, and --help=FORMAT. `--help` is MLIR's.
tenon::CommandLine commandLine() {
  tenon::CommandLine line(
      kTool, "INPUT.mlir [--PASS...] [-o OUTPUT.mlir]",
      "Runs passes over a module and prints it. The passes are Tenon's and MLIR's; --help lists them,\n"
      "with the options of MLIR's driver.");
  line.example("tenon-opt in.mlir --tenon-form-dispatches", "one pass of Tenon's");
  line.example("tenon-opt in.mlir --canonicalize --cse --mlir-print-ir-after-all", "passes of MLIR's, each shown");
  line.versions(tenon::compiler::compilerVersions);
  return line;
}

/// As MlirOptMain() of a command line, but for what is done to the file before it is parsed.
LogicalResult run(int argc, char **argv, DialectRegistry &registry) {
  const auto [input, output] = registerAndParseCLIOptions(argc, argv, "tenon's pass driver\n", registry);
  const MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return MlirOptMain(argc, argv, input, output, registry);
  tenon::Result<std::string> text = tenon::readFile(input);
  if (!text.ok()) {
    llvm::errs() << kTool << ": error: " << std::string(text.status().message()) << "\n";
    return failure();
  }
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(*text, input == "-" ? "<stdin>" : input);
  if (auto mistake = tenon::compiler::bridge::findNestingMistake(*text)) {
    llvm::SourceMgr sources;
    const char *place = buffer->getBufferStart() + mistake->offset;
    sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    tenon::compiler::bridge::shortenExcerpts(sources);
    sources.PrintMessage(llvm::SMLoc::getFromPointer(place), llvm::SourceMgr::DK_Error, mistake->message);
    return failure();
  }
  if (std::optional<std::string> marked = tenon::compiler::markOtherYears(*text))
    buffer = llvm::MemoryBuffer::getMemBufferCopy(*marked, buffer->getBufferIdentifier());
  if (endsParser(*text, buffer->getBufferIdentifier(), registry))
    return failure();
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &error);
  if (!file) {
    llvm::errs() << kTool << ": error: " << error << "\n";
    return failure();
  }
  if (failed(MlirOptMain(file->os(), std::move(buffer), registry, config)))
    return failure();
  file->keep();
  return success();
}

} // namespace

int main(int argc, char **argv) {
  tenon::reportMissingMemory(kTool);
  tenon::compiler::bridge::reportLlvmErrors(kTool);
  if (const std::optional<int> status = commandLine().parseQuestions(argc, argv))
    return *status;
  if (!tenon::takesColours(stderr))
    llvm::errs().enable_colors(false);
  DialectRegistry registry;
  tenon::compiler::registerDialects(registry);
  tenon::compiler::registerDialectPasses();
  registerAllPasses(); // of MLIR
  tenon::compiler::input::registerInputPasses();
  tenon::compiler::dispatch::registerDispatchPasses();
  tenon::compiler::host::registerHostPasses();
  tenon::compiler::codegen::registerCodegenPasses();
  LogicalResult result = failure();
  const tenon::Status ran =
      tenon::runWithLargeStack(tenon::compiler::bridge::kStackBytes, [&] { result = run(argc, argv, registry); });
  if (!ran.ok())
    llvm::errs() << kTool << ": error: " << std::string(ran.message()) << "\n";
  return asMainReturnCode(result);
}
