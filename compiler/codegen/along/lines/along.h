// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A way to compute an operation along a dimension (iree_linalg_ext). It says which kernels compute it, one after the
// other, and writes each. A kernel's choices stand on its function as `tenon.strategy`, as those of a group do.
#pragma once

#include "compiler/codegen/kernel/kernel_arguments.h"
#include "compiler/codegen/kernel/kernel_builder.h"
#include "compiler/codegen/plan/strategy.h"

namespace tenon::compiler::codegen {

struct AlongPlans {
  std::vector<Plan> kernels; // in the order in which they run
  llvm::SmallVector<Scratch> scratch;
};

/// A kernel that is being written.
struct AlongWriter {
  const KernelFunction &kernel;
  KernelBuilder &k;
  const KernelArguments &arguments;

  int64_t choice(llvm::StringRef name) const;
  /// A choice that a plan need not have: 0 then.
  int64_t choiceOrZero(llvm::StringRef name) const;
  mlir::Value load(const KernelTensor &tensor, mlir::Value element);
  mlir::Value load(const KernelAlongInput &input, mlir::Value element);
  void store(const KernelTensor &tensor, mlir::Value element, mlir::Value value);
  /// What a result starts from.
  mlir::Value start(const KernelAlongOutput &output, mlir::Value element);
  /// What an operand of a sort holds at a place of a line, which is this element.
  mlir::Value unsorted(unsigned operand, mlir::Value element, mlir::Value place);
  /// A copy of the operation's region, of these arguments; what it yields.
  llvm::SmallVector<mlir::Value> region(mlir::ValueRange arguments);
};

class AlongStrategy {
public:
  virtual ~AlongStrategy() = default;
  virtual llvm::StringRef name() const = 0;
  virtual bool takes(mlir::Operation *op) const = 0;
  virtual AlongPlans plans(const KernelFunction &kernel) const = 0;
  virtual void write(AlongWriter &writer) const = 0;
};

} // namespace tenon::compiler::codegen
