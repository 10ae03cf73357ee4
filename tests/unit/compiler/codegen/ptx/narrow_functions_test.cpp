// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/narrow_functions.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace tenon::compiler::codegen {
namespace {

using llvm::APFloat;

uint16_t rounded(long double exact) {
  // An f32 between the two, that says on which side of it the number is, does not round twice.
  float near = float(exact);
  if (near != exact && (llvm::bit_cast<uint32_t>(near) & 0xffff) == 0x8000)
    near = std::nextafter(near, exact > near ? INFINITY : -INFINITY);
  APFloat number(near);
  bool loses = false;
  number.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &loses);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

float wide(uint32_t bits) {
  return llvm::bit_cast<float>(bits << 16);
}

class NarrowFunctions : public KernelTextTest {
protected:
  /// The body of `operation` of a bf16, rewritten.
  mlir::func::FuncOp rewritten(const std::string &text) {
    auto function = parseFunction(text);
    mlir::RewritePatternSet patterns(&context_);
    addNarrowFunctions(patterns);
    EXPECT_TRUE(succeeded(mlir::applyPatternsGreedily(function, std::move(patterns))));
    return function;
  }
  mlir::func::FuncOp rewrittenOf(const std::string &type, const std::string &operation) {
    return rewritten("func.func @f(%x: " + type + ") -> " + type + " {\n%r = " + operation + " %x : " + type +
                     "\nreturn %r : " + type + "\n}");
  }

  /// What straight code of floats computes of a number.
  static float run(mlir::func::FuncOp function, float argument) {
    llvm::DenseMap<mlir::Value, float> values = {{function.getArgument(0), argument}};
    float last = NAN;
    for (mlir::Operation &op : function.getBody().front().without_terminator()) {
      auto of = [&](unsigned operand) { return values[op.getOperand(operand)]; };
      if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op))
        last = float(llvm::cast<mlir::FloatAttr>(constant.getValue()).getValueAsDouble());
      else if (llvm::isa<mlir::arith::MinimumFOp>(op))
        last = std::isnan(of(0)) ? of(0) : std::min(of(0), of(1));
      else if (llvm::isa<mlir::arith::MaximumFOp>(op))
        last = std::isnan(of(0)) ? of(0) : std::max(of(0), of(1));
      else if (llvm::isa<mlir::arith::ExtFOp>(op))
        last = of(0);
      else if (llvm::isa<mlir::arith::MulFOp>(op))
        last = of(0) * of(1);
      else if (llvm::isa<mlir::math::FmaOp>(op))
        last = std::fma(of(0), of(1), of(2));
      else if (llvm::isa<mlir::arith::TruncFOp>(op))
        last = wide(rounded(of(0)));
      else
        ADD_FAILURE() << op.getName().getStringRef().str();
      values[op.getResult(0)] = last;
    }
    return last;
  }

  void expectAllRight(const std::string &operation, long double (*exact)(long double)) {
    auto function = rewrittenOf("bf16", operation);
    unsigned wrong = 0;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float x = wide(bits), found = run(function, x);
      const bool isRight =
          std::isnan(x) ? std::isnan(found) : llvm::bit_cast<uint32_t>(found) >> 16 == rounded(exact(x));
      if (!isRight && ++wrong < 5)
        ADD_FAILURE() << operation << " of " << x << " is " << found;
    }
    EXPECT_EQ(wrong, 0u);
  }
};

TEST_F(NarrowFunctions, EveryNumberIsRoundedOnce) {
  expectAllRight("math.erf", std::erf);
  expectAllRight("math.tanh", std::tanh);
}

TEST_F(NarrowFunctions, OtherTypesStay) {
  for (const char *type : {"f16", "f32", "f64"})
    EXPECT_FALSE(rewrittenOf(type, "math.erf").getOps<mlir::math::ErfOp>().empty()) << type;
}

TEST_F(NarrowFunctions, WideOnesWhereOnlyWhatIsRoundedLeaves) {
  auto text = [](const std::string &result, const std::string &last) {
    return "func.func @f(%x: bf16) -> " + result + " {\n%w = arith.extf %x : bf16 to f32\n%r = math.erf %w : f32\n" +
           last + "}";
  };
  EXPECT_TRUE(rewritten(text("bf16", "%n = arith.truncf %r : f32 to bf16\nreturn %n : bf16\n"))
                  .getOps<mlir::math::ErfOp>()
                  .empty());
  EXPECT_FALSE(rewritten(text("f32", "return %r : f32\n")).getOps<mlir::math::ErfOp>().empty());
  EXPECT_FALSE(rewritten(text("f16", "%n = arith.truncf %r : f32 to f16\nreturn %n : f16\n"))
                   .getOps<mlir::math::ErfOp>()
                   .empty());
}

TEST_F(NarrowFunctions, QuotientsOfNarrowNumbersHaveNoBranch) {
  context_.loadDialect<mlir::LLVM::LLVMDialect>();
  auto isDivision = [&](const std::string &body) {
    auto function =
        parseFunction("func.func @f(%x: bf16, %y: bf16, %v: f32) -> bf16 {\n" + body + "return %q : bf16\n}");
    mlir::RewritePatternSet patterns(&context_);
    addNarrowDivisions(patterns);
    EXPECT_TRUE(succeeded(mlir::applyPatternsGreedily(function, std::move(patterns))));
    const bool isLeft = !function.getOps<mlir::arith::DivFOp>().empty();
    EXPECT_NE(isLeft, !function.getOps<mlir::LLVM::InlineAsmOp>().empty());
    return isLeft;
  };
  const std::string wide = "%a = arith.extf %x : bf16 to f32\n%b = arith.extf %y : bf16 to f32\n",
                    narrow = "%q = arith.truncf %r : f32 to bf16\n";
  EXPECT_FALSE(isDivision("%q = arith.divf %x, %y : bf16\n"));
  EXPECT_FALSE(isDivision(wide + "%r = arith.divf %a, %b : f32\n" + narrow));
  EXPECT_FALSE(isDivision(wide + "%c = arith.constant 1.0 : f32\n%r = arith.divf %c, %b : f32\n" + narrow));
  EXPECT_TRUE(isDivision(wide + "%r = arith.divf %a, %v : f32\n" + narrow)) << "f32 has more bits";
  EXPECT_TRUE(isDivision(wide + "%s = arith.divf %a, %b : f32\n%r = arith.mulf %s, %s : f32\n" + narrow));
}

} // namespace
} // namespace tenon::compiler::codegen
