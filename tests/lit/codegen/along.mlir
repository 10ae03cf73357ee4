// Which kernels compute an operation along a dimension.
// RUN: tenon-opt %s --split-input-file --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s

// A long line is cut in parts: one kernel combines each, another scans from what those before it come to.
// CHECK-LABEL: func.func @long(
// CHECK: %[[FIRST:.*]]:2 = flow.dispatch @long_dispatch_0::@long_dispatch_0(
// CHECK: flow.dispatch @long_dispatch_0::@long_dispatch_0_1(%{{.*}}, %[[FIRST]]#0, %[[FIRST]]#1) : {{.*}} -> (%[[FIRST]]#0, %[[FIRST]]#1)
// CHECK: hal.executable.export public @long_dispatch_0
// CHECK: hal.executable.export public @long_dispatch_0_1
// CHECK: func.func @long_dispatch_0(%{{.*}}: tensor<1048576xf32>) -> (tensor<1048576xf32>, tensor<512xf32>)
// CHECK-SAME: tenon.strategy = {chunks = 2 : i64, lanes = 256 : i64, name = "scan", parts = 512 : i64, pass = 1 : i64, threads = 256 : i64, width = 4 : i64}
// CHECK: func.func @long_dispatch_0_1({{.*}}) -> (tensor<1048576xf32> {tenon.tied = 1 : i64}, tensor<512xf32> {tenon.tied = 2 : i64})
// CHECK-SAME: pass = 2
func.func @long(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %e = tensor.empty() : tensor<1048576xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0:2 = iree_linalg_ext.scan dimension(0) inclusive(true) ins(%x : tensor<1048576xf32>) outs(%e, %zero : tensor<1048576xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<1048576xf32>, tensor<f32>
  return %0#0 : tensor<1048576xf32>
}

// -----

// A warp for each short line; the accumulator is a scalar.
// CHECK-LABEL: func.func @short_dispatch_0(%{{.*}}: tensor<64x100xbf16>) -> (tensor<64x100xbf16>, tensor<64xbf16>)
// CHECK-SAME: {chunks = 1 : i64, lanes = 32 : i64, name = "scan", threads = 256 : i64, width = 8 : i64}
// CHECK: linalg.fill
func.func @short(%x: tensor<64x100xbf16>) -> (tensor<64x100xbf16>, tensor<64xbf16>) {
  %e = tensor.empty() : tensor<64x100xbf16>
  %one = arith.constant 1.0 : bf16
  %rows = tensor.empty() : tensor<64xbf16>
  %acc = linalg.fill ins(%one : bf16) outs(%rows : tensor<64xbf16>) -> tensor<64xbf16>
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(false) ins(%x : tensor<64x100xbf16>) outs(%e, %acc : tensor<64x100xbf16>, tensor<64xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %1 = arith.mulf %a, %b : bf16
    iree_linalg_ext.yield %1 : bf16
  } -> tensor<64x100xbf16>, tensor<64xbf16>
  return %0#0, %0#1 : tensor<64x100xbf16>, tensor<64xbf16>
}

// -----

// Not associative: a thread for each line.
// CHECK-LABEL: func.func @in_order_dispatch_0
// CHECK-SAME: {lanes = 1 : i64, name = "scan", threads = 64 : i64}
func.func @in_order(%x: tensor<64x100xf32>, %acc: tensor<64xf32>) -> tensor<64x100xf32> {
  %e = tensor.empty() : tensor<64x100xf32>
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : tensor<64x100xf32>) outs(%e, %acc : tensor<64x100xf32>, tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.subf %a, %b : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<64x100xf32>, tensor<64xf32>
  return %0#0 : tensor<64x100xf32>
}

// -----

// Counts in shared memory; many float sums are sorted by where they go first, in a copy of what they are added to.
// CHECK-LABEL: func.func @scatters_dispatch_0(
// CHECK-SAME: -> tensor<99999xi16>
// CHECK-LABEL: func.func @scatters_dispatch_1(
// CHECK-SAME: {copies = 1 : i64, counted = 0 : i64, mode = 0 : i64, name = "scatter"
// CHECK: func.func @scatters_dispatch_1_1
// CHECK-SAME: {copies = 32 : i64, counted = 4096 : i64, mode = 3 : i64, name = "scatter"
// CHECK-LABEL: func.func @scatters_dispatch_2(
// CHECK: iree_linalg_ext.sort {tenon.places = array<i64: 1>} dimension(0) outs(%{{.*}} : tensor<99999xi16>, tensor<99999xi32>)
// CHECK-LABEL: func.func @scatters_dispatch_3(
// CHECK-SAME: {copies = 1 : i64, counted = 0 : i64, mode = 0 : i64, name = "scatter"
// CHECK: func.func @scatters_dispatch_3_1
// CHECK-SAME: {lanes = 1 : i64, name = "scatter", places = 8 : i64, sorted = 1 : i64
// CHECK: func.func @scatters_dispatch_3_2
// CHECK-SAME: {lanes = 1 : i64, name = "scatter", places = 8 : i64, sorted = 2 : i64
func.func @scatters(%i: tensor<99999x1xi32>, %u: tensor<99999xi32>, %f: tensor<99999xf32>, %bins: tensor<256xi32>, %sums: tensor<256xf32>) -> (tensor<256xi32>, tensor<256xf32>) {
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%u, %i : tensor<99999xi32>, tensor<99999x1xi32>) outs(%bins : tensor<256xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.addi %a, %b : i32
    iree_linalg_ext.yield %1 : i32
  } -> tensor<256xi32>
  %2 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%f, %i : tensor<99999xf32>, tensor<99999x1xi32>) outs(%sums : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<256xf32>
  return %0, %2 : tensor<256xi32>, tensor<256xf32>
}

// -----

// What is only widened to be an index, and what is the same everywhere, is not stored for a scatter.
// CHECK-LABEL: func.func @histogram(
// CHECK-NEXT: %[[BYTES:.*]] = tensor.expand_shape %{{.*}} : tensor<99999xi8> into tensor<99999x1xi8>
// CHECK-NEXT: flow.dispatch @histogram_dispatch_0::@histogram_dispatch_0(%[[BYTES]])
// CHECK: func.func @histogram_dispatch_0(%[[GIVEN:.*]]: tensor<99999x1xi8>) -> tensor<256xi32>
// CHECK: %[[ONES:.*]] = linalg.fill {{.*}} -> tensor<99999xi32>
// CHECK: iree_linalg_ext.scatter {tenon.unsigned} dimension_map = [0] unique_indices(false) ins(%[[ONES]], %[[GIVEN]] :
func.func @histogram(%x: tensor<99999xi8>) -> tensor<256xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<256xi32>
  %bins = linalg.fill ins(%c0 : i32) outs(%e : tensor<256xi32>) -> tensor<256xi32>
  %e1 = tensor.empty() : tensor<99999xi32>
  %ones = linalg.fill ins(%c1 : i32) outs(%e1 : tensor<99999xi32>) -> tensor<99999xi32>
  %wide = arith.extui %x : tensor<99999xi8> to tensor<99999xi32>
  %i = tensor.expand_shape %wide [[0, 1]] output_shape [99999, 1] : tensor<99999xi32> into tensor<99999x1xi32>
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%ones, %i : tensor<99999xi32>, tensor<99999x1xi32>) outs(%bins : tensor<256xi32>) {
  ^bb0(%a: i32, %b: i32):
    %1 = arith.addi %a, %b : i32
    iree_linalg_ext.yield %1 : i32
  } -> tensor<256xi32>
  return %0 : tensor<256xi32>
}
