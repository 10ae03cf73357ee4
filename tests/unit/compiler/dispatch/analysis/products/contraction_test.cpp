// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/analysis/products/contraction.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include <utility>

namespace tenon::compiler::dispatch {
namespace {

class ContractionOf : public KernelTextTest {
protected:
  /// left[..], right[..] -> result[..] over loops d0..d3, of which `reduced` are; sums of products of f32.
  std::optional<Contraction> contraction(const std::string &left, const std::string &right, const std::string &result,
                                         const std::string &reduced,
                                         const std::string &product = "%p = arith.mulf %x, %y : f32") {
    // Every loop has four steps, so a dimension of two loops has seven places.
    auto type = [](const std::string &map) {
      std::string text = "tensor<", dimension = "4x";
      for (char c : map + ",") {
        if (c == '+')
          dimension = "7x";
        if (c == ',')
          text += std::exchange(dimension, "4x");
      }
      return text + "f32>";
    };
    auto map = [](const std::string &indices) { return "affine_map<(d0, d1, d2, d3) -> (" + indices + ")>"; };
    std::string iterators;
    for (int loop = 0; loop < 4; ++loop) {
      const bool isReduced = reduced.find(char('0' + loop)) != std::string::npos;
      iterators += std::string(loop ? ", " : "") + (isReduced ? "\"reduction\"" : "\"parallel\"");
    }
    return contractionOf(
        firstGeneric("func.func @f(%a: " + type(left) + ", %b: " + type(right) + ", %e: " + type(result) + ") -> " +
                     type(result) + " {\n%v = linalg.generic {indexing_maps = [" + map(left) + ", " + map(right) +
                     ", " + map(result) + "], iterator_types = [" + iterators + "]} ins(%a, %b : " + type(left) + ", " +
                     type(right) + ") outs(%e : " + type(result) + ") {\n^bb0(%x: f32, %y: f32, %s: f32):\n" + product +
                     "\n%r = arith.addf %s, %p : f32\nlinalg.yield %r : f32\n} -> " + type(result) +
                     "\nreturn %v : " + type(result) + "\n}"));
  }
};

using Loops = llvm::SmallVector<unsigned, 4>;

TEST_F(ContractionOf, SortsLoopsByTheSidesThatHaveThem) {
  const auto found = contraction("d0, d1, d3", "d0, d3, d2", "d0, d1, d2", "3");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->batch, Loops{0});
  EXPECT_EQ(found->rows, Loops{1});
  EXPECT_EQ(found->columns, Loops{2});
  EXPECT_EQ(found->reduced, Loops{3});
}

TEST_F(ContractionOf, ColumnsAreTheLastDimensionOfTheResult) {
  const auto found = contraction("d0, d1, d3", "d0, d3, d2", "d0, d2, d1", "3");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rows, Loops{2});
  EXPECT_EQ(found->columns, Loops{1});
  EXPECT_EQ(found->left.inputs.front(), 1u); // the sides are swapped
}

TEST_F(ContractionOf, TakesWindowsOfOneSide) {
  const auto found = contraction("d0 + d2, d3", "d2, d3, d1", "d0, d1", "23");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rows, Loops{0});
  EXPECT_EQ(found->columns, Loops{1});
  EXPECT_EQ(found->reduced, (Loops{2, 3}));
}

TEST_F(ContractionOf, IsNoReductionThatReadsEachElementOnce) {
  EXPECT_FALSE(contraction("d0, d1, d2, d3", "d0, d3", "d0, d1, d2", "3"));
}

TEST_F(ContractionOf, NeedsBothSidesOfAReducedLoop) {
  EXPECT_FALSE(contraction("d0, d1, d3", "d0, d2", "d0, d1, d2", "3"));
}

TEST_F(ContractionOf, NeedsAProduct) {
  EXPECT_FALSE(contraction("d0, d1, d3", "d0, d3, d2", "d0, d1, d2", "3", "%p = arith.subf %x, %y : f32"));
  EXPECT_FALSE(contraction("d0, d1, d3", "d0, d3, d2", "d0, d1, d2", "3", "%p = arith.maximumf %x, %y : f32"));
}

TEST_F(ContractionOf, ALoopThatChoosesTermsIsOneOfTheBatch) {
  auto terms = [&](const std::string &condition) {
    return contraction("d0 + d2, d3", "d1, d2, d3", "d0, d1", "23",
                       "%i = linalg.index 1 : index\n%t = linalg.index 2 : index\n%q = arith.mulf %x, %y : f32\n"
                       "%zero = arith.constant 0.0 : f32\n%one = arith.constant 1 : index\n"
                       "%c = " +
                           condition + "\n%p = arith.select %c, %q, %zero : f32");
  };
  EXPECT_FALSE(terms("arith.cmpi ne, %i, %t : index")) << "no step leads from place to place, and no column is left";
  EXPECT_FALSE(terms("arith.cmpi eq, %i, %one : index")) << "no reduced loop";
  const auto found = contraction("d0 + d2, d3", "d2, d3, d1", "d0, d1", "23");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->places.empty());
  EXPECT_TRUE(found->isSummedByAll(2));
}

