// Choices that a strategy cannot compute with are refused, whoever wrote them.
// RUN: split-file %s %t
// RUN: not tenon-opt %t/tile.mlir --tenon-print-ptx=target=sm_80 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not tenon-opt %t/threads.mlir --tenon-print-ptx=target=sm_80 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not tenon-opt %t/few.mlir --tenon-print-ptx=target=sm_80 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: sed 's/columns = 64,/columns = 64, deep = 100,/; s/rows = 16/rows = 64/' %t/tile.mlir > %t/deep.mlir
// RUN: not tenon-opt %t/deep.mlir --tenon-print-ptx=target=sm_80 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not tenon-opt %t/pair.mlir --tenon-print-ptx=target=sm_80 2>&1 | FileCheck %s --check-prefix=PAIR
// RUN: not tenon-opt %t/stages.mlir --tenon-print-ptx=target=sm_80 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not tenon-opt %t/exact.mlir --tenon-print-ptx=target=sm_80 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: not tenon-opt %t/turns.mlir --tenon-print-ptx=target=sm_90a 2>&1 | FileCheck %s --check-prefix=TURNS
// RUN: sed 's/turns = 2/turns = 3/' %t/turns.mlir > %t/three.mlir
// RUN: not tenon-opt %t/three.mlir --tenon-print-ptx=target=sm_90a 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: sed 's/turns = 2/ring = 1/' %t/turns.mlir > %t/ring.mlir
// RUN: not tenon-opt %t/ring.mlir --tenon-print-ptx=target=sm_90a 2>&1 | FileCheck %s --check-prefix=RING
// RUN: not tenon-opt %t/name.mlir --tenon-print-ptx=target=sm_80 2>&1 | FileCheck %s --check-prefix=NAME

// TILE: error: strategy 'contraction' takes no 'rows' of 16, but for example 64
// THREADS: error: strategy 'contraction' takes no 'threads' of 32, but for example 256
// FEW: error: strategy 'skinny' takes no 'few' of 128, but for example 8
// DEEP: error: strategy 'contraction' takes no 'deep' of 100
// PAIR: error: strategy 'contraction' has 'stages' for tiles of 64 or 128 rows and columns, of 128 x 256 and of 256 x 128
// STAGES: error: strategy 'contraction' needs 'stages', 2 or more, and 'stage_bytes', 64 or 128, for its tile
// EXACT: error: strategy 'contraction' has 'stages', and tiles of 256, of factors that warps multiply on tensor cores
// TURNS: error: strategy 'skinny' has 'turns' for a few rows and weights of four bits
// THREE: error: strategy 'skinny' takes no 'turns' of 3
// RING: error: strategy 'skinny' has a 'ring' of steps in 'turns'
// NAME: error: 'tenon.strategy' names no strategy; there are 'attention' 'skinny' 'grouped' 'grouped_filters' 'channel_filters' 'bands' 'contraction'

//--- tile.mlir
func.func @k(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {tenon.strategy = {name = "contraction", threads = 256, rows = 16, columns = 64, warpgroup_rows = 0, warpgroup_columns = 0, warpgroup_cluster = 1}} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
//--- threads.mlir
func.func @k(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {tenon.strategy = {name = "contraction", threads = 32, rows = 64, columns = 64, warpgroup_rows = 0, warpgroup_columns = 0, warpgroup_cluster = 1}} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
//--- few.mlir
func.func @k(%a: tensor<8x64xf32>, %b: tensor<64x32xf32>, %c: tensor<8x32xf32>) -> tensor<8x32xf32>
    attributes {tenon.strategy = {name = "skinny", threads = 256, few_side = 1, few = 128, positions = 2, depth_warps = 8}} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<8x64xf32>, tensor<64x32xf32>) outs(%c : tensor<8x32xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
//--- turns.mlir
func.func @k(%a: tensor<8x64xf32>, %b: tensor<64x32xf32>, %c: tensor<8x32xf32>) -> tensor<8x32xf32>
    attributes {tenon.strategy = {name = "skinny", threads = 256, few_side = 1, few = 8, positions = 2, depth_warps = 8, turns = 2}} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<8x64xf32>, tensor<64x32xf32>) outs(%c : tensor<8x32xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
//--- pair.mlir
func.func @k(%a: tensor<512x64xf16>, %b: tensor<512x64xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32>
    attributes {tenon.strategy = {name = "contraction", threads = 256, rows = 256, columns = 256, stages = 3, stage_bytes = 64, warpgroup_rows = 0, warpgroup_columns = 0, warpgroup_cluster = 1}} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<512x64xf16>, tensor<512x64xf16>) outs(%c : tensor<512x512xf32>) {
    ^bb0(%x: f16, %y: f16, %s: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
//--- stages.mlir
func.func @k(%a: tensor<512x64xf16>, %b: tensor<512x64xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32>
    attributes {tenon.strategy = {name = "contraction", threads = 256, rows = 128, columns = 256, warpgroup_rows = 0, warpgroup_columns = 0, warpgroup_cluster = 1}} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<512x64xf16>, tensor<512x64xf16>) outs(%c : tensor<512x512xf32>) {
    ^bb0(%x: f16, %y: f16, %s: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
//--- exact.mlir
func.func @k(%a: tensor<512x64xf32>, %b: tensor<512x64xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32>
    attributes {tenon.strategy = {name = "contraction", threads = 256, rows = 128, columns = 256, stages = 3, stage_bytes = 64, warpgroup_rows = 0, warpgroup_columns = 0, warpgroup_cluster = 1}} {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<512x64xf32>, tensor<512x64xf32>) outs(%c : tensor<512x512xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
  } -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
//--- name.mlir
func.func @k(%a: tensor<8xf32>) -> tensor<8xf32> attributes {tenon.strategy = {name = "magic", threads = 128}} {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32):
      %n = arith.negf %x : f32
      linalg.yield %n : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
