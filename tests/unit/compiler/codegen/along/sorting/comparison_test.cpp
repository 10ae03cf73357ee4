// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/comparison.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class ComparisonTest : public AlongTest {
protected:
  /// Of a sort of two operands, whose elements are %a and %b of the first, %c and %d of the second.
  std::optional<Comparison> compare(const std::string &type, const std::string &lines) {
    const std::string tensor = "tensor<8x" + type + ">";
    kernel_ =
        read({tensor, tensor},
             "sort dimension(0) outs(%x, %y : " + tensor + ", " + tensor + ") {\n^bb0(%a: " + type + ", %b: " + type +
                 ", %c: " + type + ", %d: " + type + "):\n" + lines + "\niree_linalg_ext.yield %s : i1\n}",
             {tensor, tensor});
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    return mlir::succeeded(kernel_) ? Comparison::of(kernel_->along.op->getRegion(0).front()) : std::nullopt;
  }
};

TEST_F(ComparisonTest, WhichWayAndOfWhat) {
  for (auto [predicate, operands, operand, isDescending] : {std::tuple("olt", "%a, %b", 0u, false),
                                                            {"uge", "%a, %b", 0u, true},
                                                            {"ogt", "%b, %a", 0u, false},
                                                            {"ole", "%d, %c", 1u, true}}) {
    auto found = compare("f32", std::string("%s = arith.cmpf ") + predicate + ", " + operands + " : f32");
    ASSERT_TRUE(found) << predicate;
    EXPECT_EQ(found->operand, operand) << predicate;
    EXPECT_EQ(found->isDescending, isDescending) << predicate;
    EXPECT_TRUE(found->type.isF32());
  }
  EXPECT_TRUE(compare("i16", "%s = arith.cmpi sge, %a, %b : i16")->isSigned);
  EXPECT_FALSE(compare("i16", "%s = arith.cmpi ult, %a, %b : i16")->isSigned);
}

TEST_F(ComparisonTest, AnythingElseIsNone) {
  EXPECT_FALSE(compare("f32", "%s = arith.cmpf oeq, %a, %b : f32"));
  EXPECT_FALSE(compare("f32", "%s = arith.cmpf olt, %a, %c : f32")); // of two operands
  EXPECT_FALSE(compare("f32", "%s = arith.cmpf olt, %a, %a : f32"));
  EXPECT_FALSE(compare("i32", "%s = arith.cmpi ne, %a, %b : i32"));
  EXPECT_FALSE(compare("i32", "%t = arith.addi %a, %c : i32\n%s = arith.cmpi slt, %t, %b : i32"));
}

} // namespace
} // namespace tenon::compiler::codegen
