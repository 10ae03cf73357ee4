// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/patches/computed_tensor.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

using ComputedTensor = KernelTextTest;

TEST_F(ComputedTensor, AnImageIsReadThroughItsBorder) {
  auto function = parseFunction(R"mlir(
    func.func @f(%x: tensor<6x8xf16>, %o: tensor<8x8xf16>) -> tensor<8x8xf16> {
      %zero = arith.constant 0.0 : f16
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %c6 = arith.constant 6 : index
      %b = linalg.generic {indexing_maps = [affine_map<(y, x) -> (y, x)>], iterator_types = ["parallel", "parallel"]}
          outs(%o : tensor<8x8xf16>) {
        ^bb0(%out: f16):
          %y = linalg.index 0 : index
          %i = linalg.index 1 : index
          %p = arith.subi %y, %c1 : index
          %in = arith.cmpi ult, %p, %c6 : index
          %q = arith.minsi %p, %c5 : index
          %r = arith.maxsi %q, %c0 : index
          %e = tensor.extract %x[%r, %i] : tensor<6x8xf16>
          %s = arith.select %in, %e, %zero : f16
          linalg.yield %s : f16
      } -> tensor<8x8xf16>
      return %b : tensor<8x8xf16>
    })mlir");
  mlir::Value border = function.front().getTerminator()->getOperand(0), image = function.getArgument(0);
  EXPECT_EQ(insideOfBorder(border), image);
  EXPECT_EQ(insideOfBorder(image), image);

  mlir::OpBuilder b(function.front().getTerminator());
  const llvm::SmallVector<mlir::Value> place = {mlir::arith::ConstantIndexOp::create(b, b.getUnknownLoc(), 3),
                                                mlir::arith::ConstantIndexOp::create(b, b.getUnknownLoc(), 4)};
  llvm::SmallVector<mlir::Value> asked;
  auto read = [&](mlir::OpBuilder &inside, mlir::ValueRange indices) -> mlir::Value {
    asked.assign(indices.begin(), indices.end());
    return mlir::tensor::ExtractOp::create(inside, inside.getUnknownLoc(), image, indices);
  };
  mlir::Value element = readImage(b, border, place, read);
  EXPECT_TRUE(element.getDefiningOp<mlir::arith::SelectOp>());
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_TRUE(asked[0].getDefiningOp<mlir::arith::MaxSIOp>());
  EXPECT_EQ(asked[1], place[1]);

  EXPECT_TRUE(readImage(b, image, place, read).getDefiningOp<mlir::tensor::ExtractOp>());
  EXPECT_EQ(asked[0], place[0]);
}

} // namespace
} // namespace tenon::compiler::dispatch
