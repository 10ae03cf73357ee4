// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/read_orders.h"

#include "compiler/codegen/kernel/lanes.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// The order of values of a body, whose lanes are neighbours on an axis: by the rules that writing it follows
/// (lanes.h).
class OrdersAlong {
public:
  OrdersAlong(const GroupShape &shape, linalg::GenericOp op, unsigned axis) : op_(op) {
    const SmallVector<unsigned> axes = shape.group.axisOf.lookup(op);
    for (auto [loop, each] : llvm::enumerate(axes))
      if (llvm::is_contained(shape.axes[axis].axes, each))
        (each == shape.axes[axis].axes.back() && shape.axes[axis].axes.size() == 1 ? runs_ : others_).insert(loop);
  }

  Order of(Value value) {
    Operation *inner = value.getDefiningOp();
    if (!inner)
      return isa<IndexType>(value.getType()) ? Order::Same : Order::Any;
    if (inner->getBlock() != op_.getBody())
      return Order::Same;
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      return runs_.contains(index.getDim()) ? Order::Run : others_.contains(index.getDim()) ? Order::Any : Order::Same;
    if (auto known = known_.find(inner); known != known_.end())
      return known->second;
    const SmallVector<Lanes> operands =
        llvm::map_to_vector(inner->getOperands(), [&](Value operand) { return Lanes{{}, of(operand)}; });
    const Order order = inner->getNumRegions() != 0 ? Order::Any : orderOf(*inner, operands);
    return known_[inner] = order;
  }

private:
  linalg::GenericOp op_;
  llvm::SmallDenseSet<unsigned, 4> runs_, others_; // loops
  llvm::DenseMap<Operation *, Order> known_;
};

/// How many of the last indices are the loops of the axis as they stand, which the tensor then has side by side
/// (GroupShape::of); 0: they are not.
size_t togetherAt(const GroupShape &shape, linalg::GenericOp op, tensor::ExtractOp read, unsigned axis) {
  const size_t count = shape.axes[axis].axes.size();
  if (read.getIndices().size() < count)
    return 0;
  SmallVector<unsigned> loops;
  for (Value index : read.getIndices().take_back(count)) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (!loop)
      return 0;
    loops.push_back(loop.getDim());
  }
  return shape.axisOf(op, loops) == axis ? count : 0;
}

/// Calls `visit` for every read of operations that run over all elements, with the operation.
void eachRead(const KernelFunction &kernel, const GroupShape &shape,
              llvm::function_ref<void(linalg::GenericOp, tensor::ExtractOp)> visit) {
  for (const KernelOp &op : kernel.ops)
    if (shape.group.coversAllAxes(op.op))
      for (auto read : linalg::GenericOp(op.op).getBody()->getOps<tensor::ExtractOp>())
        visit(op.op, read);
}

} // namespace

GroupShape::Along alongOfRead(const KernelFunction &kernel, const GroupShape &shape, linalg::GenericOp op,
                              tensor::ExtractOp read, unsigned axis) {
  const auto indices = read.getIndices();
  if (indices.empty() || axis >= shape.axes.size())
    return GroupShape::Along::Same;
  if (!kernel.gathered.contains(read.getTensor()))
    return GroupShape::Along::Apart;
  OrdersAlong orders(shape, op, axis);
  const size_t together = togetherAt(shape, op, read, axis);
  for (Value index : indices.drop_back(std::max<size_t>(together, 1)))
    if (orders.of(index) != Order::Same)
      return GroupShape::Along::Apart;
  if (together != 0)
    return GroupShape::Along::Shifted;
  const Order last = orders.of(indices.back());
  if (last == Order::Same)
    return GroupShape::Along::Same;
  return last == Order::Any ? GroupShape::Along::Apart : GroupShape::Along::Shifted;
}

uint32_t widthOfReads(const KernelFunction &kernel, const GroupShape &shape, unsigned axis) {
  uint32_t widest = 0;
  eachRead(kernel, shape, [&](linalg::GenericOp op, tensor::ExtractOp read) {
    if (alongOfRead(kernel, shape, op, read, axis) == GroupShape::Along::Shifted)
      widest = std::max(widest, dispatch::elementBytes(kernel.gathered.find(read.getTensor())->second.element));
  });
  return widest == 0 ? 1 : 16 / std::max(widest, 2u);
}

} // namespace tenon::compiler::codegen
