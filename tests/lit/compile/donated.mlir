// Arguments that are given up are written over, where nobody reads them again; what is not is copied, and the compiler says why.
// RUN: tenon-compile %s --images=ptx --target=sm_80 --print-dispatches -o %t.tenon 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: tenon-dump %t.tenon | FileCheck %s
//
// Values are what they were.
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=append --input=4x2xf32=1 --input="1x2xf32=5 6" --input=i32=2 --expected_output="4x2xf32=1 1 1 1 5 6 1 1" --expected_output="2xf32=8 9"
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=append --input=4x2xf32=1 --input="1x2xf32=5 6" --input=i32=-7 --expected_output="4x2xf32=5 6 1 1 1 1 1 1" --expected_output="2xf32=8 9"
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=read_before --input="3xf32=1 2 3" --input=3xf32=2 --expected_output="3xf32=2 4 6" --expected_output=f32=6
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=returned_too --input="3xf32=1 2 3" --expected_output="3xf32=2 4 6" --expected_output="3xf32=1 2 3"
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=turned --input="2x2xf32=1 2 3 4" --expected_output="2x2xf32=1 3 2 4"
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=loop --input="8x2xf32=1" --input="1x2xf32=5 6" --input=3 --expected_output="8x2xf32=5 6 5 6 5 6 1 1 1 1 1 1 1 1 1 1"
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=exchanged --input="3xf32=1 2 3" --input="3xf32=4 5 6" --expected_output="3xf32=5 7 9"
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=pair --input="3xf32=1 2 3" --input=3xf32=10 --expected_output="3xf32=11 12 13" --expected_output="3xf32=10 20 30"

// WHY: remark: argument 0 is given up, and written over here
// CHECK-LABEL: function 'append'
// CHECK:       donated:
// CHECK-NEXT:    input 0
// CHECK:         b[[CACHE:[0-9]+]] = input 0
// CHECK-NOT:     copy
// CHECK:       results:
// CHECK-NEXT:    tensor<4x2xf32> = b[[CACHE]],
func.func @append(%cache: tensor<4x2xf32> {tenon.donated}, %row: tensor<1x2xf32>, %at: tensor<i32>) -> (tensor<4x2xf32>, tensor<2xf32>) {
  %n = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %n : i32 to index
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %low = arith.maxsi %i, %c0 : index
  %p = arith.minsi %low, %c3 : index
  %0 = tensor.insert_slice %row into %cache[%p, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<4x2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.reduce ins(%0 : tensor<4x2xf32>) outs(%f : tensor<2xf32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  return %0, %s : tensor<4x2xf32>, tensor<2xf32>
}

// Who reads the old value comes first, though it stands behind.
// WHY: remark: argument 0 is given up, and written over here
// CHECK-LABEL: function 'read_before'
// CHECK:       donated:
// CHECK-NEXT:    input 0
// CHECK:       results:
// CHECK-NEXT:    tensor<3xf32> = b0,
func.func @read_before(%x: tensor<3xf32> {tenon.donated}, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
  %0 = arith.mulf %x, %y : tensor<3xf32>
  %e = tensor.empty() : tensor<f32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce ins(%x : tensor<3xf32>) outs(%f : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  return %0, %s : tensor<3xf32>, tensor<f32>
}

// WHY: remark: argument 0 is given up, but not written over
// WHY: note: a result that is computed from it here has memory of its own: it is read again behind it
// CHECK-LABEL: function 'returned_too'
// CHECK-NOT:   donated:
// CHECK:       registers:
func.func @returned_too(%x: tensor<3xf32> {tenon.donated}) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = arith.addf %x, %x : tensor<3xf32>
  return %0, %x : tensor<3xf32>, tensor<3xf32>
}

// WHY: remark: argument 0 is given up, but no kernel puts elements into it or computes each of its elements anew
// CHECK-LABEL: function 'turned'
// CHECK-NOT:   donated:
// CHECK:       registers:
func.func @turned(%x: tensor<2x2xf32> {tenon.donated}) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.transpose ins(%x : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  return %0 : tensor<2x2xf32>
}

// What a loop hands on is written over in each round.
// WHY: remark: argument 0 is given up, and written over here
// CHECK-LABEL: function 'loop'
// CHECK-NEXT:  donated:
// CHECK-NEXT:    input 0
// CHECK:       block 2 (tensor
// CHECK-NEXT:    donated:
// CHECK-NEXT:      input
// CHECK-NOT:   copy
func.func @loop(%cache: tensor<8x2xf32> {tenon.donated}, %row: tensor<1x2xf32>, %n: i32) -> tensor<8x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.index_cast %n : i32 to index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%v = %cache) -> tensor<8x2xf32> {
    %0 = tensor.insert_slice %row into %v[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<8x2xf32>
    scf.yield %0 : tensor<8x2xf32>
  }
  return %r : tensor<8x2xf32>
}

// Two arguments that are assigned to each other, and a result that is computed of what they were.
// CHECK-LABEL: function 'exchanged'
// CHECK-NEXT:  donated:
// CHECK-NEXT:    input 0, which has a new value then
// CHECK-NEXT:    input 1, which has a new value then
// CHECK:       commands:
// CHECK:         dispatch {{.*}} bindings (b0, b1, b[[SUM:[0-9]+]])
// CHECK-NEXT:    copy b0 -> b[[OLD:[0-9]+]]
// CHECK-NEXT:    copy b1 -> b0
// CHECK-NEXT:    copy b[[OLD]] -> b1
func.func @exchanged(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = arith.addf %a, %b : tensor<3xf32>
  %1 = hal.tensor.alias %b : tensor<3xf32> to %a : tensor<3xf32>
  %2 = hal.tensor.alias %a : tensor<3xf32> to %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Of two results one may take the memory of an argument that the other reads.
// CHECK-LABEL: function 'pair'
func.func @pair(%x: tensor<3xf32> {tenon.donated}, %y: tensor<3xf32> {tenon.donated}) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = arith.addf %x, %y : tensor<3xf32>
  %1 = arith.mulf %x, %y : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// Of two that would write over an argument the first one does; the other stays in front of it.
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised tenon-run %t.tenon --device=emulator --function=either --input="4xf32=1 2 3 4" --input=1xf32=9 --expected_output="4xf32=1 9 3 4" --expected_output="4xf32=2 4 6 8"
// CHECK-LABEL: function 'either'
// CHECK:       commands:
// CHECK-NEXT:    dispatch {{.*}} bindings (b0, b[[OTHER:[1-9]]])
// CHECK-NEXT:    dispatch {{.*}} bindings (b1, {{.*}}b0, b0)
// CHECK:       results:
// CHECK-NEXT:    tensor<4xf32> = b0,
// CHECK-NEXT:    tensor<4xf32> = b[[OTHER]],
func.func @either(%x: tensor<4xf32> {tenon.donated}, %y: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %at = arith.constant dense<1> : tensor<1x1xi32>
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(true) ins(%y, %at : tensor<1xf32>, tensor<1x1xi32>) outs(%x : tensor<4xf32>) {
  ^bb0(%new: f32, %old: f32):
    iree_linalg_ext.yield %new : f32
  } -> tensor<4xf32>
  %1 = arith.addf %x, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
