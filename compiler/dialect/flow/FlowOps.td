// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow: a program as dispatches over tensors, and the operations on tensors that programs of IREE have beside them.
#ifndef TENON_COMPILER_DIALECT_FLOW_OPS
#define TENON_COMPILER_DIALECT_FLOW_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Flow_Dialect : Dialect {
  let name = "flow";
  let summary = "dispatches over tensors";
  let cppNamespace = "::tenon::compiler::flow";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
  private:
    void registerAttributes();
  public:
  }];
}

def Flow_NamedParameterAttr : AttrDef<Flow_Dialect, "NamedParameter", [TypedAttrInterface]> {
  let mnemonic = "parameter.named";
  let summary = "a tensor of a parameter file: #flow.parameter.named<\"model\"::\"weights\"> : tensor<4xf32>";
  let description = "The scope says which file, and may be left out: `<\"weights\">`. Gone after tenon-read-parameters.";
  let parameters = (ins AttributeSelfTypeParameter<"">:$type, "::mlir::StringAttr":$scope, "::mlir::StringAttr":$key);
  let hasCustomAssemblyFormat = 1;
}

def Flow_DispatchOp : Op<Flow_Dialect, "dispatch", [AttrSizedOperandSegments, NoMemoryEffect,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "one launch of an export, as a function of tensors and scalars";
  let description = [{
    ```mlir
    %0 = flow.dispatch @exe::@f[%w](%n, %a) : (i32, tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
    %1 = flow.dispatch @exe::@g[%w](%n, %a, %0) : (i32, tensor<?xf32>{%d}, tensor<?xf32>{%d}) -> %0{%d}
    %2:2 = flow.dispatch {@exe::@x::@f, @exe::@y::@f}(%a) : (tensor<4xf32>) -> (tensor<4xf32>, %a as tensor<2x2xf32>)
    ```
    By position: tensor operands, then untied results, are the bindings; scalars are the constants. A tied result is
    its operand's buffer, written in place. Values stay values: the operation has no side effect, and who plans
    buffers copies a tied operand that is still used later. The dynamic dimensions of operands and results are
    operands too: argument_dims and result_dims, flat, in order.
  }];
  let arguments = (ins Variadic<Index>:$workload, ArrayAttr:$entry_points, Variadic<AnyType>:$arguments,
                       Variadic<Index>:$argument_dims, Variadic<Index>:$result_dims,
                       OptionalAttr<DenseI64ArrayAttr>:$tied_operands);
  let results = (outs Variadic<AnyType>:$results);
  let builders = [OpBuilder<(ins "::mlir::SymbolRefAttr":$entryPoint, "::mlir::ValueRange":$workload,
                                 "::mlir::TypeRange":$resultTypes, "::mlir::ValueRange":$resultDims,
                                 "::mlir::ValueRange":$arguments, "::mlir::ValueRange":$argumentDims,
                                 CArg<"::llvm::ArrayRef<int64_t>", "{}">:$tiedOperands)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The entry point, @executable::@export; call after tenon-normalize-executables, which leaves exactly one.
    ::mlir::SymbolRefAttr entryPoint() { return ::llvm::cast<::mlir::SymbolRefAttr>(getEntryPoints()[0]); }
    /// Index into getArguments() of the operand that result `result` is tied to.
    std::optional<unsigned> getTiedOperandIndex(unsigned result);
    /// Whether some result is tied to argument `argument`.
    bool isTied(unsigned argument);
    /// Dynamic dimensions of one argument / result: getArgumentDims() and getResultDims() are all of them, flat.
    ::mlir::ValueRange argumentDims(unsigned argument);
    ::mlir::ValueRange resultDims(unsigned result);
    /// The same as resultDims(result).
    ::mlir::ValueRange getResultDims(unsigned result) { return resultDims(result); }
    /// Indices into getArguments(), in order: tensors, and scalars.
    ::llvm::SmallVector<unsigned> tensorArguments();
    ::llvm::SmallVector<unsigned> scalarArguments();
    /// Indices of the results that are not tied: these follow the tensor arguments in the bindings.
    ::llvm::SmallVector<unsigned> untiedResults();
  }];
}

//===-- flow.tensor.* --------------------------------------------------------------------------------------------===//

