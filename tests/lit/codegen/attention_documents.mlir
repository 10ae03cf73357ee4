// Documents packed into one sequence: which keys 64 rows see is computed in two small kernels, and the attention, which knows it, compares
// numbers of documents in the blocks of keys that some of its rows see and others do not.
// RUN: tenon-opt %s --tenon-lower-tensors --tenon-find-attention | FileCheck %s
// RUN: tenon-compile %s --target=sm_80,sm_90a --images=ptx --print-dispatches --dump-kernels-to=%t -o %t.tenon 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: FileCheck %s --check-prefix=HOPPER < %t/packed_dispatch_2_sm_90a.ptx

// CHECK-LABEL: func.func @packed
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: arith.cmpi eq
// CHECK: tensor.extract
// CHECK: {tenon.key_range}
// CHECK: linalg.softmax
// KERNELS: kernel 'packed_dispatch_0' ends here: 3 operations
// KERNELS: kernel 'packed_dispatch_1' ends here: 2 operations
// KERNELS: kernel 'packed_dispatch_2' ends here
// KERNELS-NOT: packed_dispatch_3
// HOPPER: .reqntid 384
// HOPPER: wgmma.mma_async
func.func @packed(%q: tensor<2048x32x64xbf16>, %k: tensor<2048x32x64xbf16>, %v: tensor<2048x32x64xbf16>, %document: tensor<2048xi32>) -> tensor<2048x32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<32x2048x2048xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x2048x2048xf32>) -> tensor<32x2048x2048xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n, d) -> (m, h, d)>, affine_map<(h, m, n, d) -> (n, h, d)>, affine_map<(h, m, n, d) -> (h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2048x32x64xbf16>, tensor<2048x32x64xbf16>) outs(%fs : tensor<32x2048x2048xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<32x2048x2048xf32>
  %l = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (m)>, affine_map<(h, m, n) -> (n)>, affine_map<(h, m, n) -> (h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %document, %document : tensor<32x2048x2048xf32>, tensor<2048xi32>, tensor<2048xi32>) outs(%es : tensor<32x2048x2048xf32>) {
    ^bb0(%a: f32, %row: i32, %key: i32, %o: f32):
      %seen = arith.cmpi eq, %row, %key : i32
      %r = arith.select %seen, %a, %hidden : f32
      linalg.yield %r : f32
  } -> tensor<32x2048x2048xf32>
  %w = linalg.softmax dimension(2) ins(%l : tensor<32x2048x2048xf32>) outs(%es : tensor<32x2048x2048xf32>) -> tensor<32x2048x2048xf32>
  %eo = tensor.empty() : tensor<2048x32x64xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2048x32x64xf32>) -> tensor<2048x32x64xf32>
  %out = linalg.generic {indexing_maps = [affine_map<(m, h, e, n) -> (h, m, n)>, affine_map<(m, h, e, n) -> (n, h, e)>, affine_map<(m, h, e, n) -> (m, h, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %v : tensor<32x2048x2048xf32>, tensor<2048x32x64xbf16>) outs(%fo : tensor<2048x32x64xf32>) {
    ^bb0(%a: f32, %b: bf16, %c: f32):
      %an = arith.truncf %a : f32 to bf16
      %x = arith.extf %an : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32
  } -> tensor<2048x32x64xf32>
  return %out : tensor<2048x32x64xf32>
}
