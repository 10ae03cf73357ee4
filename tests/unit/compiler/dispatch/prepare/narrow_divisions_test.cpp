// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/narrow_divisions.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tenon::compiler::dispatch {
namespace {

class NarrowDivisions : public KernelTextTest {
protected:
  /// Whether x / `divisor` of that type is a division still.
  bool isDivision(const std::string &type, const std::string &divisor) {
    auto function =
        parseFunction("func.func @f(%x: " + type + ") -> " + type + " {\n%c = arith.constant " + divisor + " : " +
                      type + "\n%r = arith.divf %x, %c : " + type + "\nreturn %r : " + type + "\n}");
    mlir::RewritePatternSet patterns(&context_);
    addNarrowDivisions(patterns);
    EXPECT_TRUE(succeeded(mlir::applyPatternsGreedily(function, std::move(patterns))));
    return !function.getOps<mlir::arith::DivFOp>().empty();
  }
};

TEST_F(NarrowDivisions, ThoseThatNoNumberTellsApartAreProducts) {
  for (const char *type : {"f16", "bf16"}) {
    EXPECT_FALSE(isDivision(type, "2.0"));
    EXPECT_FALSE(isDivision(type, "768.0")) << type;
    EXPECT_TRUE(isDivision(type, "0.0"));
  }
  EXPECT_TRUE(isDivision("f32", "2.0"));
}

TEST_F(NarrowDivisions, RootsOfConstantsAreConstants) {
  auto function = parseFunction("func.func @f() -> bf16 {\n%c = arith.constant 2.0 : bf16\n%r = math.sqrt %c : bf16\n"
                                "return %r : bf16\n}");
  mlir::RewritePatternSet patterns(&context_);
  addNarrowDivisions(patterns);
  EXPECT_TRUE(succeeded(mlir::applyPatternsGreedily(function, std::move(patterns))));
  auto root =
      (*function.getOps<mlir::func::ReturnOp>().begin())->getOperand(0).getDefiningOp<mlir::arith::ConstantOp>();
  ASSERT_TRUE(root);
  EXPECT_EQ(llvm::cast<mlir::FloatAttr>(root.getValue()).getValueAsDouble(), 1.4140625);
}

} // namespace
} // namespace tenon::compiler::dispatch
