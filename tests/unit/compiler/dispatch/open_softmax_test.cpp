// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/open_softmax.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

class OpenSoftmax : public KernelTextTest {
protected:
  /// How many numbers are exchanged for others in what a softmax of rows becomes.
  unsigned guards(bool hiddenIsZero, const std::string &element = "f32") {
    auto function = parseFunction("func.func @f(%a: tensor<8x16x" + element + ">, %e: tensor<8x16x" + element +
                                  ">) -> tensor<8x16x" + element + R"mlir(> {
      %0 = linalg.softmax dimension(1) ins(%a : tensor<8x16x)mlir" +
                                  element + ">) outs(%e : tensor<8x16x" + element + ">) -> tensor<8x16x" + element +
                                  ">\nreturn %0 : tensor<8x16x" + element + ">\n}");
    auto softmax = *function.getOps<mlir::linalg::SoftmaxOp>().begin();
    if (hiddenIsZero)
      softmax->setAttr(kHiddenIsZero, mlir::UnitAttr::get(&context_));
    EXPECT_TRUE(openSoftmax(softmax));
    EXPECT_TRUE(succeeded(mlir::verify(function))) << messages_;
    EXPECT_TRUE(function.getOps<mlir::linalg::SoftmaxOp>().empty());
    unsigned guards = 0;
    function.walk([&](mlir::arith::SelectOp) { ++guards; });
    return guards;
  }
};

TEST_F(OpenSoftmax, ARowThatIsHiddenIsZeroWhereTheProgramSaysSo) {
  EXPECT_EQ(guards(true), 2u); // a maximum of -inf, and a sum of 0
  EXPECT_EQ(guards(false), 0u);
  EXPECT_EQ(guards(true, "f64"), 2u);
}

} // namespace
} // namespace tenon::compiler::dispatch
