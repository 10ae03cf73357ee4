// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of a group, computed where they are asked for. Whoever wants an element of a result asks for it at a point;
// its body asks for what it reads: an element of another operation of the group, or a load. What was computed at a
// point is remembered there, so that softmax computes e = exp(x - m) once for the sum and for the quotient.
//
// What is remembered may be used only where it dominates: a Scope forgets at the end of a loop's or a branch's body
// what was computed inside.
#pragma once

#include "compiler/codegen/kernel/bodies/body_values.h"
#include "compiler/codegen/kernel/combine.h"

#include <functional>
#include <map>
#include <tuple>

namespace tenon::compiler::codegen {

/// An accumulator of a reduction of the group.
struct RowSum {
  const KernelOp *op;
  unsigned output; // of the operation
  Sum sum;
  mlir::Value contributed; // of the body
};

/// A tensor in memory that has an element for each point of an operation that runs over every element.
struct ElementInput {
  const KernelOp *op;
  const KernelTensor *tensor;
};
/// All of them; of one tensor by the same indices, the first.
llvm::SmallVector<ElementInput> elementInputs(const KernelFunction &kernel, const GroupShape &shape);

class Bodies {
public:
  Bodies(KernelBuilder &k, const KernelFunction &kernel, GroupSpace &space, const KernelArguments &arguments)
      : k_(k), kernel_(kernel), space_(space), arguments_(arguments) {}

  /// What is remembered between its construction and its end is forgotten.
  class Scope {
  public:
    explicit Scope(Bodies &bodies) : bodies_(bodies), kept_(bodies.known_), rows_(bodies.rows_) {}
    ~Scope() {
      bodies_.known_ = std::move(kept_);
      bodies_.rows_ = std::move(rows_);
    }
    Scope(const Scope &) = delete;

  private:
    using Known = std::map<std::tuple<const void *, const void *, unsigned>, llvm::SmallVector<Lanes>>;
    friend class Bodies;
    Bodies &bodies_;
    Known kept_;
    llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> rows_;
  };

  /// Lanes of every point from here on: how many adjacent positions of the vector axis a load takes.
  /// `isAligned`: accesses of that many elements along the vector axis are (isAligned()); else each is tested.
  /// `isOfOperand`: so are those of tensors whose elements several positions share (GroupShape::sharedBy), and narrow
  /// values are computed by pairs (narrow_pairs.h).
  void setWidth(unsigned width, bool isAligned = true, bool isOfOperand = false) {
    width_ = width;
    isAligned_ = isAligned;
    isOfOperand_ = isOfOperand;
  }
  unsigned width() const { return width_; }
  /// From here on vectors start anywhere in tensors that are indexed by another map than this, though rows' are
  /// aligned: each is tested. None: no longer.
  void setRagged(std::optional<mlir::AffineMap> order) { order_ = order; }

  /// From here on no vector lies in two parts of the row (SpaceAxis::prefixes), or perhaps some do.
  void setWholeParts(bool areWhole) { areWholeParts_ = areWhole; }
  /// Whether vectors of `width` lanes do not, since what is behind each prefix is a multiple of one; null: there is no
  /// prefix, or it is known.
  mlir::Value areWholeParts(unsigned width);

  /// From here on selects compute both sides (BodyValues::setBranchless), or no longer.
  void setBranchless(bool isBranchless) { isBranchless_ = isBranchless; }

  /// From here on all vectors that bodies read by themselves are aligned, or no longer.
  void setReadsAligned(bool areAligned) { areReadsAligned_ = areAligned; }

  /// From here on lanes that do not agree are not computed, but doubted (BodyValues::setDoubts). Null: no longer.
  void collectDoubts(llvm::SmallVector<mlir::Value> *doubts) { doubts_ = doubts; }

