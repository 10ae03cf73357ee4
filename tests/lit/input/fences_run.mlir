// Functions as IREE's asynchronous ABI makes them, of models that come from Torch and ONNX: fences go.
// RUN: tenon-opt %s --tenon-read-input 2>&1 | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=twice --input=3xf32=4 | FileCheck %s --check-prefix=TWICE
// RUN: tenon-run %t.tenon --device=emulator --function=alone --input=3xf32=4 | FileCheck %s --check-prefix=ALONE
// RUN: tenon-run %t.tenon --device=emulator --function=between --input=3xf32=4 | FileCheck %s --check-prefix=BETWEEN
// RUN: not tenon-run %t.tenon --device=emulator --function=twice$async --input=3xf32=4 2>&1 | FileCheck %s --check-prefix=PRIVATE
// CHECK-NOT: {{remark|buffer_view|devices.get|!hal.fence}}

// What its wrapper does without fences is called by that name alone.
// CHECK-LABEL: func.func private @twice$async(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[X]] : tensor<?xf32>
// CHECK: return %[[SUM]] : tensor<?xf32>
// PRIVATE: twice$async
util.func public @twice$async(%x: !hal.buffer_view, %wait: !hal.fence, %signal: !hal.fence) -> !hal.buffer_view
    attributes {inlining_policy = #util.inline.never, iree.abi.model = "coarse-fences", iree.abi.stub} {
  %d = hal.buffer_view.dim<%x : !hal.buffer_view>[0] : index
  %0 = hal.tensor.import wait(%wait) => %x "input0" : !hal.buffer_view -> tensor<?xf32>{%d}
  %1 = arith.addf %0, %0 : tensor<?xf32>
  %2 = hal.tensor.barrier join(%1 : tensor<?xf32>) => %signal : !hal.fence
  %3 = hal.tensor.export %2 "output0" : tensor<?xf32>{%d} -> !hal.buffer_view
  util.return %3 : !hal.buffer_view
}

// CHECK-LABEL: func.func public @twice(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[Y:.*]] = call @twice$async(%[[X]]) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK: return %[[Y]] : tensor<?xf32>
// TWICE: 3xf32=8 8 8
util.func public @twice(%x: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub} {
  %0 = util.null : !hal.fence
  %c-1_i32 = arith.constant -1 : i32
  %c0 = arith.constant 0 : index
  %device_0 = hal.devices.get %c0 : !hal.device
  %fence = hal.fence.create device(%device_0 : !hal.device) flags("None") : !hal.fence
  %1 = util.call @twice$async(%x, %0, %fence) : (!hal.buffer_view, !hal.fence, !hal.fence) -> !hal.buffer_view
  %status = hal.fence.await until([%fence]) timeout_millis(%c-1_i32) flags("None") : i32
  util.return %1 : !hal.buffer_view
}

// Without a wrapper, it is the program's own.
// CHECK-LABEL: func.func public @alone(
// CHECK-SAME: tensor<3xf32>) -> tensor<3xf32>
// ALONE: 3xf32=16 16 16
util.func public @alone(%x: !hal.buffer_view, %wait: !hal.fence, %signal: !hal.fence) -> !hal.buffer_view {
  %0 = hal.tensor.import wait(%wait) => %x : !hal.buffer_view -> tensor<3xf32>
  %1 = arith.mulf %0, %0 : tensor<3xf32>
  %2 = hal.tensor.barrier join(%1 : tensor<3xf32>) => %signal : !hal.fence
  %3 = hal.tensor.export %2 : tensor<3xf32> -> !hal.buffer_view
  util.return %3 : !hal.buffer_view
}

// Buffer views that functions hand each other; the callee stands behind.
// CHECK-LABEL: func.func @between(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[X]]
// CHECK: %[[Y:.*]] = call @negated(%[[SUM]]) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[Z:.*]] = arith.addf %[[Y]], %[[X]]
// CHECK: return %[[Z]]
// BETWEEN: 3xf32=-4 -4 -4
func.func @between(%x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<3xf32>
  %1 = arith.addf %0, %0 : tensor<3xf32>
  %2 = hal.tensor.export %1 : tensor<3xf32> -> !hal.buffer_view
  %3 = func.call @negated(%2) : (!hal.buffer_view) -> !hal.buffer_view
  %4 = hal.tensor.import %3 : !hal.buffer_view -> tensor<3xf32>
  %5 = arith.addf %4, %0 : tensor<3xf32>
  %6 = hal.tensor.export %5 : tensor<3xf32> -> !hal.buffer_view
  return %6 : !hal.buffer_view
}
func.func private @negated(%x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<3xf32>
  %1 = arith.negf %0 : tensor<3xf32>
  %2 = hal.tensor.export %1 : tensor<3xf32> -> !hal.buffer_view
  return %2 : !hal.buffer_view
}
