// A tied result is written in place only where nobody can tell; otherwise its operand is copied first.
// RUN: tenon-compile %s --object-search-path=%S/Inputs -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
//
// And no value is seen to change: scale doubles, in place.
// RUN: tenon-run %t.tenon --function=last_use --input=4xf32=3 --expected_output=4xf32=12
// RUN: tenon-run %t.tenon --function=read_later --input=4xf32=3 --expected_output=4xf32=3 --expected_output=4xf32=6
// RUN: tenon-run %t.tenon --function=tied_to_input --input=4xf32=3 --expected_output=4xf32=6
// RUN: tenon-run %t.tenon --function=tied_to_constant --expected_output="4xf32=2 4 6 8"
// RUN: tenon-run %t.tenon --function=read_and_tied --input=4xf32=3 --expected_output=4xf32=6
// RUN: tenon-run %t.tenon --function=through_a_reshape --input=4xf32=3 --expected_output=2x2xf32=3 --expected_output=4xf32=6
// RUN: tenon-run %t.tenon --function=unmodified --input=4xf32=3 --expected_output=4xf32=3 --expected_output="4xf32=1 2 3 4" --expected_output=4xf32=3

#ro = #hal.pipeline.binding<storage_buffer, ReadOnly>
#rw = #hal.pipeline.binding<storage_buffer>
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
module @in_place {
  hal.executable.source private @k attributes {
    objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>
  } {
    hal.executable.export public @copy layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
    hal.executable.export public @scale layout(#hal.pipeline.layout<constants = 1, bindings = [#rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
    hal.executable.export public @add layout(#hal.pipeline.layout<constants = 1, bindings = [#ro, #rw]>)
        count(%d: !hal.device, %n: index) -> (index, index, index) {
      hal.return %n, %n, %n : index, index, index
    } attributes {workgroup_size = [64 : index]}
  }

  // The operand is a transient that nobody reads afterwards.
  // CHECK-LABEL: function 'last_use'
  // CHECK:         b0 = input 0
  // CHECK-NEXT:    b1 = transient, r{{[0-9]+}} bytes
  // CHECK:       commands:
  // CHECK-NEXT:    dispatch 'k'::'copy' grid {{.*}} bindings (b0, b1)
  // CHECK-NEXT:    dispatch 'k'::'scale' grid {{.*}} bindings (b1)
  // CHECK-NEXT:    dispatch 'k'::'scale' grid {{.*}} bindings (b1)
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    tensor<4xf32> = b1
  func.func @last_use(%a: tensor<4xf32>) -> tensor<4xf32> {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %0 = flow.dispatch @k::@copy[%w](%n, %a) : (i32, tensor<4xf32>) -> tensor<4xf32>
    %1 = flow.dispatch @k::@scale[%w](%n, %0) : (i32, tensor<4xf32>) -> %0
    %2 = flow.dispatch @k::@scale[%w](%n, %1) : (i32, tensor<4xf32>) -> %1
    return %2 : tensor<4xf32>
  }

  // The value before the update is returned too.
  // CHECK-LABEL: function 'read_later'
  // CHECK:       commands:
  // CHECK-NEXT:    dispatch 'k'::'copy' {{.*}} bindings (b0, b1)
  // CHECK-NEXT:    copy b1 -> b2  // in_place.mlir:[[#]]:10
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b2)
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    tensor<4xf32> = b1
  // CHECK-NEXT:    tensor<4xf32> = b2
  func.func @read_later(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %0 = flow.dispatch @k::@copy[%w](%n, %a) : (i32, tensor<4xf32>) -> tensor<4xf32>
    %1 = flow.dispatch @k::@scale[%w](%n, %0) : (i32, tensor<4xf32>) -> %0
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }

  // A function never writes what it was given.
  // CHECK-LABEL: function 'tied_to_input'
  // CHECK:       commands:
  // CHECK-NEXT:    copy b0 -> b1
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b1)
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    tensor<4xf32> = b1
  func.func @tied_to_input(%a: tensor<4xf32>) -> tensor<4xf32> {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %0 = flow.dispatch @k::@scale[%w](%n, %a) : (i32, tensor<4xf32>) -> %a
    return %0 : tensor<4xf32>
  }

  // CHECK-LABEL: function 'tied_to_constant'
  // CHECK:         b0 = constant 0
  // CHECK-NEXT:    b1 = transient
  // CHECK:         copy b0 -> b1
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b1)
  func.func @tied_to_constant() -> tensor<4xf32> {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %0 = flow.dispatch @k::@scale[%w](%n, %c) : (i32, tensor<4xf32>) -> %c
    return %0 : tensor<4xf32>
  }

  // One value, under two names, read and updated by one dispatch: the kernel must not see its own writes.
  // CHECK-LABEL: function 'read_and_tied'
  // CHECK:         dispatch 'k'::'copy' {{.*}} bindings (b0, b1)
  // CHECK-NEXT:    copy b1 -> b2
  // CHECK-NEXT:    dispatch 'k'::'add' {{.*}} bindings (b1, b2)
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    tensor<4xf32> = b2
  func.func @read_and_tied(%a: tensor<4xf32>) -> tensor<4xf32> {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %0 = flow.dispatch @k::@copy[%w](%n, %a) : (i32, tensor<4xf32>) -> tensor<4xf32>
    %sum = util.optimization_barrier %0 : tensor<4xf32>
    %1 = flow.dispatch @k::@add[%w](%n, %0, %sum) : (i32, tensor<4xf32>, tensor<4xf32>) -> %sum
    return %1 : tensor<4xf32>
  }

  // A reshape is the same bytes: updating one name would change the other.
  // CHECK-LABEL: function 'through_a_reshape'
  // CHECK:         dispatch 'k'::'copy' {{.*}} bindings (b0, b1)
  // CHECK-NEXT:    copy b1 -> b2
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b2)
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    tensor<2x2xf32> = b1, shape
  // CHECK-NEXT:    tensor<4xf32> = b2
  func.func @through_a_reshape(%a: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>) {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %0 = flow.dispatch @k::@copy[%w](%n, %a) : (i32, tensor<4xf32>) -> tensor<4xf32>
    %square = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
    %1 = flow.dispatch @k::@scale[%w](%n, %0) : (i32, tensor<4xf32>) -> %0
    return %square, %1 : tensor<2x2xf32>, tensor<4xf32>
  }

  // The contents of tensor.empty are nothing to keep; its size is nothing to wait for.
  // CHECK-LABEL: function 'tied_to_empty'
  // CHECK:       commands:
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b1)
  // CHECK-NEXT:    dispatch 'k'::'scale' {{.*}} bindings (b0)
  // CHECK-NEXT:  results:
  func.func @tied_to_empty() -> (tensor<4xf32>, tensor<4xf32>) {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %e = tensor.empty() : tensor<4xf32>
    %0 = flow.dispatch @k::@scale[%w](%n, %e) : (i32, tensor<4xf32>) -> %e
    %m = arith.constant 3 : i32
    %1 = flow.dispatch @k::@scale[%w](%m, %e) : (i32, tensor<4xf32>) -> %e
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }

  // Inputs and constants may be results as they are; one value may be two results.
  // CHECK-LABEL: function 'unmodified'
  // CHECK:         b0 = input 0
  // CHECK-NEXT:    b1 = constant
  // CHECK-NEXT:  results:
  // CHECK-NEXT:    tensor<4xf32> = b0
  // CHECK-NEXT:    tensor<4xf32> = b1
  // CHECK-NEXT:    tensor<4xf32> = b0
  func.func @unmodified(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    return %a, %c, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }

  // What no result needs is not run.
  // CHECK-LABEL: function 'dead'
  // CHECK-NOT:     dispatch
  // CHECK:       results:
  func.func @dead(%a: tensor<4xf32>) -> tensor<4xf32> {
    %w = arith.constant 1 : index
    %n = arith.constant 4 : i32
    %0 = flow.dispatch @k::@copy[%w](%n, %a) : (i32, tensor<4xf32>) -> tensor<4xf32>
    return %a : tensor<4xf32>
  }
}
