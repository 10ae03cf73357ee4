// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/dequantized.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

class DequantizedTest : public KernelTextTest {
protected:
  /// Of what `body` computes as %r from the byte %q and the scale %s of each row; `moves` makes %last of that, %f.
  std::optional<Dequantized> read(const std::string &body, const std::string &moves = "",
                                  const std::string &type = "") {
    const std::string last = moves.empty() ? "%f" : "%last", to = type.empty() ? "tensor<4x6xf32>" : type;
    function_ = parseFunction("func.func @f(%a: tensor<4x6xi8>, %scale: tensor<4xf32>, %any: i32) -> " + to + R"mlir( {
  %e = tensor.empty() : tensor<4x6xf32>
  %zero = arith.constant dense<7> : tensor<i8>
  %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> ()>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %scale, %zero : tensor<4x6xi8>, tensor<4xf32>, tensor<i8>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%q: i8, %s: f32, %z: i8, %o: f32):
)mlir" + body + "\nlinalg.yield %r : f32\n} -> tensor<4x6xf32>\n" +
                              moves + "\nreturn " + last + " : " + to + "\n}");
    last_ = function_.front().getTerminator()->getOperand(0);
    return dequantizedOf(last_);
  }

  static constexpr char kUnsigned[] = "%w = arith.extui %q : i8 to i32\n%zw = arith.extui %z : i8 to i32\n"
                                      "%d = arith.subi %w, %zw : i32\n%g = arith.sitofp %d : i32 to f32\n";
  mlir::func::FuncOp function_;
  mlir::Value last_;
};

TEST_F(DequantizedTest, AZeroPointAndAScale) {
  const auto found = read(std::string(kUnsigned) + "%r = arith.mulf %g, %s : f32");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isUnsigned);
  EXPECT_EQ(found->zero, 7);
  EXPECT_EQ(found->signedZero(), -121);
  EXPECT_EQ(found->largest(), 248);
  EXPECT_EQ(found->integers, function_.getArgument(0));
  EXPECT_EQ(found->scale, function_.getArgument(1));
  EXPECT_EQ(found->scaleMap, mlir::AffineMap::getMultiDimIdentityMap(2, &context_).getMajorSubMap(1));
}

TEST_F(DequantizedTest, AZeroPointOfFloatsAndNoScale) {
  const auto found =
      read("%g = arith.sitofp %q : i8 to f32\n%k = arith.constant -3.0 : f32\n%r = arith.subf %g, %k : f32");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->isUnsigned);
  EXPECT_EQ(found->zero, -3);
  EXPECT_FALSE(found->scale);
  EXPECT_FALSE(found->factor);
  EXPECT_EQ(found->scaleMap.getNumResults(), 0u);
}

TEST_F(DequantizedTest, ScalesMoveWithTheElements) {
  const std::string scaled = std::string(kUnsigned) + "%r = arith.mulf %s, %g : f32";
  const std::string turned = "%te = tensor.empty() : tensor<6x4xf32>\n%last = linalg.transpose ins(%f : "
                             "tensor<4x6xf32>) outs(%te : tensor<6x4xf32>) permutation = [1, 0]";
  auto found = read(scaled, turned, "tensor<6x4xf32>");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scaleMap.getDimPosition(0), 1u);
  ASSERT_EQ(found->moves.size(), 1u);
  // Read through it: element (i, j) of the transpose is (j, i).
  const mlir::AffineMap map = found->readThrough(mlir::AffineMap::getMultiDimIdentityMap(2, &context_));
  EXPECT_TRUE(found->moves.empty());
  EXPECT_EQ(map.getDimPosition(0), 1u);
  const std::string flat = "%last = tensor.collapse_shape %f [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>";
  EXPECT_FALSE(read(scaled, flat, "tensor<24xf32>")); // there is no dimension of the scales
  EXPECT_TRUE(read("%r = arith.uitofp %q : i8 to f32", flat, "tensor<24xf32>"));
}

