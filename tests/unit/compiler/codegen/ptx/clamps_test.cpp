// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/clamps.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace tenon::compiler::codegen {
namespace {

/// What the instruction makes of two numbers: of +0 and -0 it takes +0 for the larger one.
float taken(mlir::Operation *op, float x, float y) {
  const bool isMax = llvm::isa<mlir::arith::MaximumFOp, mlir::arith::MaxNumFOp>(op),
             keepsNaN = llvm::isa<mlir::arith::MaximumFOp, mlir::arith::MinimumFOp>(op);
  if (std::isnan(x) || std::isnan(y))
    return keepsNaN || std::isnan(x) == std::isnan(y) ? NAN : std::isnan(x) ? y : x;
  if (x == y)
    return std::signbit(x) == isMax ? y : x;
  return (x > y) == isMax ? x : y;
}

bool holds(const std::string &predicate, float x, float y) {
  if (std::isnan(x) || std::isnan(y))
    return predicate[0] == 'u';
  const std::string of = predicate.substr(1);
  return of == "gt" ? x > y : of == "ge" ? x >= y : of == "lt" ? x < y : x <= y;
}

class Clamps : public KernelTextTest {
protected:
  /// What a choice becomes; null where it stays.
  mlir::Operation *clamped(const std::string &predicate, bool constantFirst, bool takesConstant,
                           const std::string &constant) {
    function_ =
        parseFunction("func.func @f(%x: f32) -> f32 {\n%c = arith.constant " + constant + " : f32\n%p = arith.cmpf " +
                      predicate + (constantFirst ? ", %c, %x" : ", %x, %c") + " : f32\n%r = arith.select %p, " +
                      (takesConstant ? "%c, %x" : "%x, %c") + " : f32\nreturn %r : f32\n}");
    mlir::RewritePatternSet patterns(&context_);
    addClamps(patterns);
    EXPECT_TRUE(succeeded(mlir::applyPatternsGreedily(function_, std::move(patterns))));
    mlir::Operation *made = function_.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
    return llvm::isa<mlir::arith::SelectOp>(made) ? nullptr : made;
  }
  mlir::func::FuncOp function_;
};

// Of all comparisons, with the constant on either side and taken on either side: where it becomes an instruction, that
// takes the number that the choice takes, and its sign.
TEST_F(Clamps, TakeWhatTheChoiceTakes) {
  unsigned made = 0;
  for (const char *predicate : {"ogt", "oge", "olt", "ole", "ugt", "uge", "ult", "ule"})
    for (bool constantFirst : {false, true})
      for (bool takesConstant : {false, true})
        for (const auto &[text, constant] :
             {std::pair("0.0", 0.0F), std::pair("-0.0", -0.0F), std::pair("6.0", 6.0F)}) {
          mlir::Operation *op = clamped(predicate, constantFirst, takesConstant, text);
          if (!op)
            continue;
          ++made;
          for (float x : {0.0F, -0.0F, 1.0F, -1.0F, 6.0F, 7.0F, INFINITY, -INFINITY, NAN}) {
            const bool first = holds(predicate, constantFirst ? constant : x, constantFirst ? x : constant);
            const float wanted = first == takesConstant ? constant : x, found = taken(op, x, constant);
            EXPECT_TRUE(std::isnan(wanted) ? std::isnan(found)
                                           : wanted == found && std::signbit(wanted) == std::signbit(found))
                << predicate << ' ' << constantFirst << takesConstant << ' ' << text << " of " << x;
          }
        }
  EXPECT_EQ(made, 64u); // of 96: half of those with a zero would take the other sign
}

TEST_F(Clamps, ARelu) {
  EXPECT_TRUE(llvm::isa_and_nonnull<mlir::arith::MaximumFOp>(clamped("ugt", false, false, "0.0")));
  EXPECT_TRUE(llvm::isa_and_nonnull<mlir::arith::MaxNumFOp>(clamped("ogt", false, false, "0.0")));
  EXPECT_FALSE(clamped("oeq", false, false, "0.0"));
}

} // namespace
} // namespace tenon::compiler::codegen
