// --depfile: what was read, so that a build system compiles again when one of it changes: objects, CUDA sources and their
// headers. Relative paths stay relative.
// REQUIRES: nvcc
// RUN: rm -rf %t && split-file %s %t && mkdir -p %t/objects && cp %S/Inputs/kernels.ptx %t/objects/kernels.ptx
// RUN: cd %t && tenon-compile program.mlir --object-search-path=objects --cu-cache=none --depfile=program.d -o program.tenon
// RUN: FileCheck %s --input-file=%t/program.d
// CHECK: program.tenon: \
// CHECK-NEXT: {{^}}  program.mlir \
// CHECK-NEXT: {{^}}  objects/kernels.ptx \
// CHECK-NEXT: {{^}}  twice.cu \
// CHECK-NOT: program.mlir \
// CHECK: {{^}}  {{.*}}factor.cuh
// CHECK: {{^}}objects/kernels.ptx:
// RUN: not tenon-compile %t/program.mlir --depfile=%t/no.d -o - 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: --depfile needs the output's name: -o FILE
// RUN: cd %t && not tenon-compile program.mlir --object-search-path=objects --cu-cache=none --depfile=none/no.d -o no.tenon 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: tenon-compile: error: {{.*}}none/no.d

//--- factor.cuh
#define FACTOR 2.0f
//--- twice.cu
#include "factor.cuh"
extern "C" __global__ void twice(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= FACTOR; }
//--- program.mlir
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
hal.executable.source private @k attributes {objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>} {
  hal.executable.export public @scale layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      attributes {workgroup_size = [64 : index]}
}
hal.executable.source private @l attributes {objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "twice.cu"}>]}>} {
  hal.executable.export public @twice layout(#hal.pipeline.layout<constants = 0, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      attributes {workgroup_size = [64 : index]}
}
func.func @f(%a: i32) -> i32 {
  return %a : i32
}
