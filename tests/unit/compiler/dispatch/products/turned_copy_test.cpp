// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/products/turned_copy.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class TurnedCopy : public KernelTextTest {
protected:
  /// x(i, k) * t(k, j), where t is a copy of w, j by k, read by (k, j) -> `read`. The operand that reads t.
  mlir::OpOperand &factor(const std::string &type, const std::string &depth, const std::string &read = "j, k") {
    const std::string x = "tensor<200x" + depth + "x" + type + ">", t = "tensor<" + depth + "x96x" + type + ">",
                      w = read == "j, k" ? "tensor<96x" + depth + "x" + type + ">" : t, y = "tensor<200x96xf32>",
                      widen = type == "f32" ? ""
                                            : "%c = arith.extf %a : " + type + " to f32\n%d = arith.extf %b : " + type +
                                                  " to f32\n",
                      product = type == "f32" ? "arith.mulf %a, %b" : "arith.mulf %c, %d";
    auto sum = firstGeneric(
        "func.func @f(%x: " + x + ", %w: " + w + ", %e: " + t + ", %s: " + y + ") -> " + y + " {\n" +
        "%t = linalg.generic {indexing_maps = [affine_map<(k, j) -> (" + read + ")>, affine_map<(k, j) -> (k, j)>], " +
        "iterator_types = [\"parallel\", \"parallel\"]} ins(%w : " + w + ") outs(%e : " + t + ") {\n^bb0(%a: " + type +
        ", %b: " + type + "):\nlinalg.yield %a : " + type + "\n} -> " + t + "\n" +
        "%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, " +
        "affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%x, %t "
        ": " +
        x + ", " + t + ") outs(%s : " + y + ") {\n^bb0(%a: " + type + ", %b: " + type + ", %o: f32):\n" + widen +
        "%m = " + product + " : f32\n%n = arith.addf %o, %m : f32\nlinalg.yield %n : f32\n} -> " + y +
        "\nreturn %r : " + y + "\n}\n");
    auto reader = mlir::cast<mlir::linalg::GenericOp>(*sum->user_begin());
    return *reader.getDpsInputOperand(1);
  }
};

TEST_F(TurnedCopy, IsOneWhoseOtherElementsAreAdjacent) {
  EXPECT_TRUE(turnedCopyOf(factor("bf16", "64")));
  EXPECT_FALSE(turnedCopyOf(factor("bf16", "64", "k, j"))) << "the same order";
}

TEST_F(TurnedCopy, TensorCoresReadNarrowMatricesEitherWay) {
  EXPECT_TRUE(readsEitherWay(factor("bf16", "64")));
  EXPECT_TRUE(readsEitherWay(factor("f16", "64")));
  EXPECT_FALSE(readsEitherWay(factor("bf16", "63"))) << "rows are no whole vectors";
  EXPECT_FALSE(readsEitherWay(factor("f32", "64"))) << "of many rows f32 have tiles that want one side along";
}

} // namespace
} // namespace tenon::compiler::dispatch
