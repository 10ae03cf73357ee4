// Results: several of one dispatch, tied under another type, and sizes that tie them.
// RUN: tenon-compile %s --object-search-path=%S/Inputs -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
// RUN: tenon-run %t.tenon --function=chain --input=4xf32=3 --expected_output=4xf32=24 --expected_output=4xf32=12

#rw = #hal.pipeline.binding<storage_buffer>
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
module @results {
  hal.executable.source private @k attributes {
    objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>
  } {
    hal.executable.export public @add layout(#hal.pipeline.layout<constants = 1, bindings = [#rw, #rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
    hal.executable.export public @scale layout(#hal.pipeline.layout<constants = 1, bindings = [#rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
  }

  // Two new results, then both updated by one dispatch.
  // CHECK-LABEL: function 'two'
  // CHECK:         b0 = transient
  // CHECK-NEXT:    b1 = transient
  // CHECK:         dispatch 'k'::'add' {{.*}} bindings (b0, b1)
  // CHECK-NEXT:    dispatch 'k'::'add' {{.*}} bindings (b1, b0)
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    tensor<4xf32> = b0
  // CHECK-NEXT:    tensor<2xf32> = b1
  func.func @two() -> (tensor<4xf32>, tensor<2xf32>) {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %0:2 = flow.dispatch @k::@add[%w](%n) : (i32) -> (tensor<4xf32>, tensor<2xf32>)
    %1:2 = flow.dispatch @k::@add[%w](%n, %0#1, %0#0) : (i32, tensor<2xf32>, tensor<4xf32>) -> (%0#0, %0#1)
    return %1#0, %1#1 : tensor<4xf32>, tensor<2xf32>
  }

  // Tied under another type of the same size: known for static shapes, checked for dynamic ones.
  // CHECK-LABEL: function 'retyped'
  // CHECK:         r[[ROWS:[0-9]+]] = dim 0 of input 0
  // CHECK:       checks:
  // CHECK-NEXT:    r{{[0-9]+}} else 'the size of result 0 of @k::@scale is not that of the operand it is tied to'
  // CHECK-NOT:     else
  // CHECK:       results:
  // CHECK-NEXT:    tensor<?xi32> = b{{[0-9]+}}, shape (r{{[0-9]+}})
  // CHECK-NEXT:    tensor<2x2xf32> = b{{[0-9]+}}, shape
  func.func @retyped(%a: tensor<?x4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<?xi32>, tensor<2x2xf32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %w = arith.constant 1 : index
    %s = arith.constant 4 : i32
    %rows = tensor.dim %a, %c0 : tensor<?x4xf32>
    %elements = arith.muli %rows, %c8 : index
    %0 = flow.dispatch @k::@scale[%w](%s, %a) : (i32, tensor<?x4xf32>{%rows}) -> %a as tensor<?xi32>{%elements}
    %1 = flow.dispatch @k::@scale[%w](%s, %b) : (i32, tensor<4xf32>) -> %b as tensor<2x2xf32>
    return %0, %1 : tensor<?xi32>, tensor<2x2xf32>
  }

  // The buffer of a tied result that nobody reads later is free for the next.
  // CHECK-LABEL: function 'chain'
  // CHECK:       commands:
  // CHECK-NEXT:    copy b0 -> b1
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b1)
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b1)
  // CHECK-NEXT:    copy b1 -> b2
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b2)
  // CHECK-NEXT:  results:
  func.func @chain(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %w = arith.constant 1 : index
    %s = arith.constant 4 : i32
    %0 = flow.dispatch @k::@scale[%w](%s, %a) : (i32, tensor<4xf32>) -> %a
    %1 = flow.dispatch @k::@scale[%w](%s, %0) : (i32, tensor<4xf32>) -> %0
    %2 = flow.dispatch @k::@scale[%w](%s, %1) : (i32, tensor<4xf32>) -> %1
    return %2, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
