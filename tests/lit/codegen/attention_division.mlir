// Logits of f16 are divided by a constant as a product with its reciprocal; those of f32 are divided.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention | FileCheck %s
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention=print -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// CHECK-LABEL: func.func @half
// CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp> : f32
// CHECK: linalg.softmax
func.func @half(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x128x128xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<4x128x64xf16>, tensor<4x128x64xf16>) outs(%fs : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %cap = arith.constant 20.0 : f32
  %l = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x128x128xf32>) outs(%es : tensor<4x128x128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %x = arith.divf %a, %cap : f32
      %y = math.tanh %x : f32
      %z = arith.mulf %y, %cap : f32
      linalg.yield %z : f32
  } -> tensor<4x128x128xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<4x128x128xf32>) outs(%es : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %en = tensor.empty() : tensor<4x128x128xf16>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w : tensor<4x128x128xf32>) outs(%en : tensor<4x128x128xf16>) {
    ^bb0(%a: f32, %b: f16):
      %x = arith.truncf %a : f32 to f16
      linalg.yield %x : f16
  } -> tensor<4x128x128xf16>
  %eo = tensor.empty() : tensor<4x128x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  %o = linalg.batch_matmul ins(%n, %v : tensor<4x128x128xf16>, tensor<4x128x64xf16>) outs(%fo : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  return %o : tensor<4x128x64xf32>
}

// CHECK-LABEL: func.func @whole
// CHECK: arith.divf %{{.*}}, %{{[a-z0-9_]*}} : f32
// CHECK: linalg.softmax
func.func @whole(%q: tensor<4x128x64xf32>, %k: tensor<4x128x64xf32>, %v: tensor<4x128x64xf32>) -> tensor<4x128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<4x128x128xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<4x128x64xf32>, tensor<4x128x64xf32>) outs(%fs : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %cap = arith.constant 20.0 : f32
  %l = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4x128x128xf32>) outs(%es : tensor<4x128x128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %x = arith.divf %a, %cap : f32
      linalg.yield %x : f32
  } -> tensor<4x128x128xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<4x128x128xf32>) outs(%es : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %eo = tensor.empty() : tensor<4x128x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  %o = linalg.batch_matmul ins(%w, %v : tensor<4x128x128xf32>, tensor<4x128x64xf32>) outs(%fo : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  return %o : tensor<4x128x64xf32>
}

// What the last product adds to is divided, too, where the sum of the exponentials divides its result: that is no attention.
// CHECK-LABEL: func.func @start
// CHECK-NOT: linalg.softmax
// CHECK: return
// WHY: [[@LINE+28]]:{{[0-9]+}}: remark: this product is not computed as attention: what divides by the sum of the exponentials over the keys divides the numbers that the last product adds to as well
func.func @start(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %start: tensor<4x128x64xf32>) -> tensor<4x128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x128x128xf32>
  %er = tensor.empty() : tensor<4x128xf32>
  %eo = tensor.empty() : tensor<4x128x64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %fl = linalg.fill ins(%least : f32) outs(%er : tensor<4x128xf32>) -> tensor<4x128xf32>
  %ft = linalg.fill ins(%zero : f32) outs(%er : tensor<4x128xf32>) -> tensor<4x128xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>]
      ins(%q, %k : tensor<4x128x64xf16>, tensor<4x128x64xf16>) outs(%fs : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %l = linalg.reduce { arith.maximumf } ins(%s : tensor<4x128x128xf32>) outs(%fl : tensor<4x128xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<4x128x128xf32>, tensor<4x128xf32>) outs(%es : tensor<4x128x128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %x = arith.subf %a, %b : f32
      %y = math.exp %x : f32
      linalg.yield %y : f32
  } -> tensor<4x128x128xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<4x128x128xf32>) outs(%ft : tensor<4x128xf32>) dimensions = [2]
  %en = tensor.empty() : tensor<4x128x128xf16>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<4x128x128xf32>) outs(%en : tensor<4x128x128xf16>) {
    ^bb0(%a: f32, %b: f16):
      %x = arith.truncf %a : f32 to f16
      linalg.yield %x : f16
  } -> tensor<4x128x128xf16>
  %o = linalg.batch_matmul ins(%n, %v : tensor<4x128x128xf16>, tensor<4x128x64xf16>) outs(%start : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o, %t : tensor<4x128x64xf32>, tensor<4x128xf32>) outs(%eo : tensor<4x128x64xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %x = arith.divf %a, %b : f32
      linalg.yield %x : f32
  } -> tensor<4x128x64xf32>
  return %r : tensor<4x128x64xf32>
}
