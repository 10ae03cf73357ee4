// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/whole_or_parts.h"

#include "compiler/dispatch/forming/form_groups.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon::compiler::dispatch {
namespace {

class WholeOrPartsTest : public KernelTextTest {
protected:
  /// The sum of each channel of [batch, channels, positions], and a tenth of it.
  static std::string channelSums(const std::string &shape, const std::string &channels) {
    const std::string tensor = "tensor<" + shape + "xf32>", sums = "tensor<" + channels + "xf32>";
    return "func.func @f(%a: " + tensor + ", %s: " + sums + ") -> (" + sums + ", " + sums +
           ") {\n%r = linalg.generic {indexing_maps = [affine_map<(b, c, p) -> (b, c, p)>, affine_map<(b, c, p) -> "
           "(c)>], iterator_types = [\"reduction\", \"parallel\", \"reduction\"]} ins(%a : " +
           tensor + ") outs(%s : " + sums +
           ") {\n^bb0(%x: f32, %y: f32):\n%t = arith.addf %x, %y : f32\nlinalg.yield %t : f32\n} -> " + sums +
           "\n%q = linalg.generic {indexing_maps = [affine_map<(c) -> (c)>, affine_map<(c) -> (c)>], iterator_types = "
           "[\"parallel\"]} ins(%r : " +
           sums + ") outs(%s : " + sums +
           ") {\n^bb0(%x: f32, %y: f32):\n%k = arith.constant 0.1 : f32\n%t = arith.mulf %x, %k : f32\n"
           "linalg.yield %t : f32\n} -> " +
           sums + "\ncf.br ^next\n^next:\nreturn %r, %q : " + sums + ", " + sums + "\n}";
  }

  /// How many operations are of no form, of the parts and of the whole.
  std::array<int, 3> forms(const std::string &text) {
    auto function = parseFunction(text);
    forms_.copyGroups(function.front());
    splitReductions(function);
    forms_.markParts();
    EXPECT_TRUE(mlir::succeeded(module_->verify())) << messages_;
    std::array<int, 3> found = {};
    for (auto op : function.getOps<mlir::linalg::GenericOp>()) {
      auto form = op->getAttrOfType<mlir::DenseI64ArrayAttr>(kFormAttr);
      ++found[form ? size_t(1 + form[1]) : 0];
    }
    return found;
  }

  WholeOrParts forms_;
};

TEST_F(WholeOrPartsTest, AGroupOfUnknownSizeIsThereInTwoForms) {
  EXPECT_EQ(forms(channelSums("?x?x?", "?")),
            (std::array{0, 3, 2})); // parts, their sum and the tenth; both as they are
  auto function = *module_->getOps<mlir::func::FuncOp>().begin();
  unsigned choices = 0;
  for (auto select : function.getOps<mlir::arith::SelectOp>())
    choices += select->hasAttr(kEitherAttr);
  EXPECT_EQ(choices, 2u);
  for (mlir::Value result : function.getBody().back().getTerminator()->getOperands()) // which is in another block
    EXPECT_TRUE(result.getDefiningOp()->hasAttr(kEitherAttr));
}

TEST_F(WholeOrPartsTest, TheFormsAreTwoGroupsWithOppositeConditions) {
  forms(channelSums("?x?x?", "?"));
  auto function = *module_->getOps<mlir::func::FuncOp>().begin();
  const GroupedBlock grouped = formGroups(function.front());
  ASSERT_EQ(grouped.groups.size(), 3u);
  const auto parts = forms_.conditionOf(grouped.groups[0]), whole = forms_.conditionOf(grouped.groups[2]);
  ASSERT_TRUE(parts && whole);
  EXPECT_NE(parts->condition, whole->condition);
  EXPECT_TRUE(whole->longest);
  EXPECT_FALSE(parts->longest);
}

TEST_F(WholeOrPartsTest, PartsOfAllAreLongAndNotMany) {
  EXPECT_EQ(forms(R"(func.func @f(%x: tensor<?xf32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<f32>
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf32>) outs(%start : tensor<f32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<f32>
    return %sum : tensor<f32>
  })"),
            (std::array{0, 2, 1}));
  auto function = *module_->getOps<mlir::func::FuncOp>().begin();
  const GroupedBlock grouped = formGroups(function.front());
  ASSERT_EQ(grouped.groups.size(), 3u);
  const auto parts = forms_.conditionOf(grouped.groups[0]), sum = forms_.conditionOf(grouped.groups[1]);
  ASSERT_TRUE(parts && sum);
  EXPECT_EQ(parts->shortest, 4096);
  EXPECT_FALSE(parts->longest);
  EXPECT_EQ(sum->longest, 4096);
  EXPECT_EQ(sum->shortest, 0) << "of nothing there are no parts";
}

TEST_F(WholeOrPartsTest, WhatIsKnownToBePartsOrWholeHasOneForm) {
  EXPECT_EQ(forms(channelSums("16x2048x49", "2048"))[1], 0);
  EXPECT_EQ(forms(kRowSum), (std::array{1, 0, 0}));
}

} // namespace
} // namespace tenon::compiler::dispatch
