// Objects in MLIR for Hopper: tensor maps as parameters, clusters, assembly that a warp runs together.
// RUN: rm -rf %t && split-file %s %t
// RUN: tenon-compile %t/program.mlir --images=ptx -o %t/p.tenon
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised,barriers tenon-run %t/p.tenon --device=emulator --function=corner --input=32x128xf32=2 --input=4xf32=5 | FileCheck %s --check-prefix=CORNER
// RUN: env TENON_EMULATOR_CHECK=races,uninitialised,barriers tenon-run %t/p.tenon --device=emulator --function=sums '--input=4xf32=1 2 3 4' | FileCheck %s --check-prefix=SUMS
// RUN: tenon-dump %t/p.tenon --ptx=once@sm_90a | FileCheck %s --check-prefix=ONCE
// RUN: tenon-dump %t/p.tenon | FileCheck %s --check-prefix=DUMP
// RUN: not tenon-compile %t/missing.mlir --images=ptx -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=MISSING

// CORNER: 4xf32=2 2 2 2
// SUMS: 2xf32=3 7
// ONCE: bar.sync 3, 64
// ONCE-NOT: bar.sync 3, 64
// DUMP: export 1 'pair'
// DUMP: cluster 2x1x1
// MISSING: has .reqnctapercluster 2x1x1, the export declares none

//--- kernels.mlir
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<4096 x i8>
  llvm.mlir.global internal @full() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<8 x i8>
  llvm.mlir.global internal @mine() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<4 x i8>
  llvm.func @corner(%y: !llvm.ptr<1>, %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant})
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 4, 1, 1>} {
    %at = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %bar = llvm.mlir.addressof @full : !llvm.ptr<3>
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i64
    %c0 = arith.constant 0 : i64
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %bytes = arith.constant 4096 : i32
    %first = arith.cmpi eq, %i, %c0 : i64
    scf.if %first {
      nvvm.mbarrier.init %bar, %one : !llvm.ptr<3>, i32
      llvm.inline_asm has_side_effects asm_dialect = att "fence.mbarrier_init.release.cluster;", "~{memory}" : () -> ()
      llvm.inline_asm has_side_effects asm_dialect = att "mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,~{memory}" %bar, %bytes : (!llvm.ptr<3>, i32) -> ()
      llvm.inline_asm has_side_effects asm_dialect = att "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,~{memory}" %at, %map, %zero, %zero, %bar : (!llvm.ptr<3>, !llvm.ptr, i32, i32, !llvm.ptr<3>) -> ()
    }
    gpu.barrier
    llvm.inline_asm has_side_effects asm_dialect = att "{\0A.reg .pred done;\0Aagain:\0Ambarrier.try_wait.parity.shared.b64 done, [$0], $1;\0A@!done bra again;\0A}", "r,r,~{memory}" %bar, %zero : (!llvm.ptr<3>, i32) -> ()
    %p = llvm.getelementptr %at[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %v = llvm.load %p : !llvm.ptr<3> -> f32
    %q = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %v, %q : f32, !llvm.ptr<1>
    llvm.return
  }
  // Each pair of blocks adds up what both have.
  llvm.func @pair(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>)
      attributes {nvvm.kernel, nvvm.reqntid = array<i32: 1, 1, 1>, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %at = llvm.mlir.addressof @mine : !llvm.ptr<3>
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %p = llvm.getelementptr %x[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p : !llvm.ptr<1> -> f32
    llvm.store %v, %at : f32, !llvm.ptr<3>
    nvvm.cluster.arrive
    nvvm.cluster.wait
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %is_first = arith.cmpi eq, %rank, %zero : i32
    scf.if %is_first {
      %theirs = nvvm.mapa %at, %one : !llvm.ptr<3> -> !llvm.ptr<7>
      %w = llvm.load %theirs : !llvm.ptr<7> -> f32
      %s = arith.addf %v, %w : f32
      %half = arith.shrui %block, %one : i32
      %q = llvm.getelementptr %y[%half] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %s, %q : f32, !llvm.ptr<1>
    }
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.return
  }
  // What both halves of a warp meet at stays one place, though the way before it says where the one behind it goes.
  gpu.func @once(%x: !llvm.ptr<1>, %n: i32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i32
    %in = arith.cmpi slt, %i, %n : i32
    %one = arith.constant 1 : i32
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    scf.if %in {
      llvm.store %one, %p : i32, !llvm.ptr<1>
    }
    llvm.inline_asm has_side_effects asm_dialect = att "bar.sync 3, 64;", "~{memory}" : () -> ()
    scf.if %in {
      llvm.store %i, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}

//--- program.mlir
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}> = [#hal.executable.object<{path = "kernels.mlir"}>]}>} {
  hal.executable.export public @corner ordinal(0) layout(#hal.pipeline.layout<constants = [!hal.tensor_map<binding = 1, 16x64xf32>], bindings = [#hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer, ReadOnly, alignment = 16>], parameters = [binding 0, constant 0]>) count(%device: !hal.device) -> (index, index, index) {
    %one = arith.constant 1 : index
    hal.return %one, %one, %one : index, index, index
  } attributes {workgroup_size = [4 : index]}
  hal.executable.export public @pair ordinal(1) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>) count(%device: !hal.device, %n: index) -> (index, index, index) {
    %one = arith.constant 1 : index
    hal.return %n, %one, %one : index, index, index
  } attributes {workgroup_size = [1 : index], tenon.cluster = [2]}
  hal.executable.export public @once ordinal(2) layout(#hal.pipeline.layout<constants = [i32], bindings = [#hal.pipeline.binding<storage_buffer>]>) count(%device: !hal.device) -> (index, index, index) {
    %one = arith.constant 1 : index
    hal.return %one, %one, %one : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @corner(%a: tensor<32x128xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = flow.dispatch @kernels::@corner(%b, %a) : (tensor<4xf32>, tensor<32x128xf32>) -> %b
  return %0 : tensor<4xf32>
}
func.func @sums(%a: tensor<4xf32>) -> tensor<2xf32> {
  %n = arith.constant 4 : index
  %0 = flow.dispatch @kernels::@pair[%n](%a) : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @once(%a: tensor<64xi32>, %n: i32) -> tensor<64xi32> {
  %0 = flow.dispatch @kernels::@once(%n, %a) : (i32, tensor<64xi32>) -> %a
  return %0 : tensor<64xi32>
}

//--- missing.mlir
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90a"}> = [#hal.executable.object<{path = "kernels.mlir"}>]}>} {
  hal.executable.export public @pair ordinal(0) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>) count(%device: !hal.device, %n: index) -> (index, index, index) {
    hal.return %n, %n, %n : index, index, index
  } attributes {workgroup_size = [1 : index]}
}
func.func @sums(%a: tensor<4xf32>) -> tensor<2xf32> {
  %n = arith.constant 4 : index
  %0 = flow.dispatch @kernels::@pair[%n](%a) : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
