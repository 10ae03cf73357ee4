// The gradients by keys and by values are one kernel on sm_90a, whichever targets there are beside it; on others each has its own.
// RUN: rm -rf %t %t.both
// RUN: tenon-compile %s --target=sm_90a --images=ptx --dump-kernels-to=%t -o %t.tenon
// RUN: ls %t | FileCheck %s --check-prefix=ALONE
// RUN: FileCheck %s --check-prefix=TWINS < %t/twins_dispatch_0_sm_90a.ptx
// RUN: tenon-compile %s --target=sm_80,sm_90a --images=ptx --dump-kernels-to=%t.both -o %t.tenon
// RUN: ls %t.both | FileCheck %s --check-prefix=BOTH

// ALONE: twins_dispatch_0_sm_90a.ptx
// ALONE-NOT: twins_dispatch_1
// BOTH: twins_dispatch_0_sm_80.ptx
// BOTH-NEXT: twins_dispatch_0_sm_90a.ptx
// BOTH-NEXT: twins_dispatch_1_sm_80.ptx
// BOTH-NOT: sm_90a
// TWINS: .reqntid 384
// TWINS: cp.async.bulk.tensor
// TWINS: wgmma.mma_async.sync.aligned.m64n128k16
// TWINS: ex2.approx
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
#weights = affine_map<(b, n, d, m) -> (b, m, n)>
#values = affine_map<(b, n, d, m) -> (b, m, d)>
#made = affine_map<(b, n, d, m) -> (b, n, d)>
func.func @twins(%q: tensor<32x256x64xbf16>, %k: tensor<32x256x64xbf16>, %v: tensor<32x256x64xbf16>, %g: tensor<32x256x64xbf16>,
                 %lse: tensor<32x256xf32>) -> (tensor<32x256x64xf32>, tensor<32x256x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<32x256x256xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x256x256xf32>) -> tensor<32x256x256xf32>
  %en = tensor.empty() : tensor<32x256x256xbf16>
  %ek = tensor.empty() : tensor<32x256x64xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<32x256x64xf32>) -> tensor<32x256x64xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<32x256x64xbf16>, tensor<32x256x64xbf16>)
      outs(%fs : tensor<32x256x256xf32>) -> tensor<32x256x256xf32>
  %dp = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<32x256x64xbf16>, tensor<32x256x64xbf16>)
      outs(%fs : tensor<32x256x256xf32>) -> tensor<32x256x256xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %lse : tensor<32x256x256xf32>, tensor<32x256xf32>) outs(%en : tensor<32x256x256xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      %n = arith.truncf %e : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<32x256x256xbf16>
  %ds = linalg.generic {indexing_maps = [#all, #row, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %lse, %dp : tensor<32x256x256xf32>, tensor<32x256xf32>, tensor<32x256x256xf32>) outs(%en : tensor<32x256x256xbf16>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %o: bf16):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      %w = arith.mulf %e, %z : f32
      %n = arith.truncf %w : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<32x256x256xbf16>
  %dv = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%p, %g : tensor<32x256x256xbf16>, tensor<32x256x64xbf16>) outs(%fk : tensor<32x256x64xf32>) -> tensor<32x256x64xf32>
  %dk = linalg.batch_matmul indexing_maps = [#weights, #values, #made]
      ins(%ds, %q : tensor<32x256x256xbf16>, tensor<32x256x64xbf16>) outs(%fk : tensor<32x256x64xf32>) -> tensor<32x256x64xf32>
  return %dv, %dk : tensor<32x256x64xf32>, tensor<32x256x64xf32>
}
