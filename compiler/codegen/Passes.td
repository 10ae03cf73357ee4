// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/codegen.
#ifndef TENON_COMPILER_CODEGEN_PASSES
#define TENON_COMPILER_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def ChooseStrategies : Pass<"tenon-choose-strategies", "::mlir::ModuleOp"> {
  let summary = "each kernel that the compiler formed gets a strategy, and its export the blocks of a launch";
  let description = [{
    Before:
    ```mlir
    hal.executable.source private @f_dispatch_0 attributes {tenon.generated} {
      hal.executable.export public @f_dispatch_0 ... count(%device: !hal.device, %n: index) -> (index, index, index) {
        1, 1, 1
      } <workgroup_size = [1, 1, 1]>
      builtin.module { func.func @f_dispatch_0(%n: i64, %x: tensor<?x4096xf32>) -> tensor<?xf32> { ... } }
    }
    ```
    After:
    ```mlir
      hal.executable.export public @f_dispatch_0 ... count(%device: !hal.device, %n: index) -> (index, index, index) {
        %n, 1, 1
      } <workgroup_size = [256, 1, 1]>
      builtin.module { func.func @f_dispatch_0(...) attributes {tenon.strategy = {name = "rows", threads = 256, ...}} }
    ```
    Of a contraction, `tenon.tile` says how it is computed (dialect/tile_pins.h), else a tuning file, else a model.
    A kernel that has a strategy already keeps it: a module may be written out behind this pass, changed and compiled.
    The strategies and what each is for: codegen/strategies/README.md. A kernel that none of them takes is computed by
    one thread for each element of its result (`tenon.elements_per_thread = 1`).
  }];
  let options = [Option<"tf32", "tf32", "bool", /*default=*/"false", "products of f32 may round their factors to tf32">,
                 Option<"narrowSums", "narrow-sums", "bool", /*default=*/"false",
                        "tensor cores sum products of f8 on their own, with 13 bits">,
                 Option<"tuning", "tuning", "std::string", /*default=*/"", "file of choices for contractions; empty: none">,
                 Option<"print", "print", "bool", /*default=*/"false",
                        "remarks: how each contraction is computed, and who chose it">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect"];
}

def GenerateKernels : Pass<"tenon-generate-kernels", "::mlir::ModuleOp"> {
  let summary = "kernel functions inside executables become PTX objects, one for each target";
  let description = [{
    Every hal.executable.source that holds a module of kernel functions gets an object of PTX for each target of the
    program (hal.device.targets; kDefaultTargets where none is named) and loses the module.

    Before:
    ```mlir
    hal.executable.source private @f_dispatch_0 attributes {tenon.generated} {
      hal.executable.export public @f_dispatch_0 ...
      builtin.module { func.func @f_dispatch_0(%n: i64, %x: tensor<?xf32>) -> tensor<?xf32> { ... } }
    }
    ```
    After:
    ```mlir
    hal.executable.source private @f_dispatch_0 attributes {objects = #hal.executable.objects<{
        #sm_80 = [#hal.executable.object<{path = "<generated>/f_dispatch_0_sm_80.ptx", data = dense<...>}>], ...
      }>, tenon.generated} {
      hal.executable.export public @f_dispatch_0 ...
    }
    ```
    Kernels that differ in nothing but their names are generated once, and what a folder keeps of earlier compilations is
    taken from there.

    A module of fallbacks is in a source that has hand-written objects. Its own objects are kept apart from them, as
    `tenon.fallback_objects`, for every target of the program: where a target has a hand-written object too, the
    hand-written one runs, and tools can compare the two.
  }];
  let options = [Option<"cudaPath", "cuda-path", "std::string", /*default=*/"", "root of a CUDA toolkit, for libdevice">,
                 Option<"contract", "contract", "bool", /*default=*/"true", "fuse products with the sums that alone take them">,
                 Option<"fastMath", "fast-math", "bool", /*default=*/"false", "approximate functions, denormals to zero">,
                 Option<"lineInfo", "line-info", "bool", /*default=*/"false", "places of the source in the PTX">,
                 Option<"dumpFolder", "dump-to", "std::string", /*default=*/"", "folder for LLVM IR; empty: none">,
                 Option<"cacheFolder", "cache", "std::string", /*default=*/"", "folder that keeps generated PTX; empty: none">,
                 Option<"jobs", "jobs", "unsigned", /*default=*/"0", "threads that generate; 0: one per core">];
}

def PrintPtx : Pass<"tenon-print-ptx", "::mlir::ModuleOp"> {
  let summary = "print the PTX of a plain module of kernel functions";
  let description = [{
    For tests of the code generator alone. The module stays as it is.

    Before:
    ```mlir
    func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.elements_per_thread = 4 : i64} { ... }
    ```
    Printed to the standard output:
    ```
    .visible .entry k(
    ```
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"\"sm_80\"", "architecture">,
                 Option<"contract", "contract", "bool", /*default=*/"true", "fuse products with the sums that alone take them">,
                 Option<"fastMath", "fast-math", "bool", /*default=*/"false", "approximate functions, denormals to zero">,
                 Option<"lineInfo", "line-info", "bool", /*default=*/"false", "places of the source in the PTX">,
                 Option<"cudaPath", "cuda-path", "std::string", /*default=*/"", "root of a CUDA toolkit, for libdevice">];
}

#endif
