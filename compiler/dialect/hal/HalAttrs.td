// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and types of hal. Every attribute parses each spelling that users have and prints the modern one.
#ifndef TENON_COMPILER_DIALECT_HAL_ATTRS
#define TENON_COMPILER_DIALECT_HAL_ATTRS

include "compiler/dialect/hal/HalBase.td"

class Hal_Attr<string cppName, string word, list<Trait> traits = []> : AttrDef<Hal_Dialect, cppName, traits> {
  let mnemonic = word;
  let hasCustomAssemblyFormat = 1;
}

def Hal_DeviceType : TypeDef<Hal_Dialect, "Device"> {
  let mnemonic = "device";
  let summary = "the device that a program runs on";
}

def Hal_BufferViewType : TypeDef<Hal_Dialect, "BufferView"> {
  let mnemonic = "buffer_view";
  let summary = "a tensor as IREE's ABI hands it over";
  let description = "Gone after tenon-read-input: functions take and return tensors.";
}

def Hal_FenceType : TypeDef<Hal_Dialect, "Fence"> {
  let mnemonic = "fence";
  let summary = "when something is done, as IREE's asynchronous ABI hands it over";
  let description = "Gone after tenon-read-input: what is done is ordered by the stream that a call is made on.";
}

def Hal_TensorMapType : TypeDef<Hal_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "a constant that the runtime encodes: !hal.tensor_map<binding = 0, 64x64xf16, swizzle = B128>";
  let description = [{
    What the box, the binding and the rest mean is abi/kernel_abi.md, "Tensor maps". A dispatch passes nothing for it.
    Enumerators are those of abi/tensor_map.h.
  }];
  let parameters = (ins "uint32_t":$binding, ArrayRefParameter<"int64_t">:$box, "::mlir::Type":$element,
                        ArrayRefParameter<"uint32_t">:$elementStrides, "uint32_t":$interleave, "uint32_t":$swizzle,
                        "uint32_t":$promotion, "uint32_t":$fill, "uint32_t":$alignment, "bool":$isOptional);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// What the tensor holds: f32, where copies round it to tf32.
    ::mlir::Type getMemoryElement() const;
  }];
}

def Hal_ExecutableTargetAttr : Hal_Attr<"ExecutableTarget", "executable.target"> {
  let summary = "what device code is for: #hal.executable.target<\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_80\"}>";
  let description = [{
    IREE's `iree_codegen.target_info = #iree_gpu.target<arch = "sm_80", ..>` is read as `target_arch = "sm_80"`.
  }];
  let parameters = (ins "::mlir::StringAttr":$backend, "::mlir::StringAttr":$format,
                        "::mlir::DictionaryAttr":$configuration);
  let extraClassDeclaration = [{
    /// Whether this key serves `specific`: backend and format equal, every entry here equal there.
    bool isGenericOf(ExecutableTargetAttr specific) const;
  }];
}

def Hal_DeviceTargetAttr : Hal_Attr<"DeviceTarget", "device.target", [TypedAttrInterface]> {
  let summary = "a device and the executable targets it takes: #hal.device.target<\"cuda\", {..}, [..]> : !hal.device";
  let parameters = (ins "::mlir::StringAttr":$deviceId, "::mlir::DictionaryAttr":$configuration,
                        ArrayRefParameter<"ExecutableTargetAttr">:$targets);
  let extraClassDeclaration = [{
    /// Always !hal.device.
    ::mlir::Type getType() const;
  }];
}

def Hal_DeviceAffinityAttr : Hal_Attr<"DeviceAffinity", "device.affinity"> {
  let summary = "the device that something runs on: #hal.device.affinity<@device>, with queues <@device, [0, 1]>";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$device, ArrayRefParameter<"int64_t">:$queues);
}

def Hal_ExecutableObjectAttr : Hal_Attr<"ExecutableObject", "executable.object"> {
  let summary = "one file of device code: #hal.executable.object<{path = \"k.ptx\", data = dense<..> : vector<Nxi8>}>";
  let description = [{
    `data` holds the bytes themselves and wins over `path`, which then only names them in messages.
  }];
  let parameters = (ins "::mlir::StringAttr":$path, "::mlir::ElementsAttr":$data); // either may be null
}

