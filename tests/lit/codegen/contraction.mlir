// Products of matrices: tiles, who multiplies on which target, and what is computed with their results.
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies | FileCheck %s --check-prefix=PLAN
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_80,sm_90a -o %t.tenon --dump-kernels-to=%t.kernels
// RUN: FileCheck %s --check-prefix=SCALAR --input-file=%t.kernels/large_dispatch_0_sm_75.ptx
// RUN: FileCheck %s --check-prefix=CORE --input-file=%t.kernels/large_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=GROUP --input-file=%t.kernels/large_dispatch_0_sm_90a.ptx
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.kernels/bytes_dispatch_0_sm_80.ptx
// RUN: tenon-compile %s --images=ptx --target=sm_80 -o %t.tenon --f32-products=tf32 --dump-kernels-to=%t.tf32
// RUN: tenon-compile %s --images=ptx --target=sm_90a -o %t.tenon --f32-products=tf32 --dump-kernels-to=%t.tf32
// RUN: FileCheck %s --check-prefix=TF32GROUP --input-file=%t.tf32/turned_dispatch_0_sm_90a.ptx
// RUN: tenon-opt %s --tenon-form-dispatches --tenon-choose-strategies=tf32 | FileCheck %s --check-prefix=TF32MAP
// RUN: FileCheck %s --check-prefix=TF32 --input-file=%t.tf32/exact_dispatch_0_sm_80.ptx
// RUN: not tenon-compile %s --f32-products=bf16 -o %t.tenon 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: FileCheck %s --check-prefix=EXACT --input-file=%t.kernels/exact_dispatch_0_sm_90a.ptx

// SCALAR-NOT: mma
// SCALAR: fma.rn.f32
// CORE: cp.async.cg.shared.global
// CORE: ldmatrix.sync.aligned.m8n8.x4
// CORE: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// A warpgroup asks for the operands by tensor maps, two multiply.
// GROUP: .extern .shared .align 1024
// GROUP: .param .align 64 .b8 large_dispatch_0_param_{{[0-9]}}[128]
// GROUP: .reqntid 384
// GROUP-DAG: %nctaid.x
// GROUP-DAG: setmaxnreg.dec
// GROUP-DAG: cp.async.bulk.tensor.2d.shared::cluster.global
// GROUP-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// Each warp sends its part of the result off as boxes, and waits for the last ones before it ends.
// GROUP-DAG: fence.proxy.async.shared::cta
// GROUP-DAG: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
// GROUP-DAG: cp.async.bulk.wait_group.read 0

// BYTES: ldmatrix.sync.aligned.m8n8.x4
// BYTES: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// TF32: cvt.rna.tf32.f32
// TF32: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// Factors of tf32 are rounded by the copies that bring them; those that are not aligned, one by one.
// TF32GROUP-DAG: cp.async.bulk.tensor.{{[23]}}d.shared::cluster.global
// TF32GROUP-DAG: cvt.rna.tf32.f32
// TF32GROUP-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k8.f32.tf32.tf32
// TF32MAP: !hal.tensor_map<binding = 0, {{[0-9x]+}}x32xtf32, swizzle = B128, promotion = L2B128, optional>
// FLAG: --f32-products is 'exact' or 'tf32', not 'bf16'

// The bias and the activation are in the kernel of the product.
// PLAN: #hal.pipeline.layout<constants = [!hal.tensor_map<binding = 0, 128x64xbf16, swizzle = B128, promotion = L2B128, optional>, !hal.tensor_map<binding = 1, 64x64xbf16, swizzle = B128, promotion = L2B128, optional>, !hal.tensor_map<binding = 3, 16x64xbf16, swizzle = B128, promotion = L2B128, optional>]
// PLAN-LABEL: hal.executable.source private @large_dispatch_0
// PLAN: workgroup_local_memory = 229444 : index
// PLAN: tenon.strategy = {columns = 128 : i64, name = "contraction", rows = 128 : i64, threads = 256 : i64, warpgroup_cluster = {{[12]}} : i64, warpgroup_columns = 256 : i64, warpgroup_rows = 128 : i64}
// PLAN-COUNT-2: linalg.generic
func.func @large(%a: tensor<2048x512xbf16>, %b: tensor<512x2048xbf16>, %bias: tensor<2048xf32>) -> tensor<2048x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %p = linalg.matmul ins(%a, %b : tensor<2048x512xbf16>, tensor<512x2048xbf16>) outs(%start : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %o = tensor.empty() : tensor<2048x2048xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<2048x2048xf32>, tensor<2048xf32>) outs(%o : tensor<2048x2048xbf16>) {
    ^bb0(%x: f32, %y: f32, %z: bf16):
      %s = arith.addf %x, %y : f32
      %m = arith.maximumf %s, %zero : f32
      %n = arith.truncf %m : f32 to bf16
      linalg.yield %n : bf16
  } -> tensor<2048x2048xbf16>
  return %r : tensor<2048x2048xbf16>
}

// f32 stays f32: no tf32. Few elements: small tiles.
// EXACT-NOT: mma
// EXACT: fma.rn.f32
// PLAN-LABEL: hal.executable.source private @exact_dispatch_0
// PLAN-NOT: workgroup_local_memory
// PLAN: tenon.strategy = {columns = 64 : i64, name = "contraction", rows = 64 : i64, threads = 256 : i64, warpgroup_cluster = {{[12]}} : i64, warpgroup_columns = 0 : i64, warpgroup_rows = 0 : i64}
func.func @exact(%a: tensor<100x40xf32>, %b: tensor<40x60xf32>) -> tensor<100x60xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x60xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<100x60xf32>) -> tensor<100x60xf32>
  %p = linalg.matmul ins(%a, %b : tensor<100x40xf32>, tensor<40x60xf32>) outs(%start : tensor<100x60xf32>) -> tensor<100x60xf32>
  return %p : tensor<100x60xf32>
}

func.func @turned(%a: tensor<256x512xf32>, %b: tensor<192x512xf32>) -> tensor<256x192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x192xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<256x192xf32>) -> tensor<256x192xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : tensor<256x512xf32>, tensor<192x512xf32>) outs(%start : tensor<256x192xf32>) -> tensor<256x192xf32>
  return %p : tensor<256x192xf32>
}

func.func @bytes(%a: tensor<100x128xi8>, %b: tensor<128x96xi8>, %c: tensor<100x96xi32>) -> tensor<100x96xi32> {
  %p = linalg.matmul ins(%a, %b : tensor<100x128xi8>, tensor<128x96xi8>) outs(%c : tensor<100x96xi32>) -> tensor<100x96xi32>
  return %p : tensor<100x96xi32>
}

// Unknown sizes: kernels for up to 8 rows, for up to 32, and for small and large results of more, of which the program
// launches one.
// PLAN-LABEL: hal.executable.source private @unknown_dispatch_0
// PLAN-COUNT-4: hal.executable.export
func.func @unknown(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
