// What a program cannot hold is refused by name, at its place; every function is looked at.
// RUN: rm -rf %t && split-file %s %t
// RUN: not tenon-compile %t/types.mlir -o %t/types.tenon 2>&1 | FileCheck %t/types.mlir
// RUN: not tenon-compile %t/flow.mlir -o %t/flow.tenon 2>&1 | FileCheck %t/flow.mlir
// RUN: not tenon-compile %t/check.mlir -o %t/check.tenon 2>&1 | FileCheck %t/check.mlir
// RUN: not tenon-compile %t/dim.mlir -o %t/dim.tenon 2>&1 | FileCheck %t/dim.mlir
// RUN: not tenon-compile %t/never.mlir -o %t/never.tenon 2>&1 | FileCheck %t/never.mlir
// RUN: not tenon-compile %t/constant.mlir -o %t/constant.tenon 2>&1 | FileCheck %t/constant.mlir
// RUN: not tenon-compile %t/count.mlir --object-search-path=%S/Inputs -o %t/count.tenon 2>&1 | FileCheck %t/count.mlir
// RUN: tenon-compile %t/empty.mlir -o %t/empty.tenon 2>&1 | FileCheck %t/empty.mlir
// RUN: not ls %t/types.tenon
// RUN: not tenon-compile %t/scalar.mlir -o %t/scalar.tenon 2>&1 | FileCheck %t/scalar.mlir

//--- scalar.mlir
// The scalar alone is refused: tensors of such elements cross as bytes.
// CHECK: scalar.mlir:[[#@LINE+2]]:32: error: argument 1 of '@f' has type 'i4', which a program cannot take
// CHECK-NOT: error:
func.func @f(%a: tensor<8xi4>, %s: i4) -> tensor<8xi4> {
  return %a : tensor<8xi4>
}
func.func @g(%a: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  return %a : tensor<4xf8E4M3FN>
}

//--- types.mlir
// CHECK: types.mlir:[[#@LINE+1]]:14: error: argument 0 of '@f' has type 'memref<4xf32>', which a program cannot take: a tensor or a scalar is wanted, as tensor<4xf32>, tensor<?xi8>, i32 or f32
func.func @f(%a: memref<4xf32>) {
  return
}
// CHECK: error: argument 1 of '@g' has type 'complex<f32>', which a program cannot take
func.func @g(%a: i32, %b: complex<f32>) {
  return
}
// CHECK: error: argument 0 of '@h' has type 'tensor<*xf32>', which a program cannot take
// CHECK: error: result 0 of '@h' has type 'vector<4xf32>', which a program cannot return
func.func @h(%a: tensor<*xf32>, %b: vector<4xf32>) -> vector<4xf32> {
  return %b : vector<4xf32>
}
// CHECK: error: argument 0 of '@i' has type 'tensor<4xi128>', which a program cannot take
func.func @i(%a: tensor<4xi128>) {
  return
}
// CHECK: error: result 0 of '@j' has type 'tensor<4xcomplex<f64>>', which a program cannot return
func.func @j() -> tensor<4xcomplex<f64>> {
  %0 = arith.constant dense<(1.0, 2.0)> : tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}

//--- flow.mlir
// CHECK: flow.mlir:[[#@LINE+2]]:8: error: 'gpu.block_id' is not supported: no kernel is generated for it, and the host cannot run it
func.func @f() -> index {
  %0 = gpu.block_id x
  return %0 : index
}

//--- check.mlir
// CHECK: check.mlir:[[#@LINE+3]]:3: error: 'check.expect_true' op compares a value of type 'i7', which a program cannot hold
func.func @f() {
  %a = arith.constant 1 : i7
  check.expect_true(%a) : i7
  return
}

//--- dim.mlir
// CHECK: dim.mlir:[[#@LINE+2]]:8: error: 'tensor.dim' op is not supported outside a kernel: which dimension it asks for is not a constant
func.func @f(%a: tensor<?x?xf32>, %i: index) -> index {
  %0 = tensor.dim %a, %i : tensor<?x?xf32>
  return %0 : index
}

//--- never.mlir
// CHECK: never.mlir:[[#@LINE+4]]:8: error: 'tensor.cast' op cannot run: dimension 0 of the operand is 4, that of the result is 8
func.func @f() -> tensor<8xf32> {
  %c4 = arith.constant 4 : index
  %0 = tensor.empty(%c4) : tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<8xf32>
  return %1 : tensor<8xf32>
}

//--- count.mlir
// CHECK: count.mlir:[[#@LINE+9]]:10: error: 'arith.shli' op shifts by 64, the type has 64 bits
// CHECK: count.mlir:[[#@LINE+14]]:8: remark: while computing the grid of this dispatch
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
hal.executable.source private @k attributes {
  objects = #hal.executable.objects<{#sm_75 = [#hal.executable.object<{path = "kernels.ptx"}>]}>
} {
  hal.executable.export public @scale layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      count(%d: !hal.device, %n: index) -> (index, index, index) {
    %c64 = arith.constant 64 : index
    %x = arith.shli %n, %c64 : index
    hal.return %x, %n, %n : index, index, index
  } attributes {workgroup_size = [64 : index]}
}
func.func @f(%a: tensor<4xf32>, %w: index) -> tensor<4xf32> {
  %s = arith.constant 4 : i32
  %0 = flow.dispatch @k::@scale[%w](%s, %a) : (i32, tensor<4xf32>) -> %a
  return %0 : tensor<4xf32>
}

//--- constant.mlir
// CHECK: constant.mlir:[[#@LINE+2]]:8: error: a constant of type 'tensor<1125899906842624xf32>' is too large, the limit is 281474976710656 bytes
func.func @f() -> tensor<1125899906842624xf32> {
  %0 = arith.constant dense<0.0> : tensor<1125899906842624xf32>
  return %0 : tensor<1125899906842624xf32>
}

//--- empty.mlir
// CHECK: warning: there is no public function, nothing can be called
module {}
