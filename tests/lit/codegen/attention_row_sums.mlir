// What the gradient of softmax subtracts in each row is summed from the weights of f32 that the program has, where no kernel comes of
// taking the result of the attention instead, which is computed from weights of bf16: here the gradient of the scores is a result.
// RUN: tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon
// RUN: env TENON_EMULATOR_SM=90 tenon-run %t.tenon --device=emulator --function=step \
// RUN:   --input="1x2x2xbf16=1 0 1 0" --input="1x3x2xbf16=0 0 0.6953125 0 0.6953125 0" --input="1x3x2xbf16=256 0 0 0 0 0" \
// RUN:   --input="1x2x2xbf16=1 0 1 0" | FileCheck %s

// The weights are 0.19966, 0.40017, 0.40017; in bf16 the first one is 0.19922, and the sum 51.
// CHECK: result[1]
// CHECK-NEXT: 1x2xf32=[51.11
// CHECK: result[2]
// CHECK-NEXT: 1x2x3xf32={{\[\[}}40.9068 -20.4534 -20.4534]
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @step(%q: tensor<1x2x2xbf16>, %k: tensor<1x3x2xbf16>, %v: tensor<1x3x2xbf16>, %g: tensor<1x2x2xbf16>)
    -> (tensor<1x2x2xf32>, tensor<1x2xf32>, tensor<1x2x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1x2x3xf32>
  %en = tensor.empty() : tensor<1x2x3xbf16>
  %er = tensor.empty() : tensor<1x2xf32>
  %eq = tensor.empty() : tensor<1x2x2xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<1x2xf32>) -> tensor<1x2xf32>
  %fl = linalg.fill ins(%least : f32) outs(%er : tensor<1x2xf32>) -> tensor<1x2xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %s = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%q, %k : tensor<1x2x2xbf16>, tensor<1x3x2xbf16>)
      outs(%fs : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %m = linalg.reduce {arith.maximumf} ins(%s : tensor<1x2x3xf32>) outs(%fl : tensor<1x2xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<1x2x3xf32>, tensor<1x2xf32>) outs(%es : tensor<1x2x3xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %less = arith.subf %x, %y : f32
      %e = math.exp %less : f32
      linalg.yield %e : f32
  } -> tensor<1x2x3xf32>
  %t = linalg.reduce {arith.addf} ins(%p : tensor<1x2x3xf32>) outs(%fz : tensor<1x2xf32>) dimensions = [2]
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %t : tensor<1x2x3xf32>, tensor<1x2xf32>) outs(%es : tensor<1x2x3xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %e = arith.divf %x, %y : f32
      linalg.yield %e : f32
  } -> tensor<1x2x3xf32>
  %wn = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<1x2x3xf32>) outs(%en : tensor<1x2x3xbf16>) {
    ^bb0(%x: f32, %unused: bf16):
      %e = arith.truncf %x : f32 to bf16
      linalg.yield %e : bf16
  } -> tensor<1x2x3xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<1x2x3xbf16>, tensor<1x3x2xbf16>) outs(%fq : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %dw = linalg.batch_matmul indexing_maps = [#bmk, #bnk, #bmn] ins(%g, %v : tensor<1x2x2xbf16>, tensor<1x3x2xbf16>)
      outs(%fs : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %both = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %dw : tensor<1x2x3xf32>, tensor<1x2x3xf32>) outs(%es : tensor<1x2x3xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32):
      %e = arith.mulf %x, %y : f32
      linalg.yield %e : f32
  } -> tensor<1x2x3xf32>
  %rows = linalg.reduce {arith.addf} ins(%both : tensor<1x2x3xf32>) outs(%fz : tensor<1x2xf32>) dimensions = [2]
  %ds = linalg.generic {indexing_maps = [#all, #all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%both, %w, %rows : tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2xf32>) outs(%es : tensor<1x2x3xf32>) {
    ^bb0(%x: f32, %y: f32, %r: f32, %unused: f32):
      %part = arith.mulf %y, %r : f32
      %e = arith.subf %x, %part : f32
      linalg.yield %e : f32
  } -> tensor<1x2x3xf32>
  return %o, %rows, %ds : tensor<1x2x2xf32>, tensor<1x2xf32>, tensor<1x2x3xf32>
}
