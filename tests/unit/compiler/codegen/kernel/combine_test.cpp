// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/combine.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

using dispatch::Combiner;
using CombineTest = KernelWriterTest;

TEST_F(CombineTest, SumsOfHalvesAreKeptInSingle) {
  KernelBuilder &k = begin();
  for (mlir::Type half : {mlir::Type(k.b.getF16Type()), mlir::Type(k.b.getBF16Type())}) {
    const Sum sum = Sum::of(Combiner::AddF, half);
    EXPECT_TRUE(sum.type.isF32());
    EXPECT_TRUE(widen(k, sum, unknown(half)).getType().isF32());
    EXPECT_EQ(narrow(k, sum, unknown(k.b.getF32Type())).getType(), half);
    EXPECT_EQ(Sum::of(Combiner::MaximumF, half).type, half) << "a maximum is one of them";
  }
  EXPECT_TRUE(Sum::of(Combiner::AddF, k.b.getF64Type()).type.isF64());
}

TEST_F(CombineTest, TheTreeOverNValuesHasOneOperationLess) {
  for (unsigned values = 1; values <= 9; ++values) {
    KernelBuilder &k = begin();
    const Sum sum = Sum::of(Combiner::AddI, k.b.getI32Type());
    llvm::SmallVector<mlir::Value> leaves;
    for (unsigned i = 0; i < values; ++i)
      leaves.push_back(unknown(k.b.getI32Type()));
    combineAll(k, sum, leaves);
    EXPECT_EQ(count("arith.addi"), values - 1) << values;
  }
}

TEST_F(CombineTest, LanesOfAWarpExchangeAndWarpsMeetInSharedMemory) {
  for (auto [lanes, shuffles, barriers] : {std::tuple(1u, 0u, 0u), {8u, 3u, 0u}, {32u, 5u, 0u}, {256u, 8u, 1u}}) {
    KernelBuilder &k = begin(256);
    const Sum sum = Sum::of(Combiner::AddF, k.b.getF32Type());
    combineLanes(k, {sum}, {unknown(k.b.getF32Type())}, lanes);
    EXPECT_EQ(count("nvvm.shfl.sync"), shuffles) << lanes;
    EXPECT_EQ(count("nvvm.barrier0") + count("nvvm.barrier"), barriers) << lanes;
  }
}

TEST_F(CombineTest, SeveralSumsShareABarrier) {
  KernelBuilder &k = begin(256);
  const Sum sum = Sum::of(Combiner::AddF, k.b.getF32Type()), most = Sum::of(Combiner::MaximumF, k.b.getF32Type());
  auto totals = combineLanes(k, {sum, most}, {unknown(sum.type), unknown(most.type)}, 256);
  EXPECT_EQ(totals.size(), 2u);
  EXPECT_EQ(count("nvvm.barrier0") + count("nvvm.barrier"), 1u);
}

TEST_F(CombineTest, TruthValuesTakeAByteInSharedMemory) {
  KernelBuilder &k = begin(64);
  const Sum any = Sum::of(Combiner::Or, k.b.getI1Type());
  EXPECT_TRUE(combineLanes(k, {any}, {unknown(k.b.getI1Type())}, 64).front().getType().isInteger(1));
  for (auto global : written_->getOps<mlir::LLVM::GlobalOp>())
    EXPECT_TRUE(llvm::cast<mlir::LLVM::LLVMArrayType>(global.getGlobalType()).getElementType().isInteger(8));
}

} // namespace
} // namespace tenon::compiler::codegen
