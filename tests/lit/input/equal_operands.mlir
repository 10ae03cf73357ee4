// A tensor that meets itself, of unknown sizes: MLIR folds to a constant of the tensor's type, and there is none.
// RUN: tenon-opt %s --tenon-read-input --canonicalize | FileCheck %s
// RUN: tenon-compile %s --images=ptx --target=sm_80 -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=f --input="3xi8=5 0 -7" --input="3xi1=1 0 1" --expected_output=3xi8=0 --expected_output=3xi1=0 --expected_output=3xi8=0

// CHECK-LABEL: func.func @f
// CHECK-NOT: dense<
// CHECK: linalg.generic
func.func @f(%x: tensor<?xi8>, %y: tensor<?xi1>) -> (tensor<?xi8>, tensor<?xi1>, tensor<?xi8>) {
  %0 = arith.xori %x, %x : tensor<?xi8>
  %1 = arith.cmpi slt, %x, %x : tensor<?xi8>
  %2 = arith.select %y, %x, %x : tensor<?xi1>, tensor<?xi8>
  %3 = arith.xori %2, %x : tensor<?xi8>
  return %0, %1, %3 : tensor<?xi8>, tensor<?xi1>, tensor<?xi8>
}
