// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/sorted_scatters.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

class SortedScatters : public KernelTextTest {
protected:
  /// What a scatter of updates [count, 4] into [slices, 4] gets as inputs when all is done.
  linalg_ext::ScatterOp scatter(const std::string &count, const std::string &slices, const std::string &body,
                                const std::string &type = "f32", bool isUnique = false) {
    const std::string updates = "tensor<" + count + "x4x" + type + ">", whole = "tensor<" + slices + "x4x" + type + ">",
                      indices = "tensor<" + count + "x1xi64>";
    mlir::func::FuncOp function =
        parseFunction("func.func @f(%u: " + updates + ", %i: " + indices + ", %o: " + whole + ") -> " + whole +
                      " {\n%r = iree_linalg_ext.scatter dimension_map = [0] unique_indices(" +
                      (isUnique ? "true" : "false") + ") ins(%u, %i : " + updates + ", " + indices +
                      ") outs(%o : " + whole + ") {\n^bb0(%a: " + type + ", %b: " + type + "):\n" + body +
                      "\niree_linalg_ext.yield %s : " + type + "\n} -> " + whole + "\nreturn %r : " + whole + "\n}");
    sortScatters(function);
    EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
    return *function.getOps<linalg_ext::ScatterOp>().begin();
  }
  static bool isSorted(linalg_ext::ScatterOp scatter) { return scatter->hasAttr(linalg_ext::kSortedAttr); }
  static mlir::Type elementOf(linalg_ext::ScatterOp scatter, unsigned input) {
    return llvm::cast<mlir::RankedTensorType>(scatter.getInputs()[input].getType()).getElementType();
  }

  static constexpr const char *kSum = "%s = arith.addf %a, %b : f32";
};

TEST_F(SortedScatters, ManyFloatSumsAreSorted) {
  linalg_ext::ScatterOp many = scatter("8192", "100", kSum);
  EXPECT_TRUE(isSorted(many));
  ASSERT_EQ(many.getInputs().size(), 4u);
  EXPECT_TRUE(many.getInputs()[2].getDefiningOp<linalg_ext::SortOp>());
  EXPECT_FALSE(isSorted(scatter("8191", "100", kSum)));
  EXPECT_TRUE(isSorted(scatter("?", "100", kSum)));
}

// One number is that of no slice.
TEST_F(SortedScatters, KeysHaveAsManyBytesAsSlicesNeed) {
  EXPECT_TRUE(elementOf(scatter("9000", "65535", kSum), 2).isInteger(16));
  EXPECT_TRUE(elementOf(scatter("9000", "65536", kSum), 2).isInteger(32));
  EXPECT_TRUE(elementOf(scatter("9000", "4294967296", kSum), 2).isInteger(64));
  EXPECT_TRUE(elementOf(scatter("9000", "?", kSum), 2).isInteger(64));
  EXPECT_TRUE(elementOf(scatter("9000", "10", kSum), 3).isInteger(32));
  EXPECT_TRUE(elementOf(scatter("?", "10", kSum), 3).isInteger(64));
}

TEST_F(SortedScatters, WhatNeedsNoOrderOrNoPartsIsLeftAlone) {
  EXPECT_FALSE(isSorted(scatter("9000", "100", kSum, "f32", /*isUnique=*/true)));
  EXPECT_FALSE(isSorted(scatter("9000", "100", "%s = arith.addi %a, %b : i32", "i32"))); // atomics
  EXPECT_FALSE(isSorted(scatter("9000", "100", "%s = arith.subf %a, %b : f32")));        // not associative
  EXPECT_TRUE(isSorted(scatter("9000", "100", "%s = arith.addi %a, %b : i16", "i16")));
  EXPECT_TRUE(isSorted(scatter("9000", "100", "%s = arith.negf %a : f32")));
}

TEST_F(SortedScatters, SaysWhatTheRegionDoes) {
  EXPECT_TRUE(keepsTheLast(scatter("10", "100", "%s = arith.negf %a : f32")));
  EXPECT_FALSE(keepsTheLast(scatter("10", "100", kSum)));
  EXPECT_TRUE(combinesAtomically(scatter("10", "100", "%s = arith.maxsi %a, %b : i64", "i64")));
  EXPECT_FALSE(combinesAtomically(scatter("10", "100", "%s = arith.muli %a, %b : i64", "i64")));
  EXPECT_FALSE(combinesAtomically(scatter("10", "100", "%s = arith.addi %a, %b : i16", "i16")));
}

} // namespace
} // namespace tenon::compiler::dispatch
