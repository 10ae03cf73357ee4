// What repeats takes no room in the program, and what is large lies behind the tables, where a file may have any size.
// RUN: tenon-compile %s -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: python3 -c "import os, sys; assert os.stat(sys.argv[1]).st_size < 4000" %t.tenon
// RUN: tenon-run %t.tenon --function=splat --output=@%t.bin
// RUN: python3 -c "import sys; assert open(sys.argv[1], 'rb').read() == bytes([0, 0, 192, 63]) * 8388608" %t.bin
// RUN: tenon-run %t.tenon --function=rows | FileCheck %s --check-prefix=ROWS

// CHECK: constant 0: 33554432 bytes, 4 of them repeated
// CHECK: constant 1: 36 bytes, 12 of them repeated
// ROWS: 3x3xi32=[1 2 3][1 2 3][1 2 3]

// RUN: python3 %S/Inputs/large_constant.py 3000000 %t.large.mlir %t.wanted
// RUN: tenon-compile %t.large.mlir -o %t.large.tenon
// RUN: tenon-dump %t.large.tenon | FileCheck %s --check-prefix=LARGE
// RUN: tenon-run %t.large.tenon --output=@%t.0 --output=@%t.1
// RUN: cmp %t.0 %t.wanted.0
// RUN: cmp %t.1 %t.wanted.1
// LARGE: constant 0: 3000000 bytes{{$}}
// LARGE: constant 1: 2999999 bytes{{$}}

func.func @splat() -> tensor<8388608xf32> {
  %0 = arith.constant dense<1.5> : tensor<8388608xf32>
  return %0 : tensor<8388608xf32>
}
func.func @rows() -> tensor<3x3xi32> {
  %0 = arith.constant dense<[[1, 2, 3], [1, 2, 3], [1, 2, 3]]> : tensor<3x3xi32>
  return %0 : tensor<3x3xi32>
}
