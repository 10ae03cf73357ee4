// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler, from a module to the bytes of a program. pipeline.cpp is the first file to read: it lists every step in
// order, one sentence each.
#pragma once

#include "abi/target_arch.h"
#include "compiler/bridge/link_executables.h"
#include "compiler/bridge/object_search.h"
#include "compiler/codegen/tuning/tunable_contraction.h"
#include "compiler/compile_report.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

struct CompileOptions {
  bridge::ObjectSearch objects;           // where hand-written objects are
  std::vector<abi::TargetArch> targets;   // --target: used where the module names none
  linker::LinkJob link;                   // without exports and objects: the options of every link
  std::string cudaPath;                   // root of a CUDA toolkit, for libdevice; empty: searched for
  bool contractProducts = true;           // --fp-contract
  bool tf32Products = false;              // --f32-products=tf32
  bool winograd = false;                  // --f32-convolutions=winograd
  bool narrowF8Sums = false;              // --f8-sums=narrow
  bool anySumOrder = false;               // --sum-order=any
  std::optional<int64_t> attentionMemory; // --attention-memory, in bytes; else as the pass has it
  bool hasEditions = true;                // --plans=kinds
  bool fastMath = false;                  // --fast-math
  bool printDispatches = false;           // --print-dispatches
  std::string tuning;                     // --tuning: a file; empty: none
  bool lineInfo = false;                  // --line-info
  std::vector<std::string> parameters;    // --parameters: SCOPE=FILE
  bool printIrAfterAll = false;           // to stderr, after every pass
  std::string dumpTo;                     // a folder for everything there is to see (docs of --dump-to); empty: none
  // Folders for intermediate results; empty: none are written.
  std::string dumpSources;  // executables as MLIR, before their code is generated
  std::string dumpKernels;  // generated PTX
  std::string dumpBinaries; // linked executables
};

/// Dialects and interfaces that the pipeline needs in the context, those of its input among them.
void registerPipelineDialects(mlir::DialectRegistry &registry);

/// What the compiler is made of: a line for --version.
std::string compilerVersions();

struct CompiledProgram {
  std::vector<uint8_t> bytes;          // a TNP1 buffer; same module and objects, same bytes
  std::vector<std::string> inputFiles; // objects, CUDA sources and their headers that were read, for depfiles
};

/// Compiles `module`, which is consumed. Findings go to the context's diagnostics.
/// @param report gets the phases that were begun, also where one fails
mlir::FailureOr<CompiledProgram> compileModule(mlir::ModuleOp module, const CompileOptions &options,
                                               CompileReport &report);

/// The contractions of `module`, which is consumed; of those that are computed alike each one. For tuners.
mlir::FailureOr<std::vector<codegen::TunableContraction>> findContractions(mlir::ModuleOp module,
                                                                           const CompileOptions &options);

} // namespace tenon::compiler
