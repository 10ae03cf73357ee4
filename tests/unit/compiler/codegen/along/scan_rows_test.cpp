// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/scan_rows.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class ScanRowsTest : public AlongTest {
protected:
  /// Sums along the rows of a matrix, whose kernel is the only one.
  mlir::LLVM::LLVMFuncOp scan(const std::string &length, const std::string &type) {
    const std::string tensor = "tensor<4096x" + length + "x" + type + ">", rows = "tensor<4096x" + type + ">";
    AlongPlans plans =
        plansOf({tensor, rows},
                "scan dimension(1) inclusive(true) ins(%x : " + tensor + ") outs(%x, %y : " + tensor + ", " + rows +
                    ") {\n^bb0(%a: " + type + ", %b: " + type + "):\n%s = arith.addf %a, " + "%b : " + type +
                    "\niree_linalg_ext.yield %s : " + type + "\n}",
                {tensor, rows});
    EXPECT_EQ(plans.kernels.size(), 1u);
    return emit(plans.kernels.front());
  }
  static unsigned barriers(mlir::LLVM::LLVMFuncOp kernel) {
    return count(kernel, "nvvm.barrier0") + count(kernel, "nvvm.barrier");
  }
};

TEST_F(ScanRowsTest, LanesOfAWarpNeedNoBarrierAndWarpsDo) {
  auto warp = scan("100", "f32");
  EXPECT_GT(count(warp, "nvvm.shfl.sync"), 0u);
  EXPECT_EQ(barriers(warp), 0u);
  auto block = scan("20000", "f32");
  EXPECT_GT(count(block, "nvvm.shfl.sync"), 0u);
  EXPECT_GT(barriers(block), 0u);
}

TEST_F(ScanRowsTest, SumsOfHalvesAreKeptInSingle) {
  auto kernel = scan("20000", "f16");
  kernel.walk([](mlir::arith::AddFOp sum) { EXPECT_TRUE(sum.getType().isF32()); });
  EXPECT_GT(count(kernel, "arith.truncf"), 0u);
  EXPECT_EQ(count(scan("20000", "f32"), "arith.truncf"), 0u);
}

} // namespace
} // namespace tenon::compiler::codegen
