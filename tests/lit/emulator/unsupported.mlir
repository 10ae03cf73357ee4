// An instruction that the emulator does not run refuses its kernel, by name, file, line and kernel; never skipped. Other
// kernels of the module run.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: tenon-compile %t/reduce.mlir --object-search-path=%t -o %t/reduce.tenon
// RUN: not tenon-run %t/reduce.tenon --function=main --input=4xi32 2>&1 | FileCheck %s --implicit-check-not=error:
// CHECK: error: {{.*}}no image of export 'reduce'
// CHECK: refused by the driver: {{.*}}CUDA_ERROR_INVALID_PTX
// CHECK: reduce.ptx:11:3: error: the emulator does not support 'multimem.red.relaxed.sys.global.add.u32' (kernel 'reduce')
// RUN: tenon-run %t/reduce.tenon --function=other --input=4xi32=7 | FileCheck %s --check-prefix=OTHER
// OTHER: 4xi32=7 7 7 7

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
.visible .entry nothing(.param .u64 data)
{
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
  hal.executable.export public @nothing ordinal(1)
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
func.func @other(%data: tensor<4xi32>) -> tensor<4xi32> {
  %0 = flow.dispatch @exe::@nothing(%data) : (tensor<4xi32>) -> %data
  return %0 : tensor<4xi32>
}
