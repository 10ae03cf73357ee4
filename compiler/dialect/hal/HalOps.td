// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of hal. The forms and their eras: tests/lit/dialect.
#ifndef TENON_COMPILER_DIALECT_HAL_OPS
#define TENON_COMPILER_DIALECT_HAL_OPS

include "compiler/dialect/hal/HalAttrs.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hal_TargetArrayAttr : TypedArrayAttrBase<Hal_ExecutableTargetAttr, "a list of #hal.executable.target<..>">;
def Hal_ObjectListsAttr : TypedArrayAttrBase<ArrayAttr, "a list of lists of #hal.executable.object<..>">;
def Hal_OrdinalArrayAttr : TypedArrayAttrBase<IndexAttr, "a list of ordinals">;

class Hal_Op<string word, list<Trait> traits = []> : Op<Hal_Dialect, word, traits>;

// A container of symbols with one block and no terminator.
class Hal_ContainerOp<string word, list<Trait> traits = []>
    : Hal_Op<word, !listconcat(traits, [IsolatedFromAbove, Symbol, SymbolTable, SingleBlock, NoTerminator,
                                        NoRegionArguments])>;

def Hal_ExecutableSourceOp : Hal_ContainerOp<"executable.source"> {
  let summary = "device code of every target together, and the kernels it offers";
  let description = [{
    ```mlir
    hal.executable.source private @executable <objects = #hal.executable.objects<{#sm_80 = [..]}>> { .. }
    ```
    Holds hal.executable.export operations and, for generated code, a builtin.module with the kernel bodies. Every
    other form of declaration is turned into this one by tenon-normalize-executables. Older files write
    `attributes {objects = ..}`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<Hal_ExecutableObjectsAttr>:$objects);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Hal_ExecutableOp : Hal_ContainerOp<"executable"> {
  let summary = "an executable as a list of hal.executable.variant, one per target";
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<SymbolVisibility>($sym_visibility) $sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Hal_ExecutableVariantOp : Hal_ContainerOp<"executable.variant", [HasParent<"ExecutableOp">]> {
  let summary = "the code of an executable for one target";
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
                       Hal_ExecutableTargetAttr:$target, OptionalAttr<ArrayAttr>:$objects);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<SymbolVisibility>($sym_visibility) $sym_name custom<VariantTarget>($target, $objects)
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Hal_ExecutableExportOp : Hal_Op<"executable.export", [IsolatedFromAbove, Symbol,
    ParentOneOf<["ExecutableSourceOp", "ExecutableVariantOp"]>]> {
  let summary = "a kernel as its executable offers it: name, ordinal, layout, grid and block";
  let description = [{
    ```mlir
    hal.executable.export public @simple_mul ordinal(0) layout(#hal.pipeline.layout<..>)
        count(%device: !hal.device, %workload: index) -> (index, index, index) {
      ...
      hal.return %x, %y, %z : index, index, index
    } <workgroup_size = [64 : index, 1 : index, 1 : index]>
    ```
    Also read: `attributes {workgroup_size = ..}` before or behind the count region, `condition(..) -> i1 {..}
    fallback(@other)`, and the count region of older files, which trails `attributes {..}` as
    `{ ^bb0(%device: !hal.device, %workload: index): .. }`. subgroup_size is in lanes, workgroup_local_memory (dynamic
    shared memory) in bytes.

    `tenon.fallback = @function` among the attributes (Tenon's extension, here and on hal.dispatch.extern) names a
    function of the module that computes what the kernel does, of what a dispatch passes: it is compiled to the same
    parameters, for devices that no object serves (compiler/dispatch/form_fallbacks.cpp).

    `tenon.cluster = [2]`, likewise: that many workgroups, along x, y and z, are a cluster, for kernels of sm_90 and later
    that are compiled for it. The grid is a multiple of it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<IndexAttr>:$ordinal, Hal_PipelineLayoutAttr:$layout,
                       OptionalAttr<ArrayAttr>:$workgroup_size, OptionalAttr<IndexAttr>:$subgroup_size,
                       OptionalAttr<IndexAttr>:$workgroup_local_memory,
                       OptionalAttr<FlatSymbolRefAttr>:$condition_fallback);
  let regions = (region AnyRegion:$workgroup_count, AnyRegion:$condition);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    bool hasCount() { return !getWorkgroupCount().empty(); }
    /// Number of workload values that the count region takes.
    unsigned workloadRank();
  }];
}

def Hal_ExecutableConditionOp : Hal_Op<"executable.condition", [IsolatedFromAbove,
    ParentOneOf<["ExecutableVariantOp"]>]> {
  let summary = "whether a variant may be used on a device";
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Hal_ExecutableConstantBlockOp : Hal_Op<"executable.constant.block", [IsolatedFromAbove,
    ParentOneOf<["ExecutableSourceOp", "ExecutableVariantOp"]>]> {
  let summary = "values that the host computes once and device code loads by name";
  let arguments = (ins TypeArrayAttr:$types, StrArrayAttr:$keys);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Hal_ExecutableConstantLoadOp : Hal_Op<"executable.constant.load", [Pure]> {
  let summary = "a value of hal.executable.constant.block inside device code";
  let arguments = (ins StrAttr:$key);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$key attr-dict `:` type($result)";
}

def Hal_DispatchExternOp : Hal_Op<"dispatch.extern", [IsolatedFromAbove, AttrSizedOperandSegments, NoMemoryEffect]> {
  let summary = "a dispatch that declares its kernel where it is used";
  let description = [{
    ```mlir
    %0 = hal.dispatch.extern "main"[%w](%n, %a) : (i32, tensor<?xf32>{%d}) -> tensor<?xf32>{%d}
      count(%device: !hal.device, %w: index) -> (index, index, index) { .. }
      layout(#hal.pipeline.layout<..>)
      objects({#target ordinal(0) = [#hal.executable.object<..>]})
      <workgroup_size = [64 : index, 1 : index, 1 : index]>
    ```
    Operands and results are those of flow.dispatch. An object entry may carry `if(%device: !hal.device) -> i1 {..}`.
  }];
  let arguments = (ins Variadic<Index>:$workload, Variadic<AnyType>:$arguments, Variadic<Index>:$argument_dims,
                       Variadic<Index>:$result_dims, StrAttr:$export_name, Hal_PipelineLayoutAttr:$layout,
                       Hal_TargetArrayAttr:$targets, Hal_OrdinalArrayAttr:$target_ordinals,
                       Hal_ObjectListsAttr:$target_objects,
                       OptionalAttr<DenseI64ArrayAttr>:$tied_operands, OptionalAttr<ArrayAttr>:$bindings,
                       OptionalAttr<ArrayAttr>:$workgroup_size, OptionalAttr<IndexAttr>:$subgroup_size,
                       OptionalAttr<IndexAttr>:$workgroup_local_memory);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region AnyRegion:$workgroup_count, VariadicRegion<AnyRegion>:$target_conditions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Hal_DeviceQueryOp : Hal_Op<"device.query", [NoMemoryEffect]> {
  let summary = "asks the device for a value: hal.device.query<%d : !hal.device> key(\"a\" :: \"b\") : i1, i32 = 0 : i32";
  let arguments = (ins Hal_DeviceType:$device, StrAttr:$category, StrAttr:$key,
                       OptionalAttr<AnyAttr>:$default_value);
  let results = (outs I1:$ok, AnyType:$value);
  let hasCustomAssemblyFormat = 1;
}

def Hal_ReturnOp : Hal_Op<"return", [Pure, Terminator, ParentOneOf<["ExecutableExportOp", "ExecutableConditionOp",
    "ExecutableConstantBlockOp", "DispatchExternOp"]>]> {
  let summary = "ends a region that the host evaluates";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

//===-- Buffer views -----------------------------------------------------------------------------------------------===//

// How functions look behind IREE's ABI. Gone after tenon-read-input.
def Hal_TensorImportOp : Hal_Op<"tensor.import", [Pure, AttrSizedOperandSegments]> {
  let summary = "the tensor of a buffer view: hal.tensor.import %0 \"input0\" : !hal.buffer_view -> tensor<?x4xf32>{%d}";
  let description = [{
    `hal.tensor.import wait(%fence) => %0 ..`: from when the fence is signalled on. `-> tensor<4xf64> as tensor<4xf32>`:
    the buffer view is the first, the tensor the second. Elements of as many bits are the same bits, others are converted.
  }];
  let arguments = (ins Optional<Hal_FenceType>:$wait_fence, Hal_BufferViewType:$source, OptionalAttr<StrAttr>:$name,
                       OptionalAttr<TypeAttr>:$encoding, Variadic<Index>:$target_dims);
  let results = (outs AnyRankedTensor:$target);
  let assemblyFormat = [{
    custom<WaitFence>($wait_fence) $source ($name^)? `:` type($source) `->` custom<TypeAlias>($encoding, type($target))
    (`{` $target_dims^ `}`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Hal_TensorAliasOp : Hal_Op<"tensor.alias", [AttrSizedOperandSegments, AllTypesMatch<["source", "result"]>]> {
  let summary = "a tensor that is stored in a caller's memory: hal.tensor.alias %0 : tensor<4xf32> to %arg0 : !hal.buffer_view";
  let description = [{
    Once the call is complete, the argument of the function that is `storage` holds `source`. A function that assigns to
    its arguments ends with these. Behind tenon-read-input the storage is a tensor, and nothing reads the result.
  }];
  // The source comes first: the result's type is that of the first operand, whether or not there is a fence.
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, AnyType:$storage,
                       Optional<Hal_FenceType>:$wait_fence);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    custom<WaitFence>($wait_fence) $source `:` type($source) (`{` $source_dims^ `}`)? `to` $storage `:` type($storage)
    attr-dict
  }];
}

def Hal_TensorExportOp : Hal_Op<"tensor.export", [Pure]> {
  let summary = "a tensor as a buffer view: hal.tensor.export %0 \"output0\" : tensor<?x4xf32>{%d} -> !hal.buffer_view";
  let description = "`: tensor<4xf64> as tensor<4xf32>`: as of hal.tensor.import, the other way round.";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, OptionalAttr<StrAttr>:$name,
                       OptionalAttr<TypeAttr>:$encoding);
  let results = (outs Hal_BufferViewType:$target);
  let assemblyFormat = [{
    $source ($name^)? `:` custom<TypeAlias>($encoding, type($source)) (`{` $source_dims^ `}`)? `->` type($target) attr-dict
  }];
  let hasVerifier = 1;
}

def Hal_BufferViewDimOp : Hal_Op<"buffer_view.dim", [Pure]> {
  let summary = "a size: hal.buffer_view.dim<%0 : !hal.buffer_view>[0] : index";
  let arguments = (ins Hal_BufferViewType:$buffer_view, IndexAttr:$index);
  let results = (outs Index:$result);
  let assemblyFormat = "`<` $buffer_view `:` type($buffer_view) `>` `[` $index `]` attr-dict `:` type($result)";
}

//===-- Fences -----------------------------------------------------------------------------------------------------===//

// How functions look that are called before their arguments are there. Gone after tenon-read-input, too.
def Hal_TensorBarrierOp : Hal_Op<"tensor.barrier", [
    TypesMatchWith<"results are the tensors", "sources", "results", "$_self", "std::equal_to<>()">]> {
  let summary = "its tensors, and a fence that says when they are computed: "
                "hal.tensor.barrier join(%0 : tensor<4xf32>) => %fence : !hal.fence";
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, Hal_FenceType:$signal_fence);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `join` `(` ($sources^ `:` type($sources))? `)` custom<SignalFence>($signal_fence) `:` type($signal_fence) attr-dict
  }];
}

def Hal_FenceCreateOp : Hal_Op<"fence.create", [NoMemoryEffect]> {
  let summary = "hal.fence.create device(%device : !hal.device) flags(\"None\") : !hal.fence";
  let arguments = (ins Hal_DeviceType:$device, StrAttr:$flags);
  let results = (outs Hal_FenceType:$result);
  let assemblyFormat = [{
    `device` `(` $device `:` type($device) `)` `flags` `(` $flags `)` attr-dict `:` type($result)
  }];
}

def Hal_FenceSignalOp : Hal_Op<"fence.signal"> {
  let summary = "says that what the fence stands for is done: hal.fence.signal<%fence : !hal.fence>";
  let arguments = (ins Hal_FenceType:$fence);
  let assemblyFormat = "`<` $fence `:` type($fence) `>` attr-dict";
}

def Hal_FenceAwaitOp : Hal_Op<"fence.await"> {
  let summary = "waits; 0 is success: hal.fence.await until([%fence]) timeout_millis(%t) flags(\"None\") : i32";
  let arguments = (ins Variadic<Hal_FenceType>:$fences, I32:$timeout, OptionalAttr<StrAttr>:$flags);
  let results = (outs I32:$status);
  let assemblyFormat = [{
    `until` `(` `[` $fences `]` `)` `timeout_millis` `(` $timeout `)` (`flags` `(` $flags^ `)`)? attr-dict
    `:` type($status)
  }];
}

def Hal_DevicesGetOp : Hal_Op<"devices.get", [Pure]> {
  let summary = "a device by its number: hal.devices.get %c0 : !hal.device";
  let arguments = (ins Index:$index);
  let results = (outs Hal_DeviceType:$device);
  let assemblyFormat = "$index attr-dict `:` type($device)";
}

#endif
