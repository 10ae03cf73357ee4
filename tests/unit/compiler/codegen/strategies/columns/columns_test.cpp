// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/columns/columns.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

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

/// Sums of what two tensors have, of which the second lies down the columns, or of what a body reads by place.
class ColumnsOfTwoOrders : public KernelTest {
protected:
  std::optional<Plan> plan(const std::string &rows, const std::string &columns, const std::string &element) {
    const std::string first = "tensor<" + rows + "x" + columns + "x" + element + ">",
                      second = "tensor<" + columns + "x" + rows + "x" + element + ">",
                      result = "tensor<" + columns + "x" + element + ">";
    return planOf("func.func @k(%x: " + first + ", %y: " + second + ", %o: " + result + ") -> " + result +
                  " {\n%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, "
                  "i)>, affine_map<(i, j) -> (j)>], iterator_types = [\"reduction\", \"parallel\"]} ins(%x, %y : " +
                  first + ", " + second + ") outs(%o : " + result + ") {\n^bb0(%a: " + element + ", %b: " + element +
                  ", %s: " + element + "):\n%m = arith.maximumf %a, %b : " + element +
                  "\n%t = arith.maximumf %s, %m : " + element + "\nlinalg.yield %t : " + element + "\n} -> " + result +
                  "\nreturn %r : " + result + "\n}\n");
  }
  std::optional<Plan> planOf(const std::string &text) {
    auto kernel = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_ << text;
    return Columns().plan(*kernel, GroupShape::of(*kernel));
  }
};

TEST_F(ColumnsOfTwoOrders, WarpsAreSquares) {
  EXPECT_EQ(plan("5000", "16384", "f32")->choice("turned"), 8);
  EXPECT_EQ(plan("5000", "16384", "bf16")->choice("turned"), 16);
  EXPECT_EQ(plan("5000", "16384", "f64")->choice("turned"), 4);
  EXPECT_FALSE(plan("300", "64", "f32")) << "of one tile: rows are more";
}

TEST_F(ColumnsOfTwoOrders, WhatIsReadByPlaceSaysHowItLies) {
  auto text = [](const std::string &indices) -> std::string {
    return "func.func @k(%x: tensor<40x63xf32>, %o: tensor<63xf32>) -> tensor<63xf32> {\n%c = arith.constant 39 : "
           "index\n%e = tensor.empty() : tensor<50x63xf32>\n%y = linalg.generic {indexing_maps = [affine_map<(i, j) -> "
           "(i, j)>], iterator_types = [\"parallel\", \"parallel\"]} outs(%e : tensor<50x63xf32>) {\n^bb0(%z: "
           "f32):\n%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n%p = arith.minsi %i, %c : index\n"
           "%q = arith.minsi %j, %c : index\n%v = tensor.extract %x[" +
           indices +
           "] : tensor<40x63xf32>\nlinalg.yield %v : f32\n} -> tensor<50x63xf32>\n%r = linalg.generic {indexing_maps "
           "= [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = [\"reduction\", "
           "\"parallel\"]} ins(%y : tensor<50x63xf32>) outs(%o : tensor<63xf32>) {\n^bb0(%a: f32, %s: f32):\n%t = "
           "arith.addf %s, %a : f32\nlinalg.yield %t : f32\n} -> tensor<63xf32>\nreturn %r : tensor<63xf32>\n}\n";
  };
  const std::optional<Plan> across = planOf(text("%p, %j"));
  ASSERT_TRUE(across);
  EXPECT_EQ(across->choice("width"), 4);
  EXPECT_FALSE(planOf(text("%q, %i"))) << "side by side down the columns";
  std::string few = text("%p, %j"); // five columns
  for (size_t at = few.find("63"); at != std::string::npos; at = few.find("63"))
    few.replace(at, 2, "5");
  EXPECT_FALSE(planOf(few)) << "a block for so little";
}

