// A function that hardware has not comes from libdevice, which is looked for only then; the rest needs no toolkit.
// RUN: split-file %s %t
// RUN: mkdir -p %t/empty
// RUN: not tenon-opt %t/exp.mlir --tenon-form-dispatches --tenon-choose-strategies --tenon-generate-kernels=cuda-path=%t/empty -o /dev/null 2>&1 | FileCheck %s
// RUN: tenon-opt %t/sqrt.mlir --tenon-form-dispatches --tenon-choose-strategies --tenon-generate-kernels=cuda-path=%t/empty -o /dev/null
// RUN: mkdir -p %t/broken/nvvm/libdevice
// RUN: cp %t/exp.mlir %t/broken/nvvm/libdevice/libdevice.10.bc
// RUN: not tenon-opt %t/exp.mlir --tenon-form-dispatches --tenon-choose-strategies --tenon-generate-kernels=cuda-path=%t/broken -o /dev/null 2>&1 | FileCheck %s --check-prefix=BROKEN

// CHECK: exp.mlir:2:8: error: 'math.exp' calls '__nv_expf' of libdevice, and libdevice.10.bc was not found
// CHECK: note: tried {{.*}}/empty/nvvm/libdevice/libdevice.10.bc
// CHECK: note: fix: give the root of a CUDA toolkit with --cuda-path=DIR or CUDA_HOME
// BROKEN: exp.mlir:2:8: error: 'math.exp' calls libdevice, and '{{.*}}/broken/nvvm/libdevice/libdevice.10.bc' cannot be read:

//--- exp.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- sqrt.mlir
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.sqrt %a : tensor<4xf32>
  %1 = math.rsqrt %0 : tensor<4xf32>
  %2 = math.fma %1, %a, %a : tensor<4xf32>
  %3 = math.roundeven %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
