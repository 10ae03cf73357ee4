// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors that a thread keeps in the block's dynamic shared memory, because registers are too few: each at a place of
// its own. Nobody else reads it there, so nobody waits for another thread. For sm_80 and later.
#pragma once

#include "compiler/codegen/kernel/bodies/bodies.h"

namespace tenon::compiler::codegen {

class SharedVectors {
public:
  /// @param points of which elementInputs() are kept, `bodies.width()` lanes of each
  SharedVectors(KernelBuilder &k, const KernelFunction &kernel, GroupSpace &space, Bodies &bodies,
                llvm::ArrayRef<Point> points);

  /// Begins to copy, beside the thread where elements lie side by side.
  void bring();
  /// Waits for what was brought. From here on Bodies reads these points there, until Bodies::unstage().
  void stage();

private:
  mlir::Value place(size_t input, unsigned number) const;
  uint32_t vectorBytes(size_t input) const;
  mlir::VectorType vectorType(size_t input) const;
  void copy(size_t input, unsigned number);

  KernelBuilder &k_;
  GroupSpace &space_;
  Bodies &bodies_;
  const llvm::SmallVector<ElementInput> inputs_;
  const llvm::SmallVector<Point> points_;
  llvm::SmallVector<mlir::Value> bases_; // [inputs] where the thread's first vector is
};

} // namespace tenon::compiler::codegen
