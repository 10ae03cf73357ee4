//--- buffer.mlir
func.func @f(%x: tensor<4xf32>) {
  %0 = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  return
}
