// Filters that are the same at each place of their window, in a function that may hold an attention: read where they come
// from, nothing would say how large the window is.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=f --input=1x2x6xf32=1 --input=2x2xf32="1 2 3 4" | FileCheck %s
// CHECK: 1x2x4xf32={{\[}}[9 9 9 9][21 21 21 21]]
func.func @f(%image: tensor<1x2x6xf32>, %filters: tensor<2x2xf32>) -> (tensor<1x2x4xf32>, tensor<2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x3xf32>
  %same = linalg.generic {indexing_maps = [affine_map<(f, c, k) -> (f, c)>, affine_map<(f, c, k) -> (f, c, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%filters : tensor<2x2xf32>) outs(%e : tensor<2x2x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<2x2x3xf32>
  %o = tensor.empty() : tensor<1x2x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%o : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, f, x, c, k) -> (n, c, x + k)>, affine_map<(n, f, x, c, k) -> (f, c, k)>, affine_map<(n, f, x, c, k) -> (n, f, x)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%image, %same : tensor<1x2x6xf32>, tensor<2x2x3xf32>) outs(%start : tensor<1x2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<1x2x4xf32>
  %p = tensor.empty() : tensor<2x2xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%p : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%filters, %filters : tensor<2x2xf32>, tensor<2x2xf32>) outs(%begin : tensor<2x2xf32>) {
  ^bb0(%a1: f32, %b1: f32, %s1: f32):
    %m1 = arith.mulf %a1, %b1 : f32
    %t1 = arith.addf %s1, %m1 : f32
    linalg.yield %t1 : f32
  } -> tensor<2x2xf32>
  %2 = math.exp %1 : tensor<2x2xf32>
  return %0, %2 : tensor<1x2x4xf32>, tensor<2x2xf32>
}
