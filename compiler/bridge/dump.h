// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler makes on its way, written to files for a reader: --iree-hal-dump-executable-*-to and
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

} // namespace tenon::compiler::bridge