/// What is less than the largest of its column, of x[outer, rows, columns].
class KeptColumns : public KernelTest {
protected:
  std::vector<Plan> plans(const std::string &shape, const std::string &sizes) {
    const std::string tensor = "tensor<" + shape + "xf32>", largest = "tensor<7x" + lastOf(shape) + "xf32>";
    const std::string text =
        "func.func @k(" + sizes + "%x: " + tensor + dimsOf(shape) + ", %o: " + largest + ", %e: " + tensor +
        dimsOf(shape) + ") -> (" + tensor + dimsOf(shape) +
        ") {\n%m = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, "
        "k)>], iterator_types = [\"parallel\", \"reduction\", \"parallel\"]} ins(%x : " +
        tensor + ") outs(%o : " + largest +
        ") {\n^bb0(%a: f32, %s: f32):\n%t = arith.maximumf %s, %a : f32\nlinalg.yield %t : f32\n} -> " + largest +
        "\n%y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>, "
        "affine_map<(i, j, k) -> (i, j, k)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} "
        "ins(%x, %m : " +
        tensor + ", " + largest + ") outs(%e : " + tensor +
        ") {\n^bb0(%a: f32, %s: f32, %b: f32):\n%t = arith.subf %a, %s : f32\nlinalg.yield %t : f32\n} -> " + tensor +
        "\nreturn %y : " + tensor + "\n}\n";
    auto kernel = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_ << text;
    return Columns().plans(*kernel, GroupShape::of(*kernel));
  }
  static std::string lastOf(const std::string &shape) { return shape.substr(shape.rfind('x') + 1); }
  static std::string dimsOf(const std::string &shape) {
    return shape.find('?') == std::string::npos ? "" : " {tenon.dims = array<i64: 0>}";
  }
};

TEST_F(KeptColumns, AreOfAKnownNumberOfRows) {
  EXPECT_TRUE(plans("7x?x512", "%n: i64, ").empty()) << "there may be too many";
  EXPECT_EQ(plans("7x60x512", "").front().choice("kept"), 1);
}

TEST_F(KeptColumns, TilesGoOnInTheNextRowOfColumns) {
  const Plan few = plans("7x20x12", "").front(), many = plans("7x20x4096", "").front();
  EXPECT_EQ(few.choice("flat"), 1);
  ASSERT_EQ(few.grid.size(), 1u);
  EXPECT_EQ(few.grid[0].extents.size(), 2u);
  EXPECT_EQ(many.choice("flat"), 0);
  const Plan odd = plans("7x20x5", "").front();
  EXPECT_EQ(odd.choice("width"), 1) << "no vector is whole";
}

/// Maxima over the middle of a tensor of unknown sizes.
class ColumnsOfUnknownSize : public KernelTest {
protected:
  std::vector<Plan> plans(const std::string &columns, int64_t last) {
    const std::string tensor = "tensor<?x?x" + columns + "xf32>", result = "tensor<?x" + columns + "xf32>";
    const std::string dims = last == 3 ? "0, 1, 2" : "0, 1", ofResult = last == 3 ? "0, 2" : "0";
    const std::string text =
        "func.func @k(%a: i64, %b: i64" + std::string(last == 3 ? ", %c: i64" : "") + ", %x: " + tensor +
        " {tenon.dims = array<i64: " + dims + ">}) -> (" + result + " {tenon.dims = array<i64: " + ofResult +
        ">}) {\n%z = arith.constant 0xFF800000 : f32\n%0 = arith.index_cast %a : i64 to index\n" +
        (last == 3 ? "%2 = arith.index_cast %c : i64 to index\n" : "") + "%e = tensor.empty(%0" +
        (last == 3 ? ", %2" : "") + ") : " + result + "\n%f = linalg.fill ins(%z : f32) outs(%e : " + result + ") -> " +
        result +
        "\n%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>], "
        "iterator_types = [\"parallel\", \"reduction\", \"parallel\"]} ins(%x : " +
        tensor + ") outs(%f : " + result +
        ") {\n^bb0(%v: f32, %s: f32):\n%t = arith.maximumf %s, %v : f32\nlinalg.yield %t : f32\n} -> " + result +
        "\nreturn %r : " + result + "\n}\n";
    auto kernel = KernelFunction::read(parseFunction(text));
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_ << text;
    return Columns().plans(*kernel, GroupShape::of(*kernel));
  }

