// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/joined_images.h"

#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/products/hopper_tf32.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class JoinedImages : public KernelTextTest {
protected:
  /// result[f, c] = sum over images and places of products.
  mlir::linalg::GenericOp gradient(const std::string &image, const std::string &given, const std::string &element,
                                   const std::string &imageMap, const std::string &givenMap) {
    const std::string images = "tensor<" + image + "x" + element + ">",
                      givens = "tensor<" + given + "x" + element + ">";
    const std::string factors = element == "f32"
                                    ? "%m = arith.mulf %a, %b : f32\n"
                                    : "%x = arith.extf %a : " + element + " to f32\n%y = arith.extf %b : " + element +
                                          " to f32\n%m = arith.mulf %x, %y : f32\n";
    function_ = parseFunction(
        "func.func @f(%i: " + images + ", %g: " + givens + ", %s: tensor<128x256xf32>) -> tensor<128x256xf32> {\n" +
        "%p = linalg.generic {indexing_maps = [affine_map<(f, c, n, p) -> " + imageMap +
        ">, affine_map<(f, c, n, p) -> " + givenMap +
        ">, affine_map<(f, c, n, p) -> (f, c)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\", "
        "\"reduction\"]} ins(%i, %g : " +
        images + ", " + givens + ") outs(%s : tensor<128x256xf32>) {\n^bb0(%a: " + element + ", %b: " + element +
        ", %t: f32):\n" + factors +
        "%u = arith.addf %t, %m : f32\nlinalg.yield %u : f32\n} -> "
        "tensor<128x256xf32>\nreturn %p : tensor<128x256xf32>\n}");
    if (element == "f32")
      for (llvm::StringRef attribute : {kTf32Attr, kHopperOnlyAttr})
        module_->getOperation()->setAttr(attribute, mlir::UnitAttr::get(function_.getContext()));
    return *function_.getOps<mlir::linalg::GenericOp>().begin();
  }

  mlir::func::FuncOp function_;
};

TEST_F(JoinedImages, RowsThatBeginAnywhereAreTurnedAndJoined) {
  ASSERT_TRUE(joinImages(gradient("32x256x196", "32x128x196", "bf16", "(n, c, p)", "(n, f, p)")));
  EXPECT_TRUE(succeeded(mlir::verify(function_))) << messages_;
  auto product = *function_.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(product.getNumLoops(), 3u);
  EXPECT_EQ(product.getNumReductionLoops(), 1u);
  auto shapeOf = [&](unsigned input) {
    return llvm::cast<mlir::RankedTensorType>(product.getDpsInputs()[input].getType()).getShape();
  };
  EXPECT_EQ(shapeOf(0), (llvm::ArrayRef<int64_t>{6272, 256}));
  EXPECT_EQ(shapeOf(1), (llvm::ArrayRef<int64_t>{6272, 128}));
  for (auto turned : function_.getOps<mlir::linalg::TransposeOp>())
    EXPECT_EQ(turned.getPermutation(), (llvm::ArrayRef<int64_t>{0, 2, 1}));
}

// What is summed lies in one order in both matrices.
TEST_F(JoinedImages, TheOtherSideIsTurnedToTheSameOrder) {
  ASSERT_TRUE(joinImages(gradient("32x256x196", "196x128x32", "f16", "(n, c, p)", "(p, f, n)")));
  EXPECT_TRUE(succeeded(mlir::verify(function_))) << messages_;
  llvm::SmallVector<llvm::SmallVector<int64_t>> orders;
  for (auto turned : function_.getOps<mlir::linalg::TransposeOp>())
    orders.emplace_back(turned.getPermutation());
  EXPECT_EQ(orders, (llvm::SmallVector<llvm::SmallVector<int64_t>>{{0, 2, 1}, {2, 0, 1}}));
}

// Tensor cores do not turn tf32: each channel's places lie behind it.
TEST_F(JoinedImages, OfTf32ChannelsAreFirst) {
  ASSERT_TRUE(joinImages(gradient("64x256x49", "64x128x49", "f32", "(n, c, p)", "(n, f, p)")));
  EXPECT_TRUE(succeeded(mlir::verify(function_))) << messages_;
  auto product = *function_.getOps<mlir::linalg::GenericOp>().begin();
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(product.getDpsInputs()[0].getType()).getShape(),
            (llvm::ArrayRef<int64_t>{256, 3136}));
  EXPECT_EQ(product.getIndexingMapsArray()[0].getResults().back(), mlir::getAffineDimExpr(2, function_.getContext()));
  for (auto turned : function_.getOps<mlir::linalg::TransposeOp>())
    EXPECT_EQ(turned.getPermutation(), (llvm::ArrayRef<int64_t>{1, 0, 2}));
}

TEST_F(JoinedImages, OthersStay) {
  // Rows of all images that begin at no vectors.
  EXPECT_FALSE(joinImages(gradient("67x256x49", "67x128x49", "f32", "(n, c, p)", "(n, f, p)")));
  // Rows of vectors.
  EXPECT_FALSE(joinImages(gradient("32x256x784", "32x128x784", "bf16", "(n, c, p)", "(n, f, p)")));
  // Channels last, on one side at least.
  EXPECT_FALSE(joinImages(gradient("32x196x256", "32x196x128", "bf16", "(n, p, c)", "(n, p, f)")));
  EXPECT_FALSE(joinImages(gradient("32x256x196", "32x196x128", "bf16", "(n, c, p)", "(n, p, f)")));
  // Few multiplications.
  EXPECT_FALSE(joinImages(gradient("8x256x196", "8x128x196", "bf16", "(n, c, p)", "(n, f, p)")));
}

} // namespace
} // namespace tenon::compiler::dispatch
