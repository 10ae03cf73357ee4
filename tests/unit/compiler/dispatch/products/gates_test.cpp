// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/gates.h"

#include "compiler/dispatch/analysis/groups/gates.h"
#include "tests/unit/compiler/dispatch/gates_text.h"

namespace tenon::compiler::dispatch {
namespace {

class DivideIntoGatesTest : public GatesTextTest {
protected:
  /// p(b, n) = the sum over k of h(b, k) * w(n, k), of `rows` rows and 96 columns, plus a bias; then `behind`, which
  /// ends in %r, of rows and 32 units.
  mlir::func::FuncOp product(const std::string &behind, const std::string &rows = "3",
                             const std::string &matrix = "n, k") {
    const std::string h = "tensor<" + rows + "x64xbf16>", p = "tensor<" + rows + "x96xf32>",
                      w = matrix == "n, k" ? "tensor<96x64xbf16>" : "tensor<64x96xbf16>",
                      r = "tensor<" + rows + "x32xf32>";
    auto function = parseFunction(
        "func.func @f(%h: " + h + ", %w: " + w + ", %bias: tensor<96xf32>, %e: " + r + ") -> " + r +
        " {\n%z = arith.constant 0.0 : f32\n%s = tensor.empty() : " + p +
        "\n%f = linalg.fill ins(%z : f32) outs(%s : " + p + ") -> " + p +
        "\n%p = linalg.generic {indexing_maps = [affine_map<(b, n, k) -> (b, k)>, affine_map<(b, n, k) -> (" + matrix +
        ")>, affine_map<(b, n, k) -> (b, n)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%h, "
        "%w : " +
        h + ", " + w + ") outs(%f : " + p + ") " + kProductBody + " -> " + p +
        "\n%q = linalg.generic {indexing_maps = [affine_map<(b, n) -> (b, n)>, affine_map<(b, n) -> (n)>, "
        "affine_map<(b, n) -> (b, n)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%p, %bias : " +
        p + ", tensor<96xf32>) outs(%s : " + p +
        ") {\n^bb0(%a: f32, %b: f32, %o: f32):\n%c = arith.addf %a, %b : f32\nlinalg.yield %c : f32\n} -> " + p + "\n" +
        behind + "\nreturn %r : " + r + "\n}\n");
    divideIntoGates(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    return function;
  }
  /// Reads %q at a column by a map, and at another one by its body.
  static std::string reader(const std::string &rows = "3", const std::string &column = "u + 32",
                            const std::string &behind = "64") {
    const std::string q = "tensor<" + rows + "x96xf32>", r = "tensor<" + rows + "x32xf32>";
    return "%r = linalg.generic {indexing_maps = [affine_map<(b, u) -> (b, " + column +
           ")>, affine_map<(b, u) -> (b, u)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%q : " + q +
           ") outs(%e : " + r +
           ") {\n^bb0(%a: f32, %o: f32):\n%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n" +
           "%c = arith.constant " + behind + " : index\n%k = arith.addi %j, %c : index\n" +
           "%x = tensor.extract %q[%i, %k] : " + q + "\n%y = tensor.extract %q[%i, %j] : " + q +
           "\n%m = arith.mulf %a, %x : f32\n%n = arith.addf %m, %y : f32\nlinalg.yield %n : f32\n} -> " + r;
  }
  static bool isDivided(mlir::func::FuncOp function) {
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      if (gatesLoopOf(op))
        return true;
    return false;
  }
  static std::string mapsOf(mlir::linalg::GenericOp op) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (mlir::AffineMap map : op.getIndexingMapsArray())
      stream << map << "; ";
    return text;
  }
};

TEST_F(DivideIntoGatesTest, GatesAreADimensionBehindTheUnits) {
  mlir::func::FuncOp function = product(reader());
  ASSERT_TRUE(isDivided(function));
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(mapsOf(ops[0]), "(d0, d1, d2, d3) -> (d0, d3); (d0, d1, d2, d3) -> (d2, d1, d3); "
                            "(d0, d1, d2, d3) -> (d0, d1, d2); ");
  EXPECT_EQ(mapsOf(ops[1]), "(d0, d1, d2) -> (d0, d1, d2); (d0, d1, d2) -> (d2, d1); (d0, d1, d2) -> (d0, d1, d2); ");
  EXPECT_TRUE(ops[2].getBody()->getOps<mlir::tensor::ExtractOp>().empty());
  const std::string maps = mapsOf(ops[2]);
  for (const char *gate : {"(d0, d1, 0)", "(d0, d1, 1)", "(d0, d1, 2)"})
    EXPECT_NE(maps.find(gate), std::string::npos) << maps;
}

TEST_F(DivideIntoGatesTest, AGateBeginsWhereItsUnitsDo) {
  EXPECT_FALSE(isDivided(product(reader("3", "u + 31"))));
  EXPECT_FALSE(isDivided(product(reader("3", "u + 32", "63"))));
}

TEST_F(DivideIntoGatesTest, ManyRowsAreLeftToTiles) {
  EXPECT_TRUE(isDivided(product(reader("32"), "32")));
  EXPECT_FALSE(isDivided(product(reader("300"), "300")));
}

TEST_F(DivideIntoGatesTest, AMatrixThatLiesAcrossIsNotDivided) {
  EXPECT_FALSE(isDivided(product(reader(), "3", "k, n")));
}

TEST_F(DivideIntoGatesTest, WhoReadsAllColumnsKeepsThem) {
  EXPECT_FALSE(isDivided(
      product(reader() + "\n%t = tensor.collapse_shape %q [[0, 1]] : tensor<3x96xf32> into tensor<288xf32>")));
}

} // namespace
} // namespace tenon::compiler::dispatch
