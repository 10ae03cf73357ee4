// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/parts_put_together.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class PartsPutTogether : public KernelTextTest {
protected:
  /// Rows of a table by an index, [COUNT, width], and a reader of them with results in the order `written`.
  llvm::SmallVector<mlir::linalg::GenericOp> gathered(const std::string &width, const std::string &written) {
    const std::string table = "tensor<100x" + width + "xf32>", rows = "tensor<640x" + width + "xf32>",
                      result = written == "(i, j)" ? rows : "tensor<" + width + "x640xf32>";
    auto function = parseFunction(
        "func.func @f(%t: " + table + ", %n: tensor<640xi64>, %e: " + rows + ", %o: " + result + ") -> " + result +
        " {\n%g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], "
        "iterator_types = [\"parallel\", \"parallel\"]} ins(%n : tensor<640xi64>) outs(%e : " +
        rows +
        ") {\n^bb0(%k: i64, %u: f32):\n%r = arith.index_cast %k : i64 to index\n%c = linalg.index 1 : index\n"
        "%v = tensor.extract %t[%r, %c] : " +
        table + "\nlinalg.yield %v : f32\n} -> " + rows +
        "\n%q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> " + written +
        ">], iterator_types = [\"parallel\", \"parallel\"]} ins(%g : " + rows + ") outs(%o : " + result +
        ") {\n^bb0(%v: f32, %u: f32):\n%w = arith.addf %v, %v : f32\nlinalg.yield %w : f32\n} -> " + result +
        "\nreturn %q : " + result + "\n}");
    return llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  }
};

TEST_F(PartsPutTogether, RowsByAnIndexLieAlongTheirColumns) {
  auto ops = gathered("32", "(i, j)");
  EXPECT_EQ(loopOfPlaces(ops[0]), 1u);
  EXPECT_FALSE(loopOfPlaces(ops[1])); // which reads nothing by place
}

TEST_F(PartsPutTogether, WhoStoresThemInAnotherOrderTurnsThem) {
  EXPECT_FALSE(turnsPlaces(*gathered("32", "(i, j)")[1].getDpsInputOperand(0)));
  auto ops = gathered("32", "(j, i)");
  EXPECT_TRUE(turnsPlaces(*ops[1].getDpsInputOperand(0)));
  EXPECT_TRUE(turnsOperand(ops[1]));
  EXPECT_FALSE(turnsOperand(ops[0]));
}

TEST_F(PartsPutTogether, AFewAdjacentElementsAreNoRow) {
  auto ops = gathered("3", "(j, i)");
  EXPECT_FALSE(loopOfPlaces(ops[0]));
  EXPECT_FALSE(turnsPlaces(*ops[1].getDpsInputOperand(0)));
}

TEST_F(PartsPutTogether, NeighboursThatAreNearAreReadAsTheyAre) {
  auto ops = gathered("13", "(j, i)"); // 52 bytes apart
  EXPECT_TRUE(loopOfPlaces(ops[0]));
  EXPECT_FALSE(turnsPlaces(*ops[1].getDpsInputOperand(0)));
  EXPECT_FALSE(turnsFar(ops[1], 1, 0));
  EXPECT_TRUE(turnsFar(gathered("32", "(j, i)")[1], 1, 0));
}

} // namespace
} // namespace tenon::compiler::dispatch
