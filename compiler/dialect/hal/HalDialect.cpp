// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hal dialect: what it registers, the names it gives to long attributes when printing, and its module attributes.
#include "compiler/dialect/hal/HalOps.h"
#include "compiler/dialect/inliner.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

#include "compiler/dialect/hal/HalDialect.cpp.inc"

namespace tenon::compiler::hal {

namespace {
// #nvptx_sm_80, #cuda_target, #pipeline_layout: as the samples call them.
struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (auto target = dyn_cast<ExecutableTargetAttr>(attr)) {
      auto arch = dyn_cast_or_null<StringAttr>(target.getConfiguration().get("target_arch"));
      printName(os, target.getFormat().getValue() == "cuda-nvptx-fb" ? "nvptx" : target.getFormat().getValue(),
                arch ? arch.getValue() : StringRef());
      return AliasResult::OverridableAlias;
    }
    if (auto device = dyn_cast<DeviceTargetAttr>(attr)) {
      printName(os, device.getDeviceId().getValue(), "target");
      return AliasResult::OverridableAlias;
    }
    if (isa<PipelineLayoutAttr>(attr)) {
      os << "pipeline_layout";
      return AliasResult::OverridableAlias;
    }
    return AliasResult::NoAlias;
  }

private:
  static void printName(raw_ostream &os, StringRef first, StringRef second) {
    std::string name = (first + (second.empty() ? "" : "_") + second).str();
    for (char c : name)
      os << (llvm::isAlnum(c) ? c : '_');
  }
};
} // namespace

void HalDialect::initialize() {
  registerAttributesAndTypes();
  registerOperations();
  addInterfaces<Aliases, AlwaysInline>();
}

LogicalResult HalDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != "hal.device.targets")
    return success();
  auto list = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!list || !llvm::all_of(list, llvm::IsaPred<DeviceTargetAttr>))
    return op->emitError() << "'hal.device.targets' is " << attribute.getValue()
                           << ", a list of #hal.device.target<..> is wanted";
  return success();
}

} // namespace tenon::compiler::hal
