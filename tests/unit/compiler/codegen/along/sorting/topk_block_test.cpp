// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/topk_block.h"

#include "compiler/dialect/linalg_ext/topk_places.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class TopkBlockTest : public AlongTest {
protected:
  /// A kernel of many lines of which `best` are wanted.
  mlir::LLVM::LLVMFuncOp topk(const std::string &best, const std::string &compare) {
    const std::string tensor = "tensor<1024x100000xf32>", values = "tensor<1024x" + best + "xf32>",
                      indices = "tensor<1024x" + best + "xi32>";
    AlongPlans plans = plansOf({tensor, values, indices},
                               "topk dimension(1) ins(%x : " + tensor + ") outs(%y, %z : " + values + ", " + indices +
                                   ") {\n^bb0(%a: f32, %b: f32):\n" + compare + "\niree_linalg_ext.yield %s : i1\n}",
                               {values, indices});
    EXPECT_EQ(plans.kernels.size(), 1u);
    return emit(plans.kernels.front());
  }
  static unsigned sorts(mlir::LLVM::LLVMFuncOp kernel) {
    unsigned found = 0; // a sort exchanges pairs whose distance is a power of two
    kernel.walk([&](mlir::arith::ShRUIOp) { ++found; });
    return found;
  }
};

TEST_F(TopkBlockTest, HoldsTwiceWhatIsWanted) {
  mlir::Type f32 = mlir::Float32Type::get(&context_), i32 = mlir::IntegerType::get(&context_, 32);
  EXPECT_EQ(TopkBlock::capacity(f32, i32, 50), 2048);
  EXPECT_EQ(TopkBlock::capacity(f32, i32, 1500), 4096);
  EXPECT_EQ(TopkBlock::capacity(f32, i32, 3000), 0);
  EXPECT_EQ(TopkBlock::capacity(f32, i32, std::nullopt), 0);
  // What the input leaves a top-k is what a block can hold.
  EXPECT_EQ(TopkBlock::capacity(f32, i32, linalg_ext::topkEntries(4, 32) / 2), 4096);
  EXPECT_EQ(TopkBlock::capacity(f32, i32, linalg_ext::topkEntries(4, 32) / 2 + 1), 0);
}

TEST_F(TopkBlockTest, AFewBestAreBoundedFirst) {
  const std::string greater = "%s = arith.cmpf ogt, %a, %b : f32";
  EXPECT_EQ(sorts(topk("50", greater)), 3u) << "bests of the sample, a tile that is full, what is left";
  EXPECT_EQ(sorts(topk("300", greater)), 2u) << "more than there are threads";
}

TEST_F(TopkBlockTest, WhatMayBeNoOrderHasNoBound) {
  EXPECT_EQ(sorts(topk("50", "%t = arith.subf %a, %b : f32\n%s = arith.cmpf ogt, %t, %b : f32")), 2u);
}

} // namespace
} // namespace tenon::compiler::codegen
