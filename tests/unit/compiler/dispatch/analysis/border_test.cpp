// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/border.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

class BorderOf : public KernelTextTest {
protected:
  /// How the body, over loops of 16 x 10, reads %image, a tensor<14x10xf32>; it has %y and %x, their indices, and
  /// numbers %n0, %n1, %n2, %n13, %n14.
  std::optional<Border> border(const std::string &body, const std::string &zero = "0.0") {
    std::string numbers;
    for (const char *number : {"0", "1", "2", "12", "13", "14", "15"})
      numbers += std::string("%n") + number + " = arith.constant " + number + " : index\n";
    op_ = firstGeneric("func.func @f(%image: tensor<14x10xf32>, %o: tensor<16x10xf32>) -> tensor<16x10xf32> {\n" +
                       numbers + "%zero = arith.constant " + zero +
                       " : f32\n%r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], "
                       "iterator_types = [\"parallel\", \"parallel\"]} outs(%o : tensor<16x10xf32>) {\n^bb0(%s: f32):\n"
                       "%y = linalg.index 0 : index\n%x = linalg.index 1 : index\n" +
                       body + "\nlinalg.yield %v : f32\n} -> tensor<16x10xf32>\nreturn %r : tensor<16x10xf32>\n}");
    return borderOf(op_.getBody()->getTerminator()->getOperand(0), op_);
  }

  mlir::linalg::GenericOp op_;
};

constexpr const char *kPadded = "%p = arith.subi %y, %n1 : index\n%c = arith.cmpi ult, %p, %n14 : index\n"
                                "%l = arith.minsi %p, %n13 : index\n%q = arith.maxsi %l, %n0 : index\n"
                                "%e = tensor.extract %image[%q, %x] : tensor<14x10xf32>\n"
                                "%v = arith.select %c, %e, %zero : f32";

