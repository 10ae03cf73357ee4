// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/moved_integers.h"

#include "tests/unit/compiler/dispatch/quantized/dequantized_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

using MovedIntegersTest = DequantizedText;

TEST_F(MovedIntegersTest, ScalesMoveWithTheElements) {
  const std::string scaled = std::string(kUnsigned) + "%r = arith.mulf %s, %g : f32";
  const std::string turned = "%te = tensor.empty() : tensor<6x4xf32>\n%last = linalg.transpose ins(%f : "
                             "tensor<4x6xf32>) outs(%te : tensor<6x4xf32>) permutation = [1, 0]";
  auto found = read(scaled, turned, "tensor<6x4xf32>");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->numbers.scaleMap.getDimPosition(0), 1u);
  ASSERT_EQ(found->moves.size(), 1u);
  // Read through it: element (i, j) of the transpose is (j, i).
  const mlir::AffineMap map = found->readThrough(mlir::AffineMap::getMultiDimIdentityMap(2, &context_));
  EXPECT_TRUE(found->moves.empty());
  EXPECT_EQ(map.getDimPosition(0), 1u);
  const std::string flat = "%last = tensor.collapse_shape %f [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>";
  EXPECT_FALSE(read(scaled, flat, "tensor<24xf32>")); // there is no dimension of the scales
  EXPECT_TRUE(read("%r = arith.uitofp %q : i8 to f32", flat, "tensor<24xf32>"));
}

TEST_F(MovedIntegersTest, ScalesStayInReshapesThatAddOrDropOnes) {
  const std::string scaled = std::string(kUnsigned) + "%r = arith.mulf %s, %g : f32";
  const std::string wide =
      "%last = tensor.expand_shape %f [[0, 1], [2]] output_shape [1, 4, 6] : tensor<4x6xf32> into tensor<1x4x6xf32>";
  auto found = read(scaled, wide, "tensor<1x4x6xf32>");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->numbers.scaleMap.getDimPosition(0), 1u);
  const std::string back =
      "%x = tensor.expand_shape %f [[0, 1], [2]] output_shape [1, 4, 6] : tensor<4x6xf32> into tensor<1x4x6xf32>\n"
      "%last = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x4x6xf32> into tensor<4x6xf32>";
  found = read(scaled, back);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->numbers.scaleMap.getDimPosition(0), 0u);
  const std::string apart =
      "%last = tensor.expand_shape %f [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>";
  EXPECT_FALSE(read(scaled, apart, "tensor<2x2x6xf32>"));
}

TEST_F(MovedIntegersTest, SignedIntegersAroundAZeroPoint) {
  const std::string padded = R"mlir(
  %ep = tensor.empty() : tensor<4x8xf32>
  %last = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%ep : tensor<4x8xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %one = arith.constant 1 : index
      %six = arith.constant 6 : index
      %five = arith.constant 5 : index
      %p = arith.subi %j, %one : index
      %in = arith.cmpi ult, %p, %six : index
      %c = arith.minui %p, %five : index
      %t = tensor.extract %f[%i, %c] : tensor<4x6xf32>
      %null = arith.constant NUMBER : f32
      %y = arith.select %in, %t, %null : f32
      linalg.yield %y : f32
  } -> tensor<4x8xf32>)mlir";
  auto with = [&](const std::string &number) {
    std::string text = padded;
    return text.replace(text.find("NUMBER"), 6, number);
  };
  const std::string body = std::string(kUnsigned) + "%k = arith.constant 0.5 : f32\n%r = arith.mulf %g, %k : f32";
  EXPECT_FALSE(read(body, with("1.0"), "tensor<4x8xf32>"));
  auto found = read(body, with("0.0"), "tensor<4x8xf32>");
  ASSERT_TRUE(found);
  mlir::OpBuilder b(function_.front().getTerminator());
  auto built = found->buildSigned(b, last_.getLoc()).getDefiningOp<mlir::linalg::GenericOp>();
  ASSERT_TRUE(built);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
  EXPECT_TRUE(mlir::cast<mlir::RankedTensorType>(built.getResult(0).getType()).getElementType().isInteger(8));
  auto select = *built.getBody()->getOps<mlir::arith::SelectOp>().begin();
  auto outside = select.getFalseValue().getDefiningOp<mlir::arith::ConstantOp>();
  EXPECT_EQ(mlir::cast<mlir::IntegerAttr>(outside.getValue()).getInt(), -121);
}

/// Places that come from a table are read from that, and what depends on the element itself is no copy.
TEST_F(MovedIntegersTest, AnElementIsTakenOnceAndDecidesNothing) {
  auto with = [&](const std::string &condition) {
    return read(std::string(kUnsigned) + "%r = arith.mulf %g, %g : f32", "") ||
           read("%r = arith.sitofp %q : i8 to f32", R"mlir(
  %ep = tensor.empty() : tensor<4x6xf32>
  %table = arith.constant dense<1> : tensor<4xi32>
  %last = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%ep : tensor<4x6xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %two = arith.constant 2 : index
      %null = arith.constant 0.0 : f32
      %t = tensor.extract %f[%i, %j] : tensor<4x6xf32>
)mlir" + condition + R"mlir(
      %y = arith.select %in, %t, %null : f32
      linalg.yield %y : f32
  } -> tensor<4x6xf32>)mlir");
  };
  EXPECT_TRUE(with("%in = arith.cmpi ult, %j, %two : index"));
  EXPECT_FALSE(with("%in = arith.cmpf ogt, %t, %null : f32"));
  EXPECT_FALSE(with("%n = tensor.extract %table[%i] : tensor<4xi32>\n%k = arith.index_cast %n : i32 to index\n"
                    "%in = arith.cmpi ult, %k, %two : index"));
}

} // namespace
} // namespace tenon::compiler::dispatch
