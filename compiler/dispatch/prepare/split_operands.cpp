// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/split_operands.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Parameters of a kernel end at 4 KiB: pointers of 8 bytes, and some for sizes.
constexpr unsigned kMostOperands = 384;
// Tensors that one part reads, and those that it may leave to the next.
constexpr unsigned kOfOnePart = 256, kMostLeft = 64;

class Splitter {
public:
  explicit Splitter(linalg::GenericOp op) : op_(op), body_(op.getBody()) {}

  /// The second part, where there are two.
  linalg::GenericOp run() {
    if (!op_.hasPureTensorSemantics() || op_.getNumReductionLoops() != 0 || op_->getNumOperands() <= kMostOperands ||
        !llvm::all_of(op_.getRegionOutputArgs(), [](BlockArgument argument) { return argument.use_empty(); }))
      return {};
    findCut();
    findLeft();
    if (first_.empty() || left_.empty() || left_.size() > kMostLeft ||
        !llvm::all_of(left_, [](Value value) { return isSupportedElement(value.getType()); }))
      return {};
    SmallVector<Value> stored = buildFirst();
    return buildSecond(stored);
  }

private:
  static bool isInput(linalg::GenericOp op, Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == op.getBody();
  }

  /// Operations up to the one that reads one tensor too many.
  void findCut() {
    llvm::SmallSetVector<Value, 16> read;
    for (Operation &inner : body_->without_terminator()) {
      for (Value operand : inner.getOperands())
        if (isInput(op_, operand))
          read.insert(operand);
      if (read.size() > kOfOnePart)
        return;
      first_.insert(&inner);
    }
    first_.clear(); // its results alone need so many
  }

  void findLeft() {
    for (Operation *inner : first_)
      for (Value result : inner->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !first_.contains(user); }))
          left_.insert(result);
  }

  void addInputs(llvm::function_ref<bool(Operation *)> isOfPart, SmallVector<OpOperand *> &inputs) {
    for (OpOperand *input : op_.getDpsInputOperands())
      if (llvm::any_of(op_.getMatchingBlockArgument(input).getUsers(), isOfPart))
        inputs.push_back(input);
  }

  SmallVector<Value> buildFirst() {
    OpBuilder b(op_);
    OpOperand *like = op_.getDpsInitOperand(0);
    auto type = cast<RankedTensorType>(like->get().getType());
    SmallVector<Value> sizes, starts, operands;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (type.isDynamicDim(dimension))
        sizes.push_back(dimensionOf(b, op_.getLoc(), like->get(), dimension));
    for (Value value : left_)
      starts.push_back(tensor::EmptyOp::create(b, op_.getLoc(), type.clone(value.getType()), sizes));
    SmallVector<OpOperand *> inputs;
    addInputs([&](Operation *user) { return first_.contains(user); }, inputs);
    SmallVector<AffineMap> maps;
    for (OpOperand *input : inputs) {
      operands.push_back(input->get());
      maps.push_back(op_.getMatchingIndexingMap(input));
    }
    maps.append(left_.size(), op_.getMatchingIndexingMap(like));
    auto part = linalg::GenericOp::create(
        b, op_.getLoc(), TypeRange(ValueRange(starts)), operands, starts, maps, op_.getIteratorTypesArray(),
        [&](OpBuilder &inside, Location loc, ValueRange arguments) {
          IRMapping values;
          for (auto [input, argument] : llvm::zip(inputs, arguments))
            values.map(op_.getMatchingBlockArgument(input), argument);
          for (Operation *inner : first_)
            inside.clone(*inner, values);
          linalg::YieldOp::create(inside, loc, llvm::map_to_vector(left_, [&](Value v) { return values.lookup(v); }));
        });
    return llvm::to_vector_of<Value>(part.getResults());
  }

  linalg::GenericOp buildSecond(ArrayRef<Value> stored) {
    OpBuilder b(op_);
    SmallVector<OpOperand *> inputs;
    addInputs([&](Operation *user) { return !first_.contains(user); }, inputs);
    SmallVector<Value> operands(stored);
    SmallVector<AffineMap> maps(stored.size(), op_.getMatchingIndexingMap(op_.getDpsInitOperand(0)));
    for (OpOperand *input : inputs) {
      operands.push_back(input->get());
      maps.push_back(op_.getMatchingIndexingMap(input));
    }
    for (OpOperand &init : op_.getDpsInitsMutable())
      maps.push_back(op_.getMatchingIndexingMap(&init));
    auto part =
        linalg::GenericOp::create(b, op_.getLoc(), op_.getResultTypes(), operands, op_.getOutputs(), maps,
                                  op_.getIteratorTypesArray(), [&](OpBuilder &inside, Location, ValueRange arguments) {
                                    IRMapping values;
                                    for (auto [value, argument] : llvm::zip(left_, arguments))
                                      values.map(value, argument);
                                    for (auto [input, argument] : llvm::zip(inputs, arguments.drop_front(left_.size())))
                                      values.map(op_.getMatchingBlockArgument(input), argument);
                                    for (Operation &inner : *body_)
                                      if (!first_.contains(&inner))
                                        inside.clone(inner, values);
                                  });
    op_->replaceAllUsesWith(part.getResults());
    op_.erase();
    return part;
  }

  linalg::GenericOp op_;
  Block *body_;
  llvm::SetVector<Operation *> first_;
  llvm::SetVector<Value> left_; // known by the first part, used by the second
};

} // namespace

void splitOperands(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops)
    while (op)
      op = Splitter(op).run();
}

} // namespace tenon::compiler::dispatch
