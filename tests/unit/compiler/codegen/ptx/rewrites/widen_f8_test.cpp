// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/widen_f8.h"

#include "compiler/codegen/generate_ptx.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class WidenF8 : public KernelTest {
protected:
  static std::string text(const std::string &f8, const std::string &wide, int elements = 1) {
    return "func.func @k(%a: tensor<64xi8>) -> (tensor<64x" + wide +
           ">) attributes {tenon.elements_per_thread = " + std::to_string(elements) +
           " : i64} {\n%e = tensor.empty() : tensor<64x" + wide +
           ">\n%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = "
           "[\"parallel\"]} ins(%a : tensor<64xi8>) outs(%e : tensor<64x" +
           wide + ">) {\n^bb0(%x: i8, %o: " + wide + "):\n%f = arith.bitcast %x : i8 to " + f8 +
           "\n%w = arith.extf %f : " + f8 + " to " + wide + "\nlinalg.yield %w : " + wide + "\n} -> tensor<64x" + wide +
           ">\nreturn %r : tensor<64x" + wide + ">\n}\n";
  }
  std::string ptxOf(const std::string &source, abi::TargetArch arch) {
    mlir::ModuleOp module = parse(source);
    auto lowered = lowerKernels(module, arch, {});
    EXPECT_TRUE(mlir::succeeded(lowered)) << messages_;
    if (mlir::failed(lowered))
      return {};
    auto ptx = emitPtx(**lowered, arch, {});
    EXPECT_TRUE(mlir::succeeded(ptx)) << messages_;
    return mlir::succeeded(ptx) ? *ptx : std::string();
  }
};

TEST_F(WidenF8, TargetsWithInstructionsConvert) {
  for (const char *wide : {"f32", "f64", "f16", "bf16"}) {
    EXPECT_NE(ptxOf(text("f8E4M3FN", wide), {89}).find("cvt.rn.f16x2.e4m3x2"), std::string::npos) << wide;
    EXPECT_NE(ptxOf(text("f8E5M2", wide), {90}).find("cvt.rn.f16x2.e5m2x2"), std::string::npos) << wide;
    EXPECT_EQ(ptxOf(text("f8E4M3FN", wide), {80}).find("e4m3"), std::string::npos) << wide;
  }
}

TEST_F(WidenF8, ElementsSideBySideAreConvertedTogether) {
  const std::string ptx = ptxOf(text("f8E4M3FN", "f16", 8), {90});
  size_t conversions = 0;
  for (size_t at = ptx.find("cvt.rn.f16x2"); at != std::string::npos; at = ptx.find("cvt.rn.f16x2", at + 1))
    ++conversions;
  EXPECT_EQ(conversions, 4u + 1u) << ptx; // of a vector of eight, and of one that lies behind the last of these
}

TEST_F(WidenF8, OnlyTargetsWithInstructionsNeedALaterIsa) {
  EXPECT_NE(ptxOf(text("f8E4M3FN", "f32"), {89}).find(".version 8.4"), std::string::npos);
  EXPECT_NE(ptxOf(text("f8E4M3FN", "f32"), {80}).find(".version 7.0"), std::string::npos);
}

TEST_F(WidenF8, TargetsWithAndWithoutInstructionsAreVariants) {
  mlir::ModuleOp module = parse(text("f8E4M3FN", "f32"));
  EXPECT_NE(kernelVariantFor(module, {80}), kernelVariantFor(module, {89}));
  EXPECT_EQ(kernelVariantFor(module, {89}), kernelVariantFor(module, {120}));
}

} // namespace
} // namespace tenon::compiler::codegen
