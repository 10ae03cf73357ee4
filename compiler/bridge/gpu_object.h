// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects in MLIR's own gpu dialect: a file that holds a gpu.module becomes PTX, and is then an object like any other.
#pragma once

#include "compiler/codegen/ptx/emit_ptx.h"

#include <string_view>

namespace tenon::compiler::bridge {

/// By its name: .mlir or .mlirbc.
bool isGpuObject(std::string_view path);

/// PTX of the file for one target. What is wrong is reported at its place in that file, with a note at `namedAt`, where
/// a program names it.
/// @param name what lines of the PTX name the file by: as the program does, so that it is the same on every machine
mlir::FailureOr<std::string> compileGpuObject(const std::string &path, std::string_view name, std::string_view bytes,
                                              abi::TargetArch arch, const codegen::PtxOptions &options,
                                              mlir::Location namedAt);

} // namespace tenon::compiler::bridge
