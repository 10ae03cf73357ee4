// Transients get their places in one arena when the program is compiled: offsets and the arena's size are registers.
// RUN: tenon-compile %s -o %t.tenon
// RUN: tenon-dump %t.tenon | FileCheck %s
//
// And values are what they are without.
// RUN: tenon-run %t.tenon --function=known_sizes --input=4xf32=3 --expected_output=4xf32=24
// RUN: tenon-run %t.tenon --function=one_dimension --input=1000xf32=3 --expected_output=1000xf32=24
// RUN: tenon-run %t.tenon --function=one_dimension --input=0xf32 --expected_output=0xf32
// RUN: tenon-run %t.tenon --function=two_dimensions --input=300xf32=3 --input=7xf32=1 --expected_output=300xf32=12 --expected_output=7xf32=4

module @arena {
  func.func private @double(%a: tensor<?xf32>) -> tensor<?xf32> {
    %0 = arith.addf %a, %a : tensor<?xf32>
    %1 = util.optimization_barrier %0 : tensor<?xf32>
    return %1 : tensor<?xf32>
  }

  // Sizes are numbers: so is the arena. A result has memory of its own.
  // CHECK-LABEL: function 'known_sizes'
  // CHECK:       buffers:
  // CHECK:         b1 = transient, r{{[0-9]+}} bytes at r{{[0-9]+}} of the arena
  // CHECK-NEXT:    b2 = transient, r{{[0-9]+}} bytes at r{{[0-9]+}} of the arena
  // CHECK-NEXT:    b3 = transient, r{{[0-9]+}} bytes{{$}}
  // CHECK-NEXT:  arena:
  // CHECK-NEXT:    r{{[0-9]+}} = 512 bytes
  // CHECK-NEXT:  commands:
  // CHECK-NEXT:    dispatch {{.*}} bindings (b0, b1)
  // CHECK-NEXT:    dispatch {{.*}} bindings (b1, b2)
  // CHECK-NEXT:    dispatch {{.*}} bindings (b2, b3)
  func.func @known_sizes(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.addf %a, %a : tensor<4xf32>
    %1 = util.optimization_barrier %0 : tensor<4xf32>
    %2 = arith.addf %1, %1 : tensor<4xf32>
    %3 = util.optimization_barrier %2 : tensor<4xf32>
    %4 = arith.addf %3, %3 : tensor<4xf32>
    return %4 : tensor<4xf32>
  }

  // CHECK-LABEL: function 'one_dimension'
  // CHECK:       arena:
  // CHECK-NEXT:    r{{[0-9]+}} = align(dim 0 of input 0 * 4, 256) * 2 bytes
  func.func @one_dimension(%a: tensor<?xf32>) -> tensor<?xf32> {
    %0 = call @double(%a) : (tensor<?xf32>) -> tensor<?xf32>
    %1 = call @double(%0) : (tensor<?xf32>) -> tensor<?xf32>
    %2 = call @double(%1) : (tensor<?xf32>) -> tensor<?xf32>
    return %2 : tensor<?xf32>
  }

  // Temporaries of two sizes, one after the other: the larger of both.
  // CHECK-LABEL: function 'two_dimensions'
  // CHECK:       arena:
  // CHECK-NEXT:    r{{[0-9]+}} = max(align(dim 0 of input 0 * 4, 256), align(dim 0 of input 1 * 4, 256)) bytes
  func.func @two_dimensions(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %0 = call @double(%a) : (tensor<?xf32>) -> tensor<?xf32>
    %1 = call @double(%0) : (tensor<?xf32>) -> tensor<?xf32>
    %2 = call @double(%b) : (tensor<?xf32>) -> tensor<?xf32>
    %3 = call @double(%2) : (tensor<?xf32>) -> tensor<?xf32>
    return %1, %3 : tensor<?xf32>, tensor<?xf32>
  }
}
