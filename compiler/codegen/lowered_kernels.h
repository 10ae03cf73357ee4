// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of one module in the LLVM dialect, for one target after the other. Strategies say which targets get the
// same from them (kernelVariantFor), and mean what they may use: of a product of few rows of f32 all get the same in
// the end. So what was written for different variants is compared, and the rest, which is nearly all the work, is done
// once.
#pragma once

#include "compiler/codegen/generate_ptx.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>

namespace tenon::compiler::codegen {

class LoweredKernels {
public:
  /// What the kernels are for a target before they are lowered.
  using Write = std::function<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(const abi::TargetArch &)>;

  /// @param kernels only read; outlives this
  LoweredKernels(mlir::ModuleOp kernels, PtxOptions options);
  /// The same kernels for every target, as somebody has written them.
  LoweredKernels(Write write, PtxOptions options) : write_(std::move(write)), options_(std::move(options)) {}

  /// The module for `target`, owned by this. Errors go to the diagnostics.
  mlir::FailureOr<mlir::ModuleOp> find(const abi::TargetArch &target);

  /// Whether PTX for `older` becomes PTX for `target` by another head and the waits that `target` has
  /// (ptx/same_code.h). `older` is no newer than it.
  mlir::FailureOr<bool> haveSameCode(const abi::TargetArch &older, const abi::TargetArch &target);

private:
  struct Variant {
    unsigned number;
    mlir::ModuleOp module;
  };

  struct Code {
    mlir::OwningOpRef<mlir::ModuleOp> written, lowered;
  };

  mlir::ModuleOp kernels_; // null: the same for every target
  Write write_;
  PtxOptions options_;
  llvm::SmallVector<Variant, 4> variants_;
  llvm::SmallVector<Code, 4> codes_; // no two alike
};

} // namespace tenon::compiler::codegen
