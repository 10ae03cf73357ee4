// One query of four heads against keys and values that are kept as int8 with a scale each: they are loaded as bytes, a block ahead,
// become f32 by additions, not by conversions of a quarter of the rate, and two of them a register.
// RUN: rm -rf %t.kernels && tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --input-file=%t.kernels/run_dispatch_0_sm_90a.ptx
// CHECK: ld.global.nc.v2.b32
// CHECK: xor.b32 {{.*}}, -2139062144;
// CHECK: prmt.b32 {{.*}}, 1258291200, 0x7440U;
// CHECK: add.rn.f32 {{.*}}, 0fCB000080;
// CHECK: cvt.rn.bf16x2.f32
// CHECK: mma.sync.aligned.m16n8k16
#all = affine_map<(n, d) -> (n, d)>
#key = affine_map<(n, d) -> (n)>
func.func @run(%q: tensor<4x64xbf16>, %k8: tensor<2048x64xi8>, %v8: tensor<2048x64xi8>, %ks: tensor<2048xf32>, %vs: tensor<2048xf32>) -> tensor<4x64xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2048x64xbf16>
  %k = linalg.generic {indexing_maps = [#all, #key, #all], iterator_types = ["parallel", "parallel"]}
      ins(%k8, %ks : tensor<2048x64xi8>, tensor<2048xf32>) outs(%e : tensor<2048x64xbf16>) {
    ^bb0(%x: i8, %s: f32, %o: bf16):
      %w = arith.sitofp %x : i8 to f32
      %m = arith.mulf %w, %s : f32
      %r = arith.truncf %m : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<2048x64xbf16>
  %v = linalg.generic {indexing_maps = [#all, #key, #all], iterator_types = ["parallel", "parallel"]}
      ins(%v8, %vs : tensor<2048x64xi8>, tensor<2048xf32>) outs(%e : tensor<2048x64xbf16>) {
    ^bb0(%x: i8, %s: f32, %o: bf16):
      %w = arith.sitofp %x : i8 to f32
      %m = arith.mulf %w, %s : f32
      %r = arith.truncf %m : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<2048x64xbf16>
  %es = tensor.empty() : tensor<4x2048xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x2048xf32>) -> tensor<4x2048xf32>
  %scores = linalg.generic {indexing_maps = [affine_map<(m, n, d) -> (m, d)>, affine_map<(m, n, d) -> (n, d)>, affine_map<(m, n, d) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x64xbf16>, tensor<2048x64xbf16>) outs(%fs : tensor<4x2048xf32>) {
    ^bb0(%x: bf16, %y: bf16, %o: f32):
      %a = arith.extf %x : bf16 to f32
      %b = arith.extf %y : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<4x2048xf32>
  %logits = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%scores : tensor<4x2048xf32>) outs(%es : tensor<4x2048xf32>) {
    ^bb0(%x: f32, %o: f32):
      %l = arith.mulf %x, %scale : f32
      linalg.yield %l : f32
  } -> tensor<4x2048xf32>
  %weights = linalg.softmax dimension(1) ins(%logits : tensor<4x2048xf32>) outs(%es : tensor<4x2048xf32>) -> tensor<4x2048xf32>
  %narrow = arith.truncf %weights : tensor<4x2048xf32> to tensor<4x2048xbf16>
  %er = tensor.empty() : tensor<4x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x64xf32>) -> tensor<4x64xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(m, e, n) -> (m, n)>, affine_map<(m, e, n) -> (n, e)>, affine_map<(m, e, n) -> (m, e)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%narrow, %v : tensor<4x2048xbf16>, tensor<2048x64xbf16>) outs(%fr : tensor<4x64xf32>) {
    ^bb0(%x: bf16, %y: bf16, %o: f32):
      %a = arith.extf %x : bf16 to f32
      %b = arith.extf %y : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %o, %p : f32
      linalg.yield %t : f32
  } -> tensor<4x64xf32>
  return %result : tensor<4x64xf32>
}
