// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/input.
#ifndef TENON_COMPILER_INPUT_PASSES
#define TENON_COMPILER_INPUT_PASSES

include "mlir/Pass/PassBase.td"

def ReadParameters : Pass<"tenon-read-parameters", "::mlir::ModuleOp"> {
  let summary = "parameters become what a file holds";
  let description = [{
    Before:
    ```mlir
    util.global private @w = #flow.parameter.named<"model"::"weights"> : tensor<4xf32>
    ```
    After, with `files=model=weights.safetensors`:
    ```mlir
    util.global private @w = dense_resource<weights> : tensor<4xf32>
    ```
    whose bytes are those of the file, which is mapped and not copied.
  }];
  let options = [ListOption<"files", "files", "std::string", "SCOPE=FILE, or FILE for parameters without a scope">];
  let dependentDialects = ["::tenon::compiler::flow::FlowDialect"];
}

def ReadInput : Pass<"tenon-read-input", "::mlir::ModuleOp"> {
  let summary = "functions, globals and constants of other compilers become MLIR's own";
  let description = [{
    Before:
    ```mlir
    util.global private @device = #hal.device.target<"cuda", [#sm_80]> : !hal.device
    util.global private @scale = dense<2.0> : tensor<4xf32>
    util.func public @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = util.global.load @scale : tensor<4xf32>
      %1 = arith.mulf %x, %0 : tensor<4xf32>
      util.return %1 : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    module attributes {hal.device.targets = [#hal.device.target<"cuda", [#sm_80]>]} {
      func.func public @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = arith.constant dense<2.0> : tensor<4xf32>
        ..
    ```
    The same goes for moves of elements (`flow.tensor.slice` becomes `tensor.extract_slice`), for `scf.forall`, whose
    threads run one behind the other, and for functions of `!hal.buffer_view`, which take and return tensors then.
    A global that util.initializer sets becomes what is computed there, at each use. One that a function stores to stays:
    it is a variable of the loaded program, and what initializers do to such becomes a function (`tenon.initializer`). Attributes of dialects that are not known stay, with a remark;
    their operations and types are errors, and so are misspelt attributes of ours, with the nearest name.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::tenon::compiler::flow::FlowDialect",
                           "::tenon::compiler::util::UtilDialect"];
}

def ReadTosa : Pass<"tenon-read-tosa", "::mlir::ModuleOp"> {
  let summary = "TOSA becomes linalg, tensor, arith and scf";
  let description = [{
    Before:
    ```mlir
    %0 = tosa.add %x, %y : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    ```
    After, linalg.generic with arith.addf inside. MLIR's conversions do the work; what they leave is an error by name.
    The pipeline has this pass only where a module has operations of TOSA.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::index::IndexDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::tosa::TosaDialect",
                           "::tenon::compiler::linalg_ext::LinalgExtDialect"];
}

def LowerTensors : Pass<"tenon-lower-tensors", "::mlir::ModuleOp"> {
  let summary = "operations that make and move tensors become linalg.generic";
  let description = [{
    Before:
    ```mlir
    %0 = tensor.extract_slice %x[2, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    ```
    After:
    ```mlir
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + 2, j)>, affine_map<(i, j) -> (i, j)>], ..}
        ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }
    ```
    What no indexing map says is read in the body, by tensor.extract: pads and concats choose by where an element stands,
    gathers read the place first. Other shapes of the same memory become flow.tensor.reshape. linalg.softmax becomes the
    four loops that it is.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::tenon::compiler::flow::FlowDialect", "::tenon::compiler::linalg_ext::LinalgExtDialect"];
}

def LowerMath : Pass<"tenon-lower-math", "::mlir::ModuleOp"> {
  let summary = "functions of math that no kernel has become arithmetic";
  let description = [{
    math.clampf becomes two comparisons, math.sincos a sine and a cosine, and math.fpowi and ipowi products of squares:
    ```mlir
    %0 = math.fpowi %x, %n : f32, i32
    ```
    becomes 32 factors x, x^2, x^4, .. of which the bits of |%n| choose, and the inverse where %n is negative.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect"];
}

def LowerTypes : Pass<"tenon-lower-types", "::mlir::ModuleOp"> {
  let summary = "elements of types that kernels do not hold lie in memory as such that they do";
  let description = [{
    Before:
    ```mlir
    %0 = arith.extf %x : tensor<4xf8E5M2> to tensor<4xf32>
    ```
    After, with %x : tensor<4xi8>, linalg.generic whose body makes an f32 of the byte; of f8E4M3FN and f8E5M2, which some
    targets widen and multiply, by arith.bitcast and arith.extf, of others by arithmetic on its bits. Floats of 8 bits, integers such
    as i4, unsigned ones, index and complex numbers become signless integers of the next width (types/storage.h). A
    public function takes and returns floats of 8 bits and unsigned integers as integers of the same bytes, i4 and
    f4E2M1FN packed in bytes, complex numbers as pairs of floats (types/boundary.h).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::complex::ComplexDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect", "::tenon::compiler::flow::FlowDialect"];
}

#endif
