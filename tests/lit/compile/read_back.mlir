// tensor.extract on the host: an element is read back once what computes it is done.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: tenon-run %t.tenon --function=last --input="4xf32=1 2 3 4.5" --expected_output="f32=9"
// RUN: tenon-run %t.tenon --function=at --input="2x3xi16=1 2 3 -4 5 6" --input=1 --input=0 --expected_output="i16=-4"
// RUN: not tenon-run %t.tenon --function=at --input="2x3xi16=1 2 3 -4 5 6" --input=2 --input=0 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not tenon-run %t.tenon --function=at --input="2x3xi16=1 2 3 -4 5 6" --input=0 --input=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not tenon-run %t.tenon --function=at --input="0x3xi16=" --input=0 --input=0 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: tenon-run %t.tenon --function=halve --input="4xf32=100 1 2 3" --expected_output="4xf32=0.78125 0.0078125 0.015625 0.0234375" --expected_output="i32=7"
// RUN: tenon-run %t.tenon --function=follow --input="5xi32=3 0 1 4 2" --expected_output="i32=2"
// RUN: tenon-run %t.tenon --function=truth --input="2xi1=0 1" --expected_output="i32=10"
// BEHIND: read_back.mlir:[[#]]:8: function 'at': index 0 of tensor.extract is not below the size of the dimension
// NEGATIVE: read_back.mlir:[[#]]:8: function 'at': index 1 of tensor.extract is negative

// CHECK-LABEL: function 'last'
// CHECK-NEXT: block 0 (tensor<4xf32>) -> (f32):
// CHECK: commands:
// CHECK-NEXT: dispatch
// CHECK: f32 read from b1 at byte r
// CHECK-NOT: block 1
// CHECK-LABEL: function 'at'
func.func @last(%x: tensor<4xf32>) -> f32 {
  %c3 = arith.constant 3 : index
  %0 = arith.addf %x, %x : tensor<4xf32>
  %1 = tensor.extract %0[%c3] : tensor<4xf32>
  return %1 : f32
}

func.func @at(%x: tensor<?x3xi16>, %i: i32, %j: i32) -> i16 {
  %0 = arith.index_cast %i : i32 to index
  %1 = arith.index_cast %j : i32 to index
  %2 = tensor.extract %x[%0, %1] : tensor<?x3xi16>
  return %2 : i16
}

// A loop whose end is known on the device.
func.func @halve(%x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %limit = arith.constant 1.0 : f32
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %0:2 = scf.while (%y = %x, %k = %zero) : (tensor<4xf32>, i32) -> (tensor<4xf32>, i32) {
    %first = tensor.extract %y[%c0] : tensor<4xf32>
    %more = arith.cmpf oge, %first, %limit : f32
    scf.condition(%more) %y, %k : tensor<4xf32>, i32
  } do {
  ^bb0(%y: tensor<4xf32>, %k: i32):
    %next = arith.mulf %y, %half : tensor<4xf32>
    %l = arith.addi %k, %one : i32
    scf.yield %next, %l : tensor<4xf32>, i32
  }
  return %0#0, %0#1 : tensor<4xf32>, i32
}

// Each read needs the one before it: three blocks.
// CHECK-LABEL: function 'follow'
// CHECK: block 0
// CHECK: block 1
// CHECK: block 2
// CHECK-NOT: block 3
// CHECK-LABEL: function 'truth'
func.func @follow(%x: tensor<5xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %x[%c0] : tensor<5xi32>
  %i = arith.index_cast %0 : i32 to index
  %1 = tensor.extract %x[%i] : tensor<5xi32>
  %j = arith.index_cast %1 : i32 to index
  %2 = tensor.extract %x[%j] : tensor<5xi32>
  return %2 : i32
}

func.func @truth(%x: tensor<2xi1>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n1 = arith.constant 1 : i32
  %n10 = arith.constant 10 : i32
  %zero = arith.constant 0 : i32
  %0 = tensor.extract %x[%c0] : tensor<2xi1>
  %1 = tensor.extract %x[%c1] : tensor<2xi1>
  %2 = arith.select %0, %n1, %zero : i32
  %3 = arith.select %1, %n10, %zero : i32
  %4 = arith.addi %2, %3 : i32
  return %4 : i32
}
