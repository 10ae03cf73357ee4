// An instruction that the emulator does not run is refused when the module loads, by name, file and line; never skipped.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: tenon-compile %t/reduce.mlir --object-search-path=%t -o %t/reduce.tenon
// RUN: not tenon-run %t/reduce.tenon --input=4xi32 2>&1 | FileCheck %s
// CHECK: [[#]]:[[#]]: error: the emulator does not support 'multimem.red.{{.*}}'

//--- reduce.ptx
.version 8.1
.target sm_90
.address_size 64
.visible .entry reduce(.param .u64 data)
{
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, 1;
  multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;
  ret;
}
//--- reduce.mlir
#target = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
hal.executable.source private @exe attributes {
  objects = #hal.executable.objects<{#target = [#hal.executable.object<{path = "reduce.ptx"}>]}>
} {
  hal.executable.export public @reduce ordinal(0)
      layout(#hal.pipeline.layout<constants = 0, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      count(%device: !hal.device) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {workgroup_size = [1 : index, 1 : index, 1 : index]}
}
func.func @main(%data: tensor<4xi32>) -> tensor<4xi32> {
  %0 = flow.dispatch @exe::@reduce(%data) : (tensor<4xi32>) -> %data
  return %0 : tensor<4xi32>
}
