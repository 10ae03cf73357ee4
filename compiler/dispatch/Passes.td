// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/dispatch.
#ifndef TENON_COMPILER_DISPATCH_PASSES
#define TENON_COMPILER_DISPATCH_PASSES

include "mlir/Pass/PassBase.td"

def FormFallbacks : Pass<"tenon-form-fallbacks", "::mlir::ModuleOp"> {
  let summary = "functions that hand-written exports name as their fallback become kernels beside them";
  let description = [{
    A hand-written kernel runs on the devices that its objects serve. On the others its fallback does: a function of the
    module that computes the same, which becomes a kernel with the very ABI that the export declares.

    Before:
    ```mlir
    hal.executable.source private @kernels attributes {objects = ...} {
      hal.executable.export public @mul ... <workgroup_size = [64, 1, 1]> attributes {tenon.fallback = @mul_in_mlir}
    }
    func.func private @mul_in_mlir(%n: i32, %x: tensor<?xf32> {tenon.dims = array<i64: 0>}, ...) -> tensor<?xf32> {
      %0 = arith.mulf %x, %y : tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```
    After, the function gone unless it is public:
    ```mlir
    hal.executable.source private @kernels attributes {objects = ...} {
      hal.executable.export public @mul ... attributes {..., tenon.fallback = @mul_in_mlir}
      builtin.module attributes {tenon.fallback} {
        func.func @mul(...) attributes {tenon.elements_per_thread = 1, tenon.workgroup_size = array<i32: 64, 1, 1>}
      }
    }
    ```
    The function takes what a dispatch of the export passes: tensors and results that are tied to none are the bindings
    in order, scalars the constants. Its tensors have no sizes but those that the kernel is passed, so `tenon.dims` names
    the argument that holds each dynamic dimension. The workgroup is the export's, the grid is the one that the export's
    count region made for the hand-written kernel; the kernel computes each element once whatever they are
    (codegen/kernel/kernel_function.h).
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::tenon::compiler::hal::HalDialect"];
}

def FindAttention : Pass<"tenon-find-attention", "::mlir::ModuleOp"> {
  let summary = "attention, in whatever operations a program says it, becomes one form";
  let description = [{
    Before: a product of queries and keys; a scale, masks, biases; exp(x - max x) and its sum; a product with the values;
    the division before it or behind it. As many operations, casts and broadcasts between as the front end likes.

    After:
    ```mlir
    %scores = linalg.generic ... ins(%q, %k : ...) outs(...)
    %logits = linalg.generic ... ins(%scores, %mask : ...) outs(...)
    %weights = linalg.softmax dimension(2) ins(%logits : ...) outs(...)
    %out = linalg.generic ... ins(%weights, %v : ...) outs(...)
    ```
    which become one kernel. A linalg.softmax is nothing else behind this pass; all others were taken apart before. Where the program reads
    the logarithm of the sum of a row's exponentials, too, that is one operation more:
    ```mlir
    %logarithms = linalg.generic ... ins(%logits : ...) outs(...) attrs = {tenon.log_sum_exp = 0xFFF0000000000000 : f64}
    ```
    whose attribute is what it is of a row all of whose logits are -inf.

    Where a product reads what is computed from one or two others and nothing else stores it, as in the gradients of attention, the same
    form without a softmax, whose operations have the number of the chain:
    ```mlir
    %scores = linalg.generic ... ins(%q, %k : ...) outs(...) attrs = {tenon.chain = 0 : i64}
    %weights = linalg.generic ... ins(%scores, %logarithms : ...) outs(...) attrs = {tenon.chain = 0 : i64}
    %out = linalg.generic ... ins(%weights, %v : ...) outs(...) attrs = {tenon.chain = 0 : i64}
    ```
    Where sm_90a is the only target, the gradients by keys and by values are one chain, whose weights have two results; with `any-order`,
    that by queries is a third last product of it, whose sums are added up in whatever order blocks come to them. Without, and where no
    index is compared, it is a product of its own that reads the weights, rounded, which the chain stores, where they are `most-kept` bytes
    at most.
    In functions that have an exponential.
  }];
  let options = [Option<"print", "print", "bool", /*default=*/"false",
                        "remarks: why what looks like attention is not computed as such">,
                 Option<"anyOrder", "any-order", "bool", /*default=*/"false",
                        "sums over blocks of threads may be added up in any order: other last bits from run to run">,
                 Option<"mostKept", "most-kept", "int64_t", /*default=*/"int64_t(4) << 30",
                        "bytes of the weights that one chain may store for a product">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AlignProducts : Pass<"tenon-align-products", "::mlir::ModuleOp"> {
  let summary = "large matrix products read copies of operands whose rows are not aligned";
  let description = [{
    Before, rows of 8190 bytes:
    ```mlir
    %0 = linalg.matmul indexing_maps = [...] ins(%a, %b : tensor<4097x4095xbf16>, tensor<4096x4095xbf16>) ...
    ```
    After:
    ```mlir
    %1 = linalg.generic ... -> tensor<4097x4096xbf16> // %a, and a column of zeros
    %2 = linalg.generic ... -> tensor<4096x4096xbf16> // the same of %b
    %0 = linalg.matmul indexing_maps = [...] ins(%1, %2 : tensor<4097x4096xbf16>, tensor<4096x4096xbf16>) ...
    ```
    Columns whose rows are not aligned, or that are bytes or factors of tf32, are transposed instead, and images and filters of large
    convolutions whose channels are no neighbours (NCHW) are copied with them last. Sizes that are not known, and products
    that are over before a copy is, stay as they are, as do those of attention. Functions that stand in for hand-written
    kernels are kernels already when it runs.
  }];
  let options = [Option<"tf32", "tf32", "bool", /*default=*/"false", "products of f32 may round their factors to tf32">,
                 Option<"winograd", "winograd", "bool", /*default=*/"false",
                        "convolutions of f32 may be computed by Winograd's, in tiles (winograd/)">,
                 Option<"print", "print", "bool", /*default=*/"false",
                        "remarks: which convolutions of f32 are, and why others are not">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect",
                           "::tenon::compiler::linalg_ext::LinalgExtDialect"];
}

def FormDispatches : Pass<"tenon-form-dispatches", "::mlir::ModuleOp"> {
  let summary = "tensor code of host functions becomes dispatches of generated executables";
  let description = [{
    Before:
    ```mlir
    %1 = arith.addf %0, %arg1 : tensor<?xf32>
    ```
    After, with %d the size of %0:
    ```mlir
    hal.executable.source private @f_dispatch_0 attributes {tenon.generated} {
      hal.executable.export public @f_dispatch_0 ordinal(0) layout(#hal.pipeline.layout<constants = [i64],
          bindings = [<storage_buffer, ReadOnly>, <storage_buffer, ReadOnly>, <storage_buffer>]>)
          count(%device: !hal.device, %n: index) -> (index, index, index) { 1, 1, 1 } <workgroup_size = [1, 1, 1]>
      builtin.module { func.func @f_dispatch_0(%n: i64, %x: tensor<?xf32>, ...) -> tensor<?xf32> { ... } }
    }
    %1 = flow.dispatch @f_dispatch_0::@f_dispatch_0[%d](%n, %0, %arg1)
        : (i64, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
    ```
    A contraction with a `tenon.tile` (dialect/tile_pins.h) brings it into its kernel; one that comes to none is an error.
    The workload is the sizes that are not known. Kernels whose text is the same are outlined once. How many blocks and
    threads a launch has is said when a strategy is chosen.
  }];
  let options = [Option<"print", "print", "bool", /*default=*/"false",
                        "remarks: the operations of each kernel, and why each kernel ends where it does">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::tenon::compiler::flow::FlowDialect", "::tenon::compiler::hal::HalDialect",
                           "::tenon::compiler::linalg_ext::LinalgExtDialect"];
}

def WriteInPlace : Pass<"tenon-write-in-place", "::mlir::ModuleOp"> {
  let summary = "results of launches take the memory of what they are computed from, where nobody can tell";
  let description = [{
    Before:
    ```mlir
    func.func @append(%cache: tensor<64x8xf32> {tenon.donated}, %row: tensor<1x8xf32>, %at: tensor<1x1xi64>) -> tensor<64x8xf32> {
      %0 = flow.dispatch @append_dispatch_0::@append_dispatch_0(%row, %at, %cache) : ...
    ```
    After:
    ```mlir
      %0 = flow.dispatch @append_dispatch_0::@append_dispatch_0(%row, %at, %cache) {tenon.in_place = array<i64: 2>} : ...
    ```
    A scatter writes over what it puts its updates into, be it donated or memory of the call's own; what computes each
    element anew from the one at its place, over an argument or what a block is handed; a hand-written kernel, over what
    its results are tied to. When nobody reads the operand behind the launch, and nobody else holds it
    (dispatch/in_place/ownership.h). What assigns to arguments (hal.tensor.alias) stands at the end of its block behind it.
  }];
  let options = [Option<"print", "print", "bool", /*default=*/"false",
                        "remarks: what became of arguments that are given up, and why">];
  let dependentDialects = ["::tenon::compiler::flow::FlowDialect", "::tenon::compiler::hal::HalDialect"];
}

#endif
