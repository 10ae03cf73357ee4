// A product of fewer columns than a tile has: what is behind it has the products that an instruction makes anyway, and nobody
// computes further with them. Of 24 columns a thread has two of each eight, of two rows: eight activations are
// turned at once, then four, then none.
// RUN: tenon-compile %s --target=sm_90a --images=ptx --dump-kernels-to=%t.kernels -o %t.tenon
// RUN: FileCheck %s < %t.kernels/gate_dispatch_0_sm_90a.ptx
// RUN: tenon-run %t.tenon --device=emulator --function=gate --input=70x32xbf16=1 --input=24x32xbf16=2 | FileCheck %s --check-prefix=GATE

// CHECK: stmatrix
// CHECK-COUNT-4: min.NaN.f32
// CHECK-NOT: min.NaN.f32
// CHECK: stmatrix
// CHECK-NOT: min.NaN.f32
// CHECK: stmatrix
// CHECK-NOT: min.NaN.f32
// CHECK: stmatrix
// GATE: 70x24xbf16=[6 6 6
// GATE-NOT: {{[0-57-9]}}
func.func @gate(%x: tensor<70x32xbf16>, %w: tensor<24x32xbf16>) -> tensor<70x24xbf16> {
  %z = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %e = tensor.empty() : tensor<70x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<70x24xf32>) -> tensor<70x24xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} {tenon.tile = {by = "wgmma", rows = 128, columns = 64}}
      ins(%x, %w : tensor<70x32xbf16>, tensor<24x32xbf16>) outs(%f : tensor<70x24xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %s, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<70x24xf32>
  %o = tensor.empty() : tensor<70x24xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<70x24xf32>) outs(%o : tensor<70x24xbf16>) {
  ^bb0(%a: f32, %s: bf16):
    %1 = arith.minimumf %a, %six : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<70x24xbf16>
  return %r : tensor<70x24xbf16>
}
