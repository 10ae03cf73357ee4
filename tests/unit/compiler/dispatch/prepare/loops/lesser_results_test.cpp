// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/loops/lesser_results.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {
namespace {

/// Sums of the windows of every image, and beside them how many elements each window has: by `count`, and from `start`.
std::string averages(const std::string &count, const std::string &start = "tensor.empty() : tensor<5xf32>") {
  return R"mlir(
func.func @f(%x: tensor<2x9xf32>, %more: tensor<2xf32>) -> (tensor<2x5xf32>, tensor<5xf32>) {
  %window = tensor.empty() : tensor<3xi1>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5xf32>
  %sums = linalg.fill ins(%z : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %counts = )mlir" +
         start + R"mlir(
  %r:2 = linalg.generic {indexing_maps = [affine_map<(n, i, p) -> (p)>, affine_map<(n, i, p) -> (n)>,
        affine_map<(n, i, p) -> (n, i)>, affine_map<(n, i, p) -> (i)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%window, %more : tensor<3xi1>, tensor<2xf32>) outs(%sums, %counts : tensor<2x5xf32>, tensor<5xf32>) {
    ^bb0(%w: i1, %m: f32, %sum: f32, %old: f32):
      %n = linalg.index 0 : index
      %i = linalg.index 1 : index
      %p = linalg.index 2 : index
      %at = arith.addi %i, %p : index
      %v = tensor.extract %x[%n, %at] : tensor<2x9xf32>
      %s = arith.addf %v, %sum : f32
      %whole = arith.index_cast %i : index to i32
      %real = arith.sitofp %whole : i32 to f32
      %count = )mlir" +
         count + R"mlir(
      linalg.yield %s, %count : f32, f32
  } -> (tensor<2x5xf32>, tensor<5xf32>)
  return %r#0, %r#1 : tensor<2x5xf32>, tensor<5xf32>
}
)mlir";
}

class LesserResultsTest : public KernelTextTest {
protected:
  /// How many results and loops each operation has.
  std::vector<std::pair<unsigned, unsigned>> split(const std::string &text) {
    auto function = parseFunction(text);
    splitLesserResults(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function))) << messages_;
    std::vector<std::pair<unsigned, unsigned>> found;
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      found.emplace_back(op->getNumResults(), op.getNumLoops());
    return found;
  }
  using Found = std::vector<std::pair<unsigned, unsigned>>;
};

TEST_F(LesserResultsTest, WhatIsTheSameForEveryImageIsComputedOnce) {
  EXPECT_EQ(split(averages("arith.mulf %real, %real : f32")), (Found{{1, 1}, {1, 3}}));
}

TEST_F(LesserResultsTest, LoopsThatItDoesNotNameMayMatter) {
  EXPECT_EQ(split(averages("arith.mulf %real, %m : f32")), (Found{{2, 3}})); // of each image
  EXPECT_EQ(split(averages("arith.mulf %real, %v : f32")), (Found{{2, 3}})); // through an index
  EXPECT_EQ(split(averages("arith.addf %real, %old : f32")), (Found{{2, 3}}));
  EXPECT_EQ(split(averages("arith.addf %real, %sum : f32")), (Found{{2, 3}}));
}

TEST_F(LesserResultsTest, WithoutAStepItIsWhatItStartsFrom) {
  std::string text = averages("arith.mulf %real, %real : f32", "tensor.empty() : tensor<5xf32>");
  auto ofAnyNumber = [](std::string of) {
    for (size_t at; (at = of.find("tensor<3xi1>")) != std::string::npos;)
      of.replace(at, 12, "tensor<?xi1>");
    const size_t made = of.find("tensor.empty() : tensor<?xi1>");
    of.replace(made, 14, "tensor.empty(%size)");
    of.insert(of.find("%window"),
              "%zero = arith.constant 0 : index\n  %size = tensor.dim %more, %zero : tensor<2xf32>\n  ");
    return of;
  };
  EXPECT_EQ(split(ofAnyNumber(text)), (Found{{1, 1}, {1, 3}}));
  text = averages("arith.mulf %real, %real : f32", "arith.constant dense<7.0> : tensor<5xf32>");
  EXPECT_EQ(split(text), (Found{{1, 1}, {1, 3}}));
  EXPECT_EQ(split(ofAnyNumber(text)), (Found{{2, 3}}));
}

} // namespace
} // namespace tenon::compiler::dispatch
