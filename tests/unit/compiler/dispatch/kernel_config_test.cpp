// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/kernel_config.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

using KernelConfig = KernelTextTest;

TEST_F(KernelConfig, KnowsElementTypes) {
  mlir::Builder b(&context_);
  for (mlir::Type type : {mlir::Type(b.getI1Type()), mlir::Type(b.getI8Type()), mlir::Type(b.getI16Type()),
                          mlir::Type(b.getI32Type()), mlir::Type(b.getI64Type()), mlir::Type(b.getF16Type()),
                          mlir::Type(b.getBF16Type()), mlir::Type(b.getF32Type()), mlir::Type(b.getF64Type())})
    EXPECT_TRUE(isSupportedElement(type));
  EXPECT_FALSE(isSupportedElement(b.getIntegerType(4)));
  EXPECT_FALSE(isSupportedElement(b.getIntegerType(32, /*isSigned=*/false)));
  EXPECT_FALSE(isSupportedElement(b.getIndexType()));
  EXPECT_FALSE(isSupportedElement(b.getType<mlir::Float8E5M2Type>()));
  EXPECT_EQ(elementBytes(b.getI1Type()), 1u);
  EXPECT_EQ(elementBytes(b.getBF16Type()), 2u);
  EXPECT_EQ(elementBytes(b.getF64Type()), 8u);
}

TEST_F(KernelConfig, AThreadMovesSixteenBytesOfTheWidestTensor) {
  EXPECT_EQ(elementsPerThread(firstGeneric(elementwise("f32", "arith.negf"))), 4u);
  EXPECT_EQ(elementsPerThread(firstGeneric(elementwise("f64", "arith.negf"))), 2u);
  EXPECT_EQ(elementsPerThread(firstGeneric(elementwise("bf16", "arith.negf"))), 8u);
  EXPECT_EQ(elementsPerThread(firstGeneric(elementwise("i8", "math.absi"))), 8u);
}

TEST_F(KernelConfig, AHeavyBodyMakesThreadsNarrow) {
  EXPECT_EQ(elementsPerThread(firstGeneric(elementwise("bf16", "math.exp", 3))), 4u);
  EXPECT_EQ(elementsPerThread(firstGeneric(elementwise("bf16", "math.exp", 40))), 1u);
}

TEST_F(KernelConfig, AReductionComputesOneElement) {
  EXPECT_EQ(elementsPerThread(firstGeneric(kRowSum)), 1u);
}

TEST_F(KernelConfig, SimpleMapsAreProjectedPermutations) {
  mlir::AffineExpr i, j;
  mlir::bindDims(&context_, i, j);
  EXPECT_TRUE(isSimpleMap(mlir::AffineMap::get(2, 0, {j, i}, &context_)));
  EXPECT_TRUE(isSimpleMap(mlir::AffineMap::get(2, 0, {mlir::getAffineConstantExpr(0, &context_), i}, &context_)));
  EXPECT_FALSE(isSimpleMap(mlir::AffineMap::get(2, 0, {i, i}, &context_)));
  EXPECT_FALSE(isSimpleMap(mlir::AffineMap::get(2, 0, {i + j}, &context_)));
}

} // namespace
} // namespace tenon::compiler::dispatch
