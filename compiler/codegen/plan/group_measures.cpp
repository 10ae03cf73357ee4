// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/plan/group_measures.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::compiler::codegen {

namespace {

/// Calls `visit` for every tensor in memory that has an element for each of the group's, or for each row.
void eachTensor(const KernelFunction &kernel,
                llvm::function_ref<void(const KernelOp &, const KernelTensor &, bool)> visit) {
  for (const KernelOp &op : kernel.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory())
        visit(op, input.tensor, false);
    for (const KernelOutput &output : op.outputs)
      if (output.isStored)
        visit(op, output.tensor, true);
  }
}

} // namespace

uint32_t fullInputs(const KernelFunction &kernel, const GroupShape &shape) {
  llvm::SmallDenseSet<uint32_t> seen;
  eachTensor(kernel, [&](const KernelOp &op, const KernelTensor &tensor, bool isResult) {
    if (!isResult && shape.group.coversAllAxes(op.op) &&
        tensor.map.getNumResults() == linalg::GenericOp(op.op).getNumLoops())
      seen.insert(tensor.binding);
  });
  return seen.size();
}

uint32_t workOf(const KernelFunction &kernel) {
  constexpr uint32_t kLibraryCallWork = 16;
  // Places are mostly computed once for all lanes.
  auto isPlace = [](Operation &inner) {
    return llvm::any_of(inner.getResultTypes(), [](Type type) { return type.isIndex(); });
  };
  uint32_t work = 0;
  for (const KernelOp &op : kernel.ops)
    for (Operation &inner : linalg::GenericOp(op.op).getBody()->without_terminator())
      if (!isPlace(inner))
        work += isa<math::MathDialect>(inner.getDialect()) || isa<arith::DivFOp, arith::RemFOp>(inner)
                    ? kLibraryCallWork
                    : 1;
  return work;
}

uint32_t narrowedByCalls(const KernelFunction &kernel, uint32_t width) {
  constexpr uint32_t kMost = 256; // instructions of one vector's calls
  // Counted in PTX, of f32; of f64 they are about three times as many.
  auto instructionsOf = [](Operation &op) -> uint32_t {
    const uint32_t base = isa<math::PowFOp>(op)                            ? 110
                          : isa<math::SinOp, math::CosOp, math::TanOp>(op) ? 90
                          : isa<math::SincosOp>(op)                        ? 150
                          : isa<math::Atan2Op>(op)                         ? 40
                                                                           : 0;
    return op.getResultTypes().front().isF64() ? 3 * base : base;
  };
  uint32_t instructions = 0;
  for (const KernelOp &op : kernel.ops)
    linalg::GenericOp(op.op).getBody()->walk([&](Operation *inner) {
      if (inner->getNumResults() != 0)
        instructions += instructionsOf(*inner);
    });
  while (width > 1 && width * instructions > kMost)
    width /= 2;
  return width;
}

bool hasCombiners(const KernelFunction &kernel, const GroupShape &shape) {
  return shape.group.hasReduction() && llvm::all_of(kernel.ops, [](const KernelOp &op) {
           return linalg::GenericOp(op.op).getNumReductionLoops() == 0 || dispatch::isTreeReduction(op.op);
         });
}

bool readsAgain(const KernelFunction &kernel, const GroupShape &shape) {
  return llvm::any_of(kernel.ops, [&](const KernelOp &op) {
    linalg::GenericOp generic = op.op;
    if (!shape.group.coversAllAxes(generic) && generic.getNumReductionLoops() == 0)
      return false;
    return llvm::any_of(generic->getOperands(), [&](Value operand) { return shape.group.knowsReduction(operand); });
  });
}

bool storesElements(const KernelFunction &kernel, const GroupShape &shape) {
  return llvm::any_of(kernel.ops, [&](const KernelOp &op) {
    return linalg::GenericOp(op.op).getNumReductionLoops() == 0 && shape.group.coversAllAxes(op.op) &&
           llvm::any_of(op.outputs, [](const KernelOutput &output) { return output.isStored; });
  });
}

} // namespace tenon::compiler::codegen
