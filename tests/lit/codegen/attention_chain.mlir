// A product that reads what is computed from another one is a kernel that stores no scores: each of its operations has the number of
// the chain, and exponentials that become bf16 are powers of two. Where something else reads the weights, they are stored.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention | FileCheck %s
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention --tenon-form-dispatches | FileCheck %s --check-prefix=FORMED
// RUN: tenon-compile %s --target=sm_75,sm_80,sm_90a --images=ptx --dump-kernels-to=%t -o %t.tenon
// RUN: FileCheck %s --check-prefix=HOPPER < %t/chain_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=AMPERE < %t/chain_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=TURING < %t/chain_dispatch_0_sm_75.ptx

// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}tenon.chain = 0
// CHECK: linalg.generic {{.*}}tenon.chain = 0
// CHECK-NOT: math.exp %
// CHECK: math.exp2 %{{.*}} fastmath<afn>
// CHECK: linalg.generic {{.*}}tenon.chain = 0
// FORMED-LABEL: func.func @chain
// FORMED-COUNT-1: flow.dispatch
// FORMED-NEXT: return
// HOPPER: .reqntid 384
// HOPPER: ex2.approx.ftz.f32
// HOPPER: wgmma.mma_async
// AMPERE: .reqntid 128
// AMPERE: mma.sync
// TURING: .reqntid 256
func.func @chain(%q: tensor<64x256x64xbf16>, %k: tensor<64x512x64xbf16>, %lse: tensor<64x256xf32>, %g: tensor<64x512x64xbf16>) -> tensor<64x256x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x256x512xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<64x256x512xf32>) -> tensor<64x256x512xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<64x256x64xbf16>, tensor<64x512x64xbf16>) outs(%fs : tensor<64x256x512xf32>) -> tensor<64x256x512xf32>
  %en = tensor.empty() : tensor<64x256x512xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %lse : tensor<64x256x512xf32>, tensor<64x256xf32>) outs(%en : tensor<64x256x512xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      %n = arith.truncf %e : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<64x256x512xbf16>
  %eo = tensor.empty() : tensor<64x256x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>
  %o = linalg.batch_matmul ins(%p, %g : tensor<64x256x512xbf16>, tensor<64x512x64xbf16>) outs(%fo : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>
  return %o : tensor<64x256x64xf32>
}

// CHECK-LABEL: func.func @stored
// FORMED-LABEL: func.func @stored
// FORMED-COUNT-2: flow.dispatch
// CHECK-NOT: tenon.chain
// CHECK: math.exp %
// CHECK-NOT: tenon.chain
func.func @stored(%q: tensor<64x256x64xbf16>, %k: tensor<64x512x64xbf16>, %lse: tensor<64x256xf32>, %g: tensor<64x512x64xbf16>) -> (tensor<64x256x64xf32>, tensor<64x256x512xbf16>) {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x256x512xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<64x256x512xf32>) -> tensor<64x256x512xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<64x256x64xbf16>, tensor<64x512x64xbf16>) outs(%fs : tensor<64x256x512xf32>) -> tensor<64x256x512xf32>
  %en = tensor.empty() : tensor<64x256x512xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %lse : tensor<64x256x512xf32>, tensor<64x256xf32>) outs(%en : tensor<64x256x512xbf16>) {
    ^bb0(%x: f32, %y: f32, %o: bf16):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      %n = arith.truncf %e : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<64x256x512xbf16>
  %eo = tensor.empty() : tensor<64x256x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>
  %o = linalg.batch_matmul ins(%p, %g : tensor<64x256x512xbf16>, tensor<64x512x64xbf16>) outs(%fo : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>
  return %o, %p : tensor<64x256x64xf32>, tensor<64x256x512xbf16>
}
