// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module given to Tenon may be written in.
#pragma once

#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace tenon::compiler {

/// Our dialects (hal, flow, util, check) and those of MLIR that programs use beside them: builtin, func, arith, math,
/// tensor, linalg, affine, scf, cf, and of gpu and bufferization what stands in tensor programs. Every one of them can
/// be inlined.
void registerDialects(mlir::DialectRegistry &registry);

/// The names of those dialects, "hal" for one.
struct ReadDialects {
  std::vector<std::string> own, ofMlir;
};
ReadDialects readDialects();

} // namespace tenon::compiler
