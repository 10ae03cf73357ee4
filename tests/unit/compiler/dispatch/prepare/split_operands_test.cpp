// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/split_operands.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class SplitOperands : public KernelTextTest {
protected:
  /// The sum of `count` tensors in one body.
  static std::string sum(unsigned count, const std::string &tensor = "tensor<33xf32>") {
    std::string arguments, maps, operands, types, inside, body, last = "%b0";
    for (unsigned i = 0; i < count; ++i) {
      const std::string n = std::to_string(i), comma = i == 0 ? "" : ", ";
      arguments += comma + "%a" + n + ": " + tensor;
      operands += comma + "%a" + n;
      types += comma + tensor;
      maps += "affine_map<(i) -> (i)>, ";
      inside += "%b" + n + ": f32, ";
      if (i != 0)
        body += "%s" + n + " = arith.addf " + last + ", %b" + n + " : f32\n";
      if (i != 0)
        last = "%s" + n;
    }
    return "func.func @f(" + arguments + ", %e: " + tensor + ") -> " + tensor +
           " {\n%r = linalg.generic {indexing_maps = [" + maps +
           "affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(" + operands + " : " + types +
           ") outs(%e : " + tensor + ") {\n^bb0(" + inside + "%o: f32):\n" + body + "linalg.yield " + last +
           " : f32\n} -> " + tensor + "\nreturn %r : " + tensor + "\n}\n";
  }
  /// Operands of each operation afterwards.
  std::vector<unsigned> operandsOf(const std::string &text) {
    auto function = parseFunction(text);
    splitOperands(function);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module_)));
    std::vector<unsigned> found;
    for (auto op : function.getOps<mlir::linalg::GenericOp>())
      found.push_back(op->getNumOperands());
    return found;
  }
};

TEST_F(SplitOperands, WhatFitsAKernelStaysOne) {
  EXPECT_EQ(operandsOf(sum(20)), std::vector<unsigned>{21});
  EXPECT_EQ(operandsOf(sum(383)).size(), 1u);
}

TEST_F(SplitOperands, HundredsOfTensorsAreAddedInParts) {
  // 256 of them into one; that, the other 344, and what it is written over.
  EXPECT_EQ(operandsOf(sum(600)), (std::vector<unsigned>{257, 346}));
  for (unsigned operands : operandsOf(sum(2000)))
    EXPECT_LE(operands, 384u);
  EXPECT_EQ(operandsOf(sum(600, "tensor<?xf32>")).size(), 2u);
}

} // namespace
} // namespace tenon::compiler::dispatch