TEST_F(DequantizedTest, ScalesStayInReshapesThatAddOrDropOnes) {
  const std::string scaled = std::string(kUnsigned) + "%r = arith.mulf %s, %g : f32";
  const std::string wide =
      "%last = tensor.expand_shape %f [[0, 1], [2]] output_shape [1, 4, 6] : tensor<4x6xf32> into tensor<1x4x6xf32>";
  auto found = read(scaled, wide, "tensor<1x4x6xf32>");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scaleMap.getDimPosition(0), 1u);
  const std::string back =
      "%x = tensor.expand_shape %f [[0, 1], [2]] output_shape [1, 4, 6] : tensor<4x6xf32> into tensor<1x4x6xf32>\n"
      "%last = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x4x6xf32> into tensor<4x6xf32>";
  found = read(scaled, back);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->scaleMap.getDimPosition(0), 0u);
  const std::string apart =
      "%last = tensor.expand_shape %f [[0, 1], [2]] output_shape [2, 2, 6] : tensor<4x6xf32> into tensor<2x2x6xf32>";
  EXPECT_FALSE(read(scaled, apart, "tensor<2x2x6xf32>"));
}

TEST_F(DequantizedTest, SignedIntegersAroundAZeroPoint) {
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

TEST_F(DequantizedTest, EachStepMayBeAnOperation) {
  const std::string step = R"mlir(
  %one = arith.constant dense<[[0.5], [0.25], [0.5], [0.125]]> : tensor<4x1xf32>
  %last = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%f, %one : tensor<4x6xf32>, tensor<4x1xf32>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%g: f32, %s: f32, %o: f32):
      %r = arith.mulf %g, %s : f32
      linalg.yield %r : f32
  } -> tensor<4x6xf32>)mlir";
  const std::string whole =
      "%g = arith.uitofp %q : i8 to f32\n%k = arith.uitofp %z : i8 to f32\n%r = arith.subf %g, %k : f32";
  const auto found = read(whole, step);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isUnsigned);
  EXPECT_EQ(found->zero, 7);
  EXPECT_EQ(found->integers, function_.getArgument(0));
  EXPECT_EQ(found->scaleMap.getNumResults(), 2u);
  EXPECT_TRUE(found->moves.empty());
  EXPECT_FALSE(read("%g = arith.uitofp %q : i8 to f32\n%r = arith.mulf %g, %s : f32", step)); // two scales
}

TEST_F(DequantizedTest, OtherArithmeticIsNone) {
  EXPECT_FALSE(read("%g = arith.sitofp %q : i8 to f32\n%k = arith.constant 0.5 : f32\n%r = arith.subf %g, %k : f32"));
  EXPECT_FALSE(read("%g = arith.sitofp %q : i8 to f32\n%k = arith.constant 200.0 : f32\n%r = arith.subf %g, %k : f32"));
  EXPECT_FALSE(read("%g = arith.sitofp %q : i8 to f32\n%r = arith.mulf %g, %g : f32"));
  EXPECT_FALSE(
      read("%w = arith.extsi %q : i8 to i32\n%d = arith.subi %w, %any : i32\n%r = arith.sitofp %d : i32 to f32"));
  EXPECT_FALSE(read("%d = arith.subi %q, %z : i8\n%r = arith.sitofp %d : i8 to f32")); // it wraps around
  EXPECT_FALSE(read("%w = arith.extui %q : i8 to i32\n%zw = arith.extui %z : i8 to i32\n%d = arith.subi %w, %zw : i32\n"
                    "%r = arith.uitofp %d : i32 to f32"));
  EXPECT_FALSE(
      read("%g = arith.sitofp %q : i8 to f32\n%k = arith.constant 0x7F800000 : f32\n%r = arith.mulf %g, %k : f32"));
}

} // namespace
} // namespace tenon::compiler::dispatch
