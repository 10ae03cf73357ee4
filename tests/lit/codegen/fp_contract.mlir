// A product that only a sum takes is fused with it; not where it has another use, nor where both sides are products.
// RUN: tenon-opt %s --tenon-print-ptx=target=sm_80 -o /dev/null | FileCheck %s
// RUN: tenon-opt %s "--tenon-print-ptx=target=sm_75 contract=false" -o /dev/null | FileCheck %s --check-prefix=OFF
// RUN: tenon-opt %s "--tenon-print-ptx=target=sm_75" -o /dev/null | FileCheck %s --check-prefix=SM75
// RUN: tenon-opt %s "--tenon-print-ptx=target=sm_80 fast-math=true" -o /dev/null | FileCheck %s --check-prefix=FAST

// OFF-NOT: fma
// sm_75 has no fma in bf16, which it computes in f32 and rounds between the two operations.
// SM75: fma.rn.f32
// SM75: fma.rn.f16
// SM75-LABEL: .entry bfloat(
// SM75-NOT: fma
// SM75-LABEL: .entry two_sum(
// SM75: fma.rn.f64
// FAST: two_products
// FAST: fma.rn.ftz.f32
// FAST: ret;

#id = affine_map<(d0) -> (d0)>
#maps = [#id, #id, #id, #id]

// CHECK-LABEL: .entry sum(
// CHECK-NOT: mul.rn
// CHECK: fma.rn.f32
// CHECK-NOT: mul.rn
// CHECK: ret;
func.func @sum(%x: tensor<128xf32>, %y: tensor<128xf32>, %z: tensor<128xf32>) -> tensor<128xf32>
    attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<128xf32>
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<128xf32>, tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
  } -> tensor<128xf32>
  return %r : tensor<128xf32>
}

// CHECK-LABEL: .entry differences(
// CHECK-COUNT-2: fma.rn.f16
// CHECK-NOT: mul
// CHECK: ret;
func.func @differences(%x: tensor<128xf16>, %y: tensor<128xf16>, %z: tensor<128xf16>) -> tensor<128xf16>
    attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<128xf16>
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<128xf16>, tensor<128xf16>, tensor<128xf16>) outs(%e : tensor<128xf16>) {
    ^bb0(%a: f16, %b: f16, %c: f16, %o: f16):
      %p = arith.mulf %a, %b : f16
      %q = arith.negf %p : f16
      %d = arith.subf %c, %q : f16
      %u = arith.mulf %d, %a : f16
      %s = arith.subf %u, %b : f16
      linalg.yield %s : f16
  } -> tensor<128xf16>
  return %r : tensor<128xf16>
}

// CHECK-LABEL: .entry bfloat(
// CHECK: fma.rn.bf16
// CHECK: ret;
func.func @bfloat(%x: tensor<128xbf16>, %y: tensor<128xbf16>, %z: tensor<128xbf16>) -> tensor<128xbf16>
    attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<128xbf16>
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<128xbf16>, tensor<128xbf16>, tensor<128xbf16>) outs(%e : tensor<128xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %c: bf16, %o: bf16):
      %p = arith.mulf %a, %b : bf16
      %s = arith.addf %p, %c : bf16
      linalg.yield %s : bf16
  } -> tensor<128xbf16>
  return %r : tensor<128xbf16>
}

// The sum of the two ends: its rounding error is what the caller is after.
// CHECK-LABEL: .entry two_sum(
// CHECK-NOT: fma
// CHECK: ret;
func.func @two_sum(%x: tensor<128xf64>, %y: tensor<128xf64>, %z: tensor<128xf64>) -> tensor<128xf64>
    attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<128xf64>
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<128xf64>, tensor<128xf64>, tensor<128xf64>) outs(%e : tensor<128xf64>) {
    ^bb0(%a: f64, %b: f64, %c: f64, %o: f64):
      %p = arith.mulf %a, %b : f64
      %s = arith.addf %p, %c : f64
      %again = arith.mulf %a, %b : f64
      %virtual = arith.subf %s, %again : f64
      %error = arith.subf %c, %virtual : f64
      linalg.yield %error : f64
  } -> tensor<128xf64>
  return %r : tensor<128xf64>
}

// CHECK-LABEL: .entry square(
// CHECK: fma.rn.f64
// CHECK: ret;
func.func @square(%x: tensor<128xf64>, %y: tensor<128xf64>, %z: tensor<128xf64>) -> tensor<128xf64>
    attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<128xf64>
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<128xf64>, tensor<128xf64>, tensor<128xf64>) outs(%e : tensor<128xf64>) {
    ^bb0(%a: f64, %b: f64, %c: f64, %o: f64):
      %p = arith.mulf %a, %a : f64
      %s = arith.addf %p, %c : f64
      linalg.yield %s : f64
  } -> tensor<128xf64>
  return %r : tensor<128xf64>
}

// x*x - y*y is zero where x is y.
// CHECK-LABEL: .entry two_products(
// CHECK-NOT: fma
// CHECK: mul.rn.f32
// CHECK: mul.rn.f32
// CHECK: sub.rn.f32
// CHECK: ret;
func.func @two_products(%x: tensor<128xf32>, %y: tensor<128xf32>, %z: tensor<128xf32>) -> tensor<128xf32>
    attributes {tenon.elements_per_thread = 1 : i64} {
  %e = tensor.empty() : tensor<128xf32>
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel"]}
      ins(%x, %y, %z : tensor<128xf32>, tensor<128xf32>, tensor<128xf32>) outs(%e : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
      %p = arith.mulf %a, %a : f32
      %q = arith.mulf %b, %b : f32
      %s = arith.subf %p, %q : f32
      linalg.yield %s : f32
  } -> tensor<128xf32>
  return %r : tensor<128xf32>
}
