// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a `gpu.module` that a user wrote to PTX: MLIR's own road from the gpu dialect to NVVM, then the back end that
// generated kernels go through (emit_ptx.h). What such a module may hold: gpu, nvgpu and nvvm operations, memrefs,
// vectors, arith, math, index, scf, cf, affine and llvm.
//
// A kernel's parameters are what its linked form has: a memref of static shape is one pointer to its elements, a
// `!llvm.ptr` a pointer, a number itself. A memref whose extents are known when it is called would be a descriptor of
// five or more parameters, which no declaration has; it is refused by name. Products and sums are fused where the
// module says so (math.fma, fastmath<contract>), and nowhere else.
#pragma once

#include "compiler/codegen/ptx/emit_ptx.h"

namespace tenon::compiler::codegen {

/// PTX of the one gpu.module in `file`, which is changed. Errors go to its diagnostics: no gpu.module or several, host
/// code beside it, parameters that no kernel has, whatever MLIR cannot lower.
mlir::FailureOr<std::string> compileGpuModule(mlir::ModuleOp file, abi::TargetArch arch, const PtxOptions &options);

/// Dialects that such a file may hold, and how they lower.
void registerGpuDialects(mlir::DialectRegistry &registry);

} // namespace tenon::compiler::codegen