// Gone after tenon-read-input: constants of MLIR's own are as good.
def Flow_TensorConstantOp : Op<Flow_Dialect, "tensor.constant", [NoMemoryEffect]> {
  let summary = "a tensor constant: flow.tensor.constant dense<1.0> : tensor<4xf32>";
  let description = "`-> tensor<?xf32>` behind it makes it dynamic, as flow.tensor.dynamic_constant is: older files.";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Flow_TensorDynamicConstantOp : Op<Flow_Dialect, "tensor.dynamic_constant", [NoMemoryEffect]> {
  let summary = "a constant whose shape the compiler does not see";
  let description = "`flow.tensor.dynamic_constant dense<1.0> : tensor<4xf32> -> tensor<?xf32>`";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Flow_TensorTieShapeOp : Op<Flow_Dialect, "tensor.tie_shape", [Pure, AllTypesMatch<["source", "result"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "a tensor with its dynamic dimensions: flow.tensor.tie_shape %0 : tensor<?x4xf32>{%d}";
  let description = "That the tensor has these dimensions is checked when the program runs.";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$dynamic_dims);
  let results = (outs AnyRankedTensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

// The bytes of a tensor as another type or shape.
class Flow_ReinterpretOp<string word> : Op<Flow_Dialect, word, [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Flow_TensorBitCastOp : Flow_ReinterpretOp<"tensor.bitcast"> {
  let summary = "bytes as another type and shape: flow.tensor.bitcast %0 : tensor<16xi32> -> tensor<4x8xi16>";
}

def Flow_TensorReshapeOp : Flow_ReinterpretOp<"tensor.reshape"> {
  let summary = "elements in another shape: flow.tensor.reshape %0 : tensor<?x4xf32>{%d} -> tensor<?xf32>{%n}";
}

//===-- flow.tensor.* that move elements ---------------------------------------------------------------------------===//

// Gone after tenon-read-input: those of MLIR's tensor dialect are as good.
class Flow_MoveOp<string word, list<Trait> traits = []> : Op<Flow_Dialect, word, !listconcat([Pure], traits)>;

def Flow_TensorSliceOp : Flow_MoveOp<"tensor.slice", [AttrSizedOperandSegments]> {
  let summary = "a part of a tensor: flow.tensor.slice %0[%i, %j for %m, %n] : tensor<?x4xf32>{%d} -> tensor<?x2xf32>{%m}";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, Variadic<Index>:$start_indices,
                       Variadic<Index>:$lengths, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `[` ($start_indices^)? `for` ($lengths^)? `]` attr-dict `:` type($source) (`{` $source_dims^ `}`)?
    `->` type($result) (`{` $result_dims^ `}`)?
  }];
  let hasVerifier = 1;
}

def Flow_TensorUpdateOp : Flow_MoveOp<"tensor.update", [AttrSizedOperandSegments,
    AllTypesMatch<["target", "result"]>]> {
  let summary = "a tensor with a part replaced: flow.tensor.update %0, %1[%i] : tensor<2xf32> -> %1 as tensor<4xf32>";
  let description = "`%1 as` says that the result may take the place of the target, and may be left out.";
  let arguments = (ins AnyRankedTensor:$update, AnyRankedTensor:$target, Variadic<Index>:$update_dims,
                       Variadic<Index>:$target_dims, Variadic<Index>:$start_indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $update `,` $target `[` ($start_indices^)? `]` attr-dict `:` type($update) (`{` $update_dims^ `}`)?
    `->` custom<InPlaceOf>(ref($target)) type($result) (`{` $target_dims^ `}`)?
  }];
  let hasVerifier = 1;
}

def Flow_TensorSplatOp : Flow_MoveOp<"tensor.splat", [TypesMatchWith<"the value is an element of the result",
    "result", "value", "::mlir::getElementTypeOrSelf($_self)">]> {
  let summary = "a tensor of one value: flow.tensor.splat %0 : tensor<?x4xf32>{%d}";
  let arguments = (ins AnyType:$value, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result) (`{` $result_dims^ `}`)?";
  let hasVerifier = 1;
}

def Flow_TensorEmptyOp : Flow_MoveOp<"tensor.empty"> {
  let summary = "a tensor whose elements do not matter: flow.tensor.empty : tensor<?x4xf32>{%d}";
  let arguments = (ins Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result) (`{` $result_dims^ `}`)?";
  let hasVerifier = 1;
}

def Flow_TensorCloneOp : Flow_MoveOp<"tensor.clone", [AllTypesMatch<["source", "result"]>]> {
  let summary = "a copy, which as a value is its operand: flow.tensor.clone %0 : tensor<?x4xf32>{%d}";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$dynamic_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($result) (`{` $dynamic_dims^ `}`)?";
  let hasVerifier = 1;
}

def Flow_TensorTransferOp : Flow_MoveOp<"tensor.transfer", [AllTypesMatch<["source", "result"]>]> {
  let summary = "a tensor for another device, of which a program has one: flow.tensor.transfer %0 : tensor<4xf32> to \"d\"";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$dynamic_dims, AnyAttr:$target);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($result) (`{` $dynamic_dims^ `}`)? `to` $target";
  let hasVerifier = 1;
}

def Flow_TensorLoadOp : Flow_MoveOp<"tensor.load", [AttrSizedOperandSegments, TypesMatchWith<
    "the result is an element of the source", "source", "result", "::mlir::getElementTypeOrSelf($_self)">]> {
  let summary = "one element: flow.tensor.load %0[%i, %j] : tensor<?x4xf32>{%d}";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source (`[` $indices^ `]`)? attr-dict `:` type($source) (`{` $source_dims^ `}`)?";
  let hasVerifier = 1;
}

def Flow_TensorStoreOp : Flow_MoveOp<"tensor.store", [AttrSizedOperandSegments, AllTypesMatch<["target", "result"]>,
    TypesMatchWith<"the value is an element of the target", "target", "value", "::mlir::getElementTypeOrSelf($_self)">]> {
  let summary = "a tensor with one element replaced: flow.tensor.store %x, %0[%i] : tensor<4xf32>";
  let arguments = (ins AnyType:$value, AnyRankedTensor:$target, Variadic<Index>:$target_dims,
                       Variadic<Index>:$indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value `,` $target (`[` $indices^ `]`)? attr-dict `:` type($target) (`{` $target_dims^ `}`)?";
  let hasVerifier = 1;
}

#endif
