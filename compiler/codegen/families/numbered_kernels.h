// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels are called by numbers while they are generated, so that modules which differ in their names alone print
// alike.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tenon::compiler::codegen {

/// The functions of a module, named by numbers until the end of its life.
class NumberedKernels {
public:
  explicit NumberedKernels(mlir::ModuleOp module);
  ~NumberedKernels();
  NumberedKernels(const NumberedKernels &) = delete;

  /// What they were called, by number.
  const std::vector<std::string> &names() const { return names_; }

private:
  std::vector<mlir::func::FuncOp> functions_;
  std::vector<std::string> names_;
};

/// `text`, of what was generated meanwhile, with these names.
std::string withNames(std::string text, const std::vector<std::string> &names);

} // namespace tenon::compiler::codegen
