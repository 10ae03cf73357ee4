// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// util: functions and globals as IREE writes them, and what tests need to keep the compiler from folding their inputs
// away. Functions and globals are gone after tenon-read-input (compiler/input).
#ifndef TENON_COMPILER_DIALECT_UTIL_OPS
#define TENON_COMPILER_DIALECT_UTIL_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Util_Dialect : Dialect {
  let name = "util";
  let summary = "functions, globals, and values that the optimizer leaves alone";
  let cppNamespace = "::tenon::compiler::util";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
    void registerTypes();
  public:
  }];
  let useDefaultTypePrinterParser = 1;
}

class Util_InlineAttr<string cppName, string word> : AttrDef<Util_Dialect, cppName> {
  let mnemonic = word;
  let summary = "an inlining_policy of util.func; every call is inlined whatever it says";
}
def Util_InlineNeverAttr : Util_InlineAttr<"InlineNever", "inline.never">;
def Util_InlineAlwaysAttr : Util_InlineAttr<"InlineAlways", "inline.always">;

def Util_BytePatternAttr : AttrDef<Util_Dialect, "BytePattern", [TypedAttrInterface]> {
  let mnemonic = "byte_pattern";
  let summary = "a tensor whose bytes are all one number, modulo 256: #util.byte_pattern<1> : tensor<4xf32>";
  let description = "What exporters write for weights that nobody needs. Gone after tenon-read-input.";
  let parameters = (ins AttributeSelfTypeParameter<"">:$type, "int64_t":$pattern);
  let assemblyFormat = "`<` $pattern `>`";
}

def Util_UninitializedAttr : AttrDef<Util_Dialect, "Uninitialized", [TypedAttrInterface]> {
  let mnemonic = "uninitialized";
  let summary = "a tensor of any values: #util.uninitialized : tensor<4xf32>; here they are zeros";
  let parameters = (ins AttributeSelfTypeParameter<"">:$type);
  let assemblyFormat = "";
}

def Util_PtrType : TypeDef<Util_Dialect, "Ptr"> {
  let mnemonic = "ptr";
  let summary = "which global of its type is meant: !util.ptr<tensor<4xf32>>";
  let parameters = (ins "::mlir::Type":$target);
  let assemblyFormat = "`<` $target `>`";
}

//===-- Functions ------------------------------------------------------------------------------------------------===//

def Util_FuncOp : Op<Util_Dialect, "func", [IsolatedFromAbove, Symbol]> {
  let summary = "a function: util.func public @f(%a: tensor<?xf32>) -> tensor<?xf32> { .. util.return %a : .. }";
  let description = [{
    A result that names an argument (`-> %a`, `-> %a as T`) has its type: programs are values, so where it lies says
    nothing here. Becomes func.func.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, TypeAttr:$function_type,
                       OptionalAttr<ArrayAttr>:$arg_attrs, OptionalAttr<ArrayAttr>:$res_attrs,
                       OptionalAttr<AnyAttr>:$inlining_policy);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Util_InitializerOp : Op<Util_Dialect, "initializer", [IsolatedFromAbove]> {
  let summary = "what a program does before its first call: util.initializer { .. util.return }";
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
}

def Util_ReturnOp : Op<Util_Dialect, "return", [Pure, Terminator, ParentOneOf<["FuncOp", "InitializerOp"]>]> {
  let summary = "ends a util.func";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def Util_CallOp : Op<Util_Dialect, "call"> {
  let summary = "a call: util.call @f(%a) : (tensor<?xf32>) -> tensor<?xf32>";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
}

//===-- Globals --------------------------------------------------------------------------------------------------===//

def Util_GlobalOp : Op<Util_Dialect, "global", [Symbol]> {
  let summary = "a value of the module: util.global private @weights = dense<1.0> : tensor<4xf32>";
  let description = [{
    One that keeps its initial value becomes a constant; one of type !hal.device with a #hal.device.target is what the
    module is compiled for. One that a function stores to stays, and is a variable of the loaded program.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, UnitAttr:$is_mutable,
                       TypeAttr:$type, OptionalAttr<AnyAttr>:$initial_value);
  let hasCustomAssemblyFormat = 1;
}

def Util_GlobalLoadOp : Op<Util_Dialect, "global.load", [MemoryEffects<[MemRead]>]> {
  let summary = "util.global.load immutable @weights : tensor<4xf32>";
  let arguments = (ins FlatSymbolRefAttr:$global, UnitAttr:$is_immutable);
  let results = (outs AnyType:$result);
  let assemblyFormat = "(`immutable` $is_immutable^)? $global attr-dict `:` type($result)";
}

def Util_GlobalStoreOp : Op<Util_Dialect, "global.store"> {
  let summary = "util.global.store %value, @weights : tensor<4xf32>";
  let arguments = (ins AnyType:$value, FlatSymbolRefAttr:$global);
  let assemblyFormat = "$value `,` $global attr-dict `:` type($value)";
}

// Loads and stores of a global that a pointer says. They become those that name it (input/steps/read_pointers.cpp).
def Util_GlobalAddressOp : Op<Util_Dialect, "global.address", [Pure]> {
  let summary = "util.global.address @weights : !util.ptr<tensor<4xf32>>";
  let arguments = (ins FlatSymbolRefAttr:$global, UnitAttr:$is_immutable);
  let results = (outs Util_PtrType:$result);
  let assemblyFormat = "(`immutable` $is_immutable^)? $global attr-dict `:` qualified(type($result))";
}

def Util_GlobalLoadIndirectOp : Op<Util_Dialect, "global.load.indirect", [MemoryEffects<[MemRead]>]> {
  let summary = "util.global.load.indirect %pointer : !util.ptr<tensor<4xf32>> -> tensor<4xf32>";
  let arguments = (ins Util_PtrType:$pointer, UnitAttr:$is_immutable);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    (`immutable` $is_immutable^)? $pointer attr-dict `:` qualified(type($pointer)) `->` type($result)
  }];
}

def Util_GlobalStoreIndirectOp : Op<Util_Dialect, "global.store.indirect"> {
  let summary = "util.global.store.indirect %value, %pointer : tensor<4xf32> -> !util.ptr<tensor<4xf32>>";
  let arguments = (ins AnyType:$value, Util_PtrType:$pointer);
  let assemblyFormat = "$value `,` $pointer attr-dict `:` type($value) `->` qualified(type($pointer))";
}

//===-- Values ---------------------------------------------------------------------------------------------------===//

def Util_AssumeIntOp : Op<Util_Dialect, "assume.int", [Pure]> {
  let summary = "integers with what is known of them: util.assume.int %n<umin = 1, udiv = 16> : index";
  let description = "Each operand's assumptions, one or a list of them, are a hint that is not used.";
  let arguments = (ins Variadic<AnyType>:$operands, ArrayAttr:$assumptions);
  let results = (outs Variadic<AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Util_NullOp : Op<Util_Dialect, "null", [Pure]> {
  let summary = "nothing where a handle could be: util.null : !hal.fence";
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
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
