// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/kernel_builder.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

using KernelBuilderTest = KernelWriterTest;

TEST_F(KernelBuilderTest, ArithmeticOnWhatIsKnownIsDoneAtOnce) {
  KernelBuilder &k = begin();
  EXPECT_EQ(constant(k.add(k.number(3), k.number(4))), 7);
  EXPECT_EQ(constant(k.rem(k.number(17), k.number(5))), 2);
  EXPECT_EQ(constant(k.min(k.number(-1), k.number(5))), 5) << "sizes have no sign";
  EXPECT_EQ(k.add(parameter(0), k.number(0)), parameter(0));
  EXPECT_EQ(k.mul(parameter(0), k.number(1)), parameter(0));
  EXPECT_EQ(count("arith.addi"), 0u);
}

TEST_F(KernelBuilderTest, WordsComputePositionsIn32Bits) {
  KernelBuilder &k = begin();
  mlir::Value inside, outside, large;
  k.inWords([&] {
    inside = k.mul(k.add(parameter(0), k.number(-3)), parameter(1));
    large = k.add(parameter(0), k.number(int64_t(1) << 40));
    k.outOfWords([&] { outside = k.mul(parameter(0), parameter(1)); });
    EXPECT_TRUE(k.isInWords());
  });
  EXPECT_FALSE(k.isInWords());
  EXPECT_EQ(inside.getType(), k.b.getI64Type());
  auto widened = inside.getDefiningOp<mlir::arith::ExtSIOp>();
  ASSERT_TRUE(widened) << "what is below zero stays so";
  EXPECT_TRUE(widened.getIn().getDefiningOp<mlir::arith::MulIOp>());
  EXPECT_EQ(count("arith.trunci"), 2u) << "what words have computed is not cut again";
  EXPECT_TRUE(outside.getDefiningOp<mlir::arith::MulIOp>());
  EXPECT_TRUE(large.getDefiningOp<mlir::arith::AddIOp>()) << "no word holds the number";
}

TEST_F(KernelBuilderTest, ABranchThatIsDecidedIsNone) {
  KernelBuilder &k = begin();
  EXPECT_EQ(KernelBuilder::known(k.less(k.number(2), k.number(3))), true);
  EXPECT_EQ(KernelBuilder::known(k.less(k.number(3), k.number(3))), false);
  EXPECT_EQ(KernelBuilder::known(k.less(parameter(0), parameter(1))), std::nullopt);
  unsigned taken = 0;
  k.branch(k.equal(k.number(1), k.number(1)), [&] { taken += 1; }, [&] { taken += 10; });
  EXPECT_EQ(taken, 1u);
  EXPECT_EQ(count("scf.if"), 0u);
  k.branch(k.less(parameter(0), parameter(1)), [&] { taken += 100; }, [&] { taken += 1000; });
  EXPECT_EQ(taken, 1101u) << "both sides are written";
  EXPECT_EQ(count("scf.if"), 1u);
}

TEST_F(KernelBuilderTest, ChosenValuesComeOutOfTheBranch) {
  KernelBuilder &k = begin();
  mlir::Type i64 = k.b.getI64Type();
  auto chosen = k.choose(
      k.less(parameter(0), parameter(1)), {i64, i64},
      [&] { return llvm::SmallVector<mlir::Value>{k.number(1), k.number(2)}; },
      [&] { return llvm::SmallVector<mlir::Value>{parameter(0), parameter(1)}; });
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].getDefiningOp(), chosen[1].getDefiningOp());
  EXPECT_EQ(count("scf.yield"), 2u);
}

TEST_F(KernelBuilderTest, ALoopCarriesValues) {
  KernelBuilder &k = begin();
  auto sums = k.loop(k.number(0), parameter(0), k.number(1), parameter(1), [&](mlir::Value i, mlir::ValueRange sum) {
    return llvm::SmallVector<mlir::Value>{k.add(sum[0], i)};
  });
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].getType(), k.b.getI64Type());
  auto loop = sums[0].getDefiningOp();
  EXPECT_EQ(loop->getRegion(0).front().getTerminator()->getNumOperands(), 1u);
}

TEST_F(KernelBuilderTest, SharedMemoryIsAGlobalForEachArena) {
  KernelBuilder &k = begin();
  k.shared(k.b.getF32Type(), 64);
  k.shared(k.b.getI8Type(), 3);
  unsigned globals = 0;
  for (auto global : written_->getOps<mlir::LLVM::GlobalOp>()) {
    EXPECT_EQ(global.getAddrSpace(), 3u);
    EXPECT_EQ(global.getAlignment(), 16u);
    ++globals;
  }
  EXPECT_EQ(globals, 2u);
}

TEST_F(KernelBuilderTest, DynamicSharedMemoryBehindOthersIsAlignedToSixteenBytes) {
  for (bool isFirst : {true, false, true}) {
    KernelBuilder &k = begin();
    if (!isFirst)
      k.shared(k.b.getI8Type(), 3);
    auto arena = k.dynamicShared().getDefiningOp<mlir::LLVM::AddressOfOp>();
    auto global = written_->lookupSymbol<mlir::LLVM::GlobalOp>(arena.getGlobalName());
    EXPECT_EQ(global.getAlignment(), isFirst ? 1024u : 16u);
    k.shared(k.b.getI8Type(), 3);
    EXPECT_EQ(global.getAlignment(), 16u);
  }
}

TEST_F(KernelBuilderTest, WhatMayNotBeReadIsALoadUnderACondition) {
  for (unsigned bits : {16u, 32u, 64u}) {
    KernelBuilder &k = begin();
    mlir::Value from = unknown(mlir::LLVM::LLVMPointerType::get(&context_, 1));
    mlir::Value read = k.loadWhere(k.less(parameter(0), parameter(1)), k.b.getIntegerType(bits), from);
    EXPECT_EQ(read.getType(), k.b.getIntegerType(bits));
    EXPECT_EQ(count("scf.if"), 0u) << "no block of its own";
    auto written = read.getDefiningOp<mlir::LLVM::InlineAsmOp>();
    ASSERT_TRUE(written);
    EXPECT_NE(written.getAsmString().find("@$2 ld.global.nc.b" + std::to_string(bits)), llvm::StringRef::npos);
  }
}

TEST_F(KernelBuilderTest, ValuesOfEveryWidthAreShuffledAsWordsOf32Bits) {
  for (auto [bits, shuffles] : {std::pair(8u, 1u), {16u, 1u}, {32u, 1u}, {64u, 2u}}) {
    KernelBuilder &k = begin();
    mlir::Type type = k.b.getIntegerType(bits);
    EXPECT_EQ(k.shuffleXor(unknown(type), 16).getType(), type);
    EXPECT_EQ(count("nvvm.shfl.sync"), shuffles) << bits;
  }
  KernelBuilder &k = begin();
  EXPECT_EQ(k.shuffleXor(unknown(k.b.getBF16Type()), 1).getType(), k.b.getBF16Type());
}

} // namespace
} // namespace tenon::compiler::codegen
