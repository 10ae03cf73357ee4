// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/joined_axes.h"

#include "compiler/codegen/kernel/reciprocal.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using tenon::compiler::dispatch::Group;
using tenon::compiler::dispatch::loopOf;

namespace tenon::compiler::codegen {

SmallVector<Access> accessesOf(const KernelFunction &kernel) {
  SmallVector<Access> stores, loads;
  for (const KernelOp &op : kernel.ops) {
    for (const KernelOutput &output : op.outputs) {
      if (output.isStored)
        stores.push_back({op.op, &output.tensor});
      if (output.startTensor)
        loads.push_back({op.op, &*output.startTensor});
    }
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        loads.push_back({op.op, &input.tensor});
    for (const KernelBorder &border : op.borders)
      loads.push_back({op.op, &border.tensor});
  }
  llvm::append_range(stores, loads);
  return stores;
}

std::optional<unsigned> loopOn(const Group &group, linalg::GenericOp op, unsigned axis) {
  const SmallVector<unsigned> axes = group.axisOf.lookup(op);
  const auto *found = llvm::find(axes, axis);
  return found == axes.end() ? std::nullopt : std::optional(unsigned(found - axes.begin()));
}

std::optional<unsigned> dimensionOn(AffineMap map, unsigned loop) {
  for (auto [position, expr] : llvm::enumerate(map.getResults()))
    if (loopOf(expr) == loop)
      return position;
  return std::nullopt;
}

/// Whether a tensor has the two loops as neighbouring dimensions, or neither.
/// @param mayEnd it may also have the outer one alone
static bool hasTogether(AffineMap map, unsigned outer, unsigned inner, bool mayEnd) {
  unsigned plain = 0;
  for (AffineExpr expr : map.getResults()) {
    if (std::optional<unsigned> loop = loopOf(expr))
      plain += *loop == outer || *loop == inner;
    else if (expr.isFunctionOfDim(outer) || expr.isFunctionOfDim(inner))
      return false;
  }
  std::optional<unsigned> first = dimensionOn(map, outer), second = dimensionOn(map, inner);
  if (mayEnd && plain == 1 && first)
    return map.isProjectedPermutation();
  return plain == 0 || (plain == 2 && first && second && *second == *first + 1);
}

bool readsByIndex(linalg::GenericOp op, unsigned loop) {
  bool reads = false, asks = false;
  for (Operation &inner : *op.getBody()) {
    reads |= isa<tensor::ExtractOp>(inner);
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      asks |= index.getDim() == loop;
  }
  return reads && asks;
}

bool areOne(const Group &group, ArrayRef<Access> accesses, unsigned outer, unsigned inner, bool mayEnd) {
  if (group.isReduced[outer] != group.isReduced[inner])
    return false;
  for (linalg::GenericOp op : group.ops)
    if (loopOn(group, op, outer).has_value() != loopOn(group, op, inner).has_value())
      return false;
  return llvm::all_of(accesses, [&](const Access &access) {
    std::optional<unsigned> first = loopOn(group, access.op, outer), second = loopOn(group, access.op, inner);
    return !first || hasTogether(access.tensor->map, *first, *second, mayEnd);
  });
}

bool isReadByIndex(const Group &group, unsigned axis) {
  return llvm::any_of(group.ops, [&](linalg::GenericOp op) {
    std::optional<unsigned> loop = loopOn(group, op, axis);
    return loop && readsByIndex(op, *loop);
  });
}

bool areEqual(const Extent &a, const Extent &b) {
  if (!a.value || !b.value)
    return !a.value && !b.value && a.size == b.size;
  const std::optional<unsigned> argument = argumentOf(a.value);
  return argument && argument == argumentOf(b.value);
}

/// Whether an index of the body names a place along a dimension, and the next one the place along the next: side by
/// side, as they are in the loops. Nothing else is computed of either.
static bool areReadTogether(const KernelOp &op, unsigned outer, unsigned inner, const KernelFunction &kernel) {
  linalg::GenericOp generic = op.op;
  auto loopAt = [](Value index) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    return loop ? std::optional<unsigned>(loop.getDim()) : std::nullopt;
  };
  // The dimension of the outer one, where both are side by side and nowhere else.
  auto sideBySide = [&](tensor::ExtractOp read) {
    const auto *tensor = kernel.gathered.find(read.getTensor());
    unsigned named = 0, together = 0;
    for (auto [dimension, index] : llvm::enumerate(read.getIndices())) {
      const std::optional<unsigned> loop = loopAt(index);
      named += loop && (*loop == outer || *loop == inner);
      if (loop == outer && dimension + 1 < read.getIndices().size() && tensor != kernel.gathered.end())
        together += loopAt(read.getIndices()[dimension + 1]) == inner &&
                    areEqual(op.loops[inner], tensor->second.shape[dimension + 1]);
    }
    return named == 2 && together == 1;
  };
  for (auto index : generic.getBody()->getOps<linalg::IndexOp>())
    if (index.getDim() == outer || index.getDim() == inner)
      for (Operation *user : index->getUsers()) {
        auto read = dyn_cast<tensor::ExtractOp>(user);
        if (!read || read->getBlock() != generic.getBody() || !sideBySide(read))
          return false;
      }
  return true;
}

bool areReadTogether(const KernelFunction &kernel, const Group &group, unsigned outer, unsigned inner) {
  return !kernel.softmax && !group.chained && llvm::all_of(kernel.ops, [&](const KernelOp &op) {
    const std::optional<unsigned> first = loopOn(group, op.op, outer), second = loopOn(group, op.op, inner);
    const bool isPlain = linalg::GenericOp(op.op).getNumReductionLoops() == 0 || dispatch::isTreeReduction(op.op);
    return isPlain && bool(first) == bool(second) && (!first || areReadTogether(op, *first, *second, kernel));
  });
}

bool isReadAlong(const Group &group, unsigned axis) {
  return llvm::any_of(group.ops, [&](linalg::GenericOp op) {
    const std::optional<unsigned> loop = loopOn(group, op, axis);
    return loop && llvm::any_of(op.getBody()->getOps<tensor::ExtractOp>(), [&](tensor::ExtractOp read) {
             auto last = read.getIndices().empty() ? linalg::IndexOp()
                                                   : read.getIndices().back().getDefiningOp<linalg::IndexOp>();
             return last && last.getDim() == *loop;
           });
  });
}

} // namespace tenon::compiler::codegen
