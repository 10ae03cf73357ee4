// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing targets and objects, and the short names that long attributes get when printed. Reading takes
// every spelling of every era; writing gives the modern one. Layouts are in HalLayoutAttrs.cpp.
#include "compiler/dialect/hal/HalAttrs.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/hal/HalTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/hal/HalAttrs.cpp.inc"

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

void HalDialect::registerAttributesAndTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/dialect/hal/HalTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/hal/HalAttrs.cpp.inc"
      >();
  addInterfaces<Aliases>();
}

//===-- Targets --------------------------------------------------------------------------------------------------===//

// IREE describes a GPU by an attribute of its own code generator, `#iree_gpu.target<arch = "sm_80", features = ..>`
// under one of two names. Its architecture is what `target_arch` says; the rest is for kernels that IREE generates.
static ParseResult readTargetInfo(AsmParser &parser, SMLoc loc, DictionaryAttr &configuration) {
  NamedAttrList entries(configuration);
  StringRef arch;
  for (StringRef name : {"iree_codegen.target_info", "iree.gpu.target"}) {
    auto info = dyn_cast_or_null<OpaqueAttr>(entries.get(name));
    if (!info)
      continue;
    StringRef text = info.getAttrData();
    const size_t at = text.find("arch = \"");
    if (at == StringRef::npos)
      continue;
    arch = text.drop_front(at + 8).take_until([](char c) { return c == '"'; });
    entries.erase(name);
  }
  if (arch.empty())
    return success();
  auto named = dyn_cast_or_null<StringAttr>(entries.get("target_arch"));
  if (named && named.getValue() != arch)
    return parser.emitError(loc) << "target_arch is \"" << named.getValue() << "\", the target's info says \"" << arch
                                 << "\": keep one";
  entries.set("target_arch", parser.getBuilder().getStringAttr(arch));
  configuration = entries.getDictionary(parser.getContext());
  return success();
}

Attribute ExecutableTargetAttr::parse(AsmParser &parser, Type) {
  StringAttr backend, format;
  DictionaryAttr configuration = parser.getBuilder().getDictionaryAttr({});
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(backend) || parser.parseComma() || parser.parseAttribute(format) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(configuration)) || parser.parseGreater() ||
      readTargetInfo(parser, loc, configuration))
    return {};
  return get(parser.getContext(), backend, format, configuration);
}

void ExecutableTargetAttr::print(AsmPrinter &printer) const {
  printer << '<' << getBackend() << ", " << getFormat();
  if (!getConfiguration().empty())
    printer << ", " << getConfiguration();
  printer << '>';
}

bool ExecutableTargetAttr::isGenericOf(ExecutableTargetAttr specific) const {
  return getBackend() == specific.getBackend() && getFormat() == specific.getFormat() &&
         llvm::all_of(getConfiguration(), [&](NamedAttribute entry) {
           return specific.getConfiguration().get(entry.getName()) == entry.getValue();
         });
}

Type DeviceTargetAttr::getType() const {
  return DeviceType::get(getContext());
}

// `[#target, ...]`, the opening bracket already read.
static ParseResult parseTargets(AsmParser &parser, SmallVectorImpl<ExecutableTargetAttr> &targets) {
  if (succeeded(parser.parseOptionalRSquare()))
    return success();
  auto parseTarget = [&] { return parser.parseCustomAttributeWithFallback(targets.emplace_back()); };
  return failure(parser.parseCommaSeparatedList(parseTarget) || parser.parseRSquare());
}

// Older files list the targets in the configuration: `{executable_targets = [..], legacy_sync}`.
static ParseResult takeListedTargets(AsmParser &parser, SMLoc loc, DictionaryAttr &configuration,
                                     SmallVectorImpl<ExecutableTargetAttr> &targets) {
  Attribute listed = configuration.get("executable_targets");
  if (!listed)
    return success();
  auto list = dyn_cast<ArrayAttr>(listed);
  if (!list || !llvm::all_of(list, llvm::IsaPred<ExecutableTargetAttr>))
    return parser.emitError(loc) << "'executable_targets' is " << listed
                                 << ", a list of #hal.executable.target<..> is wanted";
  if (!targets.empty())
    return parser.emitError(loc) << "targets are given twice: as a list and as 'executable_targets'; keep the list";
  llvm::append_range(targets, list.getAsRange<ExecutableTargetAttr>());
  NamedAttrList rest(configuration);
  rest.erase("executable_targets");
  configuration = rest.getDictionary(parser.getContext());
  return success();
}

Attribute DeviceTargetAttr::parse(AsmParser &parser, Type type) {
  StringAttr deviceId;
  DictionaryAttr configuration = parser.getBuilder().getDictionaryAttr({});
  SmallVector<ExecutableTargetAttr> targets;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(deviceId))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    loc = parser.getCurrentLocation();
    bool isList = succeeded(parser.parseOptionalLSquare());
    if (isList ? parseTargets(parser, targets) : parser.parseAttribute(configuration))
      return {};
  }
  if (parser.parseGreater() || takeListedTargets(parser, loc, configuration, targets))
    return {};
  if (type && !isa<DeviceType>(type)) {
    parser.emitError(loc) << "type of a device target is " << type << ", !hal.device is wanted";
    return {};
  }
  return get(parser.getContext(), deviceId, configuration, targets);
}

