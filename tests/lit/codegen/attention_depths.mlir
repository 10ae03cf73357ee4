// Depths that are multiples of eight: a box of what the last tile of 64 has, steps of 16 as far as the depth goes, and
// as many columns as there are.
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=EIGHTY --input-file=%t.kernels/eighty_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=FORTY --input-file=%t.kernels/forty_dispatch_0_sm_90a.ptx

// Keys and values are 128 rows of 64 and of 16 elements.
// EIGHTY: .reqntid 384
// EIGHTY: mov.b32 {{.*}}, 20480;
// EIGHTY-COUNT-5: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// EIGHTY-NEXT: wgmma.commit_group
// EIGHTY: wgmma.mma_async.sync.aligned.m64n80k16.f32.bf16.bf16

// FORTY: .reqntid 512
// FORTY: mov.b32 {{.*}}, 12288;
// FORTY: mov.b32 {{.*}}, 10240;
// FORTY-COUNT-3: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// FORTY-NEXT: wgmma.commit_group
// FORTY: wgmma.mma_async.sync.aligned.m64n40k16.f32.bf16.bf16
func.func @eighty(%q: tensor<64x384x80xbf16>, %k: tensor<64x256x80xbf16>, %v: tensor<64x256x80xbf16>) -> tensor<64x384x80xbf16> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x384x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<64x384x256xf32>) -> tensor<64x384x256xf32>
  %eo = tensor.empty() : tensor<64x384x80xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x384x80xf32>) -> tensor<64x384x80xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x384x80xbf16>, tensor<64x256x80xbf16>) outs(%start : tensor<64x384x256xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %d = arith.extf %a : bf16 to f32
      %e = arith.extf %b : bf16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<64x384x256xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<64x384x256xf32>) outs(%es : tensor<64x384x256xf32>) -> tensor<64x384x256xf32>
  %wn = arith.truncf %w : tensor<64x384x256xf32> to tensor<64x384x256xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<64x384x256xbf16>, tensor<64x256x80xbf16>) outs(%so : tensor<64x384x80xf32>) -> tensor<64x384x80xf32>
  %r = arith.truncf %o : tensor<64x384x80xf32> to tensor<64x384x80xbf16>
  return %r : tensor<64x384x80xbf16>
}
func.func @forty(%q: tensor<64x384x40xbf16>, %k: tensor<64x256x40xbf16>, %v: tensor<64x256x40xbf16>) -> tensor<64x384x40xbf16> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x384x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<64x384x256xf32>) -> tensor<64x384x256xf32>
  %eo = tensor.empty() : tensor<64x384x40xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x384x40xf32>) -> tensor<64x384x40xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x384x40xbf16>, tensor<64x256x40xbf16>) outs(%start : tensor<64x384x256xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %d = arith.extf %a : bf16 to f32
      %e = arith.extf %b : bf16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<64x384x256xf32>
  %w = linalg.softmax dimension(2) ins(%s : tensor<64x384x256xf32>) outs(%es : tensor<64x384x256xf32>) -> tensor<64x384x256xf32>
  %wn = arith.truncf %w : tensor<64x384x256xf32> to tensor<64x384x256xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<64x384x256xbf16>, tensor<64x256x40xbf16>) outs(%so : tensor<64x384x40xf32>) -> tensor<64x384x40xf32>
  %r = arith.truncf %o : tensor<64x384x40xf32> to tensor<64x384x40xbf16>
  return %r : tensor<64x384x40xbf16>
}
