// Operations of TOSA on constants, which MLIR would fold before they are read, and some of them wrong.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s
// CHECK: 5 functions: 7 expectations hold, 0 failed

func.func @truth_to_float() {
  %x = "tosa.const"() <{values = dense<true> : tensor<4xi1>}> : () -> tensor<4xi1>
  %half = tosa.cast %x : (tensor<4xi1>) -> tensor<4xf16>
  check.expect_eq_const(%half, dense<1.0> : tensor<4xf16>) : tensor<4xf16>
  %single = tosa.cast %x : (tensor<4xi1>) -> tensor<4xf32>
  check.expect_eq_const(%single, dense<1.0> : tensor<4xf32>) : tensor<4xf32>
  return
}

func.func @float_to_truth() {
  %x = "tosa.const"() <{values = dense<126.5> : tensor<4xf32>}> : () -> tensor<4xf32>
  %r = tosa.cast %x : (tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const(%r, dense<true> : tensor<4xi1>) : tensor<4xi1>
  %y = "tosa.const"() <{values = dense<-0.0> : tensor<4xbf16>}> : () -> tensor<4xbf16>
  %s = tosa.cast %y : (tensor<4xbf16>) -> tensor<4xi1>
  check.expect_eq_const(%s, dense<false> : tensor<4xi1>) : tensor<4xi1>
  return
}

func.func @product_of_i8() {
  %x = "tosa.const"() <{values = dense<100> : tensor<4xi8>}> : () -> tensor<4xi8>
  %y = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.mul %x, %y, %z : (tensor<4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi32>
  check.expect_eq_const(%r, dense<-12800> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @product_of_i16() {
  %x = "tosa.const"() <{values = dense<-32768> : tensor<4xi16>}> : () -> tensor<4xi16>
  %y = "tosa.const"() <{values = dense<-7719> : tensor<4xi16>}> : () -> tensor<4xi16>
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.mul %x, %y, %z : (tensor<4xi16>, tensor<4xi16>, tensor<1xi8>) -> tensor<4xi32>
  check.expect_eq_const(%r, dense<252936192> : tensor<4xi32>) : tensor<4xi32>
  return
}

func.func @nan_to_integer() {
  %x = "tosa.const"() <{values = dense<0x7FC00000> : tensor<4xf32>}> : () -> tensor<4xf32>
  %r = tosa.cast %x : (tensor<4xf32>) -> tensor<4xi32>
  check.expect_eq_const(%r, dense<0> : tensor<4xi32>) : tensor<4xi32>
  return
}