void DeviceTargetAttr::print(AsmPrinter &printer) const {
  printer << '<' << getDeviceId();
  if (!getConfiguration().empty())
    printer << ", " << getConfiguration();
  if (!getTargets().empty()) {
    printer << ", [";
    llvm::interleaveComma(getTargets(), printer);
    printer << ']';
  }
  printer << '>';
}

Attribute DeviceAffinityAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr device;
  SmallVector<int64_t> queues;
  auto parseQueue = [&] { return parser.parseInteger(queues.emplace_back()); };
  if (parser.parseLess() || parser.parseAttribute(device))
    return {};
  if (succeeded(parser.parseOptionalComma()) && succeeded(parser.parseOptionalStar())) // `*`: any queue
    return parser.parseGreater() ? Attribute() : get(parser.getContext(), device, queues);
  if (failed(parser.parseOptionalGreater()) &&
      (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseQueue) || parser.parseGreater()))
    return {};
  return get(parser.getContext(), device, queues);
}

void DeviceAffinityAttr::print(AsmPrinter &printer) const {
  printer << '<' << getDevice();
  if (!getQueues().empty()) {
    printer << ", [";
    llvm::interleaveComma(getQueues(), printer);
    printer << ']';
  }
  printer << '>';
}

//===-- Objects --------------------------------------------------------------------------------------------------===//

Attribute ExecutableObjectAttr::parse(AsmParser &parser, Type) {
  DictionaryAttr entries;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(entries) || parser.parseGreater())
    return {};
  StringAttr path;
  ElementsAttr data;
  for (NamedAttribute entry : entries) {
    if (entry.getName() == "path" && (path = dyn_cast<StringAttr>(entry.getValue())))
      continue;
    if (entry.getName() == "data" && (data = dyn_cast<ElementsAttr>(entry.getValue())))
      continue;
    parser.emitError(loc) << "object has '" << entry.getName().getValue() << " = " << entry.getValue()
                          << "', 'path = \"file\"' and 'data = dense<..>' are wanted";
    return {};
  }
  return get(parser.getContext(), path, data);
}

void ExecutableObjectAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  if (getPath())
    printer << "path = " << getPath() << (getData() ? ", " : "");
  if (getData())
    printer << "data = " << getData();
  printer << "}>";
}

Attribute ExecutableObjectsAttr::parse(AsmParser &parser, Type) {
  SmallVector<Attribute> targets, objects;
  auto parseEntry = [&]() -> ParseResult {
    ExecutableTargetAttr target;
    std::string text;
    SMLoc loc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalString(&text)))
      return parser.emitError(loc) << "key \"" << text << "\" is a string, a target is wanted: #hal.executable.target<"
                                   << "\"cuda\", \"cuda-nvptx-fb\", {target_arch = \"sm_80\"}>";
    if (parser.parseCustomAttributeWithFallback(target) || parser.parseEqual())
      return failure();
    SmallVector<Attribute> ofTarget;
    auto parseObject = [&]() -> ParseResult {
      ExecutableObjectAttr object;
      SMLoc objectLoc = parser.getCurrentLocation();
      if (succeeded(parser.parseOptionalString(&text)))
        return parser.emitError(objectLoc) << "object \"" << text << "\" is a string, #hal.executable.object<{path = \""
                                           << text << "\"}> is wanted";
      if (parser.parseCustomAttributeWithFallback(object))
        return failure();
      ofTarget.push_back(object);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseObject))
      return failure();
    targets.push_back(target);
    objects.push_back(parser.getBuilder().getArrayAttr(ofTarget));
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseEntry) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), parser.getBuilder().getArrayAttr(targets), parser.getBuilder().getArrayAttr(objects));
}

void ExecutableObjectsAttr::print(AsmPrinter &printer) const {
  printer << "<{";
  llvm::interleaveComma(llvm::zip_equal(getTargets(), getTargetObjects()), printer,
                        [&](auto entry) { printer << std::get<0>(entry) << " = " << std::get<1>(entry); });
  printer << "}>";
}

SmallVector<ExecutableObjectAttr> ExecutableObjectsAttr::objectsFor(ExecutableTargetAttr target) const {
  SmallVector<ExecutableObjectAttr> result;
  for (auto [key, objects] : llvm::zip_equal(getTargets(), getTargetObjects()))
    if (cast<ExecutableTargetAttr>(key).isGenericOf(target))
      llvm::append_range(result, cast<ArrayAttr>(objects).getAsRange<ExecutableObjectAttr>());
  return result;
}

} // namespace tenon::compiler::hal
