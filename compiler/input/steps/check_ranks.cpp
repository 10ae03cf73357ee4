// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program holds tensors of at most 64 dimensions (F-15), and what takes a step for each dimension, or for each pair
// of them, is written for as many. So more are refused before anything looks at them.
#include "abi/format/verify/verify.h"
#include "compiler/input/steps/steps.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tenon::compiler::input {

/// One message for an operation: the type itself would fill pages.
static LogicalResult checkRank(ValueRange values) {
  for (Value value : values)
    if (auto type = dyn_cast<ShapedType>(value.getType());
        type && type.hasRank() && type.getRank() > int64_t(abi::kMaxRank))
      return emitError(value.getLoc()) << "a value of rank " << type.getRank() << ", at most " << abi::kMaxRank
                                       << " dimensions are supported: collapse those of one element";
  return success();
}

LogicalResult checkRanks(ModuleOp module) {
  bool isGood = true;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    isGood &= succeeded(checkRank(op->getResults()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        isGood &= succeeded(checkRank(block.getArguments()));
  });
  return success(isGood);
}

} // namespace tenon::compiler::input
