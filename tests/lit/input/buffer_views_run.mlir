// Functions as IREE's ABI makes them take and return tensors here.
// RUN: tenon-opt %s --tenon-read-input | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=twice --input=3xf32=4 | FileCheck %s --check-prefix=TWICE
// RUN: not tenon-run %t.tenon --device=emulator --function=said --input=3xf32=4 --input=4 2>&1 | FileCheck %s --check-prefix=SAID
// CHECK-NOT: buffer_view

// CHECK-LABEL: func.func public @twice(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[X]] : tensor<?xf32>
// CHECK: return %[[SUM]] : tensor<?xf32>
// TWICE: 3xf32=8 8 8
util.func public @twice(%x: !hal.buffer_view) -> !hal.buffer_view {
  %d = hal.buffer_view.dim<%x : !hal.buffer_view>[0] : index
  %0 = hal.tensor.import %x "input0" : !hal.buffer_view -> tensor<?xf32>{%d}
  %1 = arith.addf %0, %0 : tensor<?xf32>
  %2 = hal.tensor.export %1 "output0" : tensor<?xf32>{%d} -> !hal.buffer_view
  util.return %2 : !hal.buffer_view
}

// What goes out as it came in, and a result that is no buffer view.
// CHECK-LABEL: func.func @through(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>) -> (tensor<4xf32>, index)
// CHECK: return %[[X]], %{{.*}} : tensor<4xf32>, index
func.func @through(%x: !hal.buffer_view) -> (!hal.buffer_view, index) {
  %d = hal.buffer_view.dim<%x : !hal.buffer_view>[0] : index
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<4xf32>
  return %x, %d : !hal.buffer_view, index
}

// A size that is not the argument's own is checked.
// CHECK-LABEL: func.func @said(
// CHECK: flow.tensor.tie_shape
// SAID: {{[Dd]}}imension
func.func @said(%x: !hal.buffer_view, %n: index) -> !hal.buffer_view {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<?xf32>{%n}
  %1 = arith.addf %0, %0 : tensor<?xf32>
  %2 = hal.tensor.export %1 : tensor<?xf32>{%n} -> !hal.buffer_view
  return %2 : !hal.buffer_view
}
