// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-generate-kernels (Passes.td) for a pipeline that wants to know what the pass did.
#pragma once

#include "compiler/codegen/Passes.h"

#include <memory>

namespace tenon::compiler::codegen {

struct GenerationCounts {
  size_t executables = 0; // that hold kernel functions
  size_t generated = 0;   // texts of PTX, one for each target, that LLVM made
  size_t cached = 0;      // that the cache had
  size_t shared = 0;      // that were another's: of an executable with the same kernels, a target with the same code
  size_t ptxBytes = 0;
};

/// @param counts filled when the pass runs; must live until then
std::unique_ptr<mlir::Pass> createCountingGenerateKernels(GenerateKernelsOptions options, GenerationCounts *counts);

} // namespace tenon::compiler::codegen
