// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/quantized/quantized_factor.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tenon::compiler::dispatch {
namespace {

class QuantizedFactorTest : public KernelTextTest {
protected:
  /// A product of int8 matrices whose body computes `%l` and `%r`, the factors, from `%x`, `%y` and the zero point
  /// `%z`.
  void parseProduct(const std::string &factors) {
    op_ = firstGeneric(R"mlir(
func.func @f(%a: tensor<8x16xi8>, %b: tensor<16x4xi8>, %zero: i32, %s: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                                        affine_map<(i, j, k) -> ()>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %zero : tensor<8x16xi8>, tensor<16x4xi8>, i32) outs(%s : tensor<8x4xi32>) {
    ^bb0(%x: i8, %y: i8, %z: i32, %o: i32):
)mlir" + factors + R"mlir(
      %p = arith.muli %l, %r : i32
      %t = arith.addi %o, %p : i32
      linalg.yield %t : i32
  } -> tensor<8x4xi32>
  return %r : tensor<8x4xi32>
})mlir");
    op_.getBody()->walk([&](mlir::arith::MulIOp found) { product_ = found; });
  }
  std::optional<QuantizedFactor> left() { return quantizedFactorOf(product_.getLhs(), op_); }
  std::optional<QuantizedFactor> right() { return quantizedFactorOf(product_.getRhs(), op_); }

  mlir::linalg::GenericOp op_;
  mlir::arith::MulIOp product_;
};

TEST_F(QuantizedFactorTest, AZeroPointIsTheOperandThatTheBodyReads) {
  parseProduct("%w = arith.extsi %x : i8 to i32\n%l = arith.subi %w, %z : i32\n%r = arith.extui %y : i8 to i32");
  ASSERT_TRUE(left());
  EXPECT_EQ(left()->operand->getOperandNumber(), 0u);
  EXPECT_EQ(left()->zero, op_->getOperand(2));
  EXPECT_TRUE(left()->hasZero());
  EXPECT_EQ(left()->map().getNumResults(), 2u);
  ASSERT_TRUE(right());
  EXPECT_EQ(right()->type().getShape(), (llvm::ArrayRef<int64_t>{16, 4}));
  EXPECT_FALSE(right()->hasZero());
}

TEST_F(QuantizedFactorTest, AConstantZeroPointIsCopiedOutOfTheBody) {
  parseProduct("%c = arith.constant -7 : i32\n%n = arith.constant 0 : i32\n%w = arith.extsi %x : i8 to i32\n"
               "%l = arith.subi %w, %c : i32\n%v = arith.extsi %y : i8 to i32\n%r = arith.subi %v, %n : i32");
  const auto found = left();
  ASSERT_TRUE(found);
  EXPECT_EQ(mlir::getConstantIntValue(found->zero), -7);
  EXPECT_EQ(found->zero.getDefiningOp()->getBlock(), op_->getBlock());
  ASSERT_TRUE(right());
  EXPECT_FALSE(right()->hasZero()); // a zero point of 0
}

TEST_F(QuantizedFactorTest, OtherFormsAreNone) {
  parseProduct("%w = arith.extsi %x : i8 to i32\n%d = arith.addi %z, %z : i32\n%l = arith.subi %w, %d : i32\n"
               "%q = arith.extsi %y : i8 to i32\n%r = arith.addi %q, %z : i32");
  EXPECT_FALSE(left());  // the zero point is computed
  EXPECT_FALSE(right()); // nothing is subtracted
}

} // namespace
} // namespace tenon::compiler::dispatch
