// Of few tiles under a causal mask a consumer is alone in its block, where all tiles of one run at once: of depth 64 two on a
// multiprocessor, 192 tiles; of depth 128 one.
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t.kernels/alone_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=ALONE --input-file=%t.kernels/deeper_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=TWO --input-file=%t.kernels/two_dispatch_0_sm_90a.ptx

// ALONE: .reqntid 256
// ALONE: .minnctapersm 2
// ALONE: setmaxnreg.dec.sync.aligned.u32 40
// ALONE-NOT: bar.arrive
// ALONE: setmaxnreg.inc.sync.aligned.u32 216
// TWO: .reqntid 384
// TWO: bar.arrive
func.func @alone(%q: tensor<12x1024x64xbf16>, %k: tensor<12x1024x64xbf16>, %v: tensor<12x1024x64xbf16>) -> tensor<12x1024x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<12x1024x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<12x1024x1024xf32>) -> tensor<12x1024x1024xf32>
  %eo = tensor.empty() : tensor<12x1024x64xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<12x1024x64xf32>) -> tensor<12x1024x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x1024x64xbf16>, tensor<12x1024x64xbf16>) outs(%start : tensor<12x1024x1024xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %d = arith.extf %a : bf16 to f32
      %e = arith.extf %b : bf16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<12x1024x1024xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<12x1024x1024xf32>) outs(%es : tensor<12x1024x1024xf32>) {
    ^bb0(%x: f32, %o: f32):
      %m = linalg.index 1 : index
      %n = linalg.index 2 : index
      %seen = arith.cmpi sge, %m, %n : index
      %y = arith.select %seen, %x, %hidden : f32
      linalg.yield %y : f32
  } -> tensor<12x1024x1024xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<12x1024x1024xf32>) outs(%es : tensor<12x1024x1024xf32>) -> tensor<12x1024x1024xf32>
  %wn = arith.truncf %w : tensor<12x1024x1024xf32> to tensor<12x1024x1024xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<12x1024x1024xbf16>, tensor<12x1024x64xbf16>) outs(%so : tensor<12x1024x64xf32>) -> tensor<12x1024x64xf32>
  %r = arith.truncf %o : tensor<12x1024x64xf32> to tensor<12x1024x64xbf16>
  return %r : tensor<12x1024x64xbf16>
}
func.func @deeper(%q: tensor<8x1024x128xbf16>, %k: tensor<8x1024x128xbf16>, %v: tensor<8x1024x128xbf16>) -> tensor<8x1024x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<8x1024x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %eo = tensor.empty() : tensor<8x1024x128xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x1024x128xf32>) -> tensor<8x1024x128xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<8x1024x128xbf16>, tensor<8x1024x128xbf16>) outs(%start : tensor<8x1024x1024xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %d = arith.extf %a : bf16 to f32
      %e = arith.extf %b : bf16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<8x1024x1024xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<8x1024x1024xf32>) outs(%es : tensor<8x1024x1024xf32>) {
    ^bb0(%x: f32, %o: f32):
      %m = linalg.index 1 : index
      %n = linalg.index 2 : index
      %seen = arith.cmpi sge, %m, %n : index
      %y = arith.select %seen, %x, %hidden : f32
      linalg.yield %y : f32
  } -> tensor<8x1024x1024xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<8x1024x1024xf32>) outs(%es : tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
  %wn = arith.truncf %w : tensor<8x1024x1024xf32> to tensor<8x1024x1024xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<8x1024x1024xbf16>, tensor<8x1024x128xbf16>) outs(%so : tensor<8x1024x128xf32>) -> tensor<8x1024x128xf32>
  %r = arith.truncf %o : tensor<8x1024x128xf32> to tensor<8x1024x128xbf16>
  return %r : tensor<8x1024x128xbf16>
}
func.func @two(%q: tensor<12x1024x128xbf16>, %k: tensor<12x1024x128xbf16>, %v: tensor<12x1024x128xbf16>) -> tensor<12x1024x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<12x1024x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<12x1024x1024xf32>) -> tensor<12x1024x1024xf32>
  %eo = tensor.empty() : tensor<12x1024x128xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<12x1024x128xf32>) -> tensor<12x1024x128xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x1024x128xbf16>, tensor<12x1024x128xbf16>) outs(%start : tensor<12x1024x1024xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %d = arith.extf %a : bf16 to f32
      %e = arith.extf %b : bf16 to f32
      %f = arith.mulf %d, %e : f32
      %g = arith.addf %c, %f : f32
      linalg.yield %g : f32
  } -> tensor<12x1024x1024xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<12x1024x1024xf32>) outs(%es : tensor<12x1024x1024xf32>) {
    ^bb0(%x: f32, %o: f32):
      %m = linalg.index 1 : index
      %n = linalg.index 2 : index
      %seen = arith.cmpi sge, %m, %n : index
      %y = arith.select %seen, %x, %hidden : f32
      linalg.yield %y : f32
  } -> tensor<12x1024x1024xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<12x1024x1024xf32>) outs(%es : tensor<12x1024x1024xf32>) -> tensor<12x1024x1024xf32>
  %wn = arith.truncf %w : tensor<12x1024x1024xf32> to tensor<12x1024x1024xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<12x1024x1024xbf16>, tensor<12x1024x128xbf16>) outs(%so : tensor<12x1024x128xf32>) -> tensor<12x1024x128xf32>
  %r = arith.truncf %o : tensor<12x1024x128xf32> to tensor<12x1024x128xbf16>
  return %r : tensor<12x1024x128xbf16>
}
