// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors that a thread keeps in the block's dynamic shared memory, because registers are too few: each at a place of
// its own. Nobody else reads it there, so nobody waits for another thread. For sm_80 and later.
#pragma once

#include "compiler/codegen/kernel/bodies/bodies.h"

namespace tenon::compiler::codegen {

class SharedVectors {
public:
  /// `most`: vectors of the thread, of each of elementInputs() `bodies.width()` lanes.
  SharedVectors(KernelBuilder &k, const KernelFunction &kernel, GroupSpace &space, Bodies &bodies, unsigned most);

  /// The point is that of the thread's vector `number`.
  void find(const Point &point, mlir::Value number) { numbers_[point.id] = number; }
  /// Begins to copy it, beside the thread where elements lie side by side.
  void bring(const Point &point);
  /// All that are copied together.
  void commit();
  /// Waits for what was brought. From here on Bodies reads it there, until Bodies::unstage().
  void stage();
  /// Of one input: its lanes at the point, or what was put there instead of them, of the same type.
  llvm::SmallVector<mlir::Value> lanesAt(const Point &point, size_t input = 0) const;
  void put(const Point &point, llvm::ArrayRef<mlir::Value> lanes);

private:
  mlir::Value place(size_t input, mlir::Value number) const;
  uint32_t vectorBytes(size_t input) const;
  mlir::VectorType vectorType(size_t input) const;

  KernelBuilder &k_;
  GroupSpace &space_;
  Bodies &bodies_;
  const llvm::SmallVector<ElementInput> inputs_;
  llvm::SmallVector<mlir::Value> bases_;          // [inputs] where the thread's first vector is
  llvm::DenseMap<unsigned, mlir::Value> numbers_; // by the points' ids
};

} // namespace tenon::compiler::codegen
