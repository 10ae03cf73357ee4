// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/strategies.h"
#include "compiler/codegen/strategies/windows/windows.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

/// Windows, of 3 x 3 if nothing else is said, of each channel of `element`; `maps`: of the image and of what the
/// windows are as large as.
std::string windows(const std::string &element, const std::string &channels, const std::string &body, int batch = 2,
                    int size = 8, int window = 3) {
  auto places = [&](int length) {
    return "tensor<" + std::to_string(batch) + "x" + std::to_string(length) + "x" + std::to_string(length) + "x" +
           channels + "x" + element + ">";
  };
  const std::string side = std::to_string(window), image = places(size + window - 1),
                    sizes = "tensor<" + side + "x" + side + "x" + channels + "x" + element + ">", result = places(size);
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
      if (const std::vector<Plan> plans = each->plans(*kernel_, shape); !plans.empty()) {
        plan_ = plans.front();
        return each;
      }
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

TEST_F(WindowsPlan, OfManyResultsAThreadComputesATile) {
  // Lanes, results along a line, lines.
  auto tile = [&](int batch, int size) {
    EXPECT_EQ(strategyOf(windows("f32", "32", sums("f32"), batch, size))->name(), "windows");
    std::vector<int64_t> numbers;
    for (const auto &[name, value] : plan_->choices)
      numbers.push_back(value);
    return numbers;
  };
  EXPECT_EQ(tile(2, 8), (std::vector<int64_t>{4, 1, 1}));
  EXPECT_EQ(tile(8, 41), (std::vector<int64_t>{1, 7, 2})) << "two blocks for each multiprocessor";
  EXPECT_EQ(plan_->threads, 128u);
  EXPECT_EQ(tile(32, 113), (std::vector<int64_t>{2, 4, 4}));
  ASSERT_EQ(plan_->grid[0].extents.size(), 1u);
  EXPECT_EQ(plan_->grid[0].extents[0].size, 32 * 29 * 29 * 32) << "the last tile of a line has one result";
  EXPECT_EQ(plan_->grid[0].perBlock, 256 * 2);
}

/// The same for a number of images that is not known.
std::string ofUnknownImages(std::string text, int batch) {
  auto replaceAll = [&](const std::string &what, const std::string &by) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
      text.replace(at, what.size(), by);
  };
  const std::string dims = " {tenon.dims = array<i64: 0>}";
  replaceAll("tensor<" + std::to_string(batch) + "x", "tensor<?x");
  text.replace(text.find("(%i: "), 5, "(%n: i64, %i: ");
  text.insert(text.find(", %w: "), dims);
  const size_t end = text.find(") -> "), body = text.find(" {\n");
  text.replace(body, 1, dims + ") ");
  text.insert(end + 5, "(");
  text.insert(end, dims);
  return text;
}

std::vector<int64_t> numbersOf(const Plan &plan) {
  std::vector<int64_t> numbers;
  for (const auto &[name, value] : plan.choices)
    numbers.push_back(value);
  return numbers;
}

// Of an unknown number of images there is a tile for few and one for more, each as if there were some.
TEST_F(WindowsPlan, TilesAreThereForAnUnknownNumberOfImages) {
  kernel_ = KernelFunction::read(parseFunction(ofUnknownImages(windows("f32", "32", sums("f32"), 37, 113), 37)));
  ASSERT_TRUE(mlir::succeeded(kernel_)) << messages_;
  const std::vector<Plan> plans = Windows().plans(*kernel_, GroupShape::of(*kernel_));
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(numbersOf(plans[0]), (std::vector<int64_t>{1, 5, 3}));
  EXPECT_EQ(numbersOf(plans[1]), (std::vector<int64_t>{2, 12, 9}));
  for (int64_t images : {0, 1, 4, 5, 6, 1000})
    EXPECT_EQ(plans[0].guards.front().holdsFor(images), images <= 4) << images;
  for (int64_t images : {0, 1, 4, 5, 6, 1000})
    EXPECT_EQ(plans[1].guards.front().holdsFor(images), images > 4) << images;
  const auto &extents = plans[1].grid[0].extents;
  ASSERT_EQ(extents.size(), 2u);
  EXPECT_EQ(extents[0].size, 13 * 10 * 32) << "those of one image";
  EXPECT_TRUE(extents[1].value);
}

// A row of the image is read once for all windows that it lies in.
TEST_F(WindowsPlan, LargeWindowsSlideDownATile) {
  auto tile = [&](const std::string &element, const std::string &channels, int size, int window) {
    // Others may take it first, and have it computed so where a target has no tensor cores.
    EXPECT_TRUE(strategyOf(windows(element, channels, sums(element), 32, size, window)));
    std::vector<int64_t> numbers;
    for (const auto &[name, value] : plan_->choices)
      numbers.push_back(value);
    return numbers;
  };
  EXPECT_EQ(tile("bf16", "240", 28, 5), (std::vector<int64_t>{2, 7, 7}));
  EXPECT_EQ(tile("bf16", "96", 56, 7), (std::vector<int64_t>{1, 4, 7})) << "of more, filters take the registers";
  EXPECT_EQ(plan_->strategy, "bands");
  EXPECT_EQ(tile("bf16", "144", 56, 3), (std::vector<int64_t>{4, 4, 7}));
  EXPECT_EQ(tile("bf16", "576", 14, 3), (std::vector<int64_t>{4, 2, 14}));
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