  /// The lanes of a point, as they lie in memory.
  using Read = std::function<llvm::SmallVector<mlir::Value>(const Point &)>;
  /// From here on the tensor is read by `read` wherever it is indexed as it is by `op`: the block has put it into
  /// shared memory.
  void stage(const KernelOp &op, const KernelTensor &tensor, Read read);
  /// From here on every tensor is read from where it lies.
  void unstage() { staged_.clear(); }
  /// The vectors of a tensor that only passes through the caches (ptx/rewrites/cache_hints.h).
  void stream(uint32_t binding) { streamed_.insert(binding); }
  bool isStreamed(const KernelTensor &tensor) const { return streamed_.contains(tensor.binding); }
  /// Where the first element of a tensor lies.
  mlir::Value base(const KernelTensor &tensor) const { return arguments_.pointers[tensor.binding]; }
  const KernelArguments &arguments() const { return arguments_; }
  /// Where the point's element of a tensor lies.
  mlir::Value address(const KernelOp &op, const KernelTensor &tensor, const Point &point);

  /// One element of result `output` of an operation that reduces nothing.
  mlir::Value element(const KernelOp &op, unsigned output, const Point &point, unsigned lane);
  /// A value of an operation's body that knows no accumulator; what it does not depend on is not read.
  Lanes ofBody(const KernelOp &op, mlir::Value value, const Point &point);
  /// What one element adds to a reduction, in the accumulator's type.
  mlir::Value contribution(const RowSum &sum, const Point &point, unsigned lane);
  /// From here on a value of a body is known to be `is`, whatever it is computed from.
  void assume(mlir::Value value, mlir::Value is) { assumed_.push_back({value, Lanes::same(is)}); }
  /// The same of each lane.
  void assumeLanes(mlir::Value value, llvm::ArrayRef<mlir::Value> are) {
    assumed_.push_back({value, are.size() == 1 ? Lanes::same(are.front()) : Lanes{llvm::to_vector(are), Order::Any}});
  }
  void assumeNothing() { assumed_.clear(); }
  /// A value that no operation of the group computes: a weight of an attention.
  void setValue(mlir::Value value, llvm::ArrayRef<mlir::Value> lanes) { rows_[value] = llvm::to_vector(lanes); }
  /// The result of a reduction, for this row; for each lane where the vector axis runs across rows.
  void setRow(const RowSum &sum, llvm::ArrayRef<mlir::Value> totals) {
    rows_[sum.op->op->getResult(sum.output)] = llvm::to_vector(totals);
  }
  /// The same of all gates (GroupShape::gatesAxis) of the row: who does not run over them reads each by its number.
  void setGates(const RowSum &sum, llvm::ArrayRef<mlir::Value> totals) { setRow(sum, totals); }
  /// Loads what is read behind a product with gates, of each gate and of the row, ahead of its use.
  void preloadGates(const Point &row);
  /// What a reduction starts from, combined with `total`, in the type of the tensors.
  mlir::Value finish(const RowSum &sum, const Point &point, unsigned lane, mlir::Value total);

  /// Where one thread computes all of a reduction: what its accumulator starts from, a scalar or nothing, and its end.
  mlir::Value begin(const RowSum &sum);
  mlir::Value finishBegun(const RowSum &sum, const Point &point, unsigned lane, mlir::Value total);

  mlir::Value rowOf(const RowSum &sum, unsigned lane = 0) const {
    return rows_.lookup(sum.op->op->getResult(sum.output))[lane];
  }
  /// What the body of an operation has as `argument`, where that is the same for all elements of the row.
  mlir::Value rowOperand(const KernelOp &op, mlir::BlockArgument argument, const Point &row, unsigned lane = 0);

  /// Loads elementInputs() at the point, ahead of their use. Others are in a cache when they are wanted, and cost
  /// registers until then.
  void preload(const Point &point);
  /// The tensor's elements at all lanes of the point.
  Lanes load(const KernelOp &op, const KernelTensor &tensor, const Point &point);
  /// Stores an operation's results at all lanes of the point.
  void store(const KernelOp &op, const Point &point);
  /// Stores the results of operations that run over every element.
  void storeElements(const Point &point);
  /// The lanes of a result that the group has once per row.
  llvm::SmallVector<mlir::Value> rowValues(const KernelOp &op, unsigned output, const Point &point);
  /// Stores results that the group has once per row: of one row, or of a row for each lane.
  void storeRow(const KernelOp &op, const Point &point);

