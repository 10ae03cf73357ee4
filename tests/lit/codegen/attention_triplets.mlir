// All three gradients are one kernel where their sums may be added up in any order, for sm_90a.
// RUN: rm -rf %t.any %t.fixed %t.both %t.kept %t.less
// RUN: tenon-compile %s --target=sm_90a --sum-order=any --images=ptx --dump-kernels-to=%t.any -o %t.tenon
// RUN: cat %t.any/*.ptx | FileCheck %s
// RUN: ls %t.any | FileCheck %s --check-prefix=ANY
// RUN: tenon-compile %s --target=sm_90a --images=ptx --dump-kernels-to=%t.fixed -o %t.tenon
// RUN: cat %t.fixed/*.ptx | FileCheck %s --check-prefix=FIXED
// RUN: tenon-compile %s --target=sm_75,sm_80,sm_90a,sm_120 --sum-order=any --images=ptx --dump-kernels-to=%t.both -o %t.tenon
// RUN: cat %t.both/*_sm_75.ptx %t.both/*_sm_80.ptx %t.both/*_sm_120.ptx | FileCheck %s --check-prefix=FIXED
// RUN: cat %t.both/*_sm_90a.ptx | FileCheck %s
// RUN: sed 's/x300/x400/g; s/x64x/x128x/g' %s > %t.mlir
// RUN: tenon-compile %t.mlir --target=sm_90a --images=ptx --dump-kernels-to=%t.kept -o %t.tenon
// RUN: FileCheck %s --check-prefix=KEPT < %t.kept/triplets_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=PRODUCT < %t.kept/triplets_dispatch_1_sm_90a.ptx
// RUN: tenon-compile %t.mlir --target=sm_90a --images=ptx --attention-memory=7 --dump-kernels-to=%t.less -o %t.tenon
// RUN: cat %t.less/*.ptx | FileCheck %s --check-prefix=LESS
// RUN: not tenon-compile %s --attention-memory=1G -o %t.tenon 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not tenon-compile %s --sum-order=none -o %t.tenon 2>&1 | FileCheck %s --check-prefix=FLAG

// A kernel that makes the sums 0, and all five products in the other.
// CHECK-DAG: .reqntid 256
// CHECK-DAG: .reqntid 384
// CHECK-DAG: cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.bulk_group
// CHECK-DAG: atom{{.*}}add.f32
// ANY: triplets_dispatch_0
// ANY-NOT: triplets_dispatch_1
// FIXED-NOT: reduce.async
// FIXED-NOT: add.f32 [
// In a fixed order, where rows of weights have whole vectors: four of them, whose kernel stores the weights, and a product.
// KEPT: .reqntid 384
// KEPT: stmatrix
// KEPT: cp.async.bulk.tensor.3d.global.shared::cta.bulk_group
// PRODUCT-NOT: ex2.approx
// PRODUCT: wgmma.mma_async
// The weights are 32 x 400 x 400 x 2 bytes: 9.8 MiB. Without the memory for them, the gradient by queries computes its own.
// LESS-NOT: stmatrix
// MEMORY: --attention-memory is a number of MiB, as 1024, not '1G'
// FLAG: --sum-order is 'fixed' or 'any', not 'none'
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
func.func @triplets(%q: tensor<32x300x64xbf16>, %k: tensor<32x300x64xbf16>, %v: tensor<32x300x64xbf16>, %g: tensor<32x300x64xbf16>)
    -> (tensor<32x300x64xf32>, tensor<32x300x64xf32>, tensor<32x300x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x300x300xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x300x300xf32>) -> tensor<32x300x300xf32>
  %en = tensor.empty() : tensor<32x300x300xbf16>
  %ek = tensor.empty() : tensor<32x300x64xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<32x300x64xf32>) -> tensor<32x300x64xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<32x300x64xbf16>, tensor<32x300x64xbf16>)
      outs(%fs : tensor<32x300x300xf32>) -> tensor<32x300x300xf32>
  %dp = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<32x300x64xbf16>, tensor<32x300x64xbf16>)
      outs(%fs : tensor<32x300x300xf32>) -> tensor<32x300x300xf32>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<32x300x300xf32>) outs(%en : tensor<32x300x300xbf16>) {
    ^bb0(%x: f32, %o: bf16):
      %e = math.exp %x : f32
      %n = arith.truncf %e : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<32x300x300xbf16>
  %ds = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %dp : tensor<32x300x300xf32>, tensor<32x300x300xf32>) outs(%en : tensor<32x300x300xbf16>) {
    ^bb0(%x: f32, %z: f32, %o: bf16):
      %e = math.exp %x : f32
      %w = arith.mulf %e, %z : f32
      %n = arith.truncf %w : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<32x300x300xbf16>
  %dq = linalg.batch_matmul indexing_maps = [#across, #keys, #queries]
      ins(%ds, %k : tensor<32x300x300xbf16>, tensor<32x300x64xbf16>) outs(%fk : tensor<32x300x64xf32>) -> tensor<32x300x64xf32>
  %dk = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%ds, %q : tensor<32x300x300xbf16>, tensor<32x300x64xbf16>) outs(%fk : tensor<32x300x64xf32>) -> tensor<32x300x64xf32>
  %dv = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%p, %g : tensor<32x300x300xbf16>, tensor<32x300x64xbf16>) outs(%fk : tensor<32x300x64xf32>) -> tensor<32x300x64xf32>
  return %dq, %dk, %dv : tensor<32x300x64xf32>, tensor<32x300x64xf32>, tensor<32x300x64xf32>
}
