//--- extern.mlir
ml_program.global private @weights(#ml_program.extern<tensor<4xi32>>) : tensor<4xi32>
//--- function.mlir
ml_program.func @f(%a: tensor<4xi32>) -> tensor<4xi32> {
  ml_program.return %a : tensor<4xi32>
}
//--- nested.mlir
module @a {
  ml_program.global private @b(dense<1> : tensor<4xi32>) : tensor<4xi32>
}
func.func @f() -> tensor<4xi32> {
  %0 = ml_program.global_load @a::@b : tensor<4xi32>
  return %0 : tensor<4xi32>
}
