// Weights of four bits with a scale for each 64 of them, collapsed to a matrix and multiplied: one kernel where rows are few. Of more
// rows, or of an unknown number, it is one kernel where code is made for Hopper alone, whose tiles compute the weights; else another
// kernel stores them before. A program that branched would not be captured into graphs.
// RUN: tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon --print-dispatches 2>&1 | FileCheck %s
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon --print-dispatches 2>&1 | FileCheck %s --check-prefix=STORED
// RUN: rm -rf %t.kernels && tenon-compile %s --target=sm_90a --images=ptx -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.kernels/one_row_dispatch_0_sm_90a.ptx
// PTX: ld.global.nc.v4.b32
// PTX: prmt.b32
// PTX: mul.rn.bf16x2
// PTX: mma.sync.aligned.m16n8k16
// CHECK: kernel 'one_row_dispatch_0' ends here: 2 operations
// CHECK-NOT: one_row_dispatch_1
// CHECK: kernel 'unknown_rows_dispatch_0' ends here: 2 operations
// CHECK-NOT: unknown_rows_dispatch_1
// CHECK: kernel 'many_rows_dispatch_0' ends here: 1 operation
// CHECK-NOT: many_rows_dispatch_1
// CHECK: contraction '4096x4x64 ppp: i8(d0, d1, d2 floordiv 2)
// CHECK-SAME: 1x4096x4x64 pprr: bf16(d0, d2, d3), (i8), bf16(d1, d2)
// CHECK: by = "skinny"
// CHECK: contraction '4096x4x64 ppp: i8(d0, d1, d2 floordiv 2)
// CHECK-SAME: ?x4096x4x64 pprr: bf16(d0, d2, d3), (i8), bf16(d1, d2)
// CHECK: {by = "wgmma", rows = 64, columns = 128} or {by = "wgmma", rows = 256, columns = 128}
// CHECK: contraction '128x4096x256 ppr: bf16(d0, d2), i8(d1, d2), bf16(d1)
// CHECK: by = "wgmma"
//
// STORED: kernel 'one_row_dispatch_0' ends here: 2 operations
// STORED-NOT: one_row_dispatch_1
// STORED: kernel 'unknown_rows_dispatch_0' ends here: 1 operation
// STORED: kernel 'unknown_rows_dispatch_1' ends here: 1 operation
// STORED-NOT: unknown_rows_dispatch_2
// STORED: kernel 'many_rows_dispatch_0' ends here: 1 operation
// STORED: kernel 'many_rows_dispatch_1' ends here: 1 operation
// STORED: contraction '?x4096x256 ppr: bf16(d0, d2), bf16(d1, d2)
// STORED: contraction '128x4096x256 ppr: bf16(d0, d2), bf16(d1, d2)

func.func @one_row(%x: tensor<1x256xbf16>, %bytes: tensor<4096x128xi8>, %scale: tensor<4096x4xbf16>) -> tensor<1x4096xf32> {
  %q = flow.tensor.bitcast %bytes : tensor<4096x128xi8> -> tensor<4096x4x64xi4>
  %e = tensor.empty() : tensor<4096x4x64xbf16>
  %w3 = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %scale : tensor<4096x4x64xi4>, tensor<4096x4xbf16>) outs(%e : tensor<4096x4x64xbf16>) {
  ^bb0(%a: i4, %s: bf16, %o: bf16):
    %b = arith.sitofp %a : i4 to bf16
    %c = arith.mulf %b, %s : bf16
    linalg.yield %c : bf16
  } -> tensor<4096x4x64xbf16>
  %w = tensor.collapse_shape %w3 [[0], [1, 2]] : tensor<4096x4x64xbf16> into tensor<4096x256xbf16>
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<1x4096xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x256xbf16>, tensor<4096x256xbf16>) outs(%begin : tensor<1x4096xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %d : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<1x4096xf32>
  return %p : tensor<1x4096xf32>
}

func.func @unknown_rows(%x: tensor<?x256xbf16>, %bytes: tensor<4096x128xi8>, %scale: tensor<4096x4xbf16>) -> tensor<?x4096xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %q = flow.tensor.bitcast %bytes : tensor<4096x128xi8> -> tensor<4096x4x64xi4>
  %e = tensor.empty() : tensor<4096x4x64xbf16>
  %w3 = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %scale : tensor<4096x4x64xi4>, tensor<4096x4xbf16>) outs(%e : tensor<4096x4x64xbf16>) {
  ^bb0(%a: i4, %s: bf16, %o: bf16):
    %b = arith.sitofp %a : i4 to bf16
    %c = arith.mulf %b, %s : bf16
    linalg.yield %c : bf16
  } -> tensor<4096x4x64xbf16>
  %w = tensor.collapse_shape %w3 [[0], [1, 2]] : tensor<4096x4x64xbf16> into tensor<4096x256xbf16>
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty(%m) : tensor<?x4096xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<?x256xbf16>, tensor<4096x256xbf16>) outs(%begin : tensor<?x4096xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %d : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x4096xf32>
  return %p : tensor<?x4096xf32>
}

func.func @many_rows(%x: tensor<128x256xbf16>, %q: tensor<4096x256xi8>, %scale: tensor<4096xbf16>) -> tensor<128x4096xf32> {
  %e = tensor.empty() : tensor<4096x256xbf16>
  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>, affine_map<(n, k) -> (n, k)>],
      iterator_types = ["parallel", "parallel"]} ins(%q, %scale : tensor<4096x256xi8>, tensor<4096xbf16>) outs(%e : tensor<4096x256xbf16>) {
  ^bb0(%a: i8, %s: bf16, %o: bf16):
    %b = arith.sitofp %a : i8 to bf16
    %c = arith.mulf %b, %s : bf16
    linalg.yield %c : bf16
  } -> tensor<4096x256xbf16>
  %null = arith.constant 0.0 : f32
  %sums = tensor.empty() : tensor<128x4096xf32>
  %begin = linalg.fill ins(%null : f32) outs(%sums : tensor<128x4096xf32>) -> tensor<128x4096xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x256xbf16>, tensor<4096x256xbf16>) outs(%begin : tensor<128x4096xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %t = arith.mulf %c, %d : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<128x4096xf32>
  return %p : tensor<128x4096xf32>
}
