// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of compiler/dialect.
#ifndef TENON_COMPILER_DIALECT_TRANSFORMS_PASSES
#define TENON_COMPILER_DIALECT_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def NormalizeExecutables : Pass<"tenon-normalize-executables", "::mlir::ModuleOp"> {
  let summary = "one form for every way to declare and dispatch a kernel";
  let description = [{
    Before: hal.executable with variants, hal.dispatch.extern, generic target keys, exports without ordinals.
    ```mlir
    %0 = hal.dispatch.extern "f"[%w](%n, %a) : (i32, tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
      count(..) {..} layout(..) objects({#cuda ordinal(0) = [..]}) <workgroup_size = [64 : index]>
    ```
    After: hal.executable.source with objects per target that names its architecture, exports with ordinals from 0,
    workgroup_size of three extents, flow.dispatch with the one entry point @executable::@export, and
    hal.device.targets on the module.
    ```mlir
    hal.executable.source private @extern_dispatch_0 <objects = #hal.executable.objects<{#sm_80 = [..]}>> {
      hal.executable.export public @f ordinal(0) layout(..) count(..) {..} <workgroup_size = [64, 1, 1]>
    }
    %0 = flow.dispatch @extern_dispatch_0::@f[%w](%n, %a) : ..
    ```
    What the rest of the compiler does not take yet is refused here, by name.
  }];
  let dependentDialects = ["::tenon::compiler::hal::HalDialect", "::tenon::compiler::flow::FlowDialect"];
  let options = [ListOption<"targets", "targets", "std::string",
                            "architectures where the module names none, as in sm_75,sm_80; default sm_75">];
}

#endif
