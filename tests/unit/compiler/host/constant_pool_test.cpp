// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/constant_pool.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace tenon::compiler::host {
namespace {

class ConstantPoolTest : public ::testing::Test {
protected:
  ConstantPoolTest()
      : builder_(&context_), handler_(&context_, [&](mlir::Diagnostic &found) { message_ += found.str(); }) {}

  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return mlir::RankedTensorType::get(shape, element);
  }
  mlir::Location loc() { return builder_.getUnknownLoc(); }

  mlir::MLIRContext context_;
  mlir::Builder builder_;
  std::string message_;
  mlir::ScopedDiagnosticHandler handler_;
};

TEST_F(ConstantPoolTest, WritesSplatsOut) {
  ConstantPool pool;
  auto splat = mlir::DenseElementsAttr::get(tensor({3}, builder_.getIntegerType(16)), int16_t(258));
  EXPECT_EQ(*pool.intern(splat, loc()), 0u);
  EXPECT_EQ(pool.take(), (std::vector<std::vector<uint8_t>>{{2, 1, 2, 1, 2, 1}}));
}

TEST_F(ConstantPoolTest, GivesI1AByteEach) {
  ConstantPool pool;
  auto mask = mlir::DenseElementsAttr::get(tensor({3}, builder_.getI1Type()), llvm::ArrayRef<bool>{true, false, true});
  ASSERT_TRUE(mlir::succeeded(pool.intern(mask, loc())));
  EXPECT_EQ(pool.take(), (std::vector<std::vector<uint8_t>>{{1, 0, 1}}));
}

TEST_F(ConstantPoolTest, StoresEqualBytesOnceInTheOrderSeen) {
  ConstantPool pool;
  mlir::Type i8 = builder_.getI8Type();
  auto late = mlir::DenseElementsAttr::get(tensor({2}, i8), llvm::ArrayRef<int8_t>{9, 9});
  auto early = mlir::DenseElementsAttr::get(tensor({2}, i8), llvm::ArrayRef<int8_t>{1, 2});
  auto square = mlir::DenseElementsAttr::get(tensor({2, 1}, i8), llvm::ArrayRef<int8_t>{9, 9});
  EXPECT_EQ(*pool.intern(late, loc()), 0u);
  EXPECT_EQ(*pool.intern(early, loc()), 1u);
  EXPECT_EQ(*pool.intern(square, loc()), 0u);
  EXPECT_EQ(pool.take(), (std::vector<std::vector<uint8_t>>{{9, 9}, {1, 2}}));
}

TEST_F(ConstantPoolTest, RefusesWhatBuffersCannotHold) {
  ConstantPool pool;
  auto wide = mlir::DenseElementsAttr::get(tensor({1}, builder_.getIntegerType(128)), llvm::APInt(128, 1));
  EXPECT_TRUE(mlir::failed(pool.intern(wide, loc())));
  EXPECT_EQ(message_, "a constant of element type 'i128' is not supported");
  message_.clear();
  auto huge = mlir::DenseElementsAttr::get(tensor({int64_t(1) << 40}, builder_.getI8Type()), int8_t(0));
  EXPECT_TRUE(mlir::failed(pool.intern(huge, loc())));
  EXPECT_EQ(message_, "a constant of 1099511627776 elements is too large, the limit is 1073741824 bytes");
}

TEST_F(ConstantPoolTest, RefusesSparseElements) {
  ConstantPool pool;
  auto indices = mlir::DenseIntElementsAttr::get(tensor({1, 1}, builder_.getI64Type()), llvm::ArrayRef<int64_t>{1});
  auto values = mlir::DenseElementsAttr::get(tensor({1}, builder_.getI8Type()), int8_t(1));
  auto sparse = mlir::SparseElementsAttr::get(tensor({4}, builder_.getI8Type()), indices, values);
  EXPECT_TRUE(mlir::failed(pool.intern(sparse, loc())));
  EXPECT_EQ(message_, "only dense<...> and dense_resource<...> constants are supported");
}

} // namespace
} // namespace tenon::compiler::host
