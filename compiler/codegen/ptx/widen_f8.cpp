// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/widen_f8.h"

#include "compiler/input/types/storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

/// The lower half of what the instruction makes of two bytes, the upper one 0.
Value convert(OpBuilder &b, Location loc, Value byte, Type type) {
  const StringRef name = isa<Float8E4M3FNType>(type) ? "llvm.nvvm.e4m3x2.to.f16x2.rn" : "llvm.nvvm.e5m2x2.to.f16x2.rn";
  Value both = arith::ExtUIOp::create(b, loc, b.getI16Type(), byte);
  auto halves = VectorType::get(2, b.getF16Type());
  Value pair = LLVM::CallIntrinsicOp::create(b, loc, halves, b.getStringAttr(name), ValueRange(both)).getResult(0);
  Value first = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
  Value half = LLVM::ExtractElementOp::create(b, loc, pair, first);
  return arith::ExtFOp::create(b, loc, b.getF32Type(), half);
}

Value converted(OpBuilder &b, Location loc, Value value, FloatType to) {
  if (to.getWidth() < 32)
    return arith::TruncFOp::create(b, loc, to, value); // exact: f16 and bf16 have all of them
  return to.isF32() ? value : arith::ExtFOp::create(b, loc, to, value).getResult();
}

} // namespace

bool readsF8(ModuleOp kernels) {
  return kernels
      .walk([](arith::ExtFOp op) {
        return input::isWidenedInKernels(op.getIn().getType()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool hasF8(const abi::TargetArch &target) {
  return target.number >= 89;
}

void widenF8(ModuleOp module, bool hasInstructions) {
  module.walk([&](arith::ExtFOp op) {
    Type type = op.getIn().getType();
    if (!input::isWidenedInKernels(type))
      return;
    OpBuilder b(op);
    const Location loc = op.getLoc();
    auto read = op.getIn().getDefiningOp<arith::BitcastOp>();
    Value byte = read ? read.getIn() : arith::BitcastOp::create(b, loc, b.getI8Type(), op.getIn()).getResult();
    Value wide = hasInstructions ? convert(b, loc, byte, type) : input::widenSmallFloat(b, loc, byte, type);
    op.replaceAllUsesWith(converted(b, loc, wide, cast<FloatType>(op.getType())));
    op.erase();
    if (read && read->use_empty())
      read.erase();
  });
}

} // namespace tenon::compiler::codegen
