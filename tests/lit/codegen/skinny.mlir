// Products with few rows or columns: no tiles in shared memory, the wide side goes from memory into registers.
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=PLAN
// RUN: tenon-opt %s --tenon-form-dispatches | FileCheck %s --check-prefix=FLOW
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_80 -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=SCALAR --input-file=%t.kernels/row_dispatch_0_sm_75.ptx
// RUN: FileCheck %s --check-prefix=CORE --input-file=%t.kernels/row_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=PAIR --input-file=%t.kernels/down_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=WEIGHTS --input-file=%t.kernels/weights_dispatch_0_sm_80.ptx

// SCALAR-NOT: mma
// SCALAR: fma.rn.f32
// CORE-NOT: ldmatrix
// CORE-NOT: cp.async
// CORE: ld.global.nc.v4
// CORE: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32

// One row, and adjacent reduced elements.
// PLAN-LABEL: hal.executable.source private @row_dispatch_0
// PLAN: tenon.strategy = {depth_warps = 16 : i64, few = 8 : i64, few_side = 1 : i64, name = "skinny", positions = 2 : i64, threads = 512 : i64}
func.func @row(%x: tensor<1x4096xbf16>, %w: tensor<2048x4096xbf16>) -> tensor<1x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2048xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x4096xbf16>, tensor<2048x4096xbf16>) outs(%start : tensor<1x2048xf32>) {
    ^bb0(%a: bf16, %b: bf16, %s: f32):
      %c = arith.extf %a : bf16 to f32
      %d = arith.extf %b : bf16 to f32
      %m = arith.mulf %c, %d : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<1x2048xf32>
  return %p : tensor<1x2048xf32>
}

// Few columns, and adjacent elements across.
// PLAN-LABEL: hal.executable.source private @down_dispatch_0
// PLAN: tenon.strategy = {depth_warps = 8 : i64, few = 16 : i64, few_side = 2 : i64, name = "skinny", positions = 8 : i64, threads = 256 : i64}
// PAIR: ld.global.nc.v4
// PAIR: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @down(%w: tensor<512x32768xf16>, %x: tensor<512x10xf16>) -> tensor<32768x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32768x10xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<32768x10xf32>) -> tensor<32768x10xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %x : tensor<512x32768xf16>, tensor<512x10xf16>) outs(%start : tensor<32768x10xf32>) {
    ^bb0(%a: f16, %b: f16, %s: f32):
      %c = arith.extf %a : f16 to f32
      %d = arith.extf %b : f16 to f32
      %m = arith.mulf %c, %d : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<32768x10xf32>
  return %p : tensor<32768x10xf32>
}

// What the matrix is computed from is read, and computed on its way: one kernel.
// PLAN-LABEL: hal.executable.source private @weights_dispatch_0
// PLAN: name = "skinny"
// FLOW-LABEL: func.func @weights(
// FLOW: flow.dispatch {{.*}} : (tensor<2048x4096xi8>, tensor<2048xf32>, tensor<2048xf32>, tensor<8x4096xbf16>) -> tensor<8x2048xf32>
// WEIGHTS: ld.global.nc.v4
// WEIGHTS: mma.sync
func.func @weights(%x: tensor<8x4096xbf16>, %w: tensor<2048x4096xi8>, %scale: tensor<2048xf32>, %zero_point: tensor<2048xf32>) -> tensor<8x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<2048x4096xbf16>
  %wide = linalg.generic {indexing_maps = [affine_map<(j, k) -> (j, k)>, affine_map<(j, k) -> (j)>,
      affine_map<(j, k) -> (j)>, affine_map<(j, k) -> (j, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%w, %scale, %zero_point : tensor<2048x4096xi8>, tensor<2048xf32>, tensor<2048xf32>) outs(%we : tensor<2048x4096xbf16>) {
    ^bb0(%a: i8, %b: f32, %z: f32, %o: bf16):
      %c = arith.sitofp %a : i8 to f32
      %d = arith.subf %c, %z : f32
      %m = arith.mulf %d, %b : f32
      %h = arith.addf %m, %b : f32
      %n = arith.truncf %h : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<2048x4096xbf16>
  %e = tensor.empty() : tensor<8x2048xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2048xf32>) -> tensor<8x2048xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %wide : tensor<8x4096xbf16>, tensor<2048x4096xbf16>) outs(%start : tensor<8x2048xf32>) {
    ^bb0(%a: bf16, %b: bf16, %s: f32):
      %c = arith.extf %a : bf16 to f32
      %d = arith.extf %b : bf16 to f32
      %m = arith.mulf %c, %d : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
  } -> tensor<8x2048xf32>
  return %p : tensor<8x2048xf32>
}