def Hal_ExecutableObjectsAttr : Hal_Attr<"ExecutableObjects", "executable.objects"> {
  let summary = "objects of each target: #hal.executable.objects<{#target = [#hal.executable.object<..>, ..], ..}>";
  // targets: ExecutableTargetAttr each; targetObjects: per target an ArrayAttr of ExecutableObjectAttr.
  let parameters = (ins "::mlir::ArrayAttr":$targets, "::mlir::ArrayAttr":$targetObjects);
  let extraClassDeclaration = [{
    /// Objects of every key that serves `target` (ExecutableTargetAttr::isGenericOf), in the order written.
    ::llvm::SmallVector<ExecutableObjectAttr> objectsFor(ExecutableTargetAttr target) const;
  }];
}

def Hal_PipelineBindingAttr : Hal_Attr<"PipelineBinding", "pipeline.binding"> {
  let summary = "one buffer parameter: #hal.pipeline.binding<storage_buffer, \"ReadOnly|Indirect\", alignment = 16>";
  let description = [{
    `alignment` (bytes that the base address is promised to be a multiple of) is Tenon's extension; 0: not promised.
  }];
  let parameters = (ins "::tenon::abi::BindingKind":$kind, "bool":$readOnly, "bool":$indirect, "uint32_t":$alignment);
}

def Hal_ParameterAttr : Hal_Attr<"Parameter", "parameter"> {
  let summary = "one kernel parameter: #hal.parameter<struct<24, alignment = 8>(binding 1 at 0, constant 2 at 8)>";
  let description = [{
    What it may be is abi/kernel_abi.md, "Any other order". A member of a struct is one too, at its offset; size and
    alignment are a struct's. Inside a layout it stands without `#hal.parameter<..>`.
  }];
  let parameters = (ins "::tenon::abi::ParameterKind":$kind, "uint32_t":$index, "uint32_t":$offset, "uint32_t":$size,
                        "uint32_t":$alignment, ArrayRefParameter<"ParameterAttr">:$members);
}

def Hal_PipelineLayoutAttr : Hal_Attr<"PipelineLayout", "pipeline.layout"> {
  let summary = "the declared ABI of an export: #hal.pipeline.layout<constants = 1, bindings = [..], flags = Indirect>";
  let description = [{
    `constants = N` are N 32-bit words; `constants = [i32, i64, f32]` (Tenon's extension) gives each its type, and
    constantTypes then holds constantCount types: scalars, `tuple<i64, f32>` for a struct by value (a dispatch passes its
    members one by one), `!hal.tensor_map<..>`. The older `push_constants = N, sets = [<0, bindings = [..]>]` is
    read, its bindings in the order of (set, binding).

    `parameters = [constant 0, binding 0, ..]` (Tenon's extension) lists the kernel's parameters where they do not stand
    as K-3 has them: bindings, then constants.
  }];
  let parameters = (ins "uint32_t":$constantCount, ArrayRefParameter<"::mlir::Type">:$constantTypes,
                        ArrayRefParameter<"PipelineBindingAttr">:$bindings, "bool":$indirect,
                        ArrayRefParameter<"ParameterAttr">:$parameters);
}

// What older files spell inside `sets = [...]`, and as attributes of their own.
def Hal_DescriptorSetBindingAttr : Hal_Attr<"DescriptorSetBinding", "descriptor_set.binding"> {
  let summary = "a binding of an older layout: <0, storage_buffer, ReadOnly>";
  let parameters = (ins "uint32_t":$ordinal, "PipelineBindingAttr":$binding);
}

def Hal_DescriptorSetLayoutAttr : Hal_Attr<"DescriptorSetLayout", "descriptor_set.layout"> {
  let summary = "a set of an older layout: <0, bindings = [<0, storage_buffer>]>";
  let parameters = (ins "uint32_t":$ordinal, ArrayRefParameter<"DescriptorSetBindingAttr">:$bindings, "bool":$indirect);
}

def Hal_InterfaceBindingAttr : Hal_Attr<"InterfaceBinding", "interface.binding"> {
  let summary = "an operand's place in an older layout: #hal.interface.binding<set, binding>";
  let parameters = (ins "uint32_t":$set, "uint32_t":$binding);
}

#endif
