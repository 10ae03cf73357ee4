// Of depths above 128, Hopper's own kernel has more shared memory than other targets: it is in a plan of its own beside them.
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.alone
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t.alone/deep_dispatch_0_sm_90a.ptx
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_90a -o %t.tenon --dump-kernels-to=%t.both
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t.both/deep_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=BOTH --input-file=%t.both/deep_dispatch_0_sm_80.ptx
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_90a --plans=one -o %t.tenon --dump-kernels-to=%t.one
// RUN: FileCheck %s --check-prefix=BOTH --input-file=%t.one/deep_dispatch_0_sm_90a.ptx

// ALONE: .reqntid 384
// ALONE: setmaxnreg.dec.sync.aligned.u32 40
// ALONE: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// ALONE: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// BOTH: .reqntid 128
// BOTH-NOT: wgmma
// BOTH: mma.sync.aligned.m16n8k16
func.func @deep(%q: tensor<64x128x256xbf16>, %k: tensor<64x256x256xbf16>, %v: tensor<64x256x256xbf16>) -> tensor<64x128x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x128x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<64x128x256xf32>) -> tensor<64x128x256xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x128x256xbf16>, tensor<64x256x256xbf16>) outs(%start : tensor<64x128x256xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %d = arith.extf %a : bf16 to f32
      %e = arith.extf %b : bf16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<64x128x256xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<64x128x256xf32>) outs(%es : tensor<64x128x256xf32>) -> tensor<64x128x256xf32>
  %en = tensor.empty() : tensor<64x128x256xbf16>
  %wn = arith.truncf %w : tensor<64x128x256xf32> to tensor<64x128x256xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<64x128x256xbf16>, tensor<64x256x256xbf16>) outs(%start : tensor<64x128x256xf32>) -> tensor<64x128x256xf32>
  %r = arith.truncf %o : tensor<64x128x256xf32> to tensor<64x128x256xbf16>
  return %r : tensor<64x128x256xbf16>
}
