// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading declarations into abi/'s value types. Nothing is checked here that a verifier has checked before.
#include "compiler/dialect/hal/declarations.h"

#include "abi/arch_spelling.h"
#include "abi/struct_layout.h"
#include "compiler/dialect/hal/HalOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::compiler {

std::optional<abi::ElementType> elementTypeOf(Type type) {
  return llvm::TypeSwitch<Type, std::optional<abi::ElementType>>(type)
      .Case([](IntegerType integer) -> std::optional<abi::ElementType> {
        switch (integer.getWidth()) {
        case 1:
          return abi::ElementType::I1;
        case 8:
          return abi::ElementType::I8;
        case 16:
          return abi::ElementType::I16;
        case 32:
          return abi::ElementType::I32;
        case 64:
          return abi::ElementType::I64;
        default:
          return std::nullopt;
        }
      })
      .Case([](IndexType) { return abi::ElementType::Index; })
      .Case([](Float16Type) { return abi::ElementType::F16; })
      .Case([](BFloat16Type) { return abi::ElementType::BF16; })
      .Case([](Float32Type) { return abi::ElementType::F32; })
      .Case([](Float64Type) { return abi::ElementType::F64; })
      .Default([](Type) { return std::nullopt; });
}

/// The C struct of these members: size and alignment.
static abi::Constant structOf(TupleType type) {
  SmallVector<abi::ElementType> members;
  for (Type member : type.getTypes())
    members.push_back(*elementTypeOf(member));
  const abi::StructLayout layout = abi::structMembers(members);
  return {.kind = abi::ConstantKind::Struct, .size = layout.size, .alignment = layout.alignment, .name = {}, .map = {}};
}

static abi::Constant tensorMapOf(hal::TensorMapType type) {
  abi::TensorMap map;
  map.binding = type.getBinding();
  for (int64_t extent : type.getBox())
    map.box.push_back(uint32_t(std::min<int64_t>(extent, UINT32_MAX)));
  map.elementStrides.assign(type.getElementStrides().begin(), type.getElementStrides().end());
  map.interleave = abi::TensorMapInterleave(type.getInterleave());
  map.swizzle = abi::TensorMapSwizzle(type.getSwizzle());
  map.promotion = abi::TensorMapPromotion(type.getPromotion());
  map.fill = abi::TensorMapFill(type.getFill());
  map.isOptional = type.getIsOptional();
  map.roundsToTf32 = type.getElement().isTF32();
  return {.kind = abi::ConstantKind::TensorMap,
          .element = elementTypeOf(type.getMemoryElement()).value_or(abi::ElementType::I1), // refused with the layout
          .size = 128,
          .alignment = type.getAlignment(),
          .name = {},
          .map = map};
}

static abi::Constant constantOf(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type))
    return structOf(tuple);
  if (auto map = dyn_cast<hal::TensorMapType>(type))
    return tensorMapOf(map);
  return abi::Constant::scalar(*elementTypeOf(type));
}

SmallVector<ConstantOperand> constantOperandsOf(hal::PipelineLayoutAttr layout) {
  SmallVector<ConstantOperand> operands;
  for (unsigned i = 0; i < layout.getConstantCount(); ++i) {
    Type type = layout.getConstantTypes().empty() ? Type() : layout.getConstantTypes()[i];
    if (auto tuple = dyn_cast_or_null<TupleType>(type))
      for (Type member : tuple.getTypes())
        operands.push_back({i, member});
    else if (!isa_and_nonnull<hal::TensorMapType>(type))
      operands.push_back({i, type});
  }
  return operands;
}

abi::Layout layoutOf(hal::PipelineLayoutAttr layout) {
  abi::Layout result;
  for (hal::PipelineBindingAttr binding : layout.getBindings())
    result.bindings.push_back({.kind = binding.getKind(),
                               .readOnly = binding.getReadOnly(),
                               .indirect = binding.getIndirect(),
                               .alignment = binding.getAlignment(),
                               .name = {}});
  if (layout.getConstantTypes().empty())
    result.constants.assign(layout.getConstantCount(), abi::Constant::word());
  for (Type type : layout.getConstantTypes())
    result.constants.push_back(constantOf(type));
  for (hal::ParameterAttr parameter : layout.getParameters()) {
    abi::DeclaredParameter &declared = result.parameters.emplace_back(parameter.getKind(), parameter.getIndex(),
                                                                      parameter.getSize(), parameter.getAlignment());
    for (hal::ParameterAttr member : parameter.getMembers())
      declared.members.push_back({member.getKind(), member.getIndex(), member.getOffset()});
  }
  result.simplifyOrder();
  return result;
}

