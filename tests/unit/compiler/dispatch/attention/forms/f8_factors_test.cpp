// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/forms/f8_factors.h"

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::compiler::dispatch {
namespace {

class F8FactorsTest : public KernelTextTest {
protected:
  /// @param left of the body, from %a to %x
  mlir::linalg::GenericOp product(const std::string &type, const std::string &left) {
    std::string text = R"mlir(
func.func @f(%q: tensor<40x64xTYPE>, %k: tensor<50x64xi8>) -> tensor<40x50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x50xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40x50xf32>) -> tensor<40x50xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<40x64xTYPE>, tensor<50x64xi8>) outs(%f : tensor<40x50xf32>) {
    ^bb0(%a: TYPE, %b: i8, %c: f32):
      LEFT
      %b8 = arith.bitcast %b : i8 to f8E4M3FN
      %y = arith.extf %b8 : f8E4M3FN to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<40x50xf32>
  return %s : tensor<40x50xf32>
}
)mlir";
    for (const auto &[what, with] : {std::pair<std::string, std::string>{"LEFT", left}, {"TYPE", type}})
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    function_ = parseFunction(text);
    return *function_.front().getOps<mlir::linalg::GenericOp>().begin();
  }
  /// How both sides are multiplied.
  static std::pair<bool, bool> areHalves(mlir::linalg::GenericOp op) {
    const auto form = contractionOf(op);
    EXPECT_TRUE(form);
    return {factorTypeOf(form->left.value).isF16(), factorTypeOf(form->right.value).isF16()};
  }
  mlir::func::FuncOp function_;
};

TEST_F(F8FactorsTest, WidensFactorsOfAProduct) {
  mlir::linalg::GenericOp op =
      product("i8", "%a8 = arith.bitcast %a : i8 to f8E5M2\n%x = arith.extf %a8 : f8E5M2 to f32");
  EXPECT_EQ(areHalves(op), std::pair(false, false));
  widenFactors(op);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
  EXPECT_EQ(areHalves(op), std::pair(true, true));
}

TEST_F(F8FactorsTest, StoresWidenedFactors) {
  mlir::linalg::GenericOp op =
      product("i8", "%a8 = arith.bitcast %a : i8 to f8E5M2\n%x = arith.extf %a8 : f8E5M2 to f32");
  storeWidened(op);
  EXPECT_FALSE(op.getDpsInputs()[0].getDefiningOp()) << "nothing is widened yet";
  widenFactors(op);
  storeWidened(op);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
  EXPECT_EQ(areHalves(op), std::pair(true, true));
  for (mlir::Value factor : op.getDpsInputs()) {
    ASSERT_TRUE(factor.getDefiningOp());
    EXPECT_TRUE(factor.getDefiningOp()->hasAttr(kStoredAttr));
    EXPECT_TRUE(mlir::getElementTypeOrSelf(factor.getType()).isF16());
  }
}

TEST_F(F8FactorsTest, WeighsValues) {
  for (const char *left :
       {"%x = arith.addf %a, %zero_ : f32", "%n = arith.truncf %a : f32 to bf16\n%x = arith.extf %n : bf16 to f32",
        "%n = arith.truncf %a : f32 to f8E4M3FN\n%x = arith.extf %n : f8E4M3FN to f32"}) {
    const bool isPlain = !llvm::StringRef(left).contains("addf");
    mlir::linalg::GenericOp op =
        product("f32", isPlain ? left : "%zero_ = arith.constant 1.0 : f32\n" + std::string(left));
    widenWeighted(op, 0);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    EXPECT_EQ(areHalves(op), std::pair(isPlain, isPlain)) << left;
  }
}

} // namespace
} // namespace tenon::compiler::dispatch
