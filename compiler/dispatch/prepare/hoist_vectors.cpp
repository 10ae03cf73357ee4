// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/hoist_vectors.h"

#include "compiler/dispatch/analysis/dimensions.h"
#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

bool isCostly(Operation &inner) {
  return (isa<math::MathDialect>(inner.getDialect()) && !isa<math::AbsFOp, math::AbsIOp>(inner)) ||
         isa<arith::DivFOp, arith::RemFOp>(inner);
}

class Hoister {
public:
  explicit Hoister(linalg::GenericOp op) : op_(op), body_(op.getBody()) {}

  void run() {
    if (!op_.hasPureTensorSemantics() || op_.getNumReductionLoops() != 0 || op_.getNumLoops() < 2)
      return;
    findVectors();
    if (vectors_.empty())
      return;
    findOfVectors();
    findRoots();
    if (!roots_.empty())
      build();
  }

private:
  AffineMap alongRow() {
    AffineMap result = op_.getMatchingIndexingMap(op_.getDpsInitOperand(0));
    if (!result.isProjectedPermutation() || result.getNumResults() < 2)
      return {};
    return AffineMap::get(op_.getNumLoops(), 0, result.getResults().back());
  }

  void findVectors() {
    const AffineMap map = alongRow();
    for (OpOperand *input : op_.getDpsInputOperands())
      if (map && op_.getMatchingIndexingMap(input) == map && input->get().getDefiningOp<linalg::GenericOp>())
        vectors_.insert(op_.getMatchingBlockArgument(input));
  }

  /// Operations that know elements of vectors and constants alone.
  void findOfVectors() {
    auto isKnown = [&](Value value) {
      if (value.getParentBlock() != body_)
        return matchPattern(value, m_Constant());
      Operation *defining = value.getDefiningOp();
      return defining ? ofVectors_.contains(defining) : vectors_.contains(cast<BlockArgument>(value));
    };
    for (Operation &inner : body_->without_terminator())
      if (inner.getNumResults() == 1 && inner.getNumRegions() == 0 &&
          isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) && llvm::all_of(inner.getOperands(), isKnown))
        ofVectors_.insert(&inner);
  }

  /// All of the operations that `root` is computed by.
  llvm::SetVector<Operation *> sliceOf(Operation *root) const {
    llvm::SetVector<Operation *> slice;
    slice.insert(root);
    for (size_t next = 0; next < slice.size(); ++next)
      for (Value operand : slice[next]->getOperands())
        if (Operation *defining = operand.getDefiningOp(); defining && ofVectors_.contains(defining))
          slice.insert(defining);
    return slice;
  }

  /// What others read of them, where it took something to compute.
  void findRoots() {
    for (Operation &inner : *body_) {
      if (!ofVectors_.contains(&inner) || !isSupportedElement(inner.getResult(0).getType()))
        continue;
      const bool isRead = llvm::any_of(inner.getUsers(), [&](Operation *user) { return !ofVectors_.contains(user); });
      if (isRead && llvm::any_of(sliceOf(&inner), [](Operation *each) { return isCostly(*each); }))
        roots_.push_back(&inner);
    }
  }

  Value buildVector(OpBuilder &b, Operation *root) {
    const llvm::SetVector<Operation *> slice = sliceOf(root);
    llvm::SetVector<Value> read; // arguments of the body
    for (Operation *each : slice)
      for (Value operand : each->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand); argument && argument.getOwner() == body_)
          read.insert(argument);
    SmallVector<Value> inputs;
    for (Value argument : read)
      inputs.push_back(op_.getMatchingOpOperand(cast<BlockArgument>(argument))->get());
    const Location loc = op_.getLoc();
    auto type = cast<RankedTensorType>(inputs.front().getType()).clone(root->getResult(0).getType());
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(dimensionOf(b, loc, inputs.front(), 0));
    Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
    const SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(1));
    return linalg::GenericOp::create(b, loc, type, inputs, empty, maps,
                                     SmallVector<utils::IteratorType>{utils::IteratorType::parallel},
                                     [&](OpBuilder &inside, Location, ValueRange arguments) {
                                       IRMapping values;
                                       for (auto [argument, value] : llvm::zip(read, arguments))
                                         values.map(argument, value);
                                       for (Operation &each : *body_)
                                         if (slice.contains(&each))
                                           inside.clone(each, values);
                                       linalg::YieldOp::create(inside, loc, values.lookup(root->getResult(0)));
                                     })
        .getResult(0);
  }

  /// The operation, of its inputs those that are still read, and the new vectors.
  void build() {
    OpBuilder b(op_);
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (Operation *root : roots_) {
      inputs.push_back(buildVector(b, root));
      maps.push_back(alongRow());
    }
    llvm::SetVector<Operation *> rest; // what is left of the body
    llvm::SetVector<Value> open;
    for (Value yielded : body_->getTerminator()->getOperands())
      open.insert(yielded);
    for (size_t next = 0; next < open.size(); ++next)
      if (Operation *each = open[next].getDefiningOp();
          each && each->getBlock() == body_ && !llvm::is_contained(roots_, each)) {
        rest.insert(each);
        each->walk([&](Operation *nested) { open.insert(nested->operand_begin(), nested->operand_end()); });
      }
    SmallVector<Value> arguments; // of the old body, for the new inputs
    for (Operation *root : roots_)
      arguments.push_back(root->getResult(0));
    for (OpOperand *input : op_.getDpsInputOperands()) {
      BlockArgument argument = op_.getMatchingBlockArgument(input);
      if (vectors_.contains(argument) && !open.contains(argument))
        continue;
      inputs.push_back(input->get());
      maps.push_back(op_.getMatchingIndexingMap(input));
      arguments.push_back(argument);
    }
    for (OpOperand &init : op_.getDpsInitsMutable()) {
      maps.push_back(op_.getMatchingIndexingMap(&init));
      arguments.push_back(op_.getMatchingBlockArgument(&init));
    }
    auto after =
        linalg::GenericOp::create(b, op_.getLoc(), op_->getResultTypes(), inputs, op_.getDpsInits(), maps,
                                  op_.getIteratorTypesArray(), [&](OpBuilder &inside, Location, ValueRange given) {
                                    IRMapping values;
                                    for (auto [argument, value] : llvm::zip_equal(arguments, given))
                                      values.map(argument, value);
                                    for (Operation &each : body_->without_terminator())
                                      if (rest.contains(&each))
                                        inside.clone(each, values);
                                    inside.clone(*body_->getTerminator(), values);
                                  });
    op_->replaceAllUsesWith(after->getResults());
    op_->erase();
  }

  linalg::GenericOp op_;
  Block *body_;
  llvm::SmallDenseSet<Value> vectors_; // arguments of the body
  llvm::SmallPtrSet<Operation *, 16> ofVectors_;
  SmallVector<Operation *> roots_;
};

} // namespace

void hoistVectors(func::FuncOp function) {
  for (Block &block : function.getBody())
    for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>()))
      Hoister(op).run();
}

} // namespace tenon::compiler::dispatch