FailureOr<abi::TargetArch> targetArchOf(hal::ExecutableTargetAttr target,
                                        llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto report = [&](const Twine &found, const std::string &advice) {
    if (emitError)
      emitError() << found << advice;
    return failure();
  };
  const std::string wanted = ", one of the known architectures is wanted: ";
  Attribute entry = target.getConfiguration().get("target_arch");
  auto text = dyn_cast_or_null<StringAttr>(entry);
  if (!text)
    return report(entry ? "'target_arch' of the target is no string" : "the target has no 'target_arch'",
                  wanted + abi::knownArchList());
  std::optional<abi::TargetArch> arch = abi::parseTargetArch(std::string_view(text.getValue()));
  if (!arch || !abi::findArch(*arch))
    return report("target architecture '" + text.getValue() + "' is unknown",
                  ": " + abi::archAdvice(std::string_view(text.getValue())));
  return *arch;
}

FailureOr<abi::TargetArch> targetArchOf(hal::ExecutableTargetAttr target) {
  return targetArchOf(target, {});
}

hal::ExecutableTargetAttr cudaTarget(MLIRContext *context, abi::TargetArch arch) {
  Builder builder(context);
  NamedAttribute entry = builder.getNamedAttr("target_arch", builder.getStringAttr(arch.toString()));
  return hal::ExecutableTargetAttr::get(context, builder.getStringAttr("cuda"), builder.getStringAttr("cuda-nvptx-fb"),
                                        builder.getDictionaryAttr(entry));
}

SmallVector<hal::ExecutableTargetAttr> targetsOf(ModuleOp module, ArrayRef<hal::ExecutableTargetAttr> fallback) {
  llvm::SetVector<hal::ExecutableTargetAttr> targets;
  if (auto devices = module->getAttrOfType<ArrayAttr>("hal.device.targets"))
    for (auto device : devices.getAsRange<hal::DeviceTargetAttr>())
      targets.insert_range(device.getTargets());
  if (targets.empty()) {
    auto insertSpecific = [&](ArrayAttr keys) {
      for (auto key : keys.getAsRange<hal::ExecutableTargetAttr>())
        if (key.getConfiguration().contains("target_arch"))
          targets.insert(key);
    };
    module.walk([&](Operation *op) {
      if (auto source = dyn_cast<hal::ExecutableSourceOp>(op); source && source.getObjectsAttr())
        insertSpecific(source.getObjectsAttr().getTargets());
      else if (auto variant = dyn_cast<hal::ExecutableVariantOp>(op))
        insertSpecific(Builder(op->getContext()).getArrayAttr({variant.getTarget()}));
      else if (auto dispatch = dyn_cast<hal::DispatchExternOp>(op))
        insertSpecific(dispatch.getTargets());
    });
  }
  if (targets.empty())
    targets.insert_range(fallback);
  return targets.takeVector();
}

bool isForOnly(ModuleOp module, abi::TargetArch arch) {
  const SmallVector<hal::ExecutableTargetAttr> targets = targetsOf(module);
  return !targets.empty() && llvm::all_of(targets, [&](hal::ExecutableTargetAttr target) {
    const FailureOr<abi::TargetArch> found = targetArchOf(target);
    return succeeded(found) && *found == arch;
  });
}

abi::Export exportOf(hal::ExecutableExportOp op) {
  abi::Export result;
  result.name = op.getSymName().str();
  result.symbol = result.name;
  if (IntegerAttr ordinal = op.getOrdinalAttr())
    result.ordinal = uint32_t(ordinal.getInt());
  result.layout = layoutOf(op.getLayout());
  if (ArrayAttr size = op.getWorkgroupSizeAttr())
    for (auto [i, extent] : llvm::enumerate(size.getAsRange<IntegerAttr>()))
      result.launch.workgroupSize[i] = uint32_t(extent.getInt());
  if (IntegerAttr lanes = op.getSubgroupSizeAttr())
    result.launch.subgroupSize = uint32_t(lanes.getInt());
  if (IntegerAttr bytes = op.getWorkgroupLocalMemoryAttr())
    result.launch.dynamicSharedBytes = uint32_t(bytes.getInt());
  if (auto cluster = op->getAttrOfType<ArrayAttr>(kClusterAttr)) {
    result.launch.cluster = {1, 1, 1};
    for (auto [i, extent] : llvm::enumerate(cluster.getAsRange<IntegerAttr>()))
      result.launch.cluster[i] = uint32_t(extent.getInt());
  }
  result.declaredAt = sourceLocationOf(op.getLoc());
  return result;
}

llvm::StringSet<> fallbackFunctionsOf(ModuleOp module) {
  llvm::StringSet<> names;
  module.walk([&](hal::ExecutableExportOp op) {
    if (auto function = op->getAttrOfType<FlatSymbolRefAttr>(kFallbackAttr))
      names.insert(function.getValue());
  });
  return names;
}

SourceLocation sourceLocationOf(Location location) {
  SourceLocation result;
  location->walk([&](Location inner) {
    auto place = dyn_cast<FileLineColLoc>(inner);
    if (!place)
      return WalkResult::advance();
    result = {place.getFilename().str(), place.getLine(), place.getColumn()};
    return WalkResult::interrupt();
  });
  return result;
}

} // namespace tenon::compiler
