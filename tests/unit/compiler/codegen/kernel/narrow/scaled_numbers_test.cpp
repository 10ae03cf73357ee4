// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/narrow/scaled_numbers.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

class ScaledNumbersTest : public KernelWriterTest {};

TEST_F(ScaledNumbersTest, OneFactorIsScaledOnceAndChecked) {
  KernelBuilder &k = begin();
  ScaledNumbers scaled(k, false);
  EXPECT_EQ(k.scaledNumbers, &scaled);
  EXPECT_FALSE(scaled.unlike());
  mlir::Value factor = unknown(k.b.getBF16Type());
  mlir::Value once = scaled.multiplied(factor);
  ASSERT_TRUE(once);
  EXPECT_TRUE(scaled.unlike());
  EXPECT_EQ(scaled.multiplied(factor), once);
  EXPECT_NE(scaled.divided(factor), once);
}

TEST_F(ScaledNumbersTest, OnlyBf16IsScaled) {
  KernelBuilder &k = begin();
  ScaledNumbers scaled(k, false);
  EXPECT_FALSE(scaled.multiplied(unknown(k.b.getF16Type())));
  EXPECT_FALSE(scaled.unlike());
}

TEST_F(ScaledNumbersTest, WhatIsSubtractedGoesWithTheConversion) {
  KernelBuilder &k = begin();
  ScaledNumbers scaled(k, false);
  mlir::Value bits = unknown(k.b.getI32Type()), factor = unknown(k.b.getBF16Type());
  mlir::Value number = scaled.numbers(bits, 0, 4, 0), seen = scaled.unscaled(number);
  EXPECT_EQ(ScaledNumbers::scaledOf(seen), number);
  EXPECT_FALSE(ScaledNumbers::scaledOf(number)) << "times a power of two, but another one";
  EXPECT_EQ(count("llvm.intr.fma"), 0u);
  scaled.difference(number, scaled.divided(factor));
  EXPECT_EQ(count("llvm.intr.fma"), 1u);
  EXPECT_EQ(count("arith.subf"), 0u);
}

TEST_F(ScaledNumbersTest, SignedNumbersHaveADifferenceOfTheirOwn) {
  KernelBuilder &k = begin();
  ScaledNumbers scaled(k, false);
  mlir::Value number = scaled.numbers(unknown(k.b.getI32Type()), 0, 4, 8);
  EXPECT_EQ(count("llvm.intr.fma"), 1u);
  scaled.difference(number, scaled.divided(unknown(k.b.getBF16Type())));
  EXPECT_EQ(count("arith.subf"), 1u);
}

TEST_F(ScaledNumbersTest, PairsAreNeighboursOrAHalfOfAWordApart) {
  KernelBuilder &k = begin();
  EXPECT_EQ(ScaledNumbers(k, false).lanesOf(5), std::pair(10u, 11u));
  EXPECT_EQ(ScaledNumbers(k, true).lanesOf(5), std::pair(9u, 13u));
  EXPECT_EQ(k.scaledNumbers, nullptr) << "for as long as they live";
}

} // namespace
} // namespace tenon::compiler::codegen
