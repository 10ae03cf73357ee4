// A sum of what the program knows, over sizes that it does not: each element of a thread's is folded into the next.
// RUN: tenon-compile %s --target=sm_80 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --input=2x3x17xf32=5 --input="2xf32=1 2" --expected_output="2xf32=1 2"
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0)>
func.func @run(%a: tensor<?x?x?xf32>, %start: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%a : tensor<?x?x?xf32>) outs(%start : tensor<2xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %1 = arith.addf %sum, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
