// A kernel that writes out of bounds: the error names the dispatch, its export and where it stands.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: tenon-compile %t/faults.mlir --object-search-path=%t -o %t/faults.tenon

// RUN: tenon-run %t/faults.tenon --function=one --input=0 --input=4xi32 | FileCheck %s --check-prefix=FINE
// FINE: {{^}}4xi32=1 0 0 0{{$}}

// RUN: not tenon-run %t/faults.tenon --function=one --input=100000000 --input=4xi32 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: tenon-run: error: {{.*}}faults.mlir:{{[0-9]+}}:{{[0-9]+}}: function 'one', command {{[0-9]+}} (Dispatch of 'poke', variant 'sm_75')
// ONE-SAME: CUDA_ERROR_ILLEGAL_ADDRESS (700)

// RUN: not tenon-run %t/faults.tenon --function=two --synchronous --input=100000000 --input=4xi32 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: tenon-run: error: {{.*}}faults.mlir:{{[0-9]+}}:{{[0-9]+}}: function 'two', command {{[0-9]+}} (Dispatch of 'poke'
// TWO-SAME: CUDA_ERROR_ILLEGAL_ADDRESS (700)

// Without waiting after each command, both are named.
// RUN: not tenon-run %t/faults.tenon --function=two --input=100000000 --input=4xi32 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: tenon-run: error: function 'two': {{.*}}CUDA_ERROR_ILLEGAL_ADDRESS (700)
// BOTH-NEXT: one of these dispatches failed; run with --synchronous to know which:
// BOTH-NEXT: faults.mlir:{{[0-9:]+}} function 'two', command {{[0-9]+}} (Dispatch of 'poke', variant 'sm_75')
// BOTH-NEXT: faults.mlir:{{[0-9:]+}} function 'two', command {{[0-9]+}} (Dispatch of 'poke', variant 'sm_75')

//--- poke.ptx
.version 7.0
.target sm_75
.address_size 64
// data[index] = 1
.visible .entry poke(.param .u64 data, .param .u32 index)
{
  .reg .u64 %rd<4>;
  .reg .u32 %r<3>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r1, [index];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r2, 1;
  st.global.u32 [%rd3], %r2;
  ret;
}
//--- faults.mlir
#target = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
hal.executable.source private @exe attributes {
  objects = #hal.executable.objects<{#target = [#hal.executable.object<{path = "poke.ptx"}>]}>
} {
  hal.executable.export public @poke ordinal(0)
      layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index, 1 : index, 1 : index]}
}
func.func @one(%index: i32, %data: tensor<4xi32>) -> tensor<4xi32> {
  %0 = flow.dispatch @exe::@poke(%index, %data) : (i32, tensor<4xi32>) -> %data
  return %0 : tensor<4xi32>
}
func.func @two(%index: i32, %data: tensor<4xi32>) -> tensor<4xi32> {
  %c1 = arith.constant 1 : i32
  %0 = flow.dispatch @exe::@poke(%c1, %data) : (i32, tensor<4xi32>) -> %data
  %1 = flow.dispatch @exe::@poke(%index, %0) : (i32, tensor<4xi32>) -> %0
  return %1 : tensor<4xi32>
}
