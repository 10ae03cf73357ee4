// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-lower-tensors (Passes.td).
#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/input/Passes.h"
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tenon::compiler::input {

#define GEN_PASS_DEF_LOWERTENSORS
#include "compiler/input/Passes.h.inc"

namespace {

/// What later passes read as it is: sizes, other types for the same memory, one value everywhere.
bool isReadLater(Operation *op) {
  return isa<tensor::DimOp, tensor::EmptyOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::SplatOp>(op);
}

bool hasWork(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        if (isa<scf::ExecuteRegionOp, scf::ForOp, scf::IfOp, scf::IndexSwitchOp, scf::WhileOp>(op))
          return isInsideOfBody(op) ? WalkResult::interrupt() : WalkResult::advance();
        const bool isWork =
            isa<tensor::TensorDialect>(op->getDialect())
                ? !isReadLater(op)
                : isa<affine::AffineLinearizeIndexOp, affine::AffineDelinearizeIndexOp, linalg::PackOp,
                      linalg::UnPackOp, linalg::SoftmaxOp, linalg::WinogradFilterTransformOp,
                      linalg::WinogradInputTransformOp, linalg::WinogradOutputTransformOp, linalg_ext::ArgCompareOp,
                      linalg_ext::AttentionOp, linalg_ext::OnlineAttentionOp, linalg_ext::CustomOp,
                      linalg_ext::DequantizeAffineOp, linalg_ext::FftOp, linalg_ext::GatherOp, linalg_ext::MapGatherOp,
                      linalg_ext::MapLoadOp, linalg_ext::MapScatterOp, linalg_ext::MapStoreOp,
                      linalg_ext::QuantizeAffineOp, linalg_ext::ReverseOp, linalg_ext::SoftmaxOp,
                      linalg_ext::WinogradFilterOp, linalg_ext::WinogradInputOp, linalg_ext::WinogradOutputOp,
                      linalg_ext::TopkOp, linalg_ext::TopkV2Op>(op);
        auto scatter = dyn_cast<linalg_ext::ScatterOp>(op);
        return isWork || (scatter && isMasked(scatter)) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What is left is refused by name, later.
void rewrite(func::FuncOp function, function_ref<void(RewritePatternSet &)> add) {
  RewritePatternSet patterns(function.getContext());
  add(patterns);
  GreedyRewriteConfig config;
  config.enableFolding().setUseTopDownTraversal();
  (void)applyPatternsGreedily(function, std::move(patterns), config);
}

/// What was inlined sees tensors of any size; where sizes are known, so are those of its results.
void inferSizes(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  context->getLoadedDialect<tensor::TensorDialect>()->getCanonicalizationPatterns(patterns);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
}

/// The size of a tensor that a body asks for is the same in all of its elements, and read once in front of them.
void hoistSizesOfBodies(func::FuncOp function) {
  function.walk([](tensor::DimOp op) {
    Operation *outermost = nullptr; // of the operations in whose bodies it is
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      if (isa<linalg::LinalgOp>(parent) ||
          isa<linalg_ext::LinalgExtDialect, tensor::TensorDialect>(parent->getDialect()))
        outermost = parent;
    if (!outermost)
      return;
    auto isInside = [&](Value value) { return outermost->isAncestor(value.getParentBlock()->getParentOp()); };
    const std::optional<int64_t> dimension = op.getConstantIndex();
    if (isInside(op.getSource()) || (!dimension && isInside(op.getIndex())))
      return;
    OpBuilder b(outermost);
    Value index = dimension ? arith::ConstantIndexOp::create(b, op.getLoc(), *dimension).getResult() : op.getIndex();
    op.replaceAllUsesWith(tensor::DimOp::create(b, op.getLoc(), op.getSource(), index).getResult());
    op.erase();
  });
}

/// Front ends assert in bodies that the places they read are inside of a tensor. A kernel has no way to fail.
void eraseAssertionsOfBodies(func::FuncOp function) {
  function.walk([](cf::AssertOp op) {
    if (!isInsideOfBody(op) && !isa<tensor::TensorDialect>(op->getParentOp()->getDialect()))
      return;
    op.emitRemark() << "'cf.assert' in a body is not checked: a kernel cannot fail; one outside of tensor code is";
    op.erase();
  });
}

struct LowerTensors : impl::LowerTensorsBase<LowerTensors> {
  void runOnOperation() override {
    const llvm::StringSet<> fallbacks = fallbackFunctionsOf(getOperation()); // kernels, which cannot fail
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      eraseAssertionsOfBodies(function);
      hoistSizesOfBodies(function);
      simplifySizes(function);
      if (!fallbacks.contains(function.getName()))
        checkPlaces(function);
      foldKnownElements(function);
      if (!hasWork(function))
        continue;
      const bool inlines = function.walk([](linalg_ext::CustomOp) { return WalkResult::interrupt(); }).wasInterrupted();
      // A shape is read from the scalars that it was made of, so before those become a tensor.
      rewrite(function, [](RewritePatternSet &patterns) {
        addReshapePatterns(patterns);
        addPaddedReadPatterns(patterns);
        addRollPatterns(patterns);
      });
      rewrite(function, [](RewritePatternSet &patterns) {
        affine::populateAffineExpandIndexOpsAsAffinePatterns(patterns);
        addBranchPatterns(patterns);
        addAggregatePatterns(patterns);
        addQuantizationPatterns(patterns);
        addAlongPatterns(patterns);
        addAttentionPatterns(patterns);
        addElementPatterns(patterns);
        addGatherPatterns(patterns);
        addMapPatterns(patterns);
        addPackPatterns(patterns);
        addPadPatterns(patterns);
        addSlicePatterns(patterns);
        addSliceOverPatterns(patterns);
        addWinogradPatterns(patterns);
        addWinogradExtPatterns(patterns);
      });
      if (inlines)
        rewrite(function, inferSizes);
      rewrite(function, addAffineReadPatterns);
    }
  }
};

} // namespace

} // namespace tenon::compiler::input
