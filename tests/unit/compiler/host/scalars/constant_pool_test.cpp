// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/scalars/constant_pool.h"

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
  /// [constants] what is stored, and the size.
  using Stored = std::vector<std::pair<std::vector<uint8_t>, uint64_t>>;
  static Stored taken(ConstantPool &pool) {
    Stored stored;
    for (const Constant &constant : pool.take())
      stored.push_back({{constant.bytes.begin(), constant.bytes.end()}, constant.size});
    return stored;
  }
  mlir::Location loc() { return builder_.getUnknownLoc(); }

  mlir::MLIRContext context_;
  mlir::Builder builder_;
  std::string message_;
  mlir::ScopedDiagnosticHandler handler_;
};

TEST_F(ConstantPoolTest, KeepsTheElementOfASplat) {
  ConstantPool pool;
  auto splat = mlir::DenseElementsAttr::get(tensor({3}, builder_.getIntegerType(16)), int16_t(258));
  EXPECT_EQ(*pool.intern(splat, loc()), 0u);
  // A terabyte takes no more memory; four zeros of a byte are one of four bytes.
  auto large = mlir::DenseElementsAttr::get(tensor({int64_t(1) << 40}, builder_.getI8Type()), int8_t(7));
  EXPECT_EQ(*pool.intern(large, loc()), 1u);
  auto yes = mlir::DenseElementsAttr::get(tensor({int64_t(1) << 40}, builder_.getI1Type()), true);
  EXPECT_EQ(*pool.intern(yes, loc()), 2u);
  auto word = mlir::DenseElementsAttr::get(tensor({1}, builder_.getI32Type()), 0);
  EXPECT_EQ(*pool.intern(word, loc()), 3u);
  auto zeros = mlir::DenseElementsAttr::get(tensor({2, 2}, builder_.getI8Type()), int8_t(0));
  EXPECT_EQ(*pool.intern(zeros, loc()), 3u);
  EXPECT_EQ(taken(pool), (Stored{{{2, 1}, 6}, {{7}, uint64_t(1) << 40}, {{1}, uint64_t(1) << 40}, {{0}, 4}}));
}

TEST_F(ConstantPoolTest, KeepsNothingOfNothing) {
  ConstantPool pool;
  for (const std::vector<int64_t> &shape : std::vector<std::vector<int64_t>>{{0}, {4, 0}, {0, 4}}) {
    auto none = mlir::DenseElementsAttr::get(tensor(shape, builder_.getI8Type()), llvm::ArrayRef<int8_t>{});
    EXPECT_EQ(*pool.intern(none, loc()), 0u);
    auto truths = mlir::DenseElementsAttr::get(tensor(shape, builder_.getI1Type()), llvm::ArrayRef<bool>{});
    EXPECT_EQ(*pool.intern(truths, loc()), 0u);
  }
  EXPECT_EQ(taken(pool), (Stored{{{}, 0}}));
}

TEST_F(ConstantPoolTest, KeepsOneOfManyEqualRows) {
  ConstantPool pool;
  mlir::Type i8 = builder_.getI8Type();
  std::vector<int8_t> rows, changed;
  for (int row = 0; row < 5; ++row)
    rows.insert(rows.end(), {1, 2, 3});
  changed = rows;
  changed.back() = 4;
  EXPECT_EQ(*pool.intern(mlir::DenseElementsAttr::get(tensor({5, 3}, i8), llvm::ArrayRef(rows)), loc()), 0u);
  EXPECT_EQ(*pool.intern(mlir::DenseElementsAttr::get(tensor({5, 3}, i8), llvm::ArrayRef(changed)), loc()), 1u);
  const Stored stored = taken(pool);
  EXPECT_EQ(stored[0], (Stored::value_type{{1, 2, 3}, 15}));
  EXPECT_EQ(stored[1].first.size(), 15u);
}

TEST_F(ConstantPoolTest, GivesI1AByteEach) {
  ConstantPool pool;
  auto mask = mlir::DenseElementsAttr::get(tensor({3}, builder_.getI1Type()), llvm::ArrayRef<bool>{true, false, true});
  ASSERT_TRUE(mlir::succeeded(pool.intern(mask, loc())));
  EXPECT_EQ(taken(pool), (Stored{{{1, 0, 1}, 3}}));
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
  EXPECT_EQ(taken(pool), (Stored{{{9}, 2}, {{1, 2}, 2}}));
}

TEST_F(ConstantPoolTest, RefusesWhatBuffersCannotHold) {
  ConstantPool pool;
  auto wide = mlir::DenseElementsAttr::get(tensor({1}, builder_.getIntegerType(128)), llvm::APInt(128, 1));
  EXPECT_TRUE(mlir::failed(pool.intern(wide, loc())));
  EXPECT_EQ(message_, "a constant of element type 'i128' is not supported");
  message_.clear();
  auto huge =
      mlir::DenseElementsAttr::get(tensor({int64_t(1) << 40, int64_t(1) << 40}, builder_.getI8Type()), int8_t(0));
  EXPECT_TRUE(mlir::failed(pool.intern(huge, loc())));
  EXPECT_EQ(message_, "a constant of type 'tensor<1099511627776x1099511627776xi8>' is too large, the limit is "
                      "281474976710656 bytes");
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
