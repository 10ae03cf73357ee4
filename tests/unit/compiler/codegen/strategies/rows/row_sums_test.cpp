// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/row_sums.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class SumsOfRows : public KernelTest {
protected:
  /// The sum of rows of 64 x 1024, each by so many lanes, with vectors of four elements and, for rows that are not
  /// aligned, without: how many shuffles both take.
  unsigned shuffles(unsigned lanes) {
    const std::string x = "tensor<64x1024xf32>", y = "tensor<64xf32>";
    auto lowered =
        lower("func.func @k(%x: " + x + ", %s: f32) -> " + y +
              " attributes {tenon.strategy = {name = \"rows\", threads = 256 : i64, lanes = " + std::to_string(lanes) +
              " : i64, width = 4 : i64, chunks = 0 : i64, blocks = 1 : i64, rows = 1 : i64, shared = 0 : i64}} {\n" +
              "%e = tensor.empty() : " + y + "\n%f = linalg.fill ins(%s : f32) outs(%e : " + y + ") -> " + y +
              "\n%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], " +
              "iterator_types = [\"parallel\", \"reduction\"]} ins(%x : " + x + ") outs(%f : " + y +
              ") {\n^bb0(%a: f32, %o: f32):\n%t = arith.addf %o, %a : f32\nlinalg.yield %t : f32\n} -> " + y +
              "\nreturn %r : " + y + "\n}\n");
    unsigned found = 0;
    if (lowered)
      lowered->walk([&](mlir::Operation *op) { found += op->getName().getStringRef() == "nvvm.shfl.sync"; });
    return found;
  }
};

TEST_F(SumsOfRows, LanesOfAWarpExchangeWhatTheyHaveAddedUp) {
  EXPECT_EQ(shuffles(1), 0u);
  EXPECT_GE(shuffles(4), 2u);
  EXPECT_EQ(shuffles(32) * 2, shuffles(4) * 5) << "five steps, where four lanes take two";
}

} // namespace
} // namespace tenon::compiler::codegen
