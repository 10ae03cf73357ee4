// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/dequantized.h"

#include "tests/unit/compiler/dispatch/quantized/dequantized_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

using DequantizedTest = DequantizedText;

TEST_F(DequantizedTest, AZeroPointAndAScale) {
  const auto found = read(std::string(kUnsigned) + "%r = arith.mulf %g, %s : f32");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->numbers.isUnsigned);
  EXPECT_EQ(found->numbers.zero, 7);
  EXPECT_EQ(found->numbers.signedZero(), -121);
  EXPECT_EQ(found->numbers.largest(), 248);
  EXPECT_EQ(found->numbers.integers, function_.getArgument(0));
  EXPECT_EQ(found->numbers.scale, function_.getArgument(1));
  EXPECT_EQ(found->numbers.scaleMap, mlir::AffineMap::getMultiDimIdentityMap(2, &context_).getMajorSubMap(1));
}

TEST_F(DequantizedTest, AZeroPointOfFloatsAndNoScale) {
  const auto found =
      read("%g = arith.sitofp %q : i8 to f32\n%k = arith.constant -3.0 : f32\n%r = arith.subf %g, %k : f32");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->numbers.isUnsigned);
  EXPECT_EQ(found->numbers.zero, -3);
  EXPECT_FALSE(found->numbers.scale);
  EXPECT_FALSE(found->numbers.factor);
  EXPECT_EQ(found->numbers.scaleMap.getNumResults(), 0u);
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
  EXPECT_TRUE(found->numbers.isUnsigned);
  EXPECT_EQ(found->numbers.zero, 7);
  EXPECT_EQ(found->numbers.integers, function_.getArgument(0));
  EXPECT_EQ(found->numbers.scaleMap.getNumResults(), 2u);
  EXPECT_TRUE(found->moves.empty());
  EXPECT_FALSE(read("%g = arith.uitofp %q : i8 to f32\n%r = arith.mulf %g, %s : f32", step)); // two scales
}

TEST_F(DequantizedTest, OtherArithmeticIsNone) {
  EXPECT_FALSE(
      read("%g = arith.sitofp %q : i8 to f32\n%c = arith.constant -1 : i64\n%k = arith.uitofp %c : i64 to f32\n"
           "%r = arith.subf %g, %k : f32")); // that is 2^64 - 1
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
