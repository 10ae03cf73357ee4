// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every hal.executable.source of a module through the linker: objects found and read, exports as declared, findings
// back as MLIR diagnostics.
#pragma once

#include "compiler/bridge/object_search.h"
#include "compiler/codegen/ptx/emit_ptx.h"
#include "compiler/host/executable_table.h"
#include "linker/link.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::compiler::bridge {

struct LinkedModule {
  std::vector<std::vector<uint8_t>> executables; // TNX1 buffers, in the order of their sources
  std::vector<std::string> names;                // [executables] symbols of the sources
  std::vector<linker::LinkMap> maps;             // [executables]
  host::ExecutableTable table;
  std::vector<std::string> inputFiles; // objects, CUDA sources and their headers that were read, each once
};

/// Links the executable sources of a normalized module: every object has a key that names its architecture.
/// Errors of all executables are reported before it fails: a file not found (with every path tried), an executable
/// without objects, whatever the linker finds. CUDA sources among the objects are compiled.
/// @param ptx how objects in MLIR's gpu dialect become PTX
/// @param settings a job without exports and objects: its options are those of every link
mlir::FailureOr<LinkedModule> linkExecutables(mlir::ModuleOp module, const ObjectSearch &search,
                                              const codegen::PtxOptions &ptx, linker::LinkJob settings);

} // namespace tenon::compiler::bridge
