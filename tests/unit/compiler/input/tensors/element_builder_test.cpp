// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/tensors/element_builder.h"

#include "compiler/dialect/Dialects.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

namespace tenon::compiler::input {
namespace {

using namespace mlir;

class ElementBuilder : public testing::Test {
protected:
  ElementBuilder() {
    DialectRegistry registry;
    registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    module_ = ModuleOp::create(UnknownLoc::get(&context_));
    b_.setInsertionPointToStart(module_->getBody());
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b_, loc_, value); }
  /// An index that is no constant.
  Value unknown() {
    Value tensor = tensor::EmptyOp::create(b_, loc_, {3}, b_.getIndexType());
    return tensor::ExtractOp::create(b_, loc_, tensor, index(0));
  }
  RankedTensorType type(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, b_.getF32Type()); }

  MLIRContext context_;
  OwningOpRef<ModuleOp> module_;
  OpBuilder b_{&context_};
  Location loc_ = UnknownLoc::get(&context_);
};

TEST_F(ElementBuilder, ArithmeticThatChangesNothingIsLeftOut) {
  Value x = unknown();
  EXPECT_EQ(addIndex(b_, loc_, x, b_.getIndexAttr(0)), x);
  EXPECT_EQ(subtractIndex(b_, loc_, x, b_.getIndexAttr(0)), x);
  EXPECT_EQ(multiplyIndex(b_, loc_, x, b_.getIndexAttr(1)), x);
  EXPECT_EQ(divideIndex(b_, loc_, x, b_.getIndexAttr(1)), x);
  EXPECT_TRUE(matchPattern(remainderIndex(b_, loc_, x, b_.getIndexAttr(1)), m_Zero()));
  EXPECT_TRUE(matchPattern(clampIndex(b_, loc_, x, b_.getIndexAttr(1)), m_Zero()));
  EXPECT_NE(addIndex(b_, loc_, x, b_.getIndexAttr(2)), x);
  EXPECT_EQ(both(b_, loc_, {}, x), x);
  EXPECT_EQ(both(b_, loc_, x, {}), x);
}

TEST_F(ElementBuilder, BuildsTheDynamicSizesThatAreGiven) {
  Value n = unknown();
  Value result =
      buildElements(b_, loc_, type({4, ShapedType::kDynamic}), {OpFoldResult(b_.getIndexAttr(4)), OpFoldResult(n)},
                    [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
                      EXPECT_EQ(indices.size(), 2u);
                      return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1));
                    });
  auto empty = result.getDefiningOp<linalg::GenericOp>().getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
  ASSERT_TRUE(empty);
  EXPECT_EQ(llvm::to_vector(empty.getDynamicSizes()), SmallVector<Value>{n});
  EXPECT_TRUE(succeeded(verify(*module_)));
}

TEST_F(ElementBuilder, EqualElementsAreReadFromNoMemory) {
  Value scalar = arith::ConstantOp::create(b_, loc_, b_.getF32FloatAttr(2));
  Value empty = tensor::EmptyOp::create(b_, loc_, {3}, b_.getF32Type());
  Value filled = linalg::FillOp::create(b_, loc_, scalar, empty).getResult(0);
  EXPECT_EQ(readElement(b_, loc_, filled, index(1)), scalar);
  Value constant = arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(type({3}), 5.0f));
  EXPECT_TRUE(readElement(b_, loc_, constant, index(1)).getDefiningOp<arith::ConstantOp>());
  Value different = arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(type({2}), ArrayRef<float>{1, 2}));
  EXPECT_TRUE(readElement(b_, loc_, different, index(1)).getDefiningOp<tensor::ExtractOp>());
}

/// Nothing outside of the tensor is read, whatever the place is.
TEST_F(ElementBuilder, AWindowBringsGuardedPlacesInside) {
  Value different = arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(type({2}), ArrayRef<float>{1, 2}));
  Value outside = arith::ConstantOp::create(b_, loc_, b_.getF32FloatAttr(9));
  Value place = unknown();
  Window window(b_, loc_, different);
  window.add(b_, loc_, place, isBelow(b_, loc_, place, window.sizes[0]));
  auto select = window.read(b_, loc_, outside).getDefiningOp<arith::SelectOp>();
  ASSERT_TRUE(select);
  EXPECT_EQ(select.getFalseValue(), outside);
  auto read = select.getTrueValue().getDefiningOp<tensor::ExtractOp>();
  ASSERT_TRUE(read);
  EXPECT_TRUE(read.getIndices()[0].getDefiningOp<arith::MaxSIOp>());

  Window whole(b_, loc_, different);
  whole.add(b_, loc_, place);
  EXPECT_TRUE(whole.read(b_, loc_, outside).getDefiningOp<tensor::ExtractOp>());
}

} // namespace
} // namespace tenon::compiler::input
