// Of tf32, Hopper's warpgroups read one operand as it lies across: of two, the smaller one is turned.
// RUN: tenon-opt %s --tenon-align-products | FileCheck %s

module attributes {tenon.tf32, tenon.hopper_only} {

// CHECK-LABEL: func.func @one
// CHECK-NOT: linalg.transpose
// CHECK: linalg.matmul ins(%arg0, %arg1
func.func @one(%a: tensor<512x1024xf32>, %b: tensor<1024x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<512x1024xf32>, tensor<1024x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %p : tensor<512x512xf32>
}

// Eight times smaller than the other one.
// CHECK-LABEL: func.func @small
// CHECK: linalg.transpose ins(%arg0 : tensor<1024x128xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @small(%a: tensor<1024x128xf32>, %b: tensor<1024x1024xf32>, %c: tensor<128x1024xf32>) -> tensor<128x1024xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1024x128xf32>, tensor<1024x1024xf32>) outs(%c : tensor<128x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<128x1024xf32>
  return %p : tensor<128x1024xf32>
}

// Few rows, too.
// CHECK-LABEL: func.func @both
// CHECK: linalg.transpose ins(%arg0 : tensor<1024x16xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @both(%a: tensor<1024x16xf32>, %b: tensor<1024x256xf32>, %c: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1024x16xf32>, tensor<1024x256xf32>) outs(%c : tensor<16x256xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<16x256xf32>
  return %p : tensor<16x256xf32>
}

// Rows that no box begins at: turned, and made longer where that is needed.
// CHECK-LABEL: func.func @unaligned
// CHECK: linalg.transpose
// CHECK: return
func.func @unaligned(%a: tensor<512x1024xf32>, %b: tensor<1024x513xf32>, %c: tensor<512x513xf32>) -> tensor<512x513xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<512x1024xf32>, tensor<1024x513xf32>) outs(%c : tensor<512x513xf32>) -> tensor<512x513xf32>
  return %p : tensor<512x513xf32>
}

// It is not known how long sums are, nor how many rows there are: the smaller side is that of fewer columns, or the left one.
// CHECK-LABEL: func.func @any_sums
// CHECK: linalg.transpose ins(%arg1 : tensor<?x256xf32>) outs(%{{.*}} : tensor<256x?xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @any_sums(%a: tensor<?x5328xf32>, %b: tensor<?x256xf32>, %c: tensor<5328x256xf32>) -> tensor<5328x256xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x5328xf32>, tensor<?x256xf32>) outs(%c : tensor<5328x256xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<5328x256xf32>
  return %p : tensor<5328x256xf32>
}

// CHECK-LABEL: func.func @any_rows
// CHECK: linalg.transpose ins(%arg0 : tensor<1024x?xf32>) outs(%{{.*}} : tensor<?x1024xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @any_rows(%a: tensor<1024x?xf32>, %b: tensor<1024x4096xf32>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1024x?xf32>, tensor<1024x4096xf32>) outs(%c : tensor<?x4096xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x4096xf32>
  return %p : tensor<?x4096xf32>
}

// Rows of 1030 elements, which are no multiple of 16 bytes, would have to be made longer, too.
// CHECK-LABEL: func.func @any_rows_unaligned
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @any_rows_unaligned(%a: tensor<1030x?xf32>, %b: tensor<1030x4096xf32>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1030x?xf32>, tensor<1030x4096xf32>) outs(%c : tensor<?x4096xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x4096xf32>
  return %p : tensor<?x4096xf32>
}
}
