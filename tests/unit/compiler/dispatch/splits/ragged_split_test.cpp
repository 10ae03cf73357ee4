// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/ragged_split.h"

#include "compiler/dialect/flow/FlowOps.h"
#include "compiler/dispatch/splits/split_reductions.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class RaggedSplit : public KernelTextTest {
protected:
  /// A sum over the loops of `iterators` of a matrix of unknown size, read by (i, j) -> `read`.
  mlir::linalg::GenericOp sum(const std::string &read, const std::string &result, const std::string &first,
                              const std::string &second, const std::string &body = "%t = arith.addf %x, %y : f32") {
    return firstGeneric("func.func @f(%a: tensor<?x?xf32>, %s: tensor<?xf32>) -> tensor<?xf32> {\n"
                        "%r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (" +
                        read + ")>, affine_map<(i, j) -> (" + result + ")>], iterator_types = [\"" + first + "\", \"" +
                        second +
                        "\"]} ins(%a : tensor<?x?xf32>) outs(%s : tensor<?xf32>) {\n^bb0(%x: f32, %y: f32):\n" + body +
                        "\nlinalg.yield %t : f32\n} -> tensor<?xf32>\nreturn %r : tensor<?xf32>\n}");
  }
};

TEST_F(RaggedSplit, ABodyThatAsksForItsPlaceGetsThatOfTheWhole) {
  auto op = sum("i, j", "j", "reduction", "parallel",
                "%i = linalg.index 0 : index\n%c = arith.index_cast %i : index to i32\n"
                "%p = arith.sitofp %c : i32 to f32\n%q = arith.mulf %x, %p : f32\n%t = arith.addf %q, %y : f32");
  ASSERT_EQ(raggedLoopOf(op), 0u);
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  ASSERT_TRUE(splitRagged(op, 0, RaggedLimits{.enough = 192, .wanted = 256, .least = 256, .tile = 64}));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  ASSERT_EQ(ops.size(), 2u);
  // The part times its rows, and the row in it.
  std::vector<uint64_t> loops;
  ops[0].getBody()->walk([&](mlir::linalg::IndexOp index) { loops.push_back(index.getDim()); });
  EXPECT_EQ(loops, (std::vector<uint64_t>{0, 1}));
  // The row behind the parts has a place of its own.
  bool asks = false;
  ops[1].getBody()->walk([&](mlir::linalg::IndexOp index) { asks |= index.getDim() == 0; });
  EXPECT_TRUE(asks);
}

TEST_F(RaggedSplit, PartsAndTheRowsBehindThemAreTwoReductions) {
  auto op = sum("i, j", "j", "reduction", "parallel");
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  ASSERT_TRUE(splitRagged(op, 0, RaggedLimits{.enough = 192, .wanted = 256, .least = 256, .tile = 64}));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].getNumLoops(), 3u);
  EXPECT_TRUE(ops[0].getDpsInputs()[0].getDefiningOp<flow::TensorReshapeOp>());
  EXPECT_EQ(ops[1].getDpsInputs()[0], ops[0]->getResult(0));
}

TEST_F(RaggedSplit, RowsOfSumsOverOuterAndInnerDimensionsAreParts) {
  auto op = firstSum("(j)>], iterator_types = [\"reduction\", \"parallel\", \"reduction\"");
  ASSERT_EQ(wholeLoopOf(op), 0u);
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  std::optional<RaggedSum> sum = splitRagged(op, 0, std::nullopt);
  ASSERT_TRUE(sum && sum->isWhole);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
  auto ops = llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].getNumReductionLoops(), 1u);
  EXPECT_EQ(ops[0].getDpsInputs()[0], function.getArgument(0));
  EXPECT_EQ(ops[1].getDpsInputs()[0], ops[0]->getResult(0));
}

/// A mean and a variance over the first and the last dimension of x[?, ?, INNER], as splitReductions() leaves them.
class RaggedVariance : public KernelTextTest {
protected:
  llvm::SmallVector<mlir::linalg::GenericOp> split(const std::string &inner) {
    const std::string x = "tensor<?x?x" + inner + "xf32>", all = "affine_map<(i, j, k) -> (i, j, k)>",
                      row = "affine_map<(i, j, k) -> (j)>",
                      kinds = "iterator_types = [\"reduction\", \"parallel\", \"reduction\"]}";
    mlir::func::FuncOp function = parseFunction(
        "func.func @f(%x: " + x + ", %e: tensor<?xf32>) -> tensor<?xf32> {\n%z = arith.constant 0.0 : f32\n" +
        "%n = arith.constant 100.0 : f32\n" +
        "%s = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>\n" +
        "%sum = linalg.generic {indexing_maps = [" + all + ", " + row + "], " + kinds + " ins(%x : " + x +
        ") outs(%s : tensor<?xf32>) {\n^bb0(%v: f32, %o: f32):\n%t = arith.addf %o, %v : f32\n" +
        "linalg.yield %t : f32\n} -> tensor<?xf32>\n" +
        "%mean = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], " +
        "iterator_types = [\"parallel\"]} ins(%sum : tensor<?xf32>) outs(%e : tensor<?xf32>) {\n" +
        "^bb0(%v: f32, %o: f32):\n%t = arith.divf %v, %n : f32\nlinalg.yield %t : f32\n} -> tensor<?xf32>\n" +
        "%r = linalg.generic {indexing_maps = [" + all + ", " + row + ", " + row + "], " + kinds +
        " ins(%x, %mean : " + x + ", tensor<?xf32>) outs(%s : tensor<?xf32>) {\n^bb0(%v: f32, %c: f32, %o: f32):\n" +
        "%d = arith.subf %v, %c : f32\n%q = arith.mulf %d, %d : f32\n%t = arith.addf %o, %q : f32\n" +
        "linalg.yield %t : f32\n} -> tensor<?xf32>\nreturn %r : tensor<?xf32>\n}");
    splitReductions(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
    return llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  }
  static size_t selectsOf(mlir::linalg::GenericOp op) {
    return size_t(llvm::range_size(op.getBody()->getOps<mlir::arith::SelectOp>()));
  }
};

TEST_F(RaggedVariance, APartThatMayHaveNoElementIsAskedForThem) {
  auto ops = split("?");
  ASSERT_GT(ops.size(), 3u);
  EXPECT_EQ(selectsOf(ops.back()), 1u);
}

TEST_F(RaggedVariance, APartThatHasElementsIsNot) {
  auto ops = split("33");
  ASSERT_GT(ops.size(), 3u);
  EXPECT_EQ(selectsOf(ops.back()), 0u);
}

} // namespace
} // namespace tenon::compiler::dispatch