/// A thread for each result is faster than tiles, but for sums of half precision, which tiles round once.
TEST_F(ContractionOf, ManyTinyMatricesAreNone) {
  auto isContraction = [&](const std::string &matrices, const std::string &size, const std::string &kind) {
    const std::string type = "tensor<" + matrices + "x" + size + "x" + size + "x" + kind + ">";
    return contractionOf(
               firstGeneric(
                   "func.func @f(%a: " + type + ", %b: " + type + ", %e: " + type + ") -> " + type +
                   " {\n%v = linalg.generic {indexing_maps = [affine_map<(n, i, j, k) -> (n, i, k)>, "
                   "affine_map<(n, i, j, k) -> (n, k, j)>, affine_map<(n, i, j, k) -> (n, i, j)>], iterator_types = "
                   "[\"parallel\", \"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b : " +
                   type + ", " + type + ") outs(%e : " + type + ") {\n^bb0(%x: " + kind + ", %y: " + kind +
                   ", %s: " + kind + "):\n%p = arith.mulf %x, %y : " + kind + "\n%r = arith.addf %s, %p : " + kind +
                   "\nlinalg.yield %r : " + kind + "\n} -> " + type + "\nreturn %v : " + type + "\n}"))
        .has_value();
  };
  EXPECT_FALSE(isContraction("300", "3", "f32"));
  EXPECT_FALSE(isContraction("300", "16", "f64"));
  EXPECT_FALSE(isContraction("?", "4", "f32"));
  EXPECT_TRUE(isContraction("300", "17", "f32"));
  EXPECT_TRUE(isContraction("40", "3", "f32"));
  EXPECT_TRUE(isContraction("300", "3", "bf16"));
}

class FewRowsOf : public KernelTextTest {
protected:
  /// a[rows, 128] times b[columns, 128], of `element`, in f32; or times what is computed from b.
  std::optional<Contraction> product(const std::string &rows, const std::string &columns, const std::string &element,
                                     bool isComputed = false) {
    const std::string left = "tensor<" + rows + "x128x" + element + ">",
                      right = "tensor<" + columns + "x128x" + element + ">",
                      result = "tensor<" + rows + "x" + columns + "xf32>";
    const std::string extend =
        element == "f32" ? ""
                         : "%z = arith.addf %y, %y : " + element + "\n%u = arith.extf %x : " + element +
                               " to f32\n%v = arith.extf " + (isComputed ? "%z" : "%y") + " : " + element + " to f32\n";
    return productOf(firstGeneric(
        "func.func @f(%a: " + left + ", %b: " + right + ", %e: " + result + ") -> " + result +
        " {\n%w = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, "
        "affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b "
        ": " +
        left + ", " + right + ") outs(%e : " + result + ") {\n^bb0(%x: " + element + ", %y: " + element +
        ", %s: f32):\n" + extend + "%p = arith.mulf " + (extend.empty() ? "%x, %y" : "%u, %v") +
        " : f32\n%r = arith.addf %s, %p : f32\nlinalg.yield %r : f32\n} -> " + result + "\nreturn %w : " + result +
        "\n}"));
  }
};

TEST_F(FewRowsOf, TheSmallerSideIsTheFew) {
  const auto rows = product("3", "500", "f32");
  ASSERT_TRUE(rows);
  const auto few = fewRowsOf(*rows);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->fewSize, 3);
  EXPECT_EQ(few->wideSize, 500);
  EXPECT_EQ(few->few, &rows->left);
  const auto columns = product("500", "3", "f32");
  ASSERT_TRUE(columns);
  const auto other = fewRowsOf(*columns);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->few, &columns->right);
}

TEST_F(FewRowsOf, TensorCoresTakeMoreOfThemWhereTheMatrixIsComputed) {
  const auto computed = product("64", "500", "bf16", /*isComputed=*/true);
  ASSERT_TRUE(computed);
  EXPECT_TRUE(isForTensorCores(*computed));
  EXPECT_TRUE(fewRowsOf(*computed));
  const auto read = product("64", "500", "bf16");
  ASSERT_TRUE(read);
  EXPECT_FALSE(fewRowsOf(*read));
  const auto few = product("16", "500", "bf16");
  ASSERT_TRUE(few);
  EXPECT_TRUE(fewRowsOf(*few));
  const auto exact = product("64", "500", "f32");
  ASSERT_TRUE(exact);
  EXPECT_FALSE(isForTensorCores(*exact));
  EXPECT_FALSE(fewRowsOf(*exact));
}

TEST_F(FewRowsOf, SmallProductsHaveMoreOfThem) {
  auto areFew = [&](const char *rows, const char *columns, const char *element) {
    const auto found = product(rows, columns, element);
    return found && fewRowsOf(*found).has_value();
  };
  EXPECT_TRUE(areFew("32", "2112", "bf16"));
  EXPECT_TRUE(areFew("17", "500", "f16"));
  EXPECT_FALSE(areFew("33", "500", "bf16"));
  EXPECT_FALSE(areFew("32", "2128", "bf16")) << "a second round of blocks";
  EXPECT_FALSE(areFew("500", "32", "bf16")) << "few columns";
  EXPECT_FALSE(areFew("32", "500", "f32"));
}

TEST_F(FewRowsOf, AreKnown) {
  const auto found = product("?", "500", "bf16");
  ASSERT_TRUE(found);
  EXPECT_FALSE(fewRowsOf(*found));
}

} // namespace
} // namespace tenon::compiler::dispatch
