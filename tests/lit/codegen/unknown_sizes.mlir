// Products of sizes that only the program knows have a few kernels: small tiles whose sums clusters take apart where there are few
// rows, wide ones where there are many. The program compares sizes; one kernel is launched, the others have no blocks.
// RUN: tenon-compile %s --target=sm_90a --images=ptx --print-dispatches -o %t.tenon 2>&1 | FileCheck %s
// RUN: rm -rf %t.sources && tenon-compile %s --target=sm_90a --images=ptx --iree-hal-dump-executable-sources-to=%t.sources -o %t.tenon
// RUN: cat %t.sources/*rows_dispatch_0*.mlir | FileCheck %s --check-prefix=ROWS
// RUN: cat %t.sources/*any_dispatch_0*.mlir | FileCheck %s --check-prefix=ANY

// CHECK: on sm_90a: {by = "skinny", few = 8{{.*}} or {by = "skinny", few = 32{{.*}} or {by = "wgmma", rows = 64, columns = 128, deep = {{[2-8]}}} or {{.*}} or {by = "wgmma", rows = 128, columns = 256}, chosen

// A cluster for each tile, of up to 64 rows and more than 32.
// ROWS: export {{.*}}@rows_dispatch_0_2
// ROWS: %[[TILES:.*]] = arith.muli
// ROWS: %[[BLOCKS:.*]] = arith.muli %[[TILES]]
// ROWS: %[[UP_TO:.*]] = arith.cmpi ule, %arg1, %c64 : index
// ROWS: arith.select %[[UP_TO]], %[[BLOCKS]]
// ROWS: arith.cmpi ugt, %arg1, %c32 : index

func.func @rows(%a: tensor<?x3680xbf16>, %b: tensor<4576x3680xbf16>) -> tensor<?x4576xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x3680xbf16>
  %e = tensor.empty(%m) : tensor<?x4576xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4576xf32>) -> tensor<?x4576xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x3680xbf16>, tensor<4576x3680xbf16>) outs(%f : tensor<?x4576xf32>) {
  ^bb0(%l: bf16, %r: bf16, %s: f32):
    %x = arith.extf %l : bf16 to f32
    %y = arith.extf %r : bf16 to f32
    %q = arith.mulf %x, %y : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x4576xf32>
  return %p : tensor<?x4576xf32>
}

// Of no known size, the number of tiles of 64 x 128 decides, and of few tiles how long the sums are.
// ANY: export {{.*}}@any_dispatch_0_2
// ANY: %[[WIDE:.*]] = affine.apply affine_map<(d0) -> (d0 ceildiv 128)>(%arg2)
// ANY: %[[TILES:.*]] = arith.muli %{{.*}}, %[[WIDE]]
// ANY: arith.cmpi ule, %[[TILES]]
// ANY: arith.cmpi ugt, %arg3, %c512
func.func @any(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
