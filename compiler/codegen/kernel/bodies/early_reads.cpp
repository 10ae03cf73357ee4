// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/early_reads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::codegen {

/// Whether a value of a body is made of what it reads alone, and of no sum.
static bool isOfInputs(linalg::GenericOp op, Value value) {
  llvm::SmallSetVector<Value, 8> made;
  made.insert(value);
  for (size_t i = 0; i < made.size(); ++i) {
    if (auto argument = dyn_cast<BlockArgument>(made[i])) {
      if (argument.getOwner() == op.getBody() && int64_t(argument.getArgNumber()) >= op.getNumDpsInputs())
        return false;
    } else {
      made.insert(made[i].getDefiningOp()->operand_begin(), made[i].getDefiningOp()->operand_end());
    }
  }
  return true;
}

bool readsNamedPlaces(const KernelFunction &kernel) {
  llvm::SmallSetVector<Value, 8> made;
  for (const KernelOp &op : kernel.ops)
    for (auto read : linalg::GenericOp(op.op).getBody()->getOps<tensor::ExtractOp>())
      made.insert(read.getIndices().begin(), read.getIndices().end());
  for (size_t i = 0; i < made.size(); ++i) {
    if (isa<BlockArgument>(made[i]))
      return true;
    made.insert(made[i].getDefiningOp()->operand_begin(), made[i].getDefiningOp()->operand_end());
  }
  return false;
}

SmallVector<Value> readsOf(linalg::GenericOp op) {
  llvm::SmallSetVector<Value, 4> reads;
  for (auto read : op.getBody()->getOps<tensor::ExtractOp>()) {
    Value last = read.getResult();
    while (last.hasOneUse()) {
      auto select = dyn_cast<arith::SelectOp>(*last.user_begin());
      if (!select || select->getBlock() != op.getBody() || select.getCondition() == last ||
          !isOfInputs(op, select.getResult()))
        break;
      last = select.getResult();
    }
    if (!last.use_empty())
      reads.insert(last);
  }
  return reads.takeVector();
}

EarlyReads::EarlyReads(Bodies &bodies, const KernelFunction &kernel, const GroupShape &shape) : bodies_(bodies) {
  if (kernel.gathered.empty())
    return;
  for (const KernelOp &op : kernel.ops) {
    const bool isOfOthers = llvm::any_of(op.inputs, [](const KernelInput &input) {
      return input.computed && !input.bodyArgument.use_empty(); // perhaps from sums that are not known yet
    });
    if (!isOfOthers && shape.group.coversAllAxes(op.op))
      for (Value read : readsOf(op.op))
        reads_.push_back({&op, read});
  }
}

void EarlyReads::read(ArrayRef<Point> points) {
  for (const Point &point : points) {
    SmallVector<Lanes> lanes;
    for (auto [op, value] : reads_)
      lanes.push_back(bodies_.ofBody(*op, value, point));
    known_[point.id] = std::move(lanes);
  }
}

void EarlyReads::assume(const Point &point) {
  if (auto known = known_.find(point.id); known != known_.end())
    for (auto [read, lanes] : llvm::zip_equal(reads_, known->second))
      bodies_.assumeLanes(read.second, lanes.values);
}

} // namespace tenon::compiler::codegen
