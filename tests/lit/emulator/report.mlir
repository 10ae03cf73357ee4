// A kernel that writes out of bounds: the emulator's report names kernel, thread, block, address, what lies there, the
// PTX line and, from .loc, the line of the source.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: tenon-compile %t/store.mlir --object-search-path=%t -o %t/store.tenon

// 40 threads in two blocks store to 48 elements: fine.
// RUN: tenon-run %t/store.tenon --input=0 --input=48xi32 | FileCheck %s --check-prefix=FINE
// FINE: {{^}}48xi32=0 1 2 3

// 20 elements further the last twelve threads of block 1 have none: the first of them is the one reported.
// RUN: not tenon-run %t/store.tenon --input=20 --input=48xi32 2>&1 | FileCheck %s --check-prefix=OUT
// OUT: tenon emulator: error: kernel '{{.*}}store{{.*}}', thread (8,0,0) of block (1,0,0): out-of-bounds global write of 4 bytes at 0x{{[0-9a-f]+}}: 0 bytes past the end of the 192-byte allocation at 0x{{[0-9a-f]+}}
// OUT-NEXT: at {{.*}}:[[#]]:[[#]]: st.global.u32 [%rd3], %r5
// OUT-NEXT: source: store.cu:7:3
// OUT: tenon-run: error:
// OUT-SAME: CUDA_ERROR_ILLEGAL_ADDRESS (700)

//--- store.ptx
.version 7.0
.target sm_75
.address_size 64
.file 1 "store.cu"
// data[first + thread] = thread
.visible .entry store(.param .u64 data, .param .u32 first)
{
  .reg .u64 %rd<4>;
  .reg .u32 %r<7>;
  .loc 1 6 3
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r1, [first];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  add.u32 %r6, %r5, %r1;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  .loc 1 7 3
  st.global.u32 [%rd3], %r5;
  .loc 1 8 1
  ret;
}
//--- store.mlir
#target = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
hal.executable.source private @exe attributes {
  objects = #hal.executable.objects<{#target = [#hal.executable.object<{path = "store.ptx"}>]}>
} {
  hal.executable.export public @store ordinal(0)
      layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    hal.return %c2, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [20 : index, 1 : index, 1 : index]}
}
func.func @main(%first: i32, %data: tensor<48xi32>) -> tensor<48xi32> {
  %0 = flow.dispatch @exe::@store(%first, %data) : (i32, tensor<48xi32>) -> %data
  return %0 : tensor<48xi32>
}
