// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR text through the whole compiler, as tenon-compile takes it: looked through for what nests too deep, parsed, and
// made into a program. An input that begins with "text:" is text as it stands, such as a test's with a mistake put in;
// any other is a stream of decisions for the grammar. Objects are not read from files, and nothing is run.
#include "fuzz.h"

#include "compiler/bridge/nesting.h"
#include "compiler/bridge/parse_module.h"
#include "compiler/pipeline.h"
#include "mlir_grammar.h"
#include "support/process/large_stack.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>

using namespace tenon;

static void compile(const std::string &text) {
  mlir::DialectRegistry registry;
  compiler::registerPipelineDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  // Printed as a tool would, but to nowhere.
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &diagnostic) {
    (void)diagnostic.str();
    return mlir::success();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "fuzz.mlir"), llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module = compiler::bridge::parseModule(sources, context);
  if (!module)
    return;
  compiler::CompileOptions options;
  options.objects.inputFolder = "/nonexistent";
  options.link.sources.compiler = "/nonexistent/nvcc";
  options.link.sources.cacheFolder = "none";
  options.targets = {{.number = 80, .suffix = abi::ArchSuffix::None}};
  compiler::CompileReport report;
  (void)compiler::compileModule(*module, options, report);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr std::string_view kText = "text:";
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  fuzz::Stream stream(data, size);
  const std::string text =
      bytes.starts_with(kText) ? std::string(bytes.substr(kText.size())) : fuzz::mlirModule(stream);
  if (std::getenv("TENON_FUZZ_PRINT"))
    std::fprintf(stderr, "%s\n", text.c_str());
  if (!runWithLargeStack(compiler::bridge::kStackBytes, [&] { compile(text); }).ok())
    std::abort();
  return 0;
}
