// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/columns.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class ColumnsPlan : public KernelTest {
protected:
  /// The plan of sums over the middle of x[4, 300, 64], which is read by `map` from a tensor<SOURCE>.
  std::optional<Plan> plan(const std::string &source, const std::string &map) {
    auto kernel = KernelFunction::read(parseFunction(
        "func.func @k(%x: tensor<" + source +
        "xf32>) -> tensor<4x64xf32> {\n%z = arith.constant 0.0 : f32\n"
        "%e = tensor.empty() : tensor<4x64xf32>\n%f = linalg.fill ins(%z : f32) outs(%e : tensor<4x64xf32>) -> "
        "tensor<4x64xf32>\n%c = tensor.empty() : tensor<4x300x64xf32>\n"
        "%y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> " +
        map +
        ">, affine_map<(i, j, k) -> (i, j, k)>], "
        "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} ins(%x : tensor<" +
        source +
        "xf32>) outs(%c : tensor<4x300x64xf32>) {\n^bb0(%a: f32, %o: f32):\n%n = arith.negf %a : f32\n"
        "linalg.yield %n : f32\n} -> tensor<4x300x64xf32>\n"
        "%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>], "
        "iterator_types = [\"parallel\", \"reduction\", \"parallel\"]} ins(%y : tensor<4x300x64xf32>) outs(%f : "
        "tensor<4x64xf32>) {\n^bb0(%a: f32, %s: f32):\n%t = arith.addf %s, %a : f32\nlinalg.yield %t : f32\n} -> "
        "tensor<4x64xf32>\nreturn %r : tensor<4x64xf32>\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    return Columns().plan(*kernel, GroupShape::of(*kernel));
  }
};

TEST_F(ColumnsPlan, OfSlicesToo) {
  EXPECT_TRUE(plan("4x300x64", "(i, j, k)"));
  EXPECT_TRUE(plan("4x500x64", "(i, j + 112, k)"));
  EXPECT_TRUE(plan("4x300x70", "(i, j, k + 3)"));
  EXPECT_FALSE(plan("4x64x500", "(i, k, j + 112)")) << "rows lie side by side";
}

} // namespace
} // namespace tenon::compiler::codegen
