// Arguments whose memory a caller gives up, by all their names; and functions that assign to theirs, as Torch's do.
// RUN: tenon-opt %s --tenon-read-input 2>&1 | FileCheck %s
// CHECK-NOT: remark

// CHECK-LABEL: func.func public @names(
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32> {tenon.donated}, %{{[^:]*}}: tensor<4xf32> {tenon.donated}, %{{[^:]*}}: tensor<4xf32> {tenon.donated},
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32> {tenon.donated}, %{{[^:]*}}: tensor<4xf32> {jax.buffer_donor = false}, %{{[^:]*}}: f32) -> tensor<4xf32>
util.func public @names(%a: tensor<4xf32> {tenon.donated}, %b: tensor<4xf32> {jax.buffer_donor = true}, %c: tensor<4xf32> {tf.aliasing_output = 0 : i32},
    %d: tensor<4xf32> {iree.abi.output = 0 : index}, %e: tensor<4xf32> {jax.buffer_donor = false}, %f: f32 {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  util.return %a : tensor<4xf32>
}

// CHECK-LABEL: func.func public @assigns(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>) {
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[X]] : tensor<?x8xf32>
// CHECK: hal.tensor.alias %[[SUM]] : tensor<?x8xf32> to %[[X]] : tensor<?x8xf32>
util.func public @assigns(%x: !hal.buffer_view, %wait: !hal.fence, %signal: !hal.fence) {
  %d = hal.buffer_view.dim<%x : !hal.buffer_view>[0] : index
  %0 = hal.tensor.import wait(%wait) => %x : !hal.buffer_view -> tensor<?x8xf32>{%d}
  %1 = arith.addf %0, %0 : tensor<?x8xf32>
  %2 = hal.tensor.alias wait(%wait) => %1 : tensor<?x8xf32>{%d} to %x : !hal.buffer_view
  %3 = hal.tensor.barrier join(%2 : tensor<?x8xf32>) => %signal : !hal.fence
  util.return
}

// The text of a call that waits for nothing.
// CHECK-LABEL: func.func public @assigns_at_once(
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x8xf32>) {
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[X]] : tensor<?x8xf32>
// CHECK: hal.tensor.alias %[[SUM]] : tensor<?x8xf32> to %[[X]] : tensor<?x8xf32>
util.func public @assigns_at_once(%x: !hal.buffer_view) {
  %d = hal.buffer_view.dim<%x : !hal.buffer_view>[0] : index
  %0 = hal.tensor.import %x : !hal.buffer_view -> tensor<?x8xf32>{%d}
  %1 = arith.addf %0, %0 : tensor<?x8xf32>
  %2 = hal.tensor.alias %1 : tensor<?x8xf32>{%d} to %x : !hal.buffer_view
  util.return
}

// Nothing is read of it.
// CHECK-LABEL: func.func public @sets(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2xf32>)
util.func public @sets(%x: !hal.buffer_view, %wait: !hal.fence) {
  %c = arith.constant dense<1.0> : tensor<2xf32>
  %0 = hal.tensor.alias wait(%wait) => %c : tensor<2xf32> to %x : !hal.buffer_view
  util.return
}
