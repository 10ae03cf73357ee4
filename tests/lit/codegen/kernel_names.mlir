// A kernel is named after its function, in letters that PTX takes, and apart from every other symbol.
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --dump-kernels-to=%t -o %t/names.tenon
// RUN: cat %t/a_b_c_dispatch_0_0_sm_80.ptx %t/_1st_dispatch_0_sm_80.ptx | FileCheck %s --check-prefix=PTX

// CHECK: flow.dispatch @a_b_c_dispatch_0_0::@a_b_c_dispatch_0_0
func.func @"a.b-c"(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.negf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func @a_b_c_dispatch_0(
func.func @a_b_c_dispatch_0(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
// CHECK: flow.dispatch @_1st_dispatch_0::@_1st_dispatch_0
func.func @"1st"(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.absf %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// PTX: .visible .entry a_b_c_dispatch_0_0(
// PTX: .visible .entry _1st_dispatch_0(
