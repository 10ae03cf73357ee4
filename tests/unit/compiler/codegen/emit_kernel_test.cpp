// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/emit_kernel.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::codegen {
namespace {

class EmitKernel : public KernelTest {
protected:
  mlir::LLVM::LLVMFuncOp emit(const std::string &text) {
    auto kernel = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    target_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
    auto function = emitKernel(*kernel, "k", abi::TargetArch{90}, *target_);
    EXPECT_TRUE(mlir::succeeded(function)) << messages_;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*target_))) << messages_;
    return *function;
  }
  mlir::OwningOpRef<mlir::ModuleOp> target_;
};

TEST_F(EmitKernel, ParametersArePointersThenScalars) {
  auto function = emit(kernelText("f32", "arith.negf"));
  ASSERT_EQ(function.getNumArguments(), 3u);
  EXPECT_TRUE(mlir::isa<mlir::LLVM::LLVMPointerType>(function.getArgument(0).getType()));
  EXPECT_TRUE(mlir::isa<mlir::LLVM::LLVMPointerType>(function.getArgument(1).getType()));
  EXPECT_TRUE(function.getArgument(2).getType().isInteger(64));
  EXPECT_TRUE(function.getArgAttr(0, mlir::LLVM::LLVMDialect::getReadonlyAttrName()));
  EXPECT_TRUE(function.getArgAttr(1, mlir::LLVM::LLVMDialect::getNoAliasAttrName()));
  EXPECT_FALSE(function.getArgAttr(1, mlir::LLVM::LLVMDialect::getReadonlyAttrName()));
  EXPECT_TRUE(function->hasAttr("nvvm.kernel"));
  EXPECT_EQ(function->getAttrOfType<mlir::DenseI32ArrayAttr>("nvvm.reqntid").asArrayRef(),
            (llvm::ArrayRef<int32_t>{256, 1, 1}));
}

TEST_F(EmitKernel, TheBodyStandsOncePerElementAndOnceAlone) {
  auto count = [&](int elements) {
    auto function = emit(kernelText("f32", "arith.negf", elements));
    size_t bodies = 0;
    function.walk([&](mlir::Operation *op) { bodies += op->getName().getStringRef() == "arith.negf"; });
    return bodies;
  };
  EXPECT_EQ(count(4), 5u);
  EXPECT_EQ(count(1), 1u);
}

TEST_F(EmitKernel, ATruthValueTravelsAsAByte) {
  std::string text = kernelText("i1", "math.absi", 1);
  text.replace(text.find("%n: i64"), 7, "%n: i64, %c: i1");
  auto function = emit(text);
  ASSERT_EQ(function.getNumArguments(), 4u);
  EXPECT_TRUE(function.getArgument(3).getType().isInteger(8));
}

} // namespace
} // namespace tenon::compiler::codegen
