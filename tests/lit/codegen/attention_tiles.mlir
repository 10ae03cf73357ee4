// Under a causal mask a table says which block has which tile, where blocks that take them in turn would not be done together:
// of 512 heads of 1024 queries, and not of one in which all tiles run at once.
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=TABLE --input-file=%t.kernels/many_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=TURNS --input-file=%t.kernels/few_dispatch_0_sm_90a.ptx

// Six tiles of each: 132 blocks, each with as many entries as the one with most tiles, and one that says that there is none.
// TABLE: .global .align 16 .b8 many_dispatch_0_tiles[{{[0-9]+}}]
// TABLE: mov.b64 {{.*}}, many_dispatch_0_tiles;
// TURNS-NOT: _tiles
func.func @many(%q: tensor<512x1024x64xbf16>, %k: tensor<512x1024x64xbf16>, %v: tensor<512x1024x64xbf16>) -> tensor<512x1024x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.7 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<512x1024x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<512x1024x1024xf32>) -> tensor<512x1024x1024xf32>
  %eo = tensor.empty() : tensor<512x1024x64xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<512x1024x64xf32>) -> tensor<512x1024x64xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<512x1024x64xbf16>, tensor<512x1024x64xbf16>) outs(%start : tensor<512x1024x1024xf32>) -> tensor<512x1024x1024xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<512x1024x1024xf32>) outs(%es : tensor<512x1024x1024xf32>) {
    ^bb0(%a: f32, %b: f32):
      %row = linalg.index 1 : index
      %key = linalg.index 2 : index
      %seen = arith.cmpi sge, %row, %key : index
      %x = arith.mulf %a, %factor : f32
      %y = arith.select %seen, %x, %hidden : f32
      linalg.yield %y : f32
  } -> tensor<512x1024x1024xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<512x1024x1024xf32>) outs(%es : tensor<512x1024x1024xf32>) -> tensor<512x1024x1024xf32>
  %wn = arith.truncf %w : tensor<512x1024x1024xf32> to tensor<512x1024x1024xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<512x1024x1024xbf16>, tensor<512x1024x64xbf16>) outs(%so : tensor<512x1024x64xf32>) -> tensor<512x1024x64xf32>
  %r = arith.truncf %o : tensor<512x1024x64xf32> to tensor<512x1024x64xbf16>
  return %r : tensor<512x1024x64xbf16>
}
func.func @few(%q: tensor<12x1024x64xbf16>, %k: tensor<12x1024x64xbf16>, %v: tensor<12x1024x64xbf16>) -> tensor<12x1024x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.7 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<12x1024x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<12x1024x1024xf32>) -> tensor<12x1024x1024xf32>
  %eo = tensor.empty() : tensor<12x1024x64xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<12x1024x64xf32>) -> tensor<12x1024x64xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<12x1024x64xbf16>, tensor<12x1024x64xbf16>) outs(%start : tensor<12x1024x1024xf32>) -> tensor<12x1024x1024xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<12x1024x1024xf32>) outs(%es : tensor<12x1024x1024xf32>) {
    ^bb0(%a: f32, %b: f32):
      %row = linalg.index 1 : index
      %key = linalg.index 2 : index
      %seen = arith.cmpi sge, %row, %key : index
      %x = arith.mulf %a, %factor : f32
      %y = arith.select %seen, %x, %hidden : f32
      linalg.yield %y : f32
  } -> tensor<12x1024x1024xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<12x1024x1024xf32>) outs(%es : tensor<12x1024x1024xf32>) -> tensor<12x1024x1024xf32>
  %wn = arith.truncf %w : tensor<12x1024x1024xf32> to tensor<12x1024x1024xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<12x1024x1024xbf16>, tensor<12x1024x64xbf16>) outs(%so : tensor<12x1024x64xf32>) -> tensor<12x1024x64xf32>
  %r = arith.truncf %o : tensor<12x1024x64xf32> to tensor<12x1024x64xbf16>
  return %r : tensor<12x1024x64xbf16>
}