  /// Whether wide accesses of `width` lanes are aligned: bases, and where there are several rows of the vector axis, or
  /// `needsWhole` vectors, its size.
  mlir::Value isAligned(unsigned width, bool needsWhole);
  /// Of these, whether the bases are.
  mlir::Value areBasesAligned(unsigned width);
  /// Whether the first element of the tensor lies at a multiple of `bytes`, a power of two.
  mlir::Value isAligned(const KernelTensor &tensor, int64_t bytes);

private:
  bool startsFromScalar(const RowSum &sum) const;
  llvm::SmallVector<mlir::Value> loadPrefix(const KernelOp &op, const KernelTensor &tensor, const Point &point,
                                            unsigned prefix);
  std::optional<Lanes> loadShared(const KernelOp &op, const KernelTensor &tensor, const Point &point);
  Lanes operand(const KernelOp &op, const KernelInput &input, const Point &point);
  Lanes computed(mlir::Value value, const Point &point);
  Lanes ofGate(mlir::Value value, unsigned gate, const Point &point);
  Point gateAt(unsigned gate, const Point &row);
  bool hasElements(const KernelOp &op) const;
  void storeLanes(const KernelOp &op, const KernelOutput &output, const Point &point, mlir::ValueRange values);
  Lanes start(const KernelOp &op, const KernelOutput &output, const Point &point);
  Lanes compute(const KernelOp &op, unsigned output, const Point &point, llvm::ArrayRef<mlir::Value> yielded);
  void shareReads(mlir::linalg::GenericOp op, BodyValues &values, const Point &point);
  void addAssumed(mlir::linalg::GenericOp op, BodyValues &values) const;
  const KernelOp &opOf(mlir::Value value) const;
  bool isAlongRow() const { // a group of scalars has no axis
    const GroupShape &shape = space_.shape();
    return space_.vectorAxis < shape.axes.size() && shape.axes[space_.vectorAxis].isReduced;
  }
  /// Whether the operation runs once for all lanes: once per row.
  bool isShared(const KernelOp &op) const {
    return isAlongRow() && mlir::linalg::GenericOp(op.op).getNumReductionLoops() == 0 &&
           space_.shape().group.isPerRow(op.op);
  }

  KernelBuilder &k_;
  const KernelFunction &kernel_;
  GroupSpace &space_;
  const KernelArguments &arguments_;
  unsigned width_ = 1;
  bool isAligned_ = true;
  bool isOfOperand_ = false;
  bool areWholeParts_ = false;
  bool isBranchless_ = false;
  bool areReadsAligned_ = false;
  llvm::SmallVector<mlir::Value> *doubts_ = nullptr;
  std::optional<mlir::AffineMap> order_; // of tensors whose vectors are aligned, where rows are ragged
  Scope::Known known_;
  std::map<std::pair<const void *, uint32_t>, Read> staged_;         // by map and binding
  llvm::SmallDenseSet<uint32_t> streamed_;                           // bindings
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> rows_; // result of a reduction -> its value in this row
  llvm::SmallVector<std::pair<mlir::Value, Lanes>> assumed_;
  std::optional<unsigned> gate_;                                 // what is computed is of this one
  std::map<std::pair<unsigned, unsigned>, unsigned> gatePoints_; // by a point's id and a gate: the id of the gate there
};

/// The accumulators of the group, each reduction behind those whose results it knows, phase by phase: a phase's
/// reductions can be computed in one pass over the row.
llvm::SmallVector<llvm::SmallVector<RowSum>> phasesOf(const KernelFunction &kernel, const dispatch::Group &group);

} // namespace tenon::compiler::codegen
