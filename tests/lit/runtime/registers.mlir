// Scalar arithmetic that has no result fails the call, by name, before anything is launched.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon

func.func @divide(%arg0: index, %arg1: index) -> index {
  %0 = arith.divsi %arg0, %arg1 : index
  return %0 : index
}
// RUN: tenon-run %t.tenon --function=divide --input=-7 --input=2 | FileCheck %s --check-prefix=OK
// OK: {{^}}result[0]: i64=-3{{$}}
// RUN: not tenon-run %t.tenon --function=divide --input=7 --input=0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: tenon-run: error: function 'divide': register {{[0-9]+}} ({{.*}} of 7 by 0): division by zero

func.func @multiply(%arg0: index, %arg1: index) -> index {
  %0 = arith.muli %arg0, %arg1 : index
  return %0 : index
}
// RUN: not tenon-run %t.tenon --function=multiply --input=4611686018427387904 --input=2 2>&1 | FileCheck %s --check-prefix=OVERFLOW
// OVERFLOW: tenon-run: error: function 'multiply': register {{[0-9]+}} (Mul of 4611686018427387904 and 2) overflows 64 bits

// Sizes fail where they overflow; numbers of 64 bits do not.
func.func @hash(%arg0: i64, %arg1: i64) -> (i64, i64, i64, i64) {
  %0 = arith.muli %arg0, %arg1 : i64
  %1 = arith.addi %arg0, %arg0 : i64
  %2 = arith.subi %arg1, %arg0 : i64
  %c9 = arith.constant 9 : i64
  %3 = arith.shli %arg0, %c9 : i64
  return %0, %1, %2, %3 : i64, i64, i64, i64
}
// RUN: tenon-run %t.tenon --function=hash --input=6364136223846793005 --input=-9223372036854775808 | FileCheck %s --check-prefix=WRAPS
// WRAPS: i64=-9223372036854775808
// WRAPS: i64=-5718471626015965606
// WRAPS: i64=2859235813007982803
// WRAPS: i64=-6635954437032617472

func.func @shift(%arg0: index, %arg1: index) -> index {
  %0 = arith.shli %arg0, %arg1 : index
  return %0 : index
}
// RUN: not tenon-run %t.tenon --function=shift --input=4611686018427387904 --input=4 2>&1 | FileCheck %s --check-prefix=SHIFT
// SHIFT: overflows 64 bits
