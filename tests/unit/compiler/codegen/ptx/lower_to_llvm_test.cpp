// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/lower_to_llvm.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tenon::compiler::codegen {
namespace {

class LowerToLlvm : public KernelTest {
protected:
  /// Names of the functions that the lowered kernel calls, one per line.
  std::string callsOf(const std::string &text) {
    lowered_ = lower(text);
    std::string calls;
    lowered_->walk([&](mlir::LLVM::CallOp call) { calls += call.getCallee()->str() + "\n"; });
    return calls;
  }
  template <typename Op> bool has() {
    return lowered_->walk([](Op) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  }
  mlir::OwningOpRef<mlir::ModuleOp> lowered_;
};

TEST_F(LowerToLlvm, ExactFunctionsAreIntrinsics) {
  EXPECT_EQ(callsOf(kernelText("f32", "math.sqrt", 1)), "");
  EXPECT_TRUE(has<mlir::LLVM::SqrtOp>());
  EXPECT_EQ(callsOf(kernelText("f64", "math.roundeven", 1)), "");
  EXPECT_TRUE(has<mlir::LLVM::RoundEvenOp>());
}

TEST_F(LowerToLlvm, ReciprocalSquareRootIsAnEstimateAndAStep) {
  EXPECT_EQ(callsOf(kernelText("f32", "math.rsqrt", 1)), "");
  EXPECT_TRUE(has<mlir::LLVM::CallIntrinsicOp>());
  EXPECT_TRUE(has<mlir::LLVM::FMAOp>());
  EXPECT_FALSE(has<mlir::LLVM::SqrtOp>() || has<mlir::LLVM::FDivOp>());
}

TEST_F(LowerToLlvm, ReciprocalSquareRootOfF64IsARootAndADivision) {
  EXPECT_EQ(callsOf(kernelText("f64", "math.rsqrt", 1)), "");
  EXPECT_TRUE(has<mlir::LLVM::SqrtOp>());
  EXPECT_TRUE(has<mlir::LLVM::FDivOp>());
}

TEST_F(LowerToLlvm, TheOtherFunctionsAreLibdevices) {
  EXPECT_EQ(callsOf(kernelText("f32", "math.exp", 1)), "__nv_expf\n");
  EXPECT_EQ(callsOf(kernelText("f64", "math.tanh", 1)), "__nv_tanh\n");
  EXPECT_EQ(callsOf(kernelText("f16", "math.erf", 1)), "__nv_erff\n");
  EXPECT_EQ(callsOf(kernelText("bf16", "math.erf", 1)), "") << "a polynomial";
}

TEST_F(LowerToLlvm, ACallRemembersTheOperationItIsFor) {
  lowered_ = lower(kernelText("f32", "math.exp", 1));
  lowered_->walk([&](mlir::LLVM::CallOp call) {
    auto name = mlir::dyn_cast<mlir::NameLoc>(call.getLoc());
    ASSERT_TRUE(name);
    EXPECT_EQ(name.getName().getValue(), "math.exp");
  });
}

TEST_F(LowerToLlvm, NothingElseIsLeft) {
  lowered_ = lower(kernelText("f32", "math.exp"));
  lowered_->walk([&](mlir::Operation *op) {
    llvm::StringRef dialect = op->getName().getDialectNamespace();
    EXPECT_TRUE(dialect == "llvm" || dialect == "nvvm" || dialect == "builtin") << dialect.str();
  });
}

} // namespace
} // namespace tenon::compiler::codegen