  static int64_t sizeOf(llvm::ArrayRef<Extent> extents, llvm::ArrayRef<int64_t> sizes) {
    int64_t size = 1;
    for (const Extent &extent : extents)
      size *= extent.value ? sizes[*argumentOf(extent.value)] : extent.size;
    return size;
  }
  static bool holds(const Guard &guard, llvm::ArrayRef<int64_t> sizes) {
    auto holdsToo = [&](const Guard &each) { return holds(each, sizes); };
    if (!guard.unless.empty())
      return !llvm::all_of(guard.unless, holdsToo);
    int64_t length = sizeOf(guard.length, sizes);
    for (const GridFactor &factor : guard.tiles)
      length *= (sizeOf(factor.extents, sizes) + factor.perBlock - 1) / factor.perBlock;
    return guard.holdsFor(length);
  }
  /// Those that run, "parts" and "total" with their names.
  static std::string running(const std::vector<Plan> &plans, llvm::ArrayRef<int64_t> sizes) {
    std::string found;
    for (const Plan &plan : plans)
      if (llvm::all_of(plan.guards, [&](const Guard &guard) { return holds(guard, sizes); })) {
        found += plan.choice("narrow") ? "narrow " : plan.choice("width") == 1 ? "single " : "vectors ";
        found += plan.choice("total") ? "total " : plan.choice("parts") ? "parts " : "";
      }
    return found;
  }
};

TEST_F(ColumnsOfUnknownSize, OneOfTheirKernelsRuns) {
  const std::vector<Plan> all = plans("?", 3);
  EXPECT_EQ(all.front().scratch.size(), 1U);
  EXPECT_EQ(running(all, {8, 300, 64}), "vectors ");
  EXPECT_EQ(running(all, {8, 300, 65}), "single ");
  EXPECT_EQ(running(all, {8, 300, 32}), "narrow ");
  EXPECT_EQ(running(all, {8, 16, 32}), "vectors ") << "few rows";
  for (int64_t rows : {1, 16, 17, 64, 65}) {
    EXPECT_EQ(running(all, {8, rows, 64}), "vectors ") << rows;
    EXPECT_EQ(running(all, {8, rows, 65}), "single ") << rows;
  }
  EXPECT_EQ(running(all, {8, 17, 32}), "vectors ") << "which share tiles";
  EXPECT_EQ(running(all, {8, 64, 3}), "single ");
  EXPECT_EQ(running(all, {8, 65, 32}), "narrow ");
  EXPECT_EQ(running(all, {8, 1024, 64}), "vectors ");
  EXPECT_EQ(running(all, {8, 1025, 64}), "vectors parts single total ");
  EXPECT_EQ(running(all, {8, 1025, 65}), "single parts single total ");
  EXPECT_EQ(running(all, {8, 1025, 3}), "narrow parts narrow total ");
  EXPECT_EQ(running(all, {128, 1025, 64}), "vectors parts single total ");
  EXPECT_EQ(running(all, {129, 1025, 64}), "vectors ") << "blocks enough";
  EXPECT_EQ(running(all, {65, 1025, 65}), "single ");
}

TEST_F(ColumnsOfUnknownSize, KnownColumnsAreNarrowWhereTheyHaveNoVectors) {
  const std::vector<Plan> odd = plans("5", 2);
  EXPECT_EQ(running(odd, {8, 300}), "narrow ");
  EXPECT_EQ(running(odd, {8, 3000}), "narrow parts narrow total ");
  // A kernel of few rows says that it is none, where others of its function are.
  EXPECT_EQ(running(odd, {8, 2}), "single ");
  EXPECT_EQ(running(odd, {8, 64}), "single ") << "in tiles of several rows of columns";
  for (const Plan &plan : odd)
    EXPECT_TRUE(llvm::any_of(plan.choices, [](const auto &choice) { return choice.first == "narrow"; }));
  const std::vector<Plan> even = plans("6", 2);
  EXPECT_EQ(running(even, {8, 300}), "vectors ");
  EXPECT_EQ(running(even, {8, 3000}), "vectors parts single total ");
}

} // namespace
} // namespace tenon::compiler::codegen
