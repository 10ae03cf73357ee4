// Objects in MLIR's gpu dialect: compiled for each target, proved like PTX, and run.
// RUN: rm -rf %t && split-file %s %t
// RUN: tenon-compile %t/program.mlir --images=ptx -o %t/p.tenon
// RUN: env TENON_EMULATOR_SM=80 tenon-run %t/p.tenon --device=emulator --function=product --input=4x3xf32=2 --input=3x5xf32=3 | FileCheck %s --check-prefix=PRODUCT
// RUN: tenon-run %t/p.tenon --device=emulator --function=scaled --input=6xf32=1 | FileCheck %s --check-prefix=SCALED
// RUN: tenon-run %t/p.tenon --device=emulator --function=sums --input=2x64xf32=1 | FileCheck %s --check-prefix=SUMS
// RUN: tenon-dump %t/p.tenon | FileCheck %s --check-prefix=DUMP
// RUN: not tenon-compile %t/refused.mlir -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not tenon-compile %t/proof.mlir -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=PROOF
// RUN: cp %t/host.mlir %t/object.mlir && not tenon-compile %t/one.mlir -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: cp %t/two.mlir %t/object.mlir && not tenon-compile %t/one.mlir -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: cp %t/none.mlir %t/object.mlir && not tenon-compile %t/one.mlir -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: cp %t/kernel.mlir %t/object.mlir && not tenon-compile %t/one.mlir -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: cp %t/wrong.mlir %t/object.mlir && not tenon-compile %t/one.mlir -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: cp %t/garbled.mlir %t/object.mlir && not tenon-compile %t/one.mlir -o %t/x.tenon 2>&1 | FileCheck %s --check-prefix=GARBLED
// RUN: not ls %t/x.tenon
// A file that has nothing of the llvm dialect.
// RUN: cp %t/memrefs.mlir %t/object.mlir && tenon-compile %t/one.mlir --images=ptx -o %t/m.tenon
// RUN: tenon-run %t/m.tenon --device=emulator --function=f --input=4xf32=3 | FileCheck %s --check-prefix=MEMREFS
// An access that is out of bounds is at its line.
// RUN: cp %t/beyond.mlir %t/object.mlir && tenon-compile %t/one.mlir --images=ptx -o %t/b.tenon
// RUN: not tenon-run %t/b.tenon --device=emulator --function=f --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=BEYOND

// PRODUCT: 4x5xf32=[18 18 18 18 18][18 18 18 18 18][18 18 18 18 18][18 18 18 18 18]
// SCALED: 6xf32=2.5 2.5 2.5 2.5 2.5 2.5
// SUMS: 2xf32=64 64
// DUMP: export 0 'product'
// DUMP: parameters: 24 bytes
// DUMP: kernel 'product' for export 0 'product': {{.*}}maxntid 16x16x1{{.*}}proved_read_only
// REFUSED: kernels.mlir:2:3: error: parameter 0 of kernel 'k' is 'memref<?xf32>'; wanted: a number, !llvm.ptr, or a memref of static shape in row-major order
// REFUSED: note: fix: pass !llvm.ptr and the extents as numbers, or write the shape
// REFUSED: refused.mlir:2:1: note: the object is named here, for sm_80
// PROOF: [K-13] 'scale' writes binding 0 (st.global.b32), the layout declares it read-only
// PROOF: kernels.mlir:36:5: note: the source line of this instruction
// HOST: object.mlir:4:1: error: 'func.func' stands beside a gpu.module; an object holds device code alone
// TWO: object.mlir:2:1: error: a second gpu.module; an object holds one, with all of its kernels
// NONE: error: the object holds no gpu.module
// KERNEL: object.mlir:1:1: error: gpu.module @a holds no kernel: no gpu.func says `kernel`
// WRONG: object.mlir:3:{{[0-9]+}}: error: {{.*}}tensor
// GARBLED: object.mlir:2:{{[0-9]+}}: error: custom op 'gpu.nothing' is unknown
// MEMREFS: 4xf32=12 12 12 12
// BEYOND: out-of-bounds global read
// BEYOND: source: object.mlir:5:10

