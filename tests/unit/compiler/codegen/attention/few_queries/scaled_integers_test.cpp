// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values are integers whose scales tensor cores need not multiply.
#include "compiler/codegen/attention/few_queries/scaled_integers.h"

#include "tests/unit/compiler/codegen/attention/attention_kernel_test.h"

namespace tenon::compiler::codegen {
namespace {

class ScaledIntegersTest : public AttentionKernelTest {
protected:
  /// Values of i8, with scales whose dimensions are said; `product`: what is rounded.
  void read(const std::string &scale, const std::string &narrow = "bf16",
            const std::string &product = "arith.mulf %w, %s : f32") {
    const std::string text = R"mlir(
MAPS
func.func @k(%q: tensor<2x4x64xf16>, %k: tensor<2x96x64xf16>, %v: tensor<2x96x64xi8>, %vs: tensor<2x96x64xf32>) -> tensor<2x4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x4x96xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x4x96xf32>) -> tensor<2x4x96xf32>
  %eo = tensor.empty() : tensor<2x4x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x4x64xf32>) -> tensor<2x4x64xf32>
  %0 = linalg.generic {indexing_maps = [#bmk, #bnk, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x4x64xf16>, tensor<2x96x64xf16>) outs(%fs : tensor<2x4x96xf32>) {
    MULTIPLY
  } -> tensor<2x4x96xf32>
  %1 = linalg.softmax dimension(2) ins(%0 : tensor<2x4x96xf32>) outs(%es : tensor<2x4x96xf32>) -> tensor<2x4x96xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(b, m, e, n) -> (b, m, n)>, affine_map<(b, m, e, n) -> (b, n, e)>,
                                        affine_map<(b, m, e, n) -> (SCALE)>, affine_map<(b, m, e, n) -> (b, m, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%1, %v, %vs : tensor<2x4x96xf32>, tensor<2x96x64xi8>, tensor<2x96x64xf32>) outs(%fo : tensor<2x4x64xf32>) {
    ^bb0(%a: f32, %i: i8, %s: f32, %c: f32):
      %w = arith.sitofp %i : i8 to f32
      %m = PRODUCT
      %h = arith.truncf %m : f32 to NARROW
      %g = arith.truncf %a : f32 to NARROW
      %x = arith.extf %g : NARROW to f32
      %y = arith.extf %h : NARROW to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x4x64xf32>
  return %2 : tensor<2x4x64xf32>
}
)mlir";
    readKernel(text, {{"SCALE", scale}, {"NARROW", narrow}, {"PRODUCT", product}});
  }
  std::optional<ScaledIntegers> found() { return ScaledIntegers::of(*shape_, attention_->output); }
};

TEST_F(ScaledIntegersTest, FindsAScaleForEachKey) {
  for (const char *product : {"arith.mulf %w, %s : f32", "arith.mulf %s, %w : f32"}) {
    read("b, n, 0", "bf16", product);
    ASSERT_TRUE(found().has_value());
    const Operand &values = attention_->output.right;
    EXPECT_TRUE(values.inputs[found()->integers].input->tensor.element.isInteger(8));
    EXPECT_TRUE(values.inputs[found()->scale].input->tensor.element.isF32());
  }
}

TEST_F(ScaledIntegersTest, LeavesAloneScalesOfColumns) {
  for (const char *scale : {"b, n, e", "b, 0, e"}) {
    read(scale);
    EXPECT_FALSE(found().has_value()) << scale;
  }
}

TEST_F(ScaledIntegersTest, TakesNoOtherTypeAndNoOtherComputation) {
  read("b, n, 0", "f16"); // whose range a weight times a scale may leave
  EXPECT_FALSE(found().has_value());
  read("b, n, 0", "bf16", "arith.subf %w, %s : f32");
  EXPECT_FALSE(found().has_value());
}

} // namespace
} // namespace tenon::compiler::codegen
