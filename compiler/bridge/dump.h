// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler makes on its way, written to files for a reader: --dump-to, --iree-hal-dump-executable-*-to and
// --dump-kernels-to. Folders are created; names come from symbols, so a second run overwrites the first's files.
#pragma once

#include "compiler/bridge/link_executables.h"
#include "support/status.h"

namespace tenon::compiler::bridge {

/// `FOLDER/NAME.mlir` per executable source, as it stands.
Status dumpSources(mlir::ModuleOp module, const std::string &folder);
/// `FOLDER/NAME_sm_XX.ptx` per object of every generated executable.
Status dumpKernels(mlir::ModuleOp module, const std::string &folder);
/// `FOLDER/NAME.tnx` per linked executable.
Status dumpBinaries(const LinkedModule &linked, const std::string &folder);

/// `FOLDER/NAME.map` per linked executable: registers, spills, occupancy (linker/link_map.h).
Status dumpMaps(const LinkedModule &linked, const std::string &folder);
/// `FOLDER/NAME_VARIANT.cubin` per cubin, and its machine code beside it, `.sass`, where `nvdisasm` is a program.
/// @param nvdisasm empty: there is none
Status dumpMachineCode(const LinkedModule &linked, const std::string &nvdisasm, const std::string &folder);
/// `FOLDER/NUMBER_NAME.mlir`: the module behind a phase; long constants are left out.
Status dumpPhase(mlir::ModuleOp module, size_t number, llvm::StringRef name, const std::string &folder);

} // namespace tenon::compiler::bridge
