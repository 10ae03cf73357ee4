// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/images/grouped_results.h"

#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

/// A convolution in groups of so many channels, and what is computed from its results without the groups.
std::string layer(int64_t channels) {
  const std::string c = std::to_string(channels), all = std::to_string(4 * channels);
  return R"mlir(
    #id = affine_map<(n, y, x, c) -> (n, y, x, c)>
    #vector = affine_map<(n, y, x, c) -> (c)>
    #image = affine_map<(n, y, x, g, f, r, s, c) -> (n, y + r, x + s, g, c)>
    #filters = affine_map<(n, y, x, g, f, r, s, c) -> (g, f, r, s, c)>
    #result = affine_map<(n, y, x, g, f, r, s, c) -> (n, y, x, g, f)>
    func.func @f(%a: tensor<2x9x9x4x)mlir" +
         c + "xf32>, %w: tensor<4x" + c + "x3x3x" + c + "xf32>, %b: tensor<" + all + "xf32>) -> tensor<2x7x7x" + all +
         "xf32> {\n%zero = arith.constant 0.0 : f32\n%e = tensor.empty() : tensor<2x7x7x4x" + c +
         "xf32>\n%z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x7x4x" + c + "xf32>) -> tensor<2x7x7x4x" + c +
         R"mlir(xf32>
      %d = linalg.generic {indexing_maps = [#image, #filters, #result], iterator_types = ["parallel", "parallel",
          "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a, %w : tensor<2x9x9x4x)mlir" +
         c + "xf32>, tensor<4x" + c + "x3x3x" + c + "xf32>) outs(%z : tensor<2x7x7x4x" + c + R"mlir(xf32>) {
        ^bb0(%i: f32, %j: f32, %o: f32):
          %p = arith.mulf %i, %j : f32
          %t = arith.addf %o, %p : f32
          linalg.yield %t : f32
      } -> tensor<2x7x7x4x)mlir" +
         c + "xf32>\n%c = tensor.collapse_shape %d [[0], [1], [2], [3, 4]] : tensor<2x7x7x4x" + c +
         "xf32> into tensor<2x7x7x" + all + "xf32>\n%en = tensor.empty() : tensor<2x7x7x" + all + R"mlir(xf32>
      %n = linalg.generic {indexing_maps = [#id, #vector, #id], iterator_types = ["parallel", "parallel", "parallel",
          "parallel"]} ins(%c, %b : tensor<2x7x7x)mlir" +
         all + "xf32>, tensor<" + all + "xf32>) outs(%en : tensor<2x7x7x" + all + R"mlir(xf32>) {
        ^bb0(%f: f32, %g: f32, %o: f32):
          %r = arith.addf %f, %g : f32
          linalg.yield %r : f32
      } -> tensor<2x7x7x)mlir" +
         all + "xf32>\nreturn %n : tensor<2x7x7x" + all + "xf32>\n}";
}

class GroupedResultsTest : public KernelTextTest {};

TEST_F(GroupedResultsTest, WhatIsBehindGetsTheGroups) {
  auto function = parseFunction(layer(8));
  EXPECT_TRUE(expandGroupedResults(function));
  eraseDeadOperations(function);
  ASSERT_TRUE(succeeded(mlir::verify(function))) << messages_;
  auto collapse = *function.getOps<mlir::tensor::CollapseShapeOp>().begin();
  auto behind = collapse.getSrc().getDefiningOp<mlir::linalg::GenericOp>();
  ASSERT_TRUE(behind);
  EXPECT_EQ(behind.getNumLoops(), 5u);
  EXPECT_EQ(behind.getNumReductionLoops(), 0u);
}

// Groups of many channels are products like others.
TEST_F(GroupedResultsTest, LargeGroupsStay) {
  auto function = parseFunction(layer(128));
  EXPECT_FALSE(expandGroupedResults(function));
}

} // namespace
} // namespace tenon::compiler::dispatch
