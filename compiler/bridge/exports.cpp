#include "compiler/bridge/exports.h"

#include "compiler/host/scalar_lowering.h"

namespace tenon::compiler::bridge {
namespace {

/// An optional index attribute that must fit 32 bits.
mlir::LogicalResult readUint32(hal::ExecutableExportOp op, mlir::Attribute attribute, llvm::StringRef name,
                               uint32_t &value) {
  if (!attribute)
    return mlir::success();
  auto number = mlir::dyn_cast<mlir::IntegerAttr>(attribute);
  if (!number || number.getValue().isNegative() || number.getValue().getActiveBits() > 32)
    return op.emitOpError() << "has " << name << " " << attribute << ", wanted a number from 0 to 4294967295";
  value = uint32_t(number.getValue().getZExtValue());
  return mlir::success();
}

} // namespace

mlir::FailureOr<abi::Layout> toLayout(hal::PipelineLayoutAttr attribute, mlir::Location location) {
  abi::Layout layout;
  for (hal::PipelineBindingAttr binding : attribute.getBindings())
    layout.bindings.push_back({.kind = binding.getKind(),
                               .readOnly = binding.getReadOnly(),
                               .indirect = binding.getIndirect(),
                               .alignment = binding.getAlignment(),
                               .name = ""});
  if (attribute.getConstantTypes().empty()) {
    layout.constants.assign(attribute.getConstantCount(), abi::Constant::word());
    return layout;
  }
  for (mlir::Type type : attribute.getConstantTypes()) {
    std::optional<abi::ElementType> element = host::toElementType(type);
    if (!element)
      return mlir::emitError(location) << "a kernel constant cannot have type " << type;
    layout.constants.push_back(abi::Constant::scalar(*element));
  }
  return layout;
}

mlir::FailureOr<abi::Export> toExport(hal::ExecutableExportOp op, LocationMap &locations) {
  abi::Export result;
  result.name = op.getSymName().str();
  result.symbol = result.name;
  result.declaredAt = locations.toSource(op.getLoc());
  mlir::FailureOr<abi::Layout> layout = toLayout(op.getLayout(), op.getLoc());
  if (mlir::failed(layout))
    return mlir::failure();
  result.layout = std::move(*layout);
  mlir::ArrayAttr size = op.getWorkgroupSizeAttr();
  if (!size || size.size() != 3)
    return op.emitOpError() << "has no workgroup_size of three numbers";
  for (auto [axis, extent] : llvm::enumerate(size))
    if (mlir::failed(readUint32(op, extent, "workgroup_size", result.launch.workgroupSize[axis])))
      return mlir::failure();
  if (mlir::failed(readUint32(op, op.getOrdinalAttr(), "ordinal", result.ordinal)) ||
      mlir::failed(readUint32(op, op.getSubgroupSizeAttr(), "subgroup_size", result.launch.subgroupSize)) ||
      mlir::failed(
          readUint32(op, op.getWorkgroupLocalMemoryAttr(), "workgroup_local_memory", result.launch.dynamicSharedBytes)))
    return mlir::failure();
  return result;
}

} // namespace tenon::compiler::bridge
