// At depth 64, tiles of three consumers have 192 queries; where these are too large for the program, two have 128.
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=THREE --input-file=%t.kernels/large_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=TWO --input-file=%t.kernels/small_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=CORES --input-file=%t.kernels/large_dispatch_0_sm_80.ptx

// THREE: .reqntid 512
// THREE: setmaxnreg.dec.sync.aligned.u32 32
// THREE: setmaxnreg.inc.sync.aligned.u32 160
// THREE: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// TWO: .reqntid 384
// TWO: setmaxnreg.inc.sync.aligned.u32 208
// CORES: .reqntid 128
func.func @large(%q: tensor<64x384x64xbf16>, %k: tensor<64x256x64xbf16>, %v: tensor<64x256x64xbf16>) -> tensor<64x384x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x384x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<64x384x256xf32>) -> tensor<64x384x256xf32>
  %eo = tensor.empty() : tensor<64x384x64xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x384x64xf32>) -> tensor<64x384x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x384x64xbf16>, tensor<64x256x64xbf16>) outs(%start : tensor<64x384x256xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %d = arith.extf %a : bf16 to f32
      %e = arith.extf %b : bf16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<64x384x256xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<64x384x256xf32>) outs(%es : tensor<64x384x256xf32>) -> tensor<64x384x256xf32>
  %wn = arith.truncf %w : tensor<64x384x256xf32> to tensor<64x384x256xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<64x384x256xbf16>, tensor<64x256x64xbf16>) outs(%so : tensor<64x384x64xf32>) -> tensor<64x384x64xf32>
  %r = arith.truncf %o : tensor<64x384x64xf32> to tensor<64x384x64xbf16>
  return %r : tensor<64x384x64xbf16>
}
func.func @small(%q: tensor<64x256x64xbf16>, %k: tensor<64x256x64xbf16>, %v: tensor<64x256x64xbf16>) -> tensor<64x256x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x256x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<64x256x256xf32>) -> tensor<64x256x256xf32>
  %eo = tensor.empty() : tensor<64x256x64xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x256x64xbf16>, tensor<64x256x64xbf16>) outs(%start : tensor<64x256x256xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %d = arith.extf %a : bf16 to f32
      %e = arith.extf %b : bf16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<64x256x256xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<64x256x256xf32>) outs(%es : tensor<64x256x256xf32>) -> tensor<64x256x256xf32>
  %wn = arith.truncf %w : tensor<64x256x256xf32> to tensor<64x256x256xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<64x256x256xbf16>, tensor<64x256x64xbf16>) outs(%so : tensor<64x256x64xf32>) -> tensor<64x256x64xf32>
  %r = arith.truncf %o : tensor<64x256x64xf32> to tensor<64x256x64xbf16>
  return %r : tensor<64x256x64xbf16>
}
