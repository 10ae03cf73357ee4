// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/equal_values.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

constexpr StringLiteral kReads = "tenon.reads";

/// Numbers of values: equal ones of operations that are equal, so that numbers tell none apart that become one.
class ValueNumbers {
public:
  llvm::hash_code of(Value value) {
    auto [found, isNew] = numbers_.try_emplace(value, llvm::hash_code(0));
    if (isNew)
      found->second = llvm::hash_value(numbers_.size()); // a block's argument, or behind its use
    return found->second;
  }

  /// To be called for operations in their order.
  /// @return of what the regions read
  llvm::hash_code add(Operation &op) {
    llvm::hash_code read = llvm::hash_value(0);
    if (op.getNumRegions() != 0) {
      SetVector<Value> values;
      getUsedValuesDefinedAbove(op.getRegions(), values);
      for (Value value : values)
        read = llvm::hash_combine(read, of(value));
    }
    llvm::hash_code number =
        llvm::hash_combine(read, OperationEquivalence::computeHash(
                                     &op, [&](Value operand) { return of(operand); },
                                     OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations));
    for (OpResult result : op.getResults())
      numbers_[result] = llvm::hash_combine(number, result.getResultNumber());
    return read;
  }

private:
  llvm::DenseMap<Value, llvm::hash_code> numbers_;
};

} // namespace

void shareEqualValues(func::FuncOp function) {
  ValueNumbers numbers;
  Builder b(function.getContext());
  for (Block &block : function.getBody())
    for (Operation &op : block) {
      const llvm::hash_code read = numbers.add(op);
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        generic->setAttr(kReads, b.getI64IntegerAttr(int64_t(size_t(read))));
    }
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  for (Block &block : function.getBody())
    for (auto generic : block.getOps<linalg::GenericOp>())
      generic->removeAttr(kReads);
}

} // namespace tenon::compiler::dispatch
