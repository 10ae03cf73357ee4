// flow's operations that move elements: their text as it is printed, what they become, and what they compute.
// RUN: tenon-opt %s | tenon-opt | FileCheck %s --check-prefix=TEXT
// RUN: tenon-opt %s --tenon-read-input | FileCheck %s --check-prefix=READ
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s --check-prefix=PASSES
// READ-NOT: flow.tensor

// TEXT-LABEL: func.func @slices
// TEXT: flow.tensor.slice %{{.*}}[%{{.*}}, %{{.*}} for %{{.*}}, %{{.*}}] : tensor<3x4xi32> -> tensor<2x2xi32>
// TEXT: flow.tensor.slice %{{.*}}[%{{.*}}, %{{.*}} for %{{.*}}, %{{.*}}] : tensor<?x4xi32>{%{{.*}}} -> tensor<?x4xi32>{%{{.*}}}
// TEXT: flow.tensor.slice %{{.*}}[ for] : tensor<i32> -> tensor<i32>
// READ-LABEL: func.func @slices
// READ: tensor.extract_slice %{{.*}}[%{{.*}}, 2] [2, 2] [1, 1] : tensor<3x4xi32> to tensor<2x2xi32>
// PASSES: PASS @slices
func.func @slices() {
  %c0 = arith.constant 0 : index
  %c1 = util.unfoldable_constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %x = util.unfoldable_constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
  %0 = flow.tensor.slice %x[%c1, %c2 for %c2, %c2] : tensor<3x4xi32> -> tensor<2x2xi32>
  check.expect_eq_const(%0, dense<[[7, 8], [11, 12]]> : tensor<2x2xi32>) : tensor<2x2xi32>
  %y = flow.tensor.dynamic_constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi32> -> tensor<?x4xi32>
  %1 = flow.tensor.slice %y[%c1, %c0 for %c1, %c4] : tensor<?x4xi32>{%c2} -> tensor<?x4xi32>{%c1}
  %2 = tensor.cast %1 : tensor<?x4xi32> to tensor<1x4xi32>
  check.expect_eq_const(%2, dense<[[5, 6, 7, 8]]> : tensor<1x4xi32>) : tensor<1x4xi32>
  %z = util.unfoldable_constant dense<9> : tensor<i32>
  %3 = flow.tensor.slice %z[for] : tensor<i32> -> tensor<i32>
  check.expect_eq_const(%3, dense<9> : tensor<i32>) : tensor<i32>
  return
}

// TEXT-LABEL: func.func @updates
// TEXT: flow.tensor.update %{{.*}}, %[[TARGET:.*]][%{{.*}}] : tensor<2xi32> -> %[[TARGET]] as tensor<4xi32>
// TEXT: flow.tensor.update %{{.*}}, %[[TARGET]][%{{.*}}] : tensor<?xi32>{%{{.*}}} -> %[[TARGET]] as tensor<4xi32>
// READ-LABEL: func.func @updates
// READ: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}] [2] [1] : tensor<2xi32> into tensor<4xi32>
// PASSES: PASS @updates
func.func @updates() {
  %c1 = util.unfoldable_constant 1 : index
  %c2 = arith.constant 2 : index
  %x = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %new = util.unfoldable_constant dense<[8, 9]> : tensor<2xi32>
  %0 = flow.tensor.update %new, %x[%c1] : tensor<2xi32> -> %x as tensor<4xi32>
  check.expect_eq_const(%0, dense<[1, 8, 9, 4]> : tensor<4xi32>) : tensor<4xi32>
  %some = flow.tensor.dynamic_constant dense<[8, 9]> : tensor<2xi32> -> tensor<?xi32>
  %1 = flow.tensor.update %some, %x[%c2] : tensor<?xi32>{%c2} -> tensor<4xi32>
  check.expect_eq_const(%1, dense<[1, 2, 8, 9]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%x, dense<[1, 2, 3, 4]> : tensor<4xi32>) : tensor<4xi32>
  return
}

// TEXT-LABEL: func.func @others
// TEXT: flow.tensor.splat %{{.*}} : tensor<?x2xf32>{%{{.*}}}
// TEXT: flow.tensor.empty : tensor<0x2xf32>
// TEXT: flow.tensor.load %{{.*}}[%{{.*}}] : tensor<3xf32>
// TEXT: flow.tensor.store %{{.*}}, %{{.*}}[%{{.*}}] : tensor<3xf32>
// TEXT: flow.tensor.load %{{.*}} : tensor<f32>
// TEXT: flow.tensor.clone %{{.*}} : tensor<3xf32>
// TEXT: flow.tensor.transfer %{{.*}} : tensor<3xf32> to "another"
// READ-LABEL: func.func @others
// READ: tensor.splat
// READ: tensor.empty
// READ: tensor.extract
// READ: tensor.insert
// PASSES: PASS @others
func.func @others() {
  %c1 = util.unfoldable_constant 1 : index
  %half = arith.constant 0.5 : f32
  %0 = flow.tensor.splat %half : tensor<?x2xf32>{%c1}
  %1 = tensor.cast %0 : tensor<?x2xf32> to tensor<1x2xf32>
  check.expect_eq_const(%1, dense<0.5> : tensor<1x2xf32>) : tensor<1x2xf32>
  %2 = flow.tensor.empty : tensor<0x2xf32>
  check.expect_eq(%2, %2) : tensor<0x2xf32>
  %x = util.unfoldable_constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %3 = flow.tensor.load %x[%c1] : tensor<3xf32>
  %4 = flow.tensor.store %half, %x[%c1] : tensor<3xf32>
  check.expect_eq_const(%4, dense<[1.0, 0.5, 3.0]> : tensor<3xf32>) : tensor<3xf32>
  %5 = tensor.from_elements %3 : tensor<f32>
  check.expect_eq_const(%5, dense<2.0> : tensor<f32>) : tensor<f32>
  %6 = flow.tensor.load %5 : tensor<f32>
  %7 = flow.tensor.clone %4 : tensor<3xf32>
  %8 = flow.tensor.transfer %7 : tensor<3xf32> to "another"
  %9 = flow.tensor.store %6, %8[%c1] : tensor<3xf32>
  check.expect_eq(%x, %9) : tensor<3xf32>
  return
}