//--- kernels.mlir
gpu.module @kernels {
  gpu.func @product(%a: memref<4x3xf32>, %b: memref<3x5xf32>, %c: memref<4x5xf32>) kernel
      attributes {known_block_size = array<i32: 16, 16, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %k = arith.constant 3 : index
    %m = arith.constant 4 : index
    %n = arith.constant 5 : index
    %x = gpu.global_id x
    %y = gpu.global_id y
    %in_x = arith.cmpi ult, %x, %n : index
    %in_y = arith.cmpi ult, %y, %m : index
    %in = arith.andi %in_x, %in_y : i1
    scf.if %in {
      %sum = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> f32 {
        %p = memref.load %a[%y, %i] : memref<4x3xf32>
        %q = memref.load %b[%i, %x] : memref<3x5xf32>
        %t = math.fma %p, %q, %s : f32
        scf.yield %t : f32
      }
      memref.store %sum, %c[%y, %x] : memref<4x5xf32>
    }
    gpu.return
  }
  // A bare pointer, and numbers.
  gpu.func @scale(%x: !llvm.ptr, %n: i32, %by: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.global_id x
    %i32 = arith.index_cast %i : index to i32
    %in = arith.cmpi slt, %i32, %n : i32
    cf.cond_br %in, ^bb1, ^bb2
  ^bb1:
    %p = llvm.getelementptr %x[%i32] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v = llvm.load %p : !llvm.ptr -> f32
    %w = arith.mulf %v, %by : f32
    llvm.store %w, %p : f32, !llvm.ptr
    cf.br ^bb2
  ^bb2:
    gpu.return
  }
  // Shared memory, a barrier, shuffles: each block sums a row.
  gpu.func @sums(%x: memref<2x64xf32>, %out: memref<2xf32>) workgroup(%tile : memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %v = memref.load %x[%b, %t] : memref<2x64xf32>
    memref.store %v, %tile[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %last = arith.constant 63 : index
    %from = arith.subi %last, %t : index
    %w = memref.load %tile[%from] : memref<64xf32, #gpu.address_space<workgroup>>
    %s = gpu.all_reduce add %w uniform {} : (f32) -> (f32)
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      memref.store %s, %out[%b] : memref<2xf32>
    }
    gpu.return
  }
}

//--- program.mlir
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
hal.executable.source private @kernels attributes {objects = #hal.executable.objects<{
    #sm_80 = [#hal.executable.object<{path = "kernels.mlir"}>], #sm_90 = [#hal.executable.object<{path = "kernels.mlir"}>]}>} {
  hal.executable.export public @product ordinal(0) layout(#hal.pipeline.layout<bindings = [
      #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
      count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [16 : index, 16 : index, 1 : index]}
  hal.executable.export public @scale ordinal(1) layout(#hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
  hal.executable.export public @sums ordinal(2) layout(#hal.pipeline.layout<bindings = [
      #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
      count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    hal.return %c2, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
}
func.func @product(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %0 = flow.dispatch @kernels::@product(%a, %b) : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
func.func @scaled(%x: tensor<6xf32>) -> tensor<6xf32> {
  %n = arith.constant 6 : i32
  %by = arith.constant 2.5 : f32
  %0 = flow.dispatch @kernels::@scale(%n, %by, %x) : (i32, f32, tensor<6xf32>) -> %x
  return %0 : tensor<6xf32>
}
func.func @sums(%x: tensor<2x64xf32>) -> tensor<2xf32> {
  %0 = flow.dispatch @kernels::@sums(%x) : (tensor<2x64xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- refused.mlir
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
hal.executable.source private @k attributes {objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "dynamic/kernels.mlir"}>]}>} {
  hal.executable.export public @k layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>)
      attributes {workgroup_size = [64 : index]}
}

//--- dynamic/kernels.mlir
gpu.module @a {
  gpu.func @k(%x: memref<?xf32>) kernel {
    gpu.return
  }
}

//--- proof.mlir
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
hal.executable.source private @k attributes {objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "kernels.mlir"}>]}>} {
  hal.executable.export public @scale layout(#hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>)
      attributes {workgroup_size = [64 : index]}
}

//--- one.mlir
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
hal.executable.source private @k attributes {objects = #hal.executable.objects<{#sm_80 = [#hal.executable.object<{path = "object.mlir"}>]}>} {
  hal.executable.export public @k layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>)
      count(%d: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = flow.dispatch @k::@k(%x) : (tensor<4xf32>) -> %x
  return %0 : tensor<4xf32>
}

//--- host.mlir
gpu.module @a {
  gpu.func @k(%x: !llvm.ptr) kernel { gpu.return }
}
func.func @f() { return }

//--- two.mlir
gpu.module @a { gpu.func @k(%x: !llvm.ptr) kernel { gpu.return } }
gpu.module @b { gpu.func @l(%x: !llvm.ptr) kernel { gpu.return } }

//--- none.mlir
// Nothing.

//--- kernel.mlir
gpu.module @a {
  gpu.func @k(%x: !llvm.ptr) { gpu.return }
}

//--- wrong.mlir
gpu.module @a {
  gpu.func @k(%x: !llvm.ptr) kernel {
    %0 = tensor.empty() : tensor<4xf32>
    gpu.return
  }
}

//--- garbled.mlir
gpu.module @a {
  gpu.nothing
}

//--- beyond.mlir
gpu.module @a {
  gpu.func @k(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<4xf32>
    memref.store %v, %x[%c0] : memref<4xf32>
    gpu.return
  }
}

//--- memrefs.mlir
gpu.module @a {
  gpu.func @k(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    %in = arith.cmpi ult, %t, %c4 : index
    scf.if %in {
      %v = memref.load %x[%t] : memref<4xf32>
      %w = math.fma %v, %v, %v : f32
      memref.store %w, %x[%t] : memref<4xf32>
    }
    gpu.return
  }
}
