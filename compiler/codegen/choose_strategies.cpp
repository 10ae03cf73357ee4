// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-choose-strategies (Passes.td): which strategy computes each kernel that the compiler formed, and how many
// blocks its launches take.
#include "compiler/codegen/Passes.h"
#include "compiler/codegen/strategies/strategy.h"
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dispatch/kernel_config.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::compiler::codegen {

#define GEN_PASS_DEF_CHOOSESTRATEGIES
#include "compiler/codegen/Passes.h.inc"

namespace {

/// One thread for each element of a result: what is left to kernels that no strategy takes.
SmallVector<GridFactor> elementsGrid(const KernelFunction &kernel, const GroupShape &shape) {
  return {{extentsOf(shape.parallelAxes()), int64_t(kernel.threads) * kernel.elementsPerThread}};
}

/// The argument of the kernel function that holds a size.
unsigned argumentOf(Value size) {
  while (auto cast = size.getDefiningOp<arith::IndexCastOp>())
    size = cast.getIn();
  return llvm::cast<BlockArgument>(size).getArgNumber();
}

/// count(%device, %sizes...) -> the product of the factors, 1, 1. Sizes are the kernel's first arguments.
void buildCount(Region &region, Location loc, ArrayRef<GridFactor> grid) {
  Block &block = region.front();
  block.clear();
  OpBuilder b = OpBuilder::atBlockEnd(&block);
  Value blocks;
  auto times = [&](Value total, Value factor) -> Value {
    return total ? arith::MulIOp::create(b, loc, total, factor).getResult() : factor;
  };
  int64_t known = 1;
  for (const GridFactor &factor : grid) {
    Value size;
    int64_t knownSize = 1;
    for (const Extent &extent : factor.extents) {
      if (extent.value)
        size = times(size, block.getArgument(1 + argumentOf(extent.value)));
      else
        knownSize *= extent.size;
    }
    if (!size) {
      known *= int64_t(llvm::divideCeil(uint64_t(knownSize), uint64_t(factor.perBlock)));
      continue;
    }
    AffineExpr divided = (b.getAffineDimExpr(0) * knownSize).ceilDiv(factor.perBlock);
    if (divided != b.getAffineDimExpr(0))
      size = affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, divided), size);
    blocks = times(blocks, size);
  }
  if (!blocks || known != 1)
    blocks = times(blocks, arith::ConstantIndexOp::create(b, loc, known));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  hal::ReturnOp::create(b, loc, ValueRange{blocks, one, one});
}

struct ChooseStrategies : impl::ChooseStrategiesBase<ChooseStrategies> {
  void runOnOperation() override {
    for (auto source : getOperation().getOps<hal::ExecutableSourceOp>())
      if (source->hasAttr(dispatch::kGeneratedAttr))
        for (auto module : source.getBody().getOps<ModuleOp>())
          for (auto function : module.getOps<func::FuncOp>())
            if (failed(choose(source, function)))
              signalPassFailure();
  }

private:
  LogicalResult choose(hal::ExecutableSourceOp source, func::FuncOp function) {
    OpBuilder b(&getContext());
    FailureOr<KernelFunction> kernel = KernelFunction::read(function);
    if (failed(kernel))
      return failure();
    const GroupShape shape = GroupShape::of(*kernel);
    std::optional<Plan> plan;
    for (const Strategy *strategy : strategies())
      if (!plan)
        plan = strategy->plan(*kernel, shape);
    if (!plan && kernel->ops.size() > 1)
      return function.emitError() << "no strategy computes this group of operations";
    if (plan)
      function->setAttr(dispatch::kStrategyAttr, plan->attribute(&getContext()));
    else
      function->setAttr(dispatch::kElementsPerThreadAttr, b.getI64IntegerAttr(1));
    for (auto exported : source.getBody().getOps<hal::ExecutableExportOp>()) {
      if (exported.getSymName() != function.getName())
        continue;
      exported.setWorkgroupSizeAttr(
          b.getIndexArrayAttr({plan ? int64_t(plan->threads) : int64_t(kernel->threads), 1, 1}));
      buildCount(exported.getWorkgroupCount(), exported.getLoc(),
                 plan ? ArrayRef(plan->grid) : ArrayRef(elementsGrid(*kernel, shape)));
    }
    return success();
  }
};

} // namespace

} // namespace tenon::compiler::codegen
