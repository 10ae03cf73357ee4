// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The three gradients of attention, of which twins and the third know the same weights.
#pragma once

#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/chains/twins.h"
#include "compiler/dispatch/attention/triplets.h"
#include "compiler/dispatch/forming/form_groups.h"
#include "compiler/dispatch/prepare/prepare.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

#include "mlir/IR/Verifier.h"

namespace tenon::compiler::dispatch {

// All three gradients; tests change a part of it, or their order.
inline const char kHead[] = R"mlir(
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#weights = affine_map<(b, n, d, m) -> (b, m, n)>
#values = affine_map<(b, n, d, m) -> (b, m, d)>
#made = affine_map<(b, n, d, m) -> (b, n, d)>
#across = affine_map<(b, m, d, n) -> (b, m, n)>
#keys = affine_map<(b, m, d, n) -> (b, n, d)>
#queries = affine_map<(b, m, d, n) -> (b, m, d)>
func.func @f(%q: tensor<BATCHx384x64xbf16>, %k: tensor<BATCHx320x64xbf16>, %v: tensor<BATCHx320x64xbf16>, %g: tensor<BATCHx384x64xbf16>,
             %other: tensor<BATCHx320x64xbf16>) -> (tensor<BATCHx384x64xf32>, tensor<BATCHx320x64xf32>, tensor<BATCHx320x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<BATCHx384x320xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %en = tensor.empty() : tensor<BATCHx384x320xbf16>
  %ek = tensor.empty() : tensor<BATCHx320x64xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<BATCHx320x64xf32>) -> tensor<BATCHx320x64xf32>
  %eq = tensor.empty() : tensor<BATCHx384x64xf32>
  %fq = linalg.fill ins(START : f32) outs(%eq : tensor<BATCHx384x64xf32>) -> tensor<BATCHx384x64xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<BATCHx384x64xbf16>, tensor<BATCHx320x64xbf16>)
      outs(%fs : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %dp = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<BATCHx384x64xbf16>, tensor<BATCHx320x64xbf16>)
      outs(%fs : tensor<BATCHx384x320xf32>) -> tensor<BATCHx384x320xf32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<BATCHx384x320xf32>) outs(%en : tensor<BATCHx384x320xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %e = math.exp %x : f32
      %narrow = arith.truncf %e : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<BATCHx384x320xbf16>
  %ds = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %dp : tensor<BATCHx384x320xf32>, tensor<BATCHx384x320xf32>) outs(%en : tensor<BATCHx384x320xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %e = math.exp %x : f32
      %w = arith.mulf %e, %y : f32
      %narrow = arith.truncf %w : f32 to bf16
      linalg.yield %narrow : bf16
  } -> tensor<BATCHx384x320xbf16>
)mlir";
inline const char kValues[] = R"mlir(
  %dv = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%p, %g : tensor<BATCHx384x320xbf16>, tensor<BATCHx384x64xbf16>) outs(%fk : tensor<BATCHx320x64xf32>) -> tensor<BATCHx320x64xf32>
)mlir";
inline const char kKeys[] = R"mlir(
  %dk = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%ds, %q : tensor<BATCHx384x320xbf16>, tensor<BATCHx384x64xbf16>) outs(%fk : tensor<BATCHx320x64xf32>) -> tensor<BATCHx320x64xf32>
)mlir";
// What reads it stands right behind.
inline const char kQueries[] = R"mlir(
  %sum = linalg.batch_matmul indexing_maps = [#across, #keys, #queries]
      ins(WEIGHTS, KEYS : tensor<BATCHx384x320xbf16>, tensor<BATCHx320x64xbf16>) outs(%fq : tensor<BATCHx384x64xf32>) -> tensor<BATCHx384x64xf32>
  %dq = linalg.add ins(%sum, %sum : tensor<BATCHx384x64xf32>, tensor<BATCHx384x64xf32>) outs(%eq : tensor<BATCHx384x64xf32>) -> tensor<BATCHx384x64xf32>
)mlir";
inline const char kEnd[] =
    "  return %dq, %dk, %dv : tensor<BATCHx384x64xf32>, tensor<BATCHx320x64xf32>, tensor<BATCHx320x64xf32>\n}\n";

class GradientsTest : public KernelTextTest {
protected:
  GroupedBlock join(std::string text, std::map<std::string, std::string> with, void (*joinMore)(mlir::func::FuncOp)) {
    with.insert({{"BATCH", "32"}, {"START", "%zero"}, {"WEIGHTS", "%ds"}, {"KEYS", "%k"}});
    text = kHead + text + kEnd;
    for (const auto &[what, other] : with)
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + other.size()))
        text.replace(at, what.size(), other);
    function_ = parseFunction(text);
    generalizeOperations(function_);
    eraseDeadOperations(function_);
    buildChains(function_);
    eraseDeadOperations(function_);
    joinTwins(function_);
    joinMore(function_);
    eraseDeadOperations(function_);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(function_))) << messages_;
    return formGroups(function_.front());
  }
  mlir::func::FuncOp function_;
};

} // namespace tenon::compiler::dispatch
