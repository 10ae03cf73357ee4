// Where the elements of a permuted tensor of unknown size lie is computed in 32 bits, where that is enough: three
// divisions by reciprocals, and one place for each tensor. Parts of a row that are whole vectors have one weight each.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_80 --images=ptx --cu-cache=none --dump-kernels-to=%t -o %t.tenon
// RUN: FileCheck %s --check-prefix=PTX < %t/swap_dispatch_0_sm_80.ptx
// RUN: tenon-run %t.tenon --function=swap --input="1x2x2x4xf32=[[[[0 1 2 3][4 5 6 7]][[8 9 10 11][12 13 14 15]]]]" | FileCheck %s --check-prefix=SWAP
// RUN: tenon-run %t.tenon --function=swap --input="2x1x2x3xf32=[[[[0 1 2][3 4 5]]][[[6 7 8][9 10 11]]]]" | FileCheck %s --check-prefix=ODD
// RUN: tenon-run %t.tenon --function=norm --input="1x2x8xf32=[[[1 1 1 1 3 3 3 3][1 1 1 1 3 3 3 3]]]" --input=2xf32=10,20 | FileCheck %s --check-prefix=NORM
// RUN: tenon-run %t.tenon --function=norm --input="1x2x7xf32=[[[1 1 1 1 3 3 3][3 1 1 1 3 3 3]]]" --input=2xf32=10,20 | FileCheck %s --check-prefix=PART

// PTX: .visible .entry swap_dispatch_0
// PTX: mul.wide.u32 %tenon_product
// PTX: mul.wide.u32 %tenon_product
// PTX: mul.wide.u32 %tenon_product
// PTX: mad.lo.s32
// SWAP: 1x2x2x4xf32={{\[\[\[}}0 1 2 3][8 9 10 11]{{\]\[\[}}4 5 6 7][12 13 14 15]]]
// ODD: 2x2x1x3xf32={{\[\[\[}}0 1 2]{{\]\[\[}}3 4 5]]][{{\[\[}}6 7 8]{{\]\[\[}}9 10 11]]]
// NORM: 1x2x8xf32={{\[\[}}-10 -10 -10 -10 10 10 10 10][-20 -20 -20 -20 20 20 20 20]]
// PART: 1x2x7xf32={{\[\[}}-10 -10 -10 -10 10 10 10][20 -20 -20 -20 20 20 20]]

func.func @swap(%x: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x?x?xf32>
  %c = tensor.dim %x, %c2 : tensor<?x?x?x?xf32>
  %d = tensor.dim %x, %c3 : tensor<?x?x?x?xf32>
  %e = tensor.empty(%a, %c, %b, %d) : tensor<?x?x?x?xf32>
  %r = linalg.transpose ins(%x : tensor<?x?x?x?xf32>) outs(%e : tensor<?x?x?x?xf32>) permutation = [0, 2, 1, 3]
  return %r : tensor<?x?x?x?xf32>
}

// Rows less their means, which are 2, times the weight of their part.
#all = affine_map<(i, j, k) -> (i, j, k)>
#row = affine_map<(i, j, k) -> (i)>
#part = affine_map<(i, j, k) -> (j)>
func.func @norm(%x: tensor<?x?x?xf32>, %w: tensor<?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %a = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %c = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %n = arith.muli %b, %c : index
  %i = arith.index_cast %n : index to i64
  %f = arith.sitofp %i : i64 to f32
  %e = tensor.empty(%a) : tensor<?xf32>
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<?x?x?xf32>) outs(%s : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %g = tensor.empty(%a, %b, %c) : tensor<?x?x?xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #part, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum, %w : tensor<?x?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%g : tensor<?x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32, %o: f32):
    %m = arith.divf %q, %f : f32
    %d = arith.subf %p, %m : f32
    %y = arith.mulf %d, %v : f32
    linalg.yield %y : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
