// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/surroundings.h"

#include "compiler/dispatch/analysis/slices.h"
#include "compiler/dispatch/attention/forms/open_forms.h"
#include "compiler/dispatch/attention/match.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

class Surroundings {
public:
  explicit Surroundings(func::FuncOp function) : function_(function) {}

  /// @return the attentions' operations, and those around them
  llvm::DenseSet<Operation *> find() {
    addAttentions();
    findOfOthers();
    const SmallVector<Operation *> attentions(found_.begin(), found_.end());
    for (Operation *op : attentions)
      goBack(op);
    for (Operation *output : outputs_)
      goOn(output);
    return std::move(found_);
  }

private:
  void addAttentions() {
    for (Block &block : function_.getBody())
      for (auto op : block.getOps<linalg::GenericOp>()) {
        std::string reason;
        const std::optional<AttentionMatch> match = matchAttention(op, reason);
        if (!match)
          continue;
        outputs_.push_back(op);
        found_.insert(op);
        found_.insert(match->scores.begin(), match->scores.end());
      }
  }

  /// All other products, and what is computed from their results: their kernels take it in as long as both have the
  /// same dimensions.
  void findOfOthers() {
    for (Block &block : function_.getBody())
      for (auto op : block.getOps<linalg::GenericOp>()) {
        const bool isBehind = !isCopy(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
          return ofOthers_.contains(operand.getDefiningOp());
        });
        if (!found_.contains(op) && (isBehind || contractionOf(op)))
          ofOthers_.insert(op);
      }
  }

  /// What the operation is computed from.
  void goBack(Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && !ofOthers_.contains(producer) && found_.insert(producer).second)
        goBack(producer);
  }

  /// What moves the results, or computes something of each of them alone.
  void goOn(Operation *op) {
    for (Operation *user : op->getUsers()) {
      auto generic = dyn_cast<linalg::GenericOp>(user);
      const bool isOfOne = generic && generic.getNumDpsInputs() == 1 && generic.getNumReductionLoops() == 0;
      if ((isOfOne || isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user)) && !ofOthers_.contains(user) &&
          found_.insert(user).second)
        goOn(user);
    }
  }

  func::FuncOp function_;
  llvm::DenseSet<Operation *> found_, ofOthers_;
  SmallVector<Operation *> outputs_;
};

} // namespace

void keepClosedElsewhere(func::FuncOp function) {
  const llvm::DenseSet<Operation *> found = Surroundings(function).find();
  function.walk([&](linalg::GenericOp op) {
    if (!found.contains(op))
      stayClosed(op);
  });
}

} // namespace tenon::compiler::dispatch
