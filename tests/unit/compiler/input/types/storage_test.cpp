// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/types/storage.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace tenon::compiler::input {
namespace {

using namespace mlir;

class Storage : public testing::Test {
protected:
  IntegerType integer(unsigned width) { return IntegerType::get(&context_, width); }
  RankedTensorType tensor(Type element, int64_t size = 3) { return RankedTensorType::get({size}, element); }

  MLIRContext context_;
  Builder b_{&context_};
};

TEST_F(Storage, IsTheNextWidthThatKernelsHave) {
  for (auto [width, stored] : {std::pair(2u, 8u), {4u, 8u}, {7u, 8u}, {9u, 16u}, {17u, 32u}, {33u, 64u}, {63u, 64u}})
    EXPECT_EQ(storageOf(integer(width)), integer(stored)) << width;
  for (unsigned width : {1u, 8u, 16u, 32u, 64u})
    EXPECT_FALSE(storageOf(integer(width))) << width;
  EXPECT_FALSE(storageOf(integer(65)));
  EXPECT_FALSE(storageOf(integer(128)));
}

TEST_F(Storage, KeepsBytesOfOtherTypes) {
  EXPECT_EQ(storageOf(Float8E5M2Type::get(&context_)), integer(8));
  EXPECT_EQ(storageOf(Float8E4M3FNType::get(&context_)), integer(8));
  EXPECT_EQ(storageOf(Float8E8M0FNUType::get(&context_)), integer(8));
  EXPECT_EQ(storageOf(Float4E2M1FNType::get(&context_)), integer(8));
  EXPECT_EQ(storageOf(b_.getIndexType()), integer(64));
  EXPECT_EQ(storageOf(IntegerType::get(&context_, 16, IntegerType::Unsigned)), integer(16));
  EXPECT_EQ(storageOf(ComplexType::get(b_.getF32Type())), integer(64));
  EXPECT_EQ(storageOf(ComplexType::get(b_.getF16Type())), integer(32));
  for (Type type :
       {Type(b_.getF16Type()), Type(b_.getF32Type()), Type(b_.getF64Type()), Type(Float6E3M2FNType::get(&context_)),
        Type(Float6E2M3FNType::get(&context_)), Type(ComplexType::get(b_.getF64Type()))})
    EXPECT_FALSE(storageOf(type));
}

TEST_F(Storage, ExtendsConstantsBySign) {
  auto data = DenseElementsAttr::get(tensor(integer(4)), ArrayRef{APInt(4, 1), APInt(4, 8), APInt(4, 15)});
  auto stored = cast<DenseElementsAttr>(storedConstant(data));
  EXPECT_EQ(stored.getType(), tensor(integer(8)));
  EXPECT_EQ(llvm::to_vector(stored.getValues<int8_t>()), (SmallVector<int8_t>{1, -8, -1}));

  Type unsignedType = IntegerType::get(&context_, 4, IntegerType::Unsigned);
  auto plain = DenseElementsAttr::get(tensor(unsignedType), ArrayRef{APInt(4, 1), APInt(4, 8), APInt(4, 15)});
  auto storedPlain = cast<DenseElementsAttr>(storedConstant(plain));
  EXPECT_EQ(llvm::to_vector(storedPlain.getValues<int8_t>()), (SmallVector<int8_t>{1, 8, 15}));
}

TEST_F(Storage, KeepsTheBitsOfConstants) {
  Type f8 = Float8E5M2Type::get(&context_);
  SmallVector<Attribute> values;
  for (double value : {1.0, -2.0, 0.25})
    values.push_back(b_.getFloatAttr(f8, value));
  auto stored = cast<DenseElementsAttr>(storedConstant(DenseElementsAttr::get(tensor(f8), values)));
  EXPECT_EQ(llvm::to_vector(stored.getValues<uint8_t>()), (SmallVector<uint8_t>{0x3C, 0xC0, 0x34}));

  auto splat = DenseElementsAttr::get(tensor(ComplexType::get(b_.getF32Type())), std::complex<float>(1.0f, -2.0f));
  auto storedSplat = cast<DenseElementsAttr>(storedConstant(splat));
  EXPECT_TRUE(storedSplat.isSplat());
  EXPECT_EQ(storedSplat.getSplatValue<uint64_t>(), 0xC00000003F800000u);
  EXPECT_FALSE(storedConstant(DenseElementsAttr::get(tensor(b_.getF32Type()), 1.0f)));
}

} // namespace
} // namespace tenon::compiler::input
