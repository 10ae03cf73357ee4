// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

/// Windows of 3 x 3 of each channel of `element`; `maps`: of the image and of what the windows are as large as.
std::string windows(const std::string &element, const std::string &channels, const std::string &body, int batch = 2,
                    int size = 8) {
  auto places = [&](int length) {
    return "tensor<" + std::to_string(batch) + "x" + std::to_string(length) + "x" + std::to_string(length) + "x" +
           channels + "x" + element + ">";
  };
  const std::string image = places(size + 2), sizes = "tensor<3x3x" + channels + "x" + element + ">",
                    result = places(size);
  return "func.func @k(%i: " + image + ", %w: " + sizes + ", %o: " + result + ") -> " + result +
         " {\n%v = linalg.generic {indexing_maps = [affine_map<(n, h, w, c, r, s) -> (n, h + r, w + s, c)>, "
         "affine_map<(n, h, w, c, r, s) -> (r, s, c)>, affine_map<(n, h, w, c, r, s) -> (n, h, w, c)>], "
         "iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\"]} "
         "ins(%i, %w : " +
         image + ", " + sizes + ") outs(%o : " + result + ") {\n^bb0(%x: " + element + ", %y: " + element +
         ", %z: " + element + "):\n" + body + "\n} -> " + result + "\nreturn %v : " + result + "\n}";
}

std::string sums(const std::string &element) {
  return "%p = arith.mulf %x, %y : " + element + "\n%t = arith.addf %z, %p : " + element +
         "\nlinalg.yield %t : " + element;
}

class WindowsPlan : public KernelTest {
protected:
  /// The strategy that computes the kernel; null: none does.
  const Strategy *strategyOf(const std::string &text) {
    kernel_ = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    const GroupShape shape = GroupShape::of(*kernel_);
    for (const Strategy *each : strategies())
      if ((plan_ = each->plan(*kernel_, shape)))
        return each;
    return nullptr;
  }
  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<Plan> plan_;
};

TEST_F(WindowsPlan, EachChannelForItselfIsNoProductOfMatrices) {
  ASSERT_EQ(strategyOf(windows("f32", "32", sums("f32")))->name(), "windows");
  EXPECT_EQ(plan_->choices[0].second, 4); // 16 bytes of adjacent results
  ASSERT_EQ(plan_->grid.size(), 1u);
  EXPECT_EQ(plan_->grid[0].perBlock, 256 * 4);
}

TEST_F(WindowsPlan, OfManyResultsAThreadComputesARun) {
  auto choices = [&](int batch, int size) {
    EXPECT_EQ(strategyOf(windows("f32", "32", sums("f32"), batch, size))->name(), "windows");
    EXPECT_EQ(plan_->choices[1].first, "run");
    return std::pair(plan_->choices[1].second, plan_->grid[0].extents);
  };
  EXPECT_EQ(choices(2, 8).first, 1);
  EXPECT_EQ(choices(32, 41).first, 2); // 430,336 vectors
  const auto [run, extents] = choices(32, 113);
  EXPECT_EQ(run, 4);
  ASSERT_EQ(extents.size(), 1u);
  EXPECT_EQ(extents[0].size, 32 * 113 * 29 * 32) << "the last run has one result";
}

TEST_F(WindowsPlan, PoolingIsComputedByVectors) {
  ASSERT_EQ(strategyOf(windows("bf16", "32", "%m = arith.maximumf %z, %x : bf16\nlinalg.yield %m : bf16"))->name(),
            "windows");
  EXPECT_EQ(plan_->choices[0].second, 8);
}

TEST_F(WindowsPlan, WhatOnlyOneThreadCanCombineIsNotTaken) {
  EXPECT_EQ(strategyOf(windows("f32", "32", "%m = arith.subf %x, %z : f32\nlinalg.yield %m : f32")), nullptr);
}

} // namespace
} // namespace tenon::compiler::codegen
