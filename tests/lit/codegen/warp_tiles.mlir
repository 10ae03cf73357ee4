// Products of matrices by mma.sync. In programs for targets alone that have no other kernels a launch gives shared memory for large tiles; beside
// others, tiles are what static memory holds.
// RUN: tenon-compile %s --images=ptx --target=sm_80,sm_89 -o %t.tenon --print-dispatches --dump-kernels-to=%t.kernels --iree-hal-dump-executable-sources-to=%t.sources 2>&1 | FileCheck %s --check-prefix=CHOSEN
// RUN: cat %t.sources/*.mlir | FileCheck %s --check-prefix=PLAN
// RUN: FileCheck %s --check-prefix=LARGE --input-file=%t.kernels/large_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=SMALL --input-file=%t.kernels/small_dispatch_0_sm_80.ptx
// RUN: tenon-compile %s --images=ptx --target=sm_75,sm_80 -o %t.tenon --dump-kernels-to=%t.both
// RUN: FileCheck %s --check-prefix=STATIC --input-file=%t.both/large_dispatch_0_sm_80.ptx
// RUN: FileCheck %s --check-prefix=TURING --input-file=%t.both/large_dispatch_0_sm_75.ptx

// PLAN-LABEL: hal.executable.source {{.*}} @large_dispatch_0
// PLAN: workgroup_local_memory = 98304 : index
// PLAN: tenon.strategy = {columns = 256 : i64, name = "contraction", rows = 128 : i64, stage_bytes = 64 : i64, stages = 4 : i64, threads = 256 : i64
// CHOSEN: note: on sm_80: {by = "mma.sync", rows = 128, columns = 256}, chosen by the model
// CHOSEN: note: on sm_89: {by = "mma.sync", rows = 128, columns = 256}, chosen by the model
// LARGE: .extern .shared .align 1024
// LARGE: .reqntid 256
// The next fragments are read between products, and the block meets once in a step.
// LARGE: ldmatrix.sync.aligned.m8n8.x4
// LARGE: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// LARGE: cp.async.wait_group{{[ \t]+}}2;
// LARGE: bar.sync
// STATIC: .reqntid 128
// STATIC: .shared .align 128 .b8 large_dispatch_0_shared_0[49152]
// TURING: .reqntid 256
func.func @large(%a: tensor<4096x2048xf16>, %b: tensor<2048x4096xf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x2048xf16>, tensor<2048x4096xf16>) outs(%s : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %p : tensor<4096x4096xf32>
}

// A tile that is alone on its multiprocessor has longer steps, and more of them.
// PLAN-LABEL: hal.executable.source {{.*}} @small_dispatch_0
// PLAN: tenon.strategy = {columns = 64 : i64, name = "contraction", rows = 64 : i64, stage_bytes = 128 : i64, stages = 6 : i64, threads = 256 : i64
// SMALL: .reqntid 128
func.func @small(%a: tensor<256x512xf16>, %b: tensor<512x512xf16>) -> tensor<256x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %p = linalg.matmul ins(%a, %b : tensor<256x512xf16>, tensor<512x512xf16>) outs(%s : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %p : tensor<256x512xf32>
}
