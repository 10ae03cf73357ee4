// Rows of 1001 elements start anywhere between vectors: of a row each of 32 threads reads up to eight vectors that lie in it,
// and at most one of the elements around them. Where the base is not aligned, an element at a time.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --images=ptx --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --input-file=%t/sum_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=NORM --input-file=%t/norm_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=SCALED --input-file=%t/scaled_dispatch_0_sm_80.ptx

// CHECK-LABEL: .visible .entry sum_dispatch_0(
// CHECK-COUNT-8: ld.global.nc.v4.b32
// CHECK-NOT: ld.global.nc.v4.b32
func.func @sum(%x: tensor<65536x1001xf32>) -> tensor<65536xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<65536xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<65536xf32>) -> tensor<65536xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<65536x1001xf32>) outs(%start : tensor<65536xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<65536xf32>
  return %r : tensor<65536xf32>
}

// A vector that lies along the rows is aligned where these are not.
// SCALED-LABEL: .visible .entry scaled_dispatch_0(
// SCALED-NOT: ld.global.nc.v4.b32
func.func @scaled(%x: tensor<65536x1001xf32>, %v: tensor<1001xf32>) -> tensor<65536xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<65536xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<65536xf32>) -> tensor<65536xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %v : tensor<65536x1001xf32>, tensor<1001xf32>) outs(%start : tensor<65536xf32>) {
    ^bb0(%a: f32, %c: f32, %b: f32):
      %d = arith.subf %a, %c : f32
      %q = math.absf %d : f32
      %s = arith.addf %q, %b : f32
      linalg.yield %s : f32
  } -> tensor<65536xf32>
  return %r : tensor<65536xf32>
}

// What is read again stays in registers, and is stored as vectors, too: with two vectors a lane come the edges, by themselves.
// NORM-LABEL: .visible .entry norm_dispatch_0(
// NORM-COUNT-2: ld.global.nc.v4.b32
// NORM: ld.global.nc.b16
// NORM-NOT: ld.global.nc.v4.b32
// NORM-COUNT-2: st.global.v4.b32
// NORM: st.global.b16
func.func @norm(%x: tensor<65536x1001xf16>) -> tensor<65536x1001xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<65536xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<65536xf32>) -> tensor<65536xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<65536x1001xf16>) outs(%start : tensor<65536xf32>) {
    ^bb0(%a: f16, %b: f32):
      %w = arith.extf %a : f16 to f32
      %q = arith.mulf %w, %w : f32
      %s = arith.addf %q, %b : f32
      linalg.yield %s : f32
  } -> tensor<65536xf32>
  %y = tensor.empty() : tensor<65536x1001xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<65536x1001xf16>, tensor<65536xf32>) outs(%y : tensor<65536x1001xf16>) {
    ^bb0(%a: f16, %b: f32, %o: f16):
      %w = arith.extf %a : f16 to f32
      %d = arith.divf %w, %b : f32
      %n = arith.truncf %d : f32 to f16
      linalg.yield %n : f16
  } -> tensor<65536x1001xf16>
  return %r : tensor<65536x1001xf16>
}
