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
