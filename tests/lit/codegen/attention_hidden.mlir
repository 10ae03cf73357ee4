// Under a causal mask of -inf, scores are hidden before they are multiplied, as whole blocks of keys are multiplied with
// the exponent: one multiplication less for each. By a number that is finite they are hidden behind it.
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: grep -c 0f3F333333 %t.kernels/infinite_dispatch_0_sm_90a.ptx | FileCheck %s --check-prefix=INFINITE
// RUN: grep -c 0f3F333333 %t.kernels/finite_dispatch_0_sm_90a.ptx | FileCheck %s --check-prefix=FINITE

// Of the first block each score is multiplied, in both forms of it; what else there is are factors of rows.
// INFINITE: {{^1[34][0-9]$}}
// FINITE: {{^(19|20)[0-9]$}}
func.func @infinite(%q: tensor<64x512x64xbf16>, %k: tensor<64x512x64xbf16>, %v: tensor<64x512x64xbf16>) -> tensor<64x512x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.7 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<64x512x512xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<64x512x512xf32>) -> tensor<64x512x512xf32>
  %eo = tensor.empty() : tensor<64x512x64xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x512x64xf32>) -> tensor<64x512x64xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<64x512x64xbf16>, tensor<64x512x64xbf16>) outs(%start : tensor<64x512x512xf32>) -> tensor<64x512x512xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<64x512x512xf32>) outs(%es : tensor<64x512x512xf32>) {
    ^bb0(%a: f32, %b: f32):
      %row = linalg.index 1 : index
      %key = linalg.index 2 : index
      %seen = arith.cmpi sge, %row, %key : index
      %x = arith.mulf %a, %factor : f32
      %y = arith.select %seen, %x, %hidden : f32
      linalg.yield %y : f32
  } -> tensor<64x512x512xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<64x512x512xf32>) outs(%es : tensor<64x512x512xf32>) -> tensor<64x512x512xf32>
  %wn = arith.truncf %w : tensor<64x512x512xf32> to tensor<64x512x512xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<64x512x512xbf16>, tensor<64x512x64xbf16>) outs(%so : tensor<64x512x64xf32>) -> tensor<64x512x64xf32>
  %r = arith.truncf %o : tensor<64x512x64xf32> to tensor<64x512x64xbf16>
  return %r : tensor<64x512x64xbf16>
}
func.func @finite(%q: tensor<64x512x64xbf16>, %k: tensor<64x512x64xbf16>, %v: tensor<64x512x64xbf16>) -> tensor<64x512x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.7 : f32
  %hidden = arith.constant -1.0e30 : f32
  %es = tensor.empty() : tensor<64x512x512xf32>
  %start = linalg.fill ins(%zero : f32) outs(%es : tensor<64x512x512xf32>) -> tensor<64x512x512xf32>
  %eo = tensor.empty() : tensor<64x512x64xf32>
  %so = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x512x64xf32>) -> tensor<64x512x64xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<64x512x64xbf16>, tensor<64x512x64xbf16>) outs(%start : tensor<64x512x512xf32>) -> tensor<64x512x512xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<64x512x512xf32>) outs(%es : tensor<64x512x512xf32>) {
    ^bb0(%a: f32, %b: f32):
      %row = linalg.index 1 : index
      %key = linalg.index 2 : index
      %seen = arith.cmpi sge, %row, %key : index
      %x = arith.mulf %a, %factor : f32
      %y = arith.select %seen, %x, %hidden : f32
      linalg.yield %y : f32
  } -> tensor<64x512x512xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<64x512x512xf32>) outs(%es : tensor<64x512x512xf32>) -> tensor<64x512x512xf32>
  %wn = arith.truncf %w : tensor<64x512x512xf32> to tensor<64x512x512xbf16>
  %o = linalg.batch_matmul ins(%wn, %v : tensor<64x512x512xbf16>, tensor<64x512x64xbf16>) outs(%so : tensor<64x512x64xf32>) -> tensor<64x512x64xf32>
  %r = arith.truncf %o : tensor<64x512x64xf32> to tensor<64x512x64xbf16>
  return %r : tensor<64x512x64xbf16>
}
