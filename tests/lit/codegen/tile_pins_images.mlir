// A tile that is given to a convolution of an unknown number of images is one kernel for all of them: its patches are chosen with all
// their sides, and its strategy names no side of theirs.
// RUN: tenon-compile %s --images=ptx --cu-cache=none --target=sm_90a --print-dispatches --iree-hal-dump-executable-sources-to=%t.sources -o %t.tenon 2>&1 | FileCheck %s
// RUN: cat %t.sources/*.mlir | FileCheck %s --check-prefix=PLAN
// CHECK: note: on sm_90a: {by = "wgmma", rows = 128, columns = 128}, chosen by 'tenon.tile'
// PLAN: tenon.strategy = {columns = 64 : i64, name = "contraction", rows = 64 : i64, threads = 256 : i64, warpgroup_cluster = 1 : i64, warpgroup_columns = 128 : i64, warpgroup_rows = 128 : i64}
func.func @run(%x: tensor<?x9x11x64xbf16>, %w: tensor<136x3x3x64xbf16>) -> tensor<?x7x9x136xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x9x11x64xbf16>
  %e = tensor.empty(%n) : tensor<?x7x9x136xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?x7x9x136xf32>) -> tensor<?x7x9x136xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, y, x, f, r, s, c) -> (n, y + r, x + s, c)>, affine_map<(n, y, x, f, r, s, c) -> (f, r, s, c)>, affine_map<(n, y, x, f, r, s, c) -> (n, y, x, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x9x11x64xbf16>, tensor<136x3x3x64xbf16>) outs(%s : tensor<?x7x9x136xf32>) attrs = {tenon.tile = {by = "wgmma", rows = 128, columns = 128}} {
  ^bb0(%a: bf16, %b: bf16, %t: f32):
    %g = arith.extf %a : bf16 to f32
    %h = arith.extf %b : bf16 to f32
    %p = arith.mulf %g, %h : f32
    %u = arith.addf %t, %p : f32
    linalg.yield %u : f32
  } -> tensor<?x7x9x136xf32>
  return %r : tensor<?x7x9x136xf32>
}
