// Floats that the host computes with: rounded as a kernel rounds them, in f32 for the shorter types.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: tenon-run %t.tenon --function=f32 --input=3.5 --input=2 --expected_output=f32=1.75 --expected_output=i1=0 --expected_output=i32=7
// RUN: tenon-run %t.tenon --function=f64 --input=2 --expected_output=f64=1.4142135623730951 --expected_f64_threshold=0
// RUN: tenon-run %t.tenon --function=f16 --input=2048 --input=1 --expected_output=f16=2048
// RUN: tenon-run %t.tenon --function=rounding --input=2.5 --expected_output=f32=2 --expected_output=f32=3 --expected_output=f32=2 --expected_output=f32=3 --expected_output=f32=-2.5
// RUN: not tenon-run %t.tenon --function=whole --input=1e30 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: function 'whole': register {{.*}} of a float that is no number, or none that fits 64 bits

// CHECK-LABEL: function 'f32'
// CHECK: fdiv.32
// CHECK: flt.32
func.func @f32(%a: f32, %b: f32) -> (f32, i1, i32) {
  %0 = arith.divf %a, %b : f32
  %1 = arith.cmpf olt, %a, %b : f32
  %2 = arith.mulf %a, %b : f32
  %3 = arith.fptosi %2 : f32 to i32
  return %0, %1, %3 : f32, i1, i32
}
// CHECK-LABEL: function 'f64'
// CHECK: fsqrt.64
func.func @f64(%a: f64) -> f64 {
  %0 = math.sqrt %a : f64
  return %0 : f64
}
// CHECK-LABEL: function 'f16'
// CHECK: fconvert f16 to f32
// CHECK: fadd.32
// CHECK: fconvert f32 to f16
func.func @f16(%a: f16, %b: f16) -> f16 {
  %0 = arith.addf %a, %b : f16
  return %0 : f16
}
func.func @rounding(%a: f32) -> (f32, f32, f32, f32, f32) {
  %0 = math.roundeven %a : f32
  %1 = math.round %a : f32
  %2 = math.floor %a : f32
  %3 = math.ceil %a : f32
  %4 = arith.negf %a : f32
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}
func.func @whole(%a: f32) -> i64 {
  %0 = arith.fptosi %a : f32 to i64
  return %0 : i64
}
