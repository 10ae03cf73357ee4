// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/unit_rows.h"

#include "compiler/dispatch/analysis/products/contraction.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

/// Scores of `m` rows of each of four heads; weights come without their dimension, which is behind in the result.
/// `exponential`: what the weights are of the scores.
std::string rows(const std::string &m, const std::string &exponential) {
  return R"mlir(
func.func @f(%q: tensor<2x4xMx8xf32>, %k: tensor<2x9x8xf32>, %v: tensor<2x9x5xf32>) -> tensor<2xAx5xf32> {
  %z = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x4xMx9xf32>
  %fs = linalg.fill ins(%z : f32) outs(%es : tensor<2x4xMx9xf32>) -> tensor<2x4xMx9xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n, d) -> (b, h, m, d)>, affine_map<(b, h, m, n, d) -> (b, n, d)>,
        affine_map<(b, h, m, n, d) -> (b, h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x4xMx8xf32>, tensor<2x9x8xf32>) outs(%fs : tensor<2x4xMx9xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %sum, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x4xMx9xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<2x4xMx9xf32>) outs(%es : tensor<2x4xMx9xf32>) {
    ^bb0(%x: f32, %o: f32):
      %p = )mlir" +
         exponential + R"mlir( %x : f32
      linalg.yield %p : f32
  } -> tensor<2x4xMx9xf32>
  %c = tensor.collapse_shape %w [[0], [1, 2], [3]] : tensor<2x4xMx9xf32> into tensor<2xAx9xf32>
  %u = tensor.expand_shape %c [[0], [1], [2, 3]] output_shape [2, A, 9, 1] : tensor<2xAx9xf32> into tensor<2xAx9x1xf32>
  %eo = tensor.empty() : tensor<2xAx5x1xf32>
  %fo = linalg.fill ins(%z : f32) outs(%eo : tensor<2xAx5x1xf32>) -> tensor<2xAx5x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, e, m, n) -> (b, n, e)>, affine_map<(b, h, e, m, n) -> (b, h, n, m)>,
        affine_map<(b, h, e, m, n) -> (b, h, e, m)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%v, %u : tensor<2x9x5xf32>, tensor<2xAx9x1xf32>) outs(%fo : tensor<2xAx5x1xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %sum, %p : f32
      linalg.yield %t : f32
  } -> tensor<2xAx5x1xf32>
  %o = tensor.collapse_shape %r [[0], [1], [2, 3]] : tensor<2xAx5x1xf32> into tensor<2xAx5xf32>
  return %o : tensor<2xAx5xf32>
}
)mlir";
}

class UnitRowsTest : public KernelTextTest {
protected:
  /// How many loops each product has.
  std::vector<unsigned> loops(std::string text, const std::string &m, const std::string &all) {
    auto replace = [&](const std::string &from, const std::string &to) {
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    };
    replace("xMx", "x" + m + "x");
    replace("xAx", "x" + all + "x");
    replace("[2, A, ", "[2, " + all + ", ");
    auto function = parseFunction(text);
    dropUnitRows(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    std::vector<unsigned> found;
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      if (contractionOf(op))
        found.push_back(op.getNumLoops());
    return found;
  }
};

TEST_F(UnitRowsTest, ARowOfOneGoesWhereOtherRowsStay) {
  EXPECT_EQ(loops(rows("1", "math.exp"), "1", "4"), (std::vector<unsigned>{4, 4}));
}

TEST_F(UnitRowsTest, RowsThatAReshapeTakesTogetherStay) {
  EXPECT_EQ(loops(rows("3", "math.exp"), "3", "12"), (std::vector<unsigned>{5, 5}));
}

TEST_F(UnitRowsTest, OtherProductsStayAsTheyAre) {
  EXPECT_EQ(loops(rows("1", "math.absf"), "1", "4"), (std::vector<unsigned>{5, 5}));
}

} // namespace
} // namespace tenon::compiler::dispatch
