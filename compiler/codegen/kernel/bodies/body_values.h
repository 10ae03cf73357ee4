// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of one operation at one point: its values, computed for all lanes of the point when they are asked for.
//
// A select between two sides of which one reads memory by itself (a pad, a part of a concatenation) becomes a branch:
// threads whose lanes all agree compute one side. Where a vector straddles the boundary both sides are computed, each
// of which reads inside of its tensor everywhere, and every lane takes its own.
#pragma once

#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/codegen/kernel/bodies/group_space.h"

namespace tenon::compiler::codegen {

class BodyValues {
public:
  /// @param width lanes of the point
  /// @param isStreamed of a binding
  BodyValues(KernelBuilder &k, const KernelFunction &kernel, GroupSpace &space, const KernelArguments &arguments,
             mlir::linalg::GenericOp op, const Point &point, unsigned width,
             llvm::function_ref<bool(uint32_t)> isStreamed)
      : k_(k), kernel_(kernel), space_(space), arguments_(arguments), op_(op), point_(point), width_(width),
        isStreamed_(isStreamed) {}

  void bind(mlir::BlockArgument argument, Lanes lanes) { known_[argument] = std::move(lanes); }
  /// What is known of a value of the body.
  void know(mlir::Value value, Lanes lanes) { known_[value] = std::move(lanes); }
  /// Vectors that the body reads by itself are aligned where rows of them are whole (readsWholeVectors).
  void setAligned() { isAligned_ = true; }
  /// All of them are.
  void setReadsAligned() { areReadsAligned_ = true; }
  /// Narrow values of neighbouring lanes are computed together (narrow_pairs.h).
  void setPaired() { isPaired_ = true; }
  /// Selects compute both sides, so that what is read is on its way together: bodies whose reads are all inside of
  /// their tensors.
  void setBranchless() { isBranchless_ = true; }
  /// Lanes need not agree, nor lie side by side: where they do not, what is computed is worthless, and one of `doubts`
  /// (i1) is true.
  void setDoubts(llvm::SmallVector<mlir::Value> *doubts) { doubts_ = doubts; }
  /// A value of the body, or one from outside that it uses.
  Lanes value(mlir::Value value);

private:
  using Known = llvm::DenseMap<mlir::Value, Lanes>;

  void compute(mlir::Operation &inner);
  Lanes computeLanes(mlir::Operation &inner);
  std::optional<Lanes> placesInVector(mlir::Operation &inner);
  mlir::Value folded(mlir::Value computed);
  Lanes read(mlir::tensor::ExtractOp extract);
  std::pair<unsigned, unsigned> axisAt(mlir::tensor::ExtractOp extract, unsigned first) const;
  Lanes choose(mlir::arith::SelectOp select);
  llvm::SmallVector<mlir::Value> spread(const Lanes &lanes) const;
  llvm::SmallVector<mlir::Value> valueInBranch(mlir::Value value);
  llvm::SmallVector<mlir::Value> valueWhere(mlir::Value condition, mlir::Value value);
  void collectBounds(mlir::Value condition);
  bool isSize(mlir::Value value) const;
  mlir::Value withoutClamp(mlir::Operation &inner) const;
  Lanes chooseAsOne(const Lanes &condition, mlir::arith::SelectOp select);
  std::optional<mlir::Value> doubtOf(mlir::Value condition);
  bool readsMemory(mlir::Value value);
  bool isBranch(mlir::Operation *inner);
  bool hasElements(mlir::tensor::ExtractOp extract) const;
  bool readsElementsOnly();

  KernelBuilder &k_;
  const KernelFunction &kernel_;
  GroupSpace &space_;
  const KernelArguments &arguments_;
  mlir::linalg::GenericOp op_;
  const Point &point_;
  const unsigned width_;
  llvm::function_ref<bool(uint32_t)> isStreamed_;
  bool isAligned_ = false, areReadsAligned_ = false, isPaired_ = false, isBranchless_ = false;
  Known known_;
  // Of the body: a position, and the size of a dimension that it is below where things are computed now.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> bounds_;
  llvm::SmallVector<mlir::Value> *doubts_ = nullptr;
  unsigned copies_ = 0; // of what is computed now, in branches around it
};

/// Whether a window reads vectors of `width` elements that begin at multiples of it in their row, and rows are whole
/// vectors: they are aligned where the tensor is.
bool readsWholeVectors(const KernelFunction &kernel, const GroupSpace &space, mlir::linalg::GenericOp op,
                       mlir::tensor::ExtractOp extract, unsigned width);

} // namespace tenon::compiler::codegen
