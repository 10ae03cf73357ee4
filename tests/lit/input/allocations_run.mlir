// What bufferization says of tensors, as values.
// RUN: tenon-opt %s --tenon-read-input | FileCheck %s --check-prefix=READ
// RUN: tenon-compile %s --target=sm_75 --images=ptx -o %t.tenon
// RUN: tenon-check %t.tenon --device=emulator | FileCheck %s --check-prefix=PASSES
// RUN: split-file %S/Inputs/allocations.mlir %t
// RUN: not tenon-compile %t/buffer.mlir -o %t.tenon 2>&1 | FileCheck %s --check-prefix=BUFFER
// READ-NOT: bufferization
// BUFFER: buffer.mlir:2:8: error: 'bufferization.to_buffer' op is not supported: of bufferization, alloc_tensor and materialize_in_destination are read

// PASSES: PASS @new
func.func @new() {
  %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %c2 = util.unfoldable_constant 2 : index
  %e = bufferization.alloc_tensor(%c2) : tensor<?xf32>
  %y = tensor.cast %e : tensor<?xf32> to tensor<2xf32>
  %0 = linalg.add ins(%x, %x : tensor<2xf32>, tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const(%0, dense<[2.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
  %1 = bufferization.alloc_tensor() copy(%0) : tensor<2xf32>
  %2 = bufferization.materialize_in_destination %1 in %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const(%2, dense<[2.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
