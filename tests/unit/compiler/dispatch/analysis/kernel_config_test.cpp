// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/kernel_config.h"

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

TEST_F(KernelConfig, ALoopThatNoInputKnowsIsUnrolled) {
  // Of tensor<2x3x8xf32>, whose result is indexed by (i, j, k), its input by `read`.
  auto loop = [&](const std::string &read, const std::string &input) {
    return unrolledLoopOf(firstGeneric(
        "func.func @f(%a: " + input +
        ") -> tensor<2x3x8xf32> {\n%e = tensor.empty() : tensor<2x3x8xf32>\n%r = "
        "linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (" +
        read +
        ")>, affine_map<(i, j, k) -> (i, j, k)>], "
        "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%a : " +
        input +
        ") outs(%e : "
        "tensor<2x3x8xf32>) {\n^bb0(%x: f32, %o: f32):\nlinalg.yield %x : f32\n} -> tensor<2x3x8xf32>\nreturn %r : "
        "tensor<2x3x8xf32>\n}"));
  };
  EXPECT_EQ(loop("i, k", "tensor<2x8xf32>"), 1u);
  EXPECT_EQ(loop("j, k", "tensor<3x8xf32>"), 0u);
  EXPECT_FALSE(loop("i, j, k", "tensor<2x3x8xf32>"));
  EXPECT_FALSE(loop("i, j", "tensor<2x3xf32>")); // adjacent elements
}

} // namespace
} // namespace tenon::compiler::dispatch
