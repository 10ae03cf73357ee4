// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/block_ranks.h"

#include "tests/unit/compiler/codegen/kernel/kernel_writer.h"

namespace tenon::compiler::codegen {
namespace {

using BlockRanksTest = KernelWriterTest;

TEST_F(BlockRanksTest, EachItemVotesOnEveryBitOfItsDigit) {
  for (auto [threads, items] : {std::pair(64u, 8u), {256u, 16u}}) {
    KernelBuilder &k = begin(threads);
    BlockRanks ranks(k, items);
    llvm::SmallVector<mlir::Value> digits;
    for (unsigned i = 0; i < items; ++i)
      digits.push_back(unknown(k.b.getI32Type()));
    EXPECT_EQ(ranks.of(digits).size(), items);
    EXPECT_EQ(count("nvvm.vote.sync"), 8 * items);
    // Counts are 0, counted, added up, and ready.
    EXPECT_EQ(count("nvvm.barrier0") + count("nvvm.barrier"), 4u);
  }
}

TEST_F(BlockRanksTest, ASumWaitsOnce) {
  KernelBuilder &k = begin(256);
  const BlockSum sum = BlockSum::of(k, unknown(k.b.getI64Type()), k.shared(k.b.getI64Type(), 8));
  EXPECT_TRUE(sum.before.getType().isInteger(64));
  EXPECT_TRUE(sum.all.getType().isInteger(64));
  EXPECT_EQ(count("nvvm.barrier0") + count("nvvm.barrier"), 1u);
}

} // namespace
} // namespace tenon::compiler::codegen
