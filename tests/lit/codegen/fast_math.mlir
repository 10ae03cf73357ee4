// Only the flag makes division and exp approximate.
// RUN: tenon-opt %s "--tenon-print-ptx=target=sm_80 fast-math=true" -o /dev/null | FileCheck %s --check-prefix=FAST
// RUN: tenon-opt %s "--tenon-print-ptx=target=sm_80" -o /dev/null | FileCheck %s
// REQUIRES: nvcc

// FAST-LABEL: .entry k(
// FAST: sqrt.rn.ftz.f32
// FAST: div.approx.ftz.f32
// FAST-NOT: fma
// FAST: ex2.approx.ftz.f32
// FAST: ret;
// CHECK-LABEL: .entry k(
// CHECK: sqrt.rn.f32
// CHECK: div.rn.f32
// CHECK: fma.rn.f32
// CHECK: ret;
#id = affine_map<(d0) -> (d0)>
func.func @k(%x: tensor<128xf32>, %y: tensor<128xf32>) -> tensor<128xf32>
    attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<128xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = math.sqrt %a : f32
      %q = arith.divf %p, %b : f32
      %s = math.exp %q : f32
      linalg.yield %s : f32
  } -> tensor<128xf32>
  return %r : tensor<128xf32>
}

// Of bf16 too.
// FAST-LABEL: .entry narrow(
// FAST: div.approx.ftz.f32
// CHECK-LABEL: .entry narrow(
// CHECK: div.full.f32
func.func @narrow(%x: tensor<128xbf16>, %y: tensor<128xbf16>) -> tensor<128xbf16>
    attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<128xbf16>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<128xbf16>, tensor<128xbf16>) outs(%e : tensor<128xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %q = arith.divf %a, %b : bf16
    linalg.yield %q : bf16
  } -> tensor<128xbf16>
  return %0 : tensor<128xbf16>
}