std::string with(std::string text, const std::string &what, const std::string &by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

TEST_F(BorderOf, AnImageWithZerosAroundIsReadByAMap) {
  const auto found = border(kPadded);
  ASSERT_TRUE(found);
  mlir::AffineExpr y, x;
  mlir::bindDims(op_.getContext(), y, x);
  EXPECT_EQ(found->map, mlir::AffineMap::get(2, 0, {y - 1, x}, op_.getContext()));
  EXPECT_EQ(found->mayLeave, (llvm::SmallVector<bool>{true, false}));
}

// Images of which it is unknown how many there are: each loop over them is one of a place, as it stands.
TEST_F(BorderOf, HowManyImagesThereAreMayBeUnknown) {
  auto border = [&](const std::string &image, const std::string &kind = "parallel") {
    const std::string result = kind == "parallel" ? "(n, y)" : "(y)", type = kind == "parallel" ? "?x16xf32" : "16xf32";
    op_ = firstGeneric(
        "func.func @f(%image: tensor<?x14xf32>, %all: tensor<?xf32>, %o: tensor<" + type + ">) -> tensor<" + type +
        "> {\n%n0 = arith.constant 0 : index\n%n1 = arith.constant 1 : index\n"
        "%n13 = arith.constant 13 : index\n%n14 = arith.constant 14 : index\n"
        "%zero = arith.constant 0.0 : f32\n%r = linalg.generic {indexing_maps = [affine_map<(n, y) -> (n)>, "
        "affine_map<(n, y) -> " +
        result + ">], iterator_types = [\"" + kind + "\", \"parallel\"]} ins(%all : tensor<?xf32>) outs(%o : tensor<" +
        type +
        ">) {\n^bb0(%a: f32, %s: f32):\n%n = linalg.index 0 : index\n%y = linalg.index 1 : index\n"
        "%p = arith.subi %y, %n1 : index\n%c = arith.cmpi ult, %p, %n14 : index\n"
        "%l = arith.minsi %p, %n13 : index\n%q = arith.maxsi %l, %n0 : index\n%m = arith.addi %n, %n1 : index\n"
        "%e = tensor.extract %image[" +
        image +
        ", %q] : tensor<?x14xf32>\n"
        "%v = arith.select %c, %e, %zero : f32\nlinalg.yield %v : f32\n} -> tensor<" +
        type + ">\nreturn %r : tensor<" + type + ">\n}");
    return borderOfUnknown(op_.getBody()->getTerminator()->getOperand(0), op_);
  };
  const auto found = border("%n");
  ASSERT_TRUE(found);
  mlir::AffineExpr n, y;
  mlir::bindDims(op_.getContext(), n, y);
  EXPECT_EQ(found->map, mlir::AffineMap::get(2, 0, {n, y - 1}, op_.getContext()));
  EXPECT_EQ(found->mayLeave, (llvm::SmallVector<bool>{false, true}));
  EXPECT_FALSE(borderOf(op_.getBody()->getTerminator()->getOperand(0), op_)) << "who asks for known sizes has none";
  EXPECT_FALSE(border("%m")) << "it may be behind the last image";
  EXPECT_FALSE(border("%n0"));
  EXPECT_FALSE(border("%n", "reduction"));
}

TEST_F(BorderOf, OtherNumbersThanZeroAreNone) {
  EXPECT_FALSE(border(kPadded, "1.0"));
  EXPECT_FALSE(border(kPadded, "-0.0"));
}

TEST_F(BorderOf, TheQuestionHasToBeThatOfTheImage) {
  EXPECT_FALSE(border(with(kPadded, "%p, %n14", "%p, %n13"))) << "a row of the image is zero";
  EXPECT_FALSE(border(with(kPadded, "%p, %n14", "%p, %n15"))) << "the last row is there twice";
  EXPECT_FALSE(border(with(kPadded, "%p, %n14", "%y, %n14"))) << "of another place";
  EXPECT_FALSE(border(with(kPadded, "ult", "slt"))) << "what is before the image is its first row";
  EXPECT_FALSE(border(with(kPadded, "ult", "uge")));
}

TEST_F(BorderOf, MoreQuestionsAreNone) {
  EXPECT_FALSE(border(with(kPadded, "%v = arith.select %c",
                           "%d = arith.cmpi ult, %x, %n13 : index\n%both = arith.andi %c, %d : i1\n"
                           "%v = arith.select %both")));
}

TEST_F(BorderOf, AClampMayChangeOnlyWhatLiesOutside) {
  EXPECT_FALSE(border(with(kPadded, "%p, %n13", "%p, %n12"))) << "the last row is the one before it";
  EXPECT_FALSE(border(with(kPadded, "%l, %n0", "%l, %n1"))) << "the first row is the next";
}

TEST_F(BorderOf, WithoutAQuestionEveryPlaceHasToBeInside) {
  EXPECT_FALSE(border(with(kPadded, "[%q, %x]", "[%x, %y]"))) << "rows of 16, of 10 columns";
}

TEST_F(BorderOf, WhatIsReadByAnExpressionThatDividesIsNone) {
  EXPECT_FALSE(border(with(kPadded, "arith.subi %y, %n1", "arith.divui %y, %n1")));
}

constexpr const char *kDilated = "%p = arith.subi %y, %n1 : index\n%d = arith.divui %p, %n2 : index\n"
                                 "%c = arith.cmpi ult, %d, %n14 : index\n%m = arith.remui %p, %n2 : index\n"
                                 "%g = arith.cmpi eq, %m, %n0 : index\n%both = arith.andi %c, %g : i1\n"
                                 "%l = arith.minsi %d, %n13 : index\n%q = arith.maxsi %l, %n0 : index\n"
                                 "%e = tensor.extract %image[%q, %x] : tensor<14x10xf32>\n"
                                 "%v = arith.select %both, %e, %zero : f32";

TEST_F(BorderOf, ZerosBetweenElementsAreADilatedImageAndNoBorder) {
  EXPECT_FALSE(border(kDilated));
  const auto found = dilatedImageOf(op_.getBody()->getTerminator()->getOperand(0), op_);
  ASSERT_TRUE(found);
  mlir::AffineExpr y, x;
  mlir::bindDims(op_.getContext(), y, x);
  EXPECT_EQ(found->map, mlir::AffineMap::get(2, 0, {y - 1, x}, op_.getContext()));
  EXPECT_EQ(found->steps, (llvm::SmallVector<int64_t>{2, 1}));
}

TEST_F(BorderOf, ElementsThatAreNotWhereTheyAreAskedForAreNoDilatedImage) {
  auto isNone = [&](const std::string &body) {
    EXPECT_FALSE(border(body));
    return !dilatedImageOf(op_.getBody()->getTerminator()->getOperand(0), op_);
  };
  EXPECT_TRUE(isNone(with(kDilated, "arith.remui %p, %n2", "arith.remui %p, %n12"))) << "every twelfth is asked for";
  EXPECT_TRUE(isNone(with(kDilated, "arith.remui %p", "arith.remui %y"))) << "of another place";
  EXPECT_TRUE(isNone(with(kDilated, "eq, %m, %n0", "eq, %m, %n1"))) << "what lies between is asked for";
  EXPECT_TRUE(isNone(with(kDilated, "select %both", "select %c"))) << "each element is there twice";
  EXPECT_TRUE(isNone(with(kDilated, "%d, %n14", "%d, %n13"))) << "the last one is zero";
}

TEST_F(BorderOf, TheOtherSideOfTheChoiceIsTheNumber) {
  EXPECT_FALSE(border(with(kPadded, "%e, %zero", "%zero, %e")));
}

TEST_F(BorderOf, ALoopOfOneStepIndexesTheImageLikeAnyOther) {
  op_ = firstGeneric(R"mlir(
func.func @f(%image: tensor<1x9xf32>, %w: tensor<3xf32>, %o: tensor<1x9xf32>) -> tensor<1x9xf32> {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(n, x, s) -> (s)>, affine_map<(n, x, s) -> (n, x)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%w : tensor<3xf32>) outs(%o : tensor<1x9xf32>) {
  ^bb0(%f: f32, %t: f32):
    %x = linalg.index 1 : index
    %s = linalg.index 2 : index
    %at = affine.apply affine_map<(x, s) -> (x + s)>(%x, %s)
    %p = arith.subi %at, %n1 : index
    %c = arith.cmpi ult, %p, %n9 : index
    %e = tensor.extract %image[%n0, %p] : tensor<1x9xf32>
    %v = arith.select %c, %e, %zero : f32
    %m = arith.mulf %v, %f : f32
    %u = arith.addf %t, %m : f32
    linalg.yield %u : f32
  } -> tensor<1x9xf32>
  return %r : tensor<1x9xf32>
})mlir");
  const auto found = borderOf((*op_.getBody()->getOps<mlir::arith::SelectOp>().begin()).getResult(), op_);
  ASSERT_TRUE(found);
  mlir::AffineExpr n, x, s;
  mlir::bindDims(op_.getContext(), n, x, s);
  EXPECT_EQ(found->map, mlir::AffineMap::get(3, 0, {n, x + s - 1}, op_.getContext()));
}

TEST(LinearExprOf, SumsHaveFactors) {
  mlir::MLIRContext context;
  mlir::AffineExpr a, b, c;
  mlir::bindDims(&context, a, b, c);
  const auto sum = LinearExpr::of(a * 2 + c * 3 - 1, 3);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->factors, (llvm::SmallVector<int64_t>{2, 0, 3}));
  EXPECT_EQ(sum->offset, -1);
  EXPECT_FALSE(LinearExpr::of(a.floorDiv(2), 3));
}

} // namespace
} // namespace tenon::compiler::dispatch
