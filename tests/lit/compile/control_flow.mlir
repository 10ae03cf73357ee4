// Loops and conditions of a function become branches; the function's blocks become those of the program.
// RUN: tenon-opt --tenon-lower-control-flow %s | FileCheck %s --check-prefix=OPT
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: tenon-run %t.tenon --function=power --input="4xf32=1 2 3 4" --input=3 --expected_output="4xf32=4 8 12 16"
// RUN: tenon-run %t.tenon --function=power --input="4xf32=1 2 3 4" --input=0 --expected_output="4xf32=1 2 3 4"
// RUN: tenon-run %t.tenon --function=power --input="4xf32=1 2 3 4" --input=-5 --expected_output="4xf32=1 2 3 4"
// RUN: tenon-run %t.tenon --function=either --input=1 --input="5xf32=1 2 3 4 5" --expected_output="5xf32=2 4 6 8 10"
// RUN: tenon-run %t.tenon --function=either --input=0 --input="5xf32=1 2 3 4 5" --expected_output="5xf32=1 2 3 4 5"
// RUN: tenon-run %t.tenon --function=chosen --input=10 --expected_output="i32=1"
// RUN: tenon-run %t.tenon --function=chosen --input=-3 --expected_output="i32=2"
// RUN: tenon-run %t.tenon --function=chosen --input=7 --expected_output="i32=0"
// RUN: tenon-run %t.tenon --function=steps --input=27 --expected_output="i64=111"
// RUN: tenon-run %t.tenon --function=table --input="3x3xi32=0 0 0 0 0 0 0 0 0" --expected_output="3x3xi32=9 9 9 9 9 9 9 9 9"
// RUN: tenon-run %t.tenon --function=counted --input=4 --expected_output="4xi32=0 1 3 6"

// The counter is a constant of the kernel, so one plan serves every round.
// CHECK-LABEL: function 'power'(tensor<4xf32>, i32) -> (tensor<4xf32>)
// CHECK-NEXT: block 0 (tensor<4xf32>, i32)
// CHECK: targets:
// CHECK-NEXT: block 1 (
// CHECK: block 1 (
// CHECK: [[LESS:r[0-9]+]] = lt
// CHECK: targets:
// CHECK-NEXT: [[LESS]]: block 2 (
// CHECK-NEXT: block 3 (
// CHECK: block 2 (
// CHECK: commands:
// CHECK-NEXT: dispatch
// CHECK: targets:
// CHECK-NEXT: block 1 (
// CHECK: block 3 (tensor<4xf32>) -> (tensor<4xf32>):
// CHECK-NOT: targets
// OPT-LABEL: func.func @power
// OPT: cf.br ^[[HEAD:bb[0-9]+]]
// OPT: ^[[HEAD]](
// OPT: cf.cond_br %{{.*}}, ^[[BODY:bb[0-9]+]], ^[[END:bb[0-9]+]]
// OPT: ^[[BODY]]:
// OPT: arith.addf
// OPT: cf.br ^[[HEAD]](
func.func @power(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> (tensor<4xf32>) : i32 {
    %next = arith.addf %y, %x : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %sum : tensor<4xf32>
}

// A branch that hands on an argument of the function: nothing is copied on the way, but the caller gets memory of its own.
// CHECK-LABEL: function 'either'
// CHECK-NOT: copy
func.func @either(%c: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = scf.if %c -> tensor<?xf32> {
    %1 = arith.addf %x, %x : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: function 'chosen'
// CHECK: targets:
// CHECK-NEXT: r{{[0-9]+}}: block
// CHECK-NEXT: r{{[0-9]+}}: block
// CHECK-NEXT: block
func.func @chosen(%n: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %2 = arith.constant 2 : i32
  cf.switch %n : i32, [
    default: ^end(%0 : i32),
    10: ^end(%1 : i32),
    -3: ^end(%2 : i32)
  ]
^end(%r: i32):
  return %r : i32
}

// Collatz: blocks without commands.
func.func @steps(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %end:2 = scf.while (%a = %n, %k = %zero) : (i64, i64) -> (i64, i64) {
    %more = arith.cmpi ne, %a, %one : i64
    scf.condition(%more) %a, %k : i64, i64
  } do {
  ^bb0(%a: i64, %k: i64):
    %rest = arith.remsi %a, %two : i64
    %even = arith.cmpi eq, %rest, %zero : i64
    %b = scf.if %even -> i64 {
      %half = arith.divsi %a, %two : i64
      scf.yield %half : i64
    } else {
      %times = arith.muli %a, %three : i64
      %plus = arith.addi %times, %one : i64
      scf.yield %plus : i64
    }
    %l = arith.addi %k, %one : i64
    scf.yield %b, %l : i64, i64
  }
  return %end#1 : i64
}

// A loop in a loop, in a function that is called.
func.func private @rows(%x: tensor<3x3xi32>) -> tensor<3x3xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %ones = arith.constant dense<1> : tensor<3x3xi32>
  %0 = scf.for %i = %zero to %three step %one iter_args(%y = %x) -> (tensor<3x3xi32>) {
    %1 = scf.for %j = %zero to %three step %one iter_args(%z = %y) -> (tensor<3x3xi32>) {
      %2 = arith.addi %z, %ones : tensor<3x3xi32>
      scf.yield %2 : tensor<3x3xi32>
    }
    scf.yield %1 : tensor<3x3xi32>
  }
  return %0 : tensor<3x3xi32>
}
func.func @table(%x: tensor<3x3xi32>) -> tensor<3x3xi32> {
  %0 = call @rows(%x) : (tensor<3x3xi32>) -> tensor<3x3xi32>
  return %0 : tensor<3x3xi32>
}

// What the host counts goes into a kernel: element k of the result is 0 + 1 + .. + k.
#identity = affine_map<(d0) -> (d0)>
func.func @counted(%n: i32) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0> : tensor<4xi32>
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %none) -> (tensor<4xi32>) : i32 {
    %empty = tensor.empty() : tensor<4xi32>
    %1 = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel"]}
        ins(%x : tensor<4xi32>) outs(%empty : tensor<4xi32>) {
    ^bb0(%a: i32, %o: i32):
      %index = linalg.index 0 : index
      %k = arith.index_cast %index : index to i32
      %isBehind = arith.cmpi sge, %k, %i : i32
      %sum = arith.addi %a, %i : i32
      %b = arith.select %isBehind, %sum, %a : i32
      linalg.yield %b : i32
    } -> tensor<4xi32>
    scf.yield %1 : tensor<4xi32>
  }
  return %0 : tensor<4xi32>
}
