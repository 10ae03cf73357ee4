// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/shared_heads.h"

#include "compiler/dispatch/attention/chain.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {
namespace {

// The gradient by values that GROUP heads share.
const char kByValues[] = R"mlir(
func.func @f(%q: tensor<2xGROUPx256x64xbf16>, %k: tensor<2x300x64xbf16>, %g: tensor<2xGROUPx256x64xbf16>) -> tensor<2x300x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2xGROUPx256x300xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2xGROUPx256x300xf32>) -> tensor<2xGROUPx256x300xf32>
  %en = tensor.empty() : tensor<2xGROUPx256x300xbf16>
  %eo = tensor.empty() : tensor<2x300x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x300x64xf32>) -> tensor<2x300x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, g, m, n, d) -> (b, g, m, d)>, affine_map<(b, g, m, n, d) -> (b, n, d)>, affine_map<(b, g, m, n, d) -> (b, g, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2xGROUPx256x64xbf16>, tensor<2x300x64xbf16>) outs(%fs : tensor<2xGROUPx256x300xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<2xGROUPx256x300xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(b, g, m, n) -> (b, g, m, n)>, affine_map<(b, g, m, n) -> (b, g, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<2xGROUPx256x300xf32>) outs(%en : tensor<2xGROUPx256x300xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %e = math.exp %x : f32
      %narrow = arith.truncf %e : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<2xGROUPx256x300xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(b, n, d, g, m) -> (b, g, m, n)>, affine_map<(b, n, d, g, m) -> (b, g, m, d)>, affine_map<(b, n, d, g, m) -> (b, n, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%w, %g : tensor<2xGROUPx256x300xbf16>, tensor<2xGROUPx256x64xbf16>) outs(%fo : tensor<2x300x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<2x300x64xf32>
  return %r : tensor<2x300x64xf32>
}
)mlir";

class SharedHeadsTest : public KernelTextTest {
protected:
  void split(const std::string &group) {
    std::string text = kByValues;
    for (size_t at = text.find("GROUP"); at != std::string::npos; at = text.find("GROUP", at))
      text.replace(at, 5, group);
    function_ = parseFunction(text);
    EXPECT_TRUE(hasSharedHeads(function_));
    EXPECT_TRUE(chainsOf(function_.front()).empty());
    splitSharedHeads(function_);
    eraseDeadOperations(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
  }
  mlir::func::FuncOp function_;
};

TEST_F(SharedHeadsTest, AddsUpASumForEachHead) {
  split("4");
  EXPECT_FALSE(hasSharedHeads(function_));
  const auto chains = chainsOf(function_.front());
  ASSERT_EQ(chains.size(), 1u);
  mlir::linalg::GenericOp parts = chains.front().output;
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(parts->getResult(0).getType()).getShape(),
            (llvm::ArrayRef<int64_t>{4, 2, 300, 64}));
  ASSERT_TRUE(parts->hasOneUse());
  auto sum = llvm::cast<mlir::linalg::GenericOp>(*parts->getUsers().begin());
  EXPECT_EQ(sum.getNumReductionLoops(), 1u);
}

} // namespace
} // namespace tenon::compiler::dispatch
