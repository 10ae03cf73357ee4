// Arrays from and to files.
// REQUIRES: compiler
// RUN: tenon-compile %s -o %t.tenon

func.func @f(%arg0: tensor<?x?xf32>, %arg1: tensor<2xi8>) -> (tensor<?x?xf32>, tensor<2xi8>) {
  return %arg0, %arg1 : tensor<?x?xf32>, tensor<2xi8>
}

// A result written as .npy, another appended, both read back.
// RUN: tenon-run %t.tenon --input='2x2xf32=1 2 3 4' --input='2xi8=5 6' --output=@%t.npy --output=+%t.npy | FileCheck %s --check-prefix=QUIET
// QUIET: EXEC @f
// QUIET-NOT: result
// RUN: tenon-run %t.tenon --input=@%t.npy --input=+%t.npy | FileCheck %s
// RUN: tenon-run %t.tenon --input=*%t.npy | FileCheck %s
// CHECK: {{^}}2x2xf32=[1 2][3 4]{{$}}
// CHECK: {{^}}2xi8=5 6{{$}}

// Raw elements.
// RUN: tenon-run %t.tenon --input='2x2xf32=1 2 3 4' --input='2xi8=5 6' --output= --output=@%t.bin
// RUN: tenon-run %t.tenon --input='2x2xf32=1 2 3 4' --input=2xi8=@%t.bin | FileCheck %s
// RUN: not tenon-run %t.tenon --input=2x2xf32=@%t.bin --input=2xi8=1 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: .bin' has 2 bytes, 2x2xf32 has 16

// RUN: not tenon-run %t.tenon --input=@%t.bin --input=2xi8=1 2>&1 | FileCheck %s --check-prefix=MAGIC
// MAGIC: no .npy array at byte 0 of 2
