// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/ragged_parts.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/IR/Matchers.h"

namespace tenon::compiler::dispatch {
namespace {

class RaggedParts : public KernelTextTest {
protected:
  /// A sum over the loops of `iterators` of a matrix of unknown size, read by (i, j) -> `read`.
  mlir::linalg::GenericOp sum(const std::string &read, const std::string &result, const std::string &first,
                              const std::string &second, const std::string &size = "?") {
    const std::string matrix = "tensor<" + size + "x3xf32>", row = "tensor<?xf32>";
    return firstGeneric("func.func @f(%a: " + matrix + ", %s: " + row + ") -> " + row + " {\n" +
                        "%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (" + read +
                        ")>, affine_map<(i, j) -> (" + result + ")>], iterator_types = [\"" + first + "\", \"" +
                        second + "\"]} ins(%a : " + matrix + ") outs(%s : " + row + ") {\n^bb0(%x: f32, %y: f32):\n" +
                        "%t = arith.addf %x, %y : f32\nlinalg.yield %t : f32\n} -> " + row + "\nreturn %r : " + row +
                        "\n}");
  }
};

TEST_F(RaggedParts, RowsOfTheTensorAreDivided) {
  EXPECT_EQ(raggedLoopOf(sum("i, j", "j", "reduction", "parallel")), 0u);
  EXPECT_EQ(raggedLoopOf(sum("j, i", "i", "parallel", "reduction")), 1u);
}

TEST_F(RaggedParts, WhatIsReducedInsideOfRowsIsNot) {
  EXPECT_FALSE(raggedLoopOf(sum("i, j", "i", "parallel", "reduction")));
}

TEST_F(RaggedParts, PartsAreEnoughBlocksAndNoShorterThanRowsAreWorth) {
  auto partsOf = [&](const std::string &rows, const RaggedLimits &limits) {
    auto op = sum("i, j", "j", "reduction", "parallel", rows);
    mlir::OpBuilder b(op);
    auto found = raggedParts(b, op, 0, limits);
    llvm::APInt parts, inPart;
    EXPECT_TRUE(mlir::matchPattern(found.parts, mlir::m_ConstantInt(&parts)));
    EXPECT_TRUE(mlir::matchPattern(found.inPart, mlir::m_ConstantInt(&inPart)));
    return std::pair(parts.getSExtValue(), inPart.getSExtValue());
  };
  const RaggedLimits limits{.enough = 192, .wanted = 256, .least = 256, .tile = 1};
  EXPECT_EQ(partsOf("100000", limits), (std::pair<int64_t, int64_t>(86, 1162))) << "three columns by 86 parts";
  EXPECT_EQ(partsOf("1000", limits), (std::pair<int64_t, int64_t>(3, 333))) << "a part has 256 rows and more";
  EXPECT_EQ(partsOf("200", limits), (std::pair<int64_t, int64_t>(1, 200)));
  EXPECT_EQ(partsOf("100000", {.enough = 3, .wanted = 256, .least = 256, .tile = 1}).first, 1) << "blocks are enough";
}

TEST_F(RaggedParts, OfSumsOverOuterAndInnerDimensionsTheOutermostLoopIsTakenApart) {
  EXPECT_EQ(wholeLoopOf(firstSum("(i)>], iterator_types = [\"parallel\", \"reduction\", \"reduction\"")), 1u);
  EXPECT_EQ(wholeLoopOf(firstSum("(k)>], iterator_types = [\"reduction\", \"reduction\", \"parallel\"")), 0u);
  auto all = firstGeneric(R"mlir(
    func.func @f(%a: tensor<?x?xf32>, %w: tensor<?xf32>, %s: tensor<f32>) -> tensor<f32> {
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
          affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
          ins(%a, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%s : tensor<f32>) {
        ^bb0(%x: f32, %v: f32, %y: f32):
          %p = arith.mulf %x, %v : f32
          %t = arith.addf %y, %p : f32
          linalg.yield %t : f32
      } -> tensor<f32>
      return %r : tensor<f32>
    })mlir");
  EXPECT_EQ(wholeLoopOf(all), 0u) << "rows that are no one vector";
}

} // namespace
} // namespace tenon::compiler::dispatch
