// Kernels whose launches are of few blocks have the next one launched when they begin, behind their own wait; of an
// unknown number of blocks they ask. Not those of many blocks, nor those in front of a product of many, or of blocks that
// wait for each other; behind the last kernel comes the first one of the next call.
// RUN: rm -rf %t && mkdir -p %t
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_90 -o %t/all.tenon --dump-kernels-to=%t
// RUN: FileCheck %s --check-prefix=FEW --input-file=%t/few_dispatch_0_sm_90.ptx
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t/few_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t/many_dispatch_0_sm_90.ptx
// RUN: FileCheck %s --check-prefix=ASKS --input-file=%t/unknown_dispatch_0_sm_90.ptx
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t/before_product_dispatch_0_sm_90.ptx
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t/behind_product_dispatch_1_sm_90.ptx
// RUN: FileCheck %s --check-prefix=SORT --input-file=%t/sorted_dispatch_0_sm_90.ptx
// What asks for the number of blocks would be launched with as many as run at once (kernel_abi.md, K-25).
// RUN: tenon-dump %t/all.tenon | FileCheck %s --check-prefix=GRID
// RUN: tenon-run %t/all.tenon --device=emulator --function=unknown --input=3xf32=3 --expected_output=3xf32=9
// GRID-NOT: any grid
// FEW-NOT: %nclusterid
// FEW: griddepcontrol.wait;
// FEW: griddepcontrol.launch_dependents;
// NONE-NOT: griddepcontrol.launch_dependents
// ASKS: griddepcontrol.wait;
// ASKS: mov.u32 [[BLOCKS:%r[0-9]+]], %nclusterid.x;
// ASKS: setp.gt.u32 [[MANY:%p[0-9]+]], [[BLOCKS]], 4096;
// ASKS: @[[MANY]] bra
// ASKS: griddepcontrol.launch_dependents;
// ASKS-NOT: %nctaid
// SORT: .entry sorted_dispatch_0(
// SORT: griddepcontrol.launch_dependents
// SORT: .entry sorted_dispatch_0_1(
// SORT-NOT: griddepcontrol.launch_dependents
// SORT: .entry sorted_dispatch_0_2(
// SORT: griddepcontrol.launch_dependents
#id = affine_map<(i) -> (i)>
func.func @few(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %x : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @many(%a: tensor<16777216xf32>) -> tensor<16777216xf32> {
  %e = tensor.empty() : tensor<16777216xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<16777216xf32>) outs(%e : tensor<16777216xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %x : f32
    linalg.yield %z : f32
  } -> tensor<16777216xf32>
  return %r : tensor<16777216xf32>
}
func.func @unknown(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %x : f32
    linalg.yield %z : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @before_product(%a: tensor<2048xbf16>, %w: tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<2048x2048xbf16>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w, %a : tensor<2048x2048xbf16>, tensor<2048xbf16>) outs(%e : tensor<2048x2048xbf16>) {
  ^bb0(%x: bf16, %s: bf16, %y: bf16):
    %m = arith.mulf %x, %s : bf16
    linalg.yield %m : bf16
  } -> tensor<2048x2048xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %r = linalg.matmul ins(%p, %p : tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) outs(%f : tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  return %r : tensor<2048x2048xbf16>
}
func.func @behind_product(%a: tensor<2048x2048xbf16>) -> tensor<2048xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<2048x2048xbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %p = linalg.matmul ins(%a, %a : tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) outs(%f : tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %c = tensor.empty() : tensor<2048xbf16>
  %g = linalg.fill ins(%z : bf16) outs(%c : tensor<2048xbf16>) -> tensor<2048xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<2048x2048xbf16>) outs(%g : tensor<2048xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
    %m = arith.addf %x, %y : bf16
    linalg.yield %m : bf16
  } -> tensor<2048xbf16>
  return %r : tensor<2048xbf16>
}
func.func @sorted(%a: tensor<20000xi8>) -> tensor<20000xi8> {
  %r = iree_linalg_ext.sort dimension(0) outs(%a : tensor<20000xi8>) {
  ^bb0(%x: i8, %y: i8):
    %s = arith.cmpi slt, %x, %y : i8
    iree_linalg_ext.yield %s : i1
  } -> tensor<20000xi8>
  return %r : tensor<20000xi8>
}
