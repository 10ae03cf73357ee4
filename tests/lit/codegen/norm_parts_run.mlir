// Weights of two prefixes of an axis that is read in vectors: of one the size is known and no multiple of a vector, the other one's is known
// when the program runs, and is one.
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-run %t.tenon --device=emulator --function=f --input=1x2x4x18xf32=0 --input=2xf32=0 "--input=2x4xf32=0 1 2 3 4 5 6 7" --output=- | FileCheck %s
// CHECK: 1x2x4x18xf32=
// CHECK-SAME: {{\[}}0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0][1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1][2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2][3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3]
#all = affine_map<(i, c, h, w) -> (i, c, h, w)>
#row = affine_map<(i, c, h, w) -> (i)>
#c = affine_map<(i, c, h, w) -> (c)>
#ch = affine_map<(i, c, h, w) -> (c,h)>
func.func @f(%x: tensor<?x?x?x18xf32>, %p: tensor<?xf32>, %q: tensor<?x?xf32>) -> tensor<?x?x?x18xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %a = tensor.dim %x, %c0 : tensor<?x?x?x18xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x?x18xf32>
  %d = tensor.dim %x, %c2 : tensor<?x?x?x18xf32>
  %e = tensor.empty(%a) : tensor<?xf32>
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
      ins(%x : tensor<?x?x?x18xf32>) outs(%s : tensor<?xf32>) {
  ^bb0(%u: f32, %o: f32):
    %t = arith.addf %u, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %g = tensor.empty(%a, %b, %d) : tensor<?x?x?x18xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #c, #ch, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %sum, %p, %q : tensor<?x?x?x18xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) outs(%g : tensor<?x?x?x18xf32>) {
  ^bb0(%u: f32, %v: f32, %k: f32, %l: f32, %o: f32):
    %m = arith.subf %u, %v : f32
    %y = arith.mulf %m, %k : f32
    %yy = arith.addf %y, %l : f32
    linalg.yield %yy : f32
  } -> tensor<?x?x?x18xf32>
  return %r : tensor<?x?x?x18xf32>
}
