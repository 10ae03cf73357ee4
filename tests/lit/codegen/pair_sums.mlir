// Sums of two i16 at once are not left to ptxas, which forgets a constant where one half alone is read.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --target=sm_90a,sm_120 --images=ptx --dump-kernels-to=%t -o %t/all.tenon
// RUN: FileCheck %s --input-file=%t/first_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --input-file=%t/first_dispatch_0_sm_120.ptx

// The place of the first element is 0, and the others' are not: the constants of a pair are not the same.
// CHECK: ld.global.nc.v4.b32
// CHECK-NOT: {{add|sub}}.{{[us]}}16x2
// CHECK: st.global.v4.b32
func.func @first(%a: tensor<16xi16>) -> tensor<16xi16> {
  %e = tensor.empty() : tensor<16xi16>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<16xi16>) outs(%e : tensor<16xi16>) {
    ^bb0(%x: i16, %o: i16):
      %four = arith.constant 4 : i16
      %sum = arith.addi %x, %four : i16
      %i = linalg.index 0 : index
      %place = arith.index_cast %i : index to i16
      %y = arith.ori %sum, %place : i16
      linalg.yield %y : i16
  } -> tensor<16xi16>
  return %r : tensor<16xi16>
}
