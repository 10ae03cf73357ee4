// A branch that only chooses between tensors hands one of them on, whatever their sizes: no kernel copies it.
// RUN: tenon-opt --tenon-lower-control-flow %s | FileCheck %s
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --function=one --input=1 --input="3xf32=1 2 3" --input="5xf32=4" --expected_output="3xf32=1 2 3"
// RUN: tenon-run %t.tenon --function=one --input=0 --input="3xf32=1 2 3" --input="5xf32=4" --expected_output="5xf32=4"
// RUN: tenon-run %t.tenon --function=turns --input=0 --input="3xf32=1 2 3" --input="2xf32=4 5" --expected_output="3xf32=1 2 3"
// RUN: tenon-run %t.tenon --function=turns --input=3 --input="3xf32=1 2 3" --input="2xf32=4 5" --expected_output="2xf32=32 40"
// RUN: tenon-run %t.tenon --function=turns --input=4 --input="3xf32=1 2 3" --input="2xf32=4 5" --expected_output="3xf32=16 32 48"
// RUN: tenon-run %t.tenon --function=written --input=1 --input="3xf32=1 2 3" --input="3xf32=4 5 6" --expected_output="3xf32=1 2 3"

// CHECK-LABEL: func.func @one
// CHECK-NEXT: cf.cond_br %arg0, ^[[YES:bb[0-9]+]], ^[[NO:bb[0-9]+]]
// CHECK: ^[[YES]]:
// CHECK-NEXT: cf.br ^[[END:bb[0-9]+]](%arg1
// CHECK: ^[[NO]]:
// CHECK-NEXT: cf.br ^[[END]](%arg2
func.func @one(%p: i1, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = scf.if %p -> tensor<?xf32> {
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %b : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// Each round takes the one that the last did not take, and doubles both.
func.func @turns(%n: i32, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0:2 = scf.for %i = %zero to %n step %one iter_args(%x = %a, %y = %b) -> (tensor<?xf32>, tensor<?xf32>) : i32 {
    %x2 = arith.addf %x, %x : tensor<?xf32>
    %y2 = arith.addf %y, %y : tensor<?xf32>
    %p = arith.cmpi sge, %i, %zero : i32
    %1 = scf.if %p -> tensor<?xf32> {
      scf.yield %y2 : tensor<?xf32>
    } else {
      scf.yield %x2 : tensor<?xf32>
    }
    %2 = scf.if %p -> tensor<?xf32> {
      scf.yield %x2 : tensor<?xf32>
    } else {
      scf.yield %y2 : tensor<?xf32>
    }
    scf.yield %1, %2 : tensor<?xf32>, tensor<?xf32>
  }
  return %0#0 : tensor<?xf32>
}

// What a program computes so, with a branch elsewhere, stays computed.
// CHECK-LABEL: func.func @written
// CHECK: arith.select
// CHECK-NOT: tenon.written
func.func @written(%p: i1, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.select %p, %a, %b : tensor<?xf32>
  %1 = scf.if %p -> tensor<?xf32> {
    scf.yield %0 : tensor<?xf32>
  } else {
    %2 = arith.negf %0 : tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}
