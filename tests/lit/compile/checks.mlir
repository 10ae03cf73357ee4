// Sizes that the program takes to be equal are checked when it is called, before anything is launched.
// RUN: tenon-compile %s --object-search-path=%S/Inputs -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
//
// RUN: tenon-run %t.tenon --function=elementwise --input=2x3xf32=1 --input=2x3xf32=2 --expected_output=2x3xf32=3
// RUN: not tenon-run %t.tenon --function=elementwise --input=2x3xf32=1 --input=2x4xf32=2 2>&1 | FileCheck %s --check-prefix=DIFFER
// DIFFER: checks.mlir:{{[0-9]+}}:10: function 'elementwise': dimension 1 of argument 1 is not that of argument 0 (argument 0: 3, argument 1: 4)
// RUN: not tenon-run %t.tenon --function=casts --input=7x4xf32=1 2>&1 | FileCheck %s --check-prefix=CAST
// CAST: dimension 0 of argument 0 is not 8
// RUN: not tenon-run %t.tenon --function=declared --input=4xf32=1 --input=4 --input=-2 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: dimension 0 of result 0 of @k::@copy is negative

#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
module @checks {
  hal.executable.source private @k attributes {
    objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>
  } {
    hal.executable.export public @copy layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
    hal.executable.export public @add layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
  }

  // CHECK-LABEL: function 'elementwise'
  // CHECK:         r[[A:[0-9]+]] = dim 0 of input 0
  // CHECK:         r[[B:[0-9]+]] = dim 0 of input 1
  // CHECK:         r[[SAME:[0-9]+]] = eq r[[A]], r[[B]]
  // CHECK:       checks:
  // CHECK-NEXT:    r[[SAME]] else 'dimension 0 of argument 1 is not that of argument 0'  // checks.mlir:[[#@LINE+4]]:10
  // CHECK-NEXT:    r{{[0-9]+}} else 'dimension 1 of argument 1 is not that of argument 0'
  // CHECK-NEXT:  commands:
  func.func @elementwise(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = arith.addf %a, %b : tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }

  // The sizes that a dispatch declares for its operands.
  // CHECK-LABEL: function 'declared'
  // CHECK:       checks:
  // CHECK-NEXT:    r{{[0-9]+}} else 'dimension 0 of argument 0 is not argument 1'
  // CHECK-NEXT:    r{{[0-9]+}} else 'dimension 0 of result 0 of @k::@copy is negative'
  // CHECK-NEXT:  commands:
  func.func @declared(%a: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
    %size = arith.index_cast %n : index to i32
    %0 = flow.dispatch @k::@copy[%n](%size, %a) : (i32, tensor<?xf32>{%n}) -> tensor<?xf32>{%m}
    return %0 : tensor<?xf32>
  }

  // CHECK-LABEL: function 'casts'
  // CHECK:       checks:
  // CHECK-NEXT:    r{{[0-9]+}} else 'dimension 0 of argument 0 is not 8'
  // CHECK-NOT:     else
  // CHECK:       results:
  func.func @casts(%a: tensor<?x4xf32>) -> tensor<8x?xf32> {
    %0 = tensor.cast %a : tensor<?x4xf32> to tensor<8x?xf32>
    return %0 : tensor<8x?xf32>
  }

  // CHECK-LABEL: function 'reshapes'
  // CHECK:         r[[N:[0-9]+]] = dim 0 of input 0
  // CHECK:         r[[H:[0-9]+]] = floordiv r[[N]],
  // CHECK:         r[[BACK:[0-9]+]] = mul r[[H]],
  // CHECK:         r[[SAME:[0-9]+]] = eq r[[N]], r[[BACK]]
  // CHECK:       checks:
  // CHECK-NEXT:    r[[SAME]] else 'dimension 0 of argument 0 is not the product of its dimensions in tensor.expand_shape'
  // CHECK-NOT:     else
  // CHECK:       results:
  // CHECK-NEXT:    tensor<?x2xf32> = b0, shape (r[[H]],
  // CHECK-NEXT:    tensor<?xf32> = b0, shape (r[[N]])
  func.func @reshapes(%a: tensor<?xf32>) -> (tensor<?x2xf32>, tensor<?xf32>) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %h = arith.floordivsi %n, %c2 : index
    %0 = tensor.expand_shape %a [[0, 1]] output_shape [%h, 2] : tensor<?xf32> into tensor<?x2xf32>
    %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
    return %0, %1 : tensor<?x2xf32>, tensor<?xf32>
  }

  // Equal by construction: nothing to check.
  // CHECK-LABEL: function 'known'
  // CHECK-NOT:   checks:
  // CHECK:       commands:
  func.func @known(%a: tensor<?xf32>, %b: tensor<16xf32>) -> (tensor<?xf32>, tensor<16xf32>) {
    %0 = arith.addf %a, %a : tensor<?xf32>
    %1 = arith.mulf %0, %a : tensor<?xf32>
    %2 = arith.addf %b, %b : tensor<16xf32>
    return %1, %2 : tensor<?xf32>, tensor<16xf32>
  }
}
