// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/radix_items.h"

#include "tests/unit/compiler/codegen/along/plans.h"

namespace tenon::compiler::codegen {
namespace {

class RadixItemsTest : public AlongTest {
protected:
  /// What moves beside an f32 where so many other tensors are sorted with it, i16 all.
  RadixCargo cargo(unsigned others) {
    std::vector<std::string> tensors = {"tensor<700xf32>"};
    std::string names = "%x", types = tensors[0], arguments = "%a: f32, %b: f32";
    for (unsigned i = 0; i < others; ++i) {
      tensors.push_back("tensor<700xi16>");
      names += i == 0 ? ", %y" : ", %z";
      types += ", " + tensors.back();
      arguments += ", %a" + std::to_string(i) + ": i16, %b" + std::to_string(i) + ": i16";
    }
    auto kernel = read(tensors,
                       "sort dimension(0) outs(" + names + " : " + types + ") {\n^bb0(" + arguments +
                           "):\n%s = arith.cmpf olt, %a, %b : f32\niree_linalg_ext.yield %s : i1\n}",
                       tensors);
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    return RadixCargo::of(*kernel, 0, mlir::IntegerType::get(&context_, 32));
  }
};

TEST_F(RadixItemsTest, OneOtherMovesItselfAndOfSeveralThePlace) {
  EXPECT_FALSE(cargo(0).type);
  EXPECT_EQ(cargo(1).operand, 1u);
  EXPECT_TRUE(cargo(1).type.isInteger(16));
  EXPECT_FALSE(cargo(2).operand);
  EXPECT_TRUE(cargo(2).type.isInteger(32));
}

} // namespace
} // namespace tenon::compiler::codegen
