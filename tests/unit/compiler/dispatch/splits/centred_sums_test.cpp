// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/splits/centred_sums.h"

#include "compiler/dispatch/splits/split_reductions.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

class CentredSums : public KernelTextTest {
protected:
  /// Down the columns of x[rows, 8]: the sum of `summed`, a center made of it, and the sum of `contributed`, which may
  /// name %v, an element of x, and %c, the center.
  static std::string program(const std::string &rows, const std::string &summed, const std::string &contributed) {
    const std::string x = "tensor<" + rows + "x8xf32>";
    const std::string maps = "affine_map<(i, j) -> (i, j)>", row = "affine_map<(i, j) -> (j)>";
    return "func.func @f(%x: " + x +
           ") -> tensor<8xf32> {\n%z = arith.constant 0.0 : f32\n"
           "%n = arith.constant 100.0 : f32\n%e = tensor.empty() : tensor<8xf32>\n"
           "%s = linalg.fill ins(%z : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>\n"
           "%sum = linalg.generic {indexing_maps = [" +
           maps + ", " + row +
           "], "
           "iterator_types = [\"reduction\", \"parallel\"]} ins(%x : " +
           x +
           ") outs(%s : tensor<8xf32>) {\n"
           "^bb0(%v: f32, %o: f32):\n" +
           summed +
           "%t = arith.addf %o, %w : f32\nlinalg.yield %t : f32\n} -> tensor<8xf32>\n"
           "%mean = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], "
           "iterator_types = [\"parallel\"]} ins(%sum : tensor<8xf32>) outs(%e : tensor<8xf32>) {\n"
           "^bb0(%v: f32, %o: f32):\n%t = arith.divf %v, %n : f32\nlinalg.yield %t : f32\n} -> tensor<8xf32>\n"
           "%r = linalg.generic {indexing_maps = [" +
           maps + ", " + row + ", " + row +
           "], "
           "iterator_types = [\"reduction\", \"parallel\"]} ins(%x, %mean : " +
           x +
           ", tensor<8xf32>) "
           "outs(%s : tensor<8xf32>) {\n^bb0(%v: f32, %c: f32, %o: f32):\n" +
           contributed +
           "%t = arith.addf %o, %q : f32\nlinalg.yield %t : f32\n} -> tensor<8xf32>\n"
           "return %r : tensor<8xf32>\n}";
  }
  static constexpr const char *kSame = "%w = arith.addf %v, %z : f32\n";
  static constexpr const char *kSquare =
      "%w = arith.addf %v, %z : f32\n%d = arith.subf %w, %c : f32\n%q = arith.mulf %d, %d : f32\n";

  llvm::SmallVector<mlir::linalg::GenericOp> genericsOf(const std::string &text) {
    function_ = parseFunction(text);
    return llvm::to_vector(function_.getOps<mlir::linalg::GenericOp>());
  }
  mlir::func::FuncOp function_;
};

TEST_F(CentredSums, AVarianceIsOne) {
  auto ops = genericsOf(program("64", kSame, kSquare));
  const auto sum = centredSumOf(ops[2]);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->plain, ops[0]);
  EXPECT_EQ(sum->center->get(), ops[1]->getResult(0));
  EXPECT_FALSE(centredSumOf(ops[0]));
  EXPECT_FALSE(centredSumOf(ops[1]));
}

TEST_F(CentredSums, WhatIsSummedHasToBeTheSame) {
  EXPECT_FALSE(centredSumOf(genericsOf(program("64", "%w = arith.mulf %v, %v : f32\n", kSquare))[2]));
}

TEST_F(CentredSums, OnlySquaresAre) {
  const char *others[] = {"%d = arith.subf %v, %c : f32\n%q = math.absf %d : f32\n",
                          "%d = arith.subf %v, %c : f32\n%q = arith.mulf %d, %v : f32\n",
                          "%d = arith.subf %c, %v : f32\n%q = arith.mulf %d, %d : f32\n",
                          "%w = arith.mulf %v, %c : f32\n%d = arith.subf %w, %c : f32\n%q = arith.mulf %d, %d : f32\n"};
  for (const char *other : others)
    EXPECT_FALSE(centredSumOf(genericsOf(program("64", "%w = arith.addf %v, %z : f32\n", other))[2])) << other;
}

TEST_F(CentredSums, BothSumsHaveTheSameParts) {
  genericsOf(program("4096", kSame, kSquare));
  splitReductions(function_);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
  auto ops = llvm::to_vector(function_.getOps<mlir::linalg::GenericOp>());
  // The parts' sums, the sum, its mean; the parts' means and squares, the sum of those.
  ASSERT_EQ(ops.size(), 6u);
  const auto parts = llvm::cast<mlir::RankedTensorType>(ops[0]->getResult(0).getType());
  EXPECT_GT(parts.getDimSize(0), 1);
  EXPECT_EQ(ops[3].getDpsInputs()[0], ops[0]->getResult(0));
  EXPECT_EQ(ops[4]->getResult(0).getType(), parts);
  EXPECT_EQ(ops[4].getDpsInputs()[0], ops[0].getDpsInputs()[0]); // one view of x
  EXPECT_EQ(ops[4].getDpsInputs()[1], ops[3]->getResult(0));
  EXPECT_EQ(ops[5].getNumDpsInputs(), 3);
  // The parts are a variance again, of which one kernel is made.
  EXPECT_TRUE(centredSumOf(ops[4]));
}

} // namespace
} // namespace tenon::compiler::dispatch
