// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-find-attention (Passes.td): attention in any of its usual forms becomes one form.
#include "compiler/dispatch/Passes.h"
#include "compiler/dispatch/attention/build.h"
#include "compiler/dispatch/attention/match.h"
#include "compiler/dispatch/prepare.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {

#define GEN_PASS_DEF_FINDATTENTION
#include "compiler/dispatch/Passes.h.inc"

namespace {

struct FindAttention : impl::FindAttentionBase<FindAttention> {
  using FindAttentionBase::FindAttentionBase;

  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && function.walk([](math::ExpOp) { return WalkResult::interrupt(); }).wasInterrupted())
        findIn(function);
  }

private:
  void findIn(func::FuncOp function) {
    generalizeOperations(function);
    eraseDeadOperations(function);
    bool found = false;
    for (Block &block : function.getBody())
      for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>())) {
        std::string reason;
        if (std::optional<AttentionMatch> match = matchAttention(op, reason)) {
          buildAttention(*match);
          found = true;
        } else if (print && !reason.empty()) {
          op.emitRemark() << "this product is not computed as attention: " << reason;
        }
      }
    if (found)
      eraseDeadOperations(function);
  }
};

} // namespace

} // namespace tenon::compiler::dispatch
