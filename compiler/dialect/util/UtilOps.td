// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// util: what tests need to keep the compiler from folding their inputs away.
#ifndef TENON_COMPILER_DIALECT_UTIL_OPS
#define TENON_COMPILER_DIALECT_UTIL_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Util_Dialect : Dialect {
  let name = "util";
  let summary = "values that the optimizer leaves alone";
  let cppNamespace = "::tenon::compiler::util";
}

def Util_UnfoldableConstantOp : Op<Util_Dialect, "unfoldable_constant", [NoMemoryEffect,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant that is computed with, never at compile time";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $value";
}

// No declared effects: neither folded, merged nor removed.
def Util_OptimizationBarrierOp : Op<Util_Dialect, "optimization_barrier", [
    TypesMatchWith<"results are the operands", "operands", "results", "$_self", "std::equal_to<>()">]> {
  let summary = "its operands, which the optimizer cannot see through";
  let arguments = (ins Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

#endif
