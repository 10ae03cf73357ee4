// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the code generator.
//
//   tenon-generate-kernels   every executable source that holds a kernel function gets PTX objects, one per target
//   tenon-print-ptx          for tests: prints the PTX of a plain module of kernel functions
#pragma once

#include <memory>
#include <string>

namespace mlir {
class Pass;
}

namespace tenon::compiler::codegen {

struct GenerateKernelsOptions {
  std::string cudaPath; // root of a CUDA toolkit, for libdevice
};

std::unique_ptr<mlir::Pass> createGenerateKernelsPass(const GenerateKernelsOptions &options = {});
std::unique_ptr<mlir::Pass> createPrintPtxPass();

/// Makes the passes known to tenon-opt.
void registerCodegenPasses();

} // namespace tenon::compiler::codegen
