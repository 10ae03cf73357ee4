// Buffer views that nobody looks at stay, and take anything; buffer views of other elements than the tensors that are made of them.
// RUN: tenon-opt %s | tenon-opt --tenon-read-input | FileCheck %s
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s --check-prefix=TYPES
// RUN: tenon-run %t.tenon --device=emulator --function=second --input=2x5xi8=1 --input=3xf32=4 | FileCheck %s --check-prefix=SECOND
// RUN: tenon-run %t.tenon --device=emulator --function=second --input=i32=7 --input=3xf32=4 | FileCheck %s --check-prefix=SECOND
// RUN: tenon-run %t.tenon --device=emulator --function=second --input=7 --input=3xf32=4 | FileCheck %s --check-prefix=SECOND
// RUN: tenon-run %t.tenon --device=emulator --function=calls --input=3xf32=4 | FileCheck %s --check-prefix=SECOND
// RUN: tenon-run %t.tenon --device=emulator --function=passes_on --input=2xi8=1 --input=3xf32=4 | FileCheck %s --check-prefix=SECOND
// RUN: tenon-run %t.tenon --device=emulator --function=narrow --input=3xf64=1,2.5,1.0000000001 --input=2xi64=4294967297,-5 | FileCheck %s --check-prefix=NARROW
// RUN: tenon-run %t.tenon --device=emulator --function=bits --input=2xf32=1,-0.0 | FileCheck %s --check-prefix=BITS

// CHECK-LABEL: func.func private @second$async(
// CHECK-SAME: %{{[^:]*}}: tensor<?xf32>) -> tensor<?xf32>
util.func public @second$async(%shape: !hal.buffer_view, %x: !hal.buffer_view, %wait: !hal.fence, %signal: !hal.fence) -> !hal.buffer_view {
  %d = hal.buffer_view.dim<%x : !hal.buffer_view>[0] : index
  %0 = hal.tensor.import wait(%wait) => %x : !hal.buffer_view -> tensor<?xf32>{%d}
  %1 = arith.addf %0, %0 : tensor<?xf32>
  %2 = hal.tensor.export %1 : tensor<?xf32>{%d} -> !hal.buffer_view
  hal.fence.signal<%signal : !hal.fence>
  util.return %2 : !hal.buffer_view
}
// CHECK-LABEL: func.func public @second(
// CHECK-SAME: !hal.buffer_view, %{{[^:]*}}: tensor<?xf32>)
// TYPES: function 'second'(any, tensor<?xf32>) -> (tensor<?xf32>)
// SECOND: 3xf32=8 8 8
util.func public @second(%shape: !hal.buffer_view, %x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = util.null : !hal.fence
  %c0 = arith.constant 0 : index
  %device = hal.devices.get %c0 : !hal.device
  %fence = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  %1 = util.call @second$async(%shape, %x, %0, %fence) : (!hal.buffer_view, !hal.buffer_view, !hal.fence, !hal.fence) -> !hal.buffer_view
  util.return %1 : !hal.buffer_view
}

// For what a function does not read its callers in the module hand on what they like.
// TYPES: function 'calls'(tensor<?xf32>) -> (tensor<?xf32>)
util.func public @calls(%x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = util.call @second(%x, %x) : (!hal.buffer_view, !hal.buffer_view) -> !hal.buffer_view
  util.return %0 : !hal.buffer_view
}
// TYPES: function 'passes_on'(any, tensor<?xf32>) -> (tensor<?xf32>)
util.func public @passes_on(%y: !hal.buffer_view, %x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = util.call @second(%y, %x) : (!hal.buffer_view, !hal.buffer_view) -> !hal.buffer_view
  util.return %0 : !hal.buffer_view
}

// Floats are rounded and integers cut, and the other way round for what goes out: a model that IREE has made narrower.
// TYPES: function 'narrow'(tensor<3xf64>, tensor<2xi64>) -> (tensor<3xf64>, tensor<2xi64>)
// NARROW: 3xf64=2 5 2
// NARROW: 2xi64=2 -4
func.func @narrow(%x: !hal.buffer_view, %n: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  %0 = hal.tensor.import %x "input0" : !hal.buffer_view -> tensor<3xf64> as tensor<3xf32>
  %1 = hal.tensor.import %n : !hal.buffer_view -> tensor<2xi64> as tensor<2xi32>
  %2 = arith.addf %0, %0 : tensor<3xf32>
  %one = arith.constant dense<1> : tensor<2xi32>
  %3 = arith.addi %1, %one : tensor<2xi32>
  %4 = hal.tensor.export %2 "output0" : tensor<3xf64> as tensor<3xf32> -> !hal.buffer_view
  %5 = hal.tensor.export %3 : tensor<2xi64> as tensor<2xi32> -> !hal.buffer_view
  return %4, %5 : !hal.buffer_view, !hal.buffer_view
}

// BITS: 2xi32=1065353216 -2147483648
func.func @bits(%x: !hal.buffer_view) -> !hal.buffer_view {
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<2xf32> as tensor<2xi32>
  %1 = hal.tensor.export %0 : tensor<2xi32> -> !hal.buffer_view
  return %1 : !hal.buffer_view
}
