// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An attention, and what a training step reads of it: logarithms of sums, weights, sums of weights times gradients.
#pragma once

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {

/// A function of 2 x 256 queries and 320 keys of depth 64. `behind` stands behind its last product %o and may read the
/// largest logits %m, the sums %t, exponentials %p, weights %w and what is given, %g; `results` and `types` are what it
/// returns.
inline std::string trainingText(const std::string &behind, const std::string &results, const std::string &types,
                                const std::string &before = "") {
  return R"mlir(
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
#same = affine_map<(b, m) -> (b, m)>
#turned = affine_map<(b, m) -> (m, b)>
func.func @f(%q: tensor<2x256x64xbf16>, %k: tensor<2x320x64xbf16>, %v: tensor<2x320x64xbf16>, %g: tensor<2x256x64xbf16>) -> ()mlir" +
         types + R"mlir() {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<2x256x320xf32>
  %en = tensor.empty() : tensor<2x256x320xbf16>
  %er = tensor.empty() : tensor<2x256xf32>
  %eo = tensor.empty() : tensor<2x256x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x256x320xf32>) -> tensor<2x256x320xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<2x256xf32>) -> tensor<2x256xf32>
  %fl = linalg.fill ins(%least : f32) outs(%er : tensor<2x256xf32>) -> tensor<2x256xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<2x256x64xbf16>, tensor<2x320x64xbf16>)
      outs(%fs : tensor<2x256x320xf32>) -> tensor<2x256x320xf32>
  %m = linalg.reduce {arith.maximumf} ins(%s : tensor<2x256x320xf32>) outs(%fl : tensor<2x256xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<2x256x320xf32>, tensor<2x256xf32>) outs(%es : tensor<2x256x320xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      linalg.yield %e : f32
  } -> tensor<2x256x320xf32>
  %t = linalg.reduce {arith.addf} ins(%p : tensor<2x256x320xf32>) outs(%fz : tensor<2x256xf32>) dimensions = [2]
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<2x256x320xf32>, tensor<2x256xf32>) outs(%es : tensor<2x256x320xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %e = arith.divf %x, %y : f32
      linalg.yield %e : f32
  } -> tensor<2x256x320xf32>
  %wn = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<2x256x320xf32>) outs(%en : tensor<2x256x320xbf16>) {
    ^bb0(%x: f32, %unused: bf16):
      %e = arith.truncf %x : f32 to bf16
      linalg.yield %e : bf16
  } -> tensor<2x256x320xbf16>
)mlir" + before +
         R"mlir(
  %o = linalg.batch_matmul ins(%wn, %v : tensor<2x256x320xbf16>, tensor<2x320x64xbf16>) outs(%fo : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
)mlir" + behind +
         "  return " + results + " : " + types + "\n}\n";
}

/// The logarithm of the sum as %lse, of `x` and `y` computed from %m and %t.
inline std::string logarithmText(const std::string &body, const std::string &result, const std::string &map = "#same",
                                 const std::string &type = "tensor<2x256xf32>") {
  return "  %el = tensor.empty() : " + type + "\n  %lse = linalg.generic {indexing_maps = [#same, #same, " + map +
         "], iterator_types = [\"parallel\", \"parallel\"]} ins(%m, %t : tensor<2x256xf32>, tensor<2x256xf32>)\n      "
         "outs(%el : " +
         type + ") {\n    ^bb0(%x: f32, %y: f32, %unused: f32):\n" + body + "      linalg.yield " + result +
         " : f32\n  } -> " + type + "\n";
}

inline const char kLogarithm[] = "      %l = math.log %y : f32\n      %r = arith.addf %x, %l : f32\n";

} // namespace tenon::compiler::dispatch
