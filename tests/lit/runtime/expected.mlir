// --expected_output: success, failure with the first element that differs, exit status.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon

func.func @f(%arg0: tensor<?xf32>, %arg1: i32) -> (tensor<?xf32>, i32) {
  return %arg0, %arg1 : tensor<?xf32>, i32
}

// RUN: tenon-run %t.tenon --input='3xf32=1 2 3' --input=7 --expected_output='3xf32=1 2.0001 3' --expected_output=7 | FileCheck %s --check-prefix=OK
// OK: EXEC @f
// OK-NEXT: {{^}}[SUCCESS] all function outputs matched their expected values.{{$}}
// OK-NOT: result

// RUN: not tenon-run %t.tenon --input='3xf32=1 2 3' --input=7 --expected_output='3xf32=1 2 4' --expected_output='(ignored)' | FileCheck %s --check-prefix=BAD
// BAD: EXEC @f
// BAD-NEXT: [FAILED] result[0]: element at index 2 (3) does not match the expected (4); 1 of 3 elements differ
// BAD-NEXT: expected:
// BAD-NEXT: 3xf32=1 2 4
// BAD-NEXT: actual:
// BAD-NEXT: 3xf32=1 2 3
// BAD-NOT: SUCCESS

// RUN: tenon-run %t.tenon --input='3xf32=1 2 3' --input=7 --expected_output='3xf32=1 2 4' --expected_output=7 --expected_f32_threshold=1 | FileCheck %s --check-prefix=OK

// RUN: not tenon-run %t.tenon --input=3xf32=1 --input=7 --expected_output=3xf32=1 --expected_output=8 | FileCheck %s --check-prefix=SCALAR
// SCALAR: [FAILED] result[1]: the scalars differ

// RUN: not tenon-run %t.tenon --input=3xf32=1 --input=7 --expected_output=3xf32=1 | FileCheck %s --check-prefix=COUNT
// COUNT: [FAILED] the function has 2 results, 1 expected values were given

// RUN: not tenon-run %t.tenon --input=3xf32=1 --input=7 --expected_output=1x3xf32=1 --expected_output=7 | FileCheck %s --check-prefix=TYPE
// TYPE: [FAILED] result[0]: the result is tensor<3xf32>, expected tensor<1x3xf32>

// RUN: not tenon-run %t.tenon --input=3xf32=1 --input=7 --expected_output=3xf32=1 --expected_output=7 --expected_f32_threshold=x 2>&1 | FileCheck %s --check-prefix=THRESHOLD
// THRESHOLD: --expected_f32_threshold=x: expected a number of at least 0
