// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/hoist_vectors.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace tenon::compiler::dispatch {
namespace {

class HoistVectors : public KernelTextTest {
protected:
  /// y[i, j] of x[i, j] and a vector by `map`: computed here, or an argument. `body` gives %r of %a and %b.
  llvm::SmallVector<mlir::linalg::GenericOp> hoisted(const std::string &map, bool isComputed, const std::string &body) {
    auto function = parseFunction(
        "func.func @f(%x: tensor<16x16xf32>, %p: tensor<16xf32>) -> tensor<16x16xf32> {\n"
        "%e = tensor.empty() : tensor<16xf32>\n%one = arith.constant 1.0 : f32\n"
        "%v = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = "
        "[\"parallel\"]} ins(%p : tensor<16xf32>) outs(%e : tensor<16xf32>) {\n^bb0(%a: f32, %o: f32):\n"
        "%r = arith.addf %a, %one : f32\nlinalg.yield %r : f32\n} -> tensor<16xf32>\n"
        "%m = tensor.empty() : tensor<16x16xf32>\n"
        "%y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> " +
        map + ">, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%x, " +
        (isComputed ? "%v" : "%p") +
        " : tensor<16x16xf32>, tensor<16xf32>) outs(%m : tensor<16x16xf32>) {\n"
        "^bb0(%a: f32, %b: f32, %o: f32):\n" +
        body +
        "linalg.yield %r : f32\n} -> tensor<16x16xf32>\n"
        "return %y : tensor<16x16xf32>\n}");
    hoistVectors(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_))) << messages_;
    return llvm::to_vector(function.getOps<mlir::linalg::GenericOp>());
  }
  static bool hasMath(mlir::linalg::GenericOp op) { return !op.getBody()->getOps<mlir::math::RsqrtOp>().empty(); }
  static constexpr const char *kRoot =
      "%s = arith.addf %b, %one : f32\n%q = math.rsqrt %s : f32\n%r = arith.mulf %a, %q : f32\n";
};

TEST_F(HoistVectors, ARootOfAVectorIsAVector) {
  auto ops = hoisted("(j)", /*isComputed=*/true, kRoot);
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_TRUE(hasMath(ops[1]));
  EXPECT_EQ(ops[1].getNumLoops(), 1u);
  EXPECT_FALSE(hasMath(ops[2]));
  EXPECT_EQ(ops[2].getNumDpsInputs(), 2); // the vector itself is not read any more
}

TEST_F(HoistVectors, WhatIsStillReadStays) {
  auto ops =
      hoisted("(j)", true, "%q = math.rsqrt %b : f32\n%d = arith.subf %a, %b : f32\n%r = arith.mulf %d, %q : f32\n");
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[2].getNumDpsInputs(), 3);
}

TEST_F(HoistVectors, OthersStayWhereTheyAre) {
  EXPECT_EQ(hoisted("(i)", true, kRoot).size(), 2u);  // the same for a whole row
  EXPECT_EQ(hoisted("(j)", false, kRoot).size(), 2u); // nobody computes it: a kernel of its own
  EXPECT_EQ(hoisted("(j)", true, "%s = arith.addf %b, %one : f32\n%r = arith.mulf %a, %s : f32\n").size(), 2u); // cheap
}

} // namespace
} // namespace tenon::compiler::dispatch
