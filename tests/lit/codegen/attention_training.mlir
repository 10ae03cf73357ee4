// A step of training, forward and backward in one function, stores no scores and no weights: the attention has the logarithms of its
// sums of exponentials as a second result, weights are computed again from them where gradients read them, and what the gradient of
// softmax subtracts in each row is a sum over the result instead of over the weights, whose kernel multiplies the logarithms by log2(e).
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention | FileCheck %s
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention --tenon-form-dispatches | FileCheck %s --check-prefix=FORMED
// RUN: tenon-compile %s --target=sm_75,sm_80,sm_90a --images=ptx --print-dispatches --dump-kernels-to=%t -o %t.tenon 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: FileCheck %s --check-prefix=HOPPER < %t/step_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=AMPERE < %t/step_dispatch_0_sm_80.ptx

// CHECK-LABEL: func.func @step
// CHECK: linalg.softmax
// CHECK: tenon.log_sum_exp = 0x7FF8000000000000 : f64
// CHECK-NOT: linalg.softmax
// FORMED-LABEL: func.func @step
// FORMED: %[[FORWARD:.*]]:2 = flow.dispatch @step_dispatch_0{{.*}} -> (tensor<64x256x64xf32>, tensor<64x256xf32>)
// FORMED-COUNT-4: flow.dispatch
// FORMED-NOT: flow.dispatch
// FORMED: return %[[FORWARD]]#0
// KERNELS: 'step_dispatch_0' ends here: 3 operations
// KERNELS: 'step_dispatch_1' ends here: 2 operations
// KERNELS: 'step_dispatch_2' ends here: 4 operations
// KERNELS: 'step_dispatch_3' ends here: 4 operations
// KERNELS: 'step_dispatch_4' ends here: 3 operations
// HOPPER: wgmma.mma_async
// AMPERE: mma.sync
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#over_rows = affine_map<(b, n, d, m) -> (b, m, n)>
#given = affine_map<(b, n, d, m) -> (b, m, d)>
#by_key = affine_map<(b, n, d, m) -> (b, n, d)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @step(%q: tensor<64x256x64xbf16>, %k: tensor<64x384x64xbf16>, %v: tensor<64x384x64xbf16>, %g: tensor<64x256x64xbf16>)
    -> (tensor<64x256x64xf32>, tensor<64x256x64xf32>, tensor<64x384x64xf32>, tensor<64x384x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<64x256x384xf32>
  %en = tensor.empty() : tensor<64x256x384xbf16>
  %er = tensor.empty() : tensor<64x256xf32>
  %eq = tensor.empty() : tensor<64x256x64xf32>
  %ek = tensor.empty() : tensor<64x384x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<64x256x384xf32>) -> tensor<64x256x384xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<64x256xf32>) -> tensor<64x256xf32>
  %fl = linalg.fill ins(%least : f32) outs(%er : tensor<64x256xf32>) -> tensor<64x256xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<64x384x64xf32>) -> tensor<64x384x64xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<64x256x64xbf16>, tensor<64x384x64xbf16>)
      outs(%fs : tensor<64x256x384xf32>) -> tensor<64x256x384xf32>
  %m = linalg.reduce {arith.maximumf} ins(%s : tensor<64x256x384xf32>) outs(%fl : tensor<64x256xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<64x256x384xf32>, tensor<64x256xf32>) outs(%es : tensor<64x256x384xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      linalg.yield %e : f32
  } -> tensor<64x256x384xf32>
  %t = linalg.reduce {arith.addf} ins(%p : tensor<64x256x384xf32>) outs(%fz : tensor<64x256xf32>) dimensions = [2]
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<64x256x384xf32>, tensor<64x256xf32>) outs(%es : tensor<64x256x384xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %e = arith.divf %x, %y : f32
      linalg.yield %e : f32
  } -> tensor<64x256x384xf32>
  %wn = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<64x256x384xf32>) outs(%en : tensor<64x256x384xbf16>) {
    ^bb0(%x: f32, %unused: bf16):
      %e = arith.truncf %x : f32 to bf16
      linalg.yield %e : bf16
  } -> tensor<64x256x384xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<64x256x384xbf16>, tensor<64x384x64xbf16>) outs(%fq : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>

  %dw = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<64x256x64xbf16>, tensor<64x384x64xbf16>)
      outs(%fs : tensor<64x256x384xf32>) -> tensor<64x256x384xf32>
  %both = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %dw : tensor<64x256x384xf32>, tensor<64x256x384xf32>) outs(%es : tensor<64x256x384xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %e = arith.mulf %x, %y : f32
      linalg.yield %e : f32
  } -> tensor<64x256x384xf32>
  %rows = linalg.reduce {arith.addf} ins(%both : tensor<64x256x384xf32>) outs(%fz : tensor<64x256xf32>) dimensions = [2]
  %ds = linalg.generic {indexing_maps = [#all, #all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%both, %w, %rows : tensor<64x256x384xf32>, tensor<64x256x384xf32>, tensor<64x256xf32>) outs(%en : tensor<64x256x384xbf16>) {
    ^bb0(%x: f32, %y: f32, %r: f32, %unused: bf16):
      %part = arith.mulf %y, %r : f32
      %less = arith.subf %x, %part : f32
      %e = arith.truncf %less : f32 to bf16
      linalg.yield %e : bf16
  } -> tensor<64x256x384xbf16>
  %dq = linalg.batch_matmul ins(%ds, %k : tensor<64x256x384xbf16>, tensor<64x384x64xbf16>) outs(%fq : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>
  %dk = linalg.batch_matmul indexing_maps = [#over_rows, #given, #by_key] ins(%ds, %q : tensor<64x256x384xbf16>, tensor<64x256x64xbf16>)
      outs(%fk : tensor<64x384x64xf32>) -> tensor<64x384x64xf32>
  %dv = linalg.batch_matmul indexing_maps = [#over_rows, #given, #by_key] ins(%wn, %g : tensor<64x256x384xbf16>, tensor<64x256x64xbf16>)
      outs(%fk : tensor<64x384x64xf32>) -> tensor<64x384x64xf32>
  return %o, %dq, %dk, %dv : tensor<64x256x64xf32>, tensor<64x256x64xf32>, tensor<64x384x64xf32>, tensor<64x384x64xf32>
}
