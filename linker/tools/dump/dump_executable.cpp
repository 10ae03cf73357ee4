// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An executable, table by table. Offsets come from the one function that the linker checks with and the runtime packs
// with, so what is printed is what is passed.
#include "linker/tools/dump/dump.h"

#include "abi/format/layout_table.h"
#include "abi/format/verify/verify.h"
#include "abi/occupancy.h"
#include "abi/parameter_layout.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;

template <typename Values> std::string extentText(const Values &extent) {
  std::string text;
  for (uint32_t value : extent)
    text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

std::string_view originText(fb::Origin origin) {
  return origin == fb::Origin::Generated ? "generated" : "hand-written";
}
std::string_view kindText(fb::ImageKind kind) {
  return kind == fb::ImageKind::Ptx ? "ptx" : "cubin";
}
std::string isaText(uint16_t isa) {
  return concat(isa / 10, '.', isa % 10);
}

std::string_view accessText(fb::AccessVerdict verdict) {
  switch (verdict) {
  case fb::AccessVerdict::Unknown:
    return "unknown";
  case fb::AccessVerdict::ProvedReadOnly:
    return "proved_read_only";
  case fb::AccessVerdict::Written:
    return "written";
  case fb::AccessVerdict::Unused:
    return "unused";
  }
}

std::string_view constantKindText(abi::ConstantKind kind) {
  switch (kind) {
  case abi::ConstantKind::Word:
    return "word";
  case abi::ConstantKind::Scalar:
    return "scalar";
  case abi::ConstantKind::Struct:
    return "struct";
  case abi::ConstantKind::TensorMap:
    return "tensor_map";
  }
}

std::string_view slotKind(abi::ParameterKind kind) {
  switch (kind) {
  case abi::ParameterKind::Binding:
    return "binding";
  case abi::ParameterKind::Constant:
    return "constant";
  case abi::ParameterKind::Hidden:
    return "hidden pointer";
  case abi::ParameterKind::Struct:
    return "struct";
  }
}

/// What is said of a slot beside its number: "ReadOnly", "i64", "'size' word".
template <typename Slot> std::string slotDetail(const abi::Layout &layout, const Slot &slot) {
  std::string text;
  if (slot.kind == abi::ParameterKind::Binding) {
    const abi::Binding &binding = layout.bindings[slot.index];
    text = binding.readOnly ? "ReadOnly" : "ReadWrite";
    text += binding.kind == abi::BindingKind::UniformBuffer ? " uniform_buffer" : "";
    text += binding.indirect ? " Indirect" : "";
    text += binding.alignment ? concat(" align ", binding.alignment) : "";
    text += binding.name.empty() ? "" : concat(" '", binding.name, "'");
  } else if (slot.kind == abi::ParameterKind::Constant) {
    const abi::Constant &constant = layout.constants[slot.index];
    text =
        constant.kind == abi::ConstantKind::Scalar ? abi::spelling(constant.element) : constantKindText(constant.kind);
    text += constant.map ? concat(" (", constant.map->toString(constant.element), ")") : "";
    text += constant.name.empty() ? "" : concat(" '", constant.name, "'");
  }
  return text;
}

/// What stands within a parameter; the constant that it may be itself is left out.
std::span<const abi::Slot> membersOf(const abi::ParameterLayout &layout, uint32_t parameter) {
  auto [first, last] = std::ranges::equal_range(layout.slots, parameter, {}, &abi::Slot::parameter);
  return {first + (layout.parameters[parameter].kind == abi::ParameterKind::Struct ? 0 : 1), last};
}

std::string launchText(const abi::Launch &launch) {
  std::string text = concat("workgroup ", extentText(launch.workgroupSize));
  if (launch.subgroupSize)
    text += concat(", subgroup ", launch.subgroupSize);
  if (launch.dynamicSharedBytes)
    text += concat(", dynamic shared ", launch.dynamicSharedBytes, " bytes");
  if (launch.cluster != abi::Extent3{0, 0, 0})
    text += concat(", cluster ", extentText(launch.cluster));
  text += launch.cooperative ? ", cooperative" : "";
  text += launch.programmaticDependentLaunch ? ", programmatic dependent launch" : "";
  return text;
}

std::string exportText(const abi::Export &value, const SourceLocation &declaredAt, std::string_view indent) {
  std::string text = concat(indent, "export ", value.ordinal, " '", value.name, "'");
  if (value.symbol != value.name)
    text += concat(" (symbol '", value.symbol, "')");
  if (declaredAt.known())
    text += concat(", declared at ", declaredAt.toString());
  text += concat("\n", indent, "  layout: ", value.layout.toString(), "\n", indent,
                 "  launch: ", launchText(value.launch), "\n");
  Result<abi::ParameterLayout> layout = abi::computeParameterLayout(value.layout);
  if (!layout.ok()) // verified before, so this cannot be
    return text;
  text += concat(indent, "  parameters: ", layout->bytes, " bytes\n");
  for (uint32_t i = 0; i < layout->parameters.size(); ++i) {
    const abi::Parameter &slot = layout->parameters[i];
    char head[64];
    const std::string offset = slot.imagePlaces ? "*" : concat(slot.offset); // *: the image's own (K-3)
    std::snprintf(head, sizeof head, "    @%-4s %3u bytes  ", offset.c_str(), slot.size);
    std::string detail = slotDetail(value.layout, slot);
    text += concat(indent, head, slotKind(slot.kind), " ", slot.index, detail.empty() ? "" : " ", detail, "\n");
    for (const abi::Slot &member : membersOf(*layout, i)) {
      std::snprintf(head, sizeof head, "      +%-4u %3u bytes  ", layout->offsetIn(member), member.size);
      detail = slotDetail(value.layout, member);
      text += concat(indent, head, slotKind(member.kind), " ", member.index, detail.empty() ? "" : " ", detail, "\n");
    }
  }
  return text;
}

std::string kernelText(const abi::ExecutableView &executable, const fb::Kernel &kernel, std::string_view indent) {
  const fb::KernelFacts &facts = *kernel.facts();
  std::string text = concat(indent, "  kernel '", executable.symbolOf(kernel), "' for export ", kernel.export_ordinal(),
                            " '", executable.exportAt(kernel.export_ordinal()).name, "': static shared ",
                            facts.static_shared_bytes(), " bytes");
  if (facts.uses_dynamic_shared())
    text += ", uses dynamic shared";
  if (facts.any_grid())
    text += ", any number of workgroups";
  if (facts.required_threads())
    text += concat(", reqntid ", extentText(*facts.required_threads()));
  if (facts.max_threads())
    text += concat(", maxntid ", extentText(*facts.max_threads()));
  if (facts.required_cluster())
    text += concat(", reqnctapercluster ", extentText(*facts.required_cluster()));
  if (facts.registers())
    text += concat(", ", facts.registers(), " registers, ", facts.spill_bytes(), " bytes spilled, ",
                   facts.local_bytes(), " bytes of local memory");
  if (facts.occupancy_limit() != fb::OccupancyLimit::Unknown)
    text += concat(", ", counted(facts.blocks_per_sm(), "workgroup"), " per multiprocessor (limited by ",
                   abi::spelling(abi::OccupancyLimit(facts.occupancy_limit())), ")");
  if (facts.access()) {
    text += ", access";
    for (fb::AccessVerdict verdict : *facts.access())
      text += concat(" ", accessText(verdict));
  }
  return text + "\n";
}

/// Of all images of a variant; an image that variants share counts for each.
struct VariantBytes {
  uint64_t unpacked = 0, stored = 0;
};
VariantBytes bytesOf(const fb::Executable &executable, const fb::Variant &variant) {
  VariantBytes bytes;
  for (uint32_t index : *variant.images()) {
    bytes.unpacked += executable.images()->Get(index)->size();
    bytes.stored += executable.images()->Get(index)->data()->size();
  }
  return bytes;
}

std::string sourceOf(const fb::Image &image) {
  return image.source() ? image.source()->str() : std::string();
}

} // namespace

std::string dumpExecutable(const abi::ExecutableView &executable, uint64_t fileBytes, std::string_view indent) {
  const fb::Executable &raw = executable.raw();
  std::string text =
      concat(indent, "executable '", executable.name(), "': ", counted(executable.exportCount(), "export"), ", ",
             counted(raw.variants()->size(), "variant"), ", ", counted(raw.images()->size(), "image"), ", ", fileBytes,
             " bytes\n");
  if (raw.producer())
    text += concat(indent, "producer: ", raw.producer()->string_view(), ", format ", raw.format_version(), "\n");
  for (uint32_t i = 0; i < executable.exportCount(); ++i)
    text += exportText(executable.exportAt(i), executable.declaredAt(i), indent);
  for (uint32_t i = 0; i < raw.variants()->size(); ++i) {
    const fb::Variant &variant = *raw.variants()->Get(i);
    text += concat(indent, "variant ", i, " '", variant.name()->string_view(),
                   "': ", abi::archFromStruct(*variant.arch()).toString(), ", ", originText(variant.origin()));
    if (variant.priority())
      text += concat(", priority ", variant.priority());
    text += variant.images()->size() == 1 ? ", image" : ", images";
    for (uint32_t image : *variant.images())
      text += concat(" ", image);
    const VariantBytes bytes = bytesOf(raw, variant);
    text += concat(", ", bytes.unpacked, " bytes (", bytes.stored, " stored)\n");
    for (const fb::Kernel *kernel : *variant.kernels())
      text += kernelText(executable, *kernel, indent);
  }
  for (uint32_t i = 0; i < raw.images()->size(); ++i) {
    const fb::Image &image = *raw.images()->Get(i);
    text += concat(indent, "image ", i, ": ", kindText(image.kind()), image.isa() ? " " + isaText(image.isa()) : "",
                   ", ", image.size(), " bytes");
    if (image.compression() == fb::Compression::Zstd)
      text += concat(" (", image.data()->size(), " with zstd",
                     image.base() == abi::kNoImage ? std::string() : concat(", beside image ", image.base()), ")");
    if (image.source())
      text += concat(", from '", sourceOf(image), "'");
    text += "\n";
  }
  return text;
}

/// What is declared of a binding or constant.
template <typename Slot> static void slotMembers(const abi::Layout &layout, const Slot &slot, JsonWriter &json) {
  if (slot.kind == abi::ParameterKind::Binding) {
    const abi::Binding &binding = layout.bindings[slot.index];
    json.member("name", binding.name);
    json.member("kind", binding.kind == abi::BindingKind::UniformBuffer ? "uniform_buffer" : "storage_buffer");
    json.member("read_only", binding.readOnly);
    json.member("indirect", binding.indirect);
    json.member("declared_alignment", binding.alignment);
  } else if (slot.kind == abi::ParameterKind::Constant) {
    const abi::Constant &constant = layout.constants[slot.index];
    json.member("name", constant.name);
    json.member("kind", constantKindText(constant.kind));
    if (constant.kind == abi::ConstantKind::Scalar)
      json.member("element", abi::spelling(constant.element));
  }
}

static void exportJson(const abi::Export &value, const SourceLocation &declaredAt, JsonWriter &json) {
  json.beginObject();
  json.member("name", value.name);
  json.member("symbol", value.symbol);
  json.member("ordinal", value.ordinal);
  json.member("declared_at", declaredAt.toString());
  json.member("hidden_pointers", value.layout.hiddenPointers);
  json.key("parameters");
  json.beginArray();
  Result<abi::ParameterLayout> layout = abi::computeParameterLayout(value.layout);
  for (uint32_t i = 0; layout.ok() && i < layout->parameters.size(); ++i) {
    const abi::Parameter &slot = layout->parameters[i];
    json.beginObject();
    json.member("slot", slotKind(slot.kind));
    json.member("index", slot.index);
    if (!slot.imagePlaces) // else each image has its own
      json.member("offset", slot.offset);
    json.member("size", slot.size);
    json.member("alignment", slot.alignment);
    slotMembers(value.layout, slot, json);
    if (std::span<const abi::Slot> members = membersOf(*layout, i); !members.empty()) {
      json.key("members");
      json.beginArray();
      for (const abi::Slot &member : members) {
        json.beginObject();
        json.member("slot", slotKind(member.kind));
        json.member("index", member.index);
        json.member("offset", layout->offsetIn(member));
        json.member("size", member.size);
        slotMembers(value.layout, member, json);
        json.endObject();
      }
      json.endArray();
    }
    json.endObject();
  }
  json.endArray();
  json.member("parameter_bytes", layout.ok() ? layout->bytes : 0);
  json.key("workgroup_size");
  json.numbers(value.launch.workgroupSize);
  json.member("subgroup_size", value.launch.subgroupSize);
  json.member("dynamic_shared_bytes", value.launch.dynamicSharedBytes);
  json.key("cluster");
  json.numbers(value.launch.cluster);
  json.member("cooperative", value.launch.cooperative);
  json.member("programmatic_dependent_launch", value.launch.programmaticDependentLaunch);
  json.endObject();
}

static void kernelJson(const abi::ExecutableView &executable, const fb::Kernel &kernel, JsonWriter &json) {
  const fb::KernelFacts &facts = *kernel.facts();
  json.beginObject();
  json.member("export", kernel.export_ordinal());
  json.member("symbol", executable.symbolOf(kernel));
  json.member("parameter_bytes", facts.parameter_bytes());
  json.member("static_shared_bytes", facts.static_shared_bytes());
  json.member("uses_dynamic_shared", facts.uses_dynamic_shared());
  json.member("any_grid", facts.any_grid());
  auto extent = [&](std::string_view name, const flatbuffers::Vector<uint32_t> *values) {
    if (!values)
      return;
    json.key(name);
    json.numbers(*values);
  };
  std::vector<uint32_t> offsets;
  if (Result<abi::ParameterLayout> layout =
          abi::computeParameterLayout(executable.exportAt(kernel.export_ordinal()).layout);
      layout.ok())
    for (const abi::Parameter &parameter : layout->parameters)
      offsets.push_back(parameter.offset);
  json.key("parameter_offsets");
  json.numbers(offsets);
  extent("required_threads", facts.required_threads());
  extent("max_threads", facts.max_threads());
  extent("required_cluster", facts.required_cluster());
  json.member("assembled", facts.registers() != 0);
  if (facts.registers()) {
    json.member("registers", facts.registers());
    json.member("spill_bytes", facts.spill_bytes());
    json.member("local_bytes", facts.local_bytes());
  }
  if (facts.occupancy_limit() != fb::OccupancyLimit::Unknown) {
    json.member("blocks_per_sm", facts.blocks_per_sm());
    json.member("occupancy_limit", abi::spelling(abi::OccupancyLimit(facts.occupancy_limit())));
  }
  if (facts.access()) {
    json.key("access");
    json.beginArray();
    for (fb::AccessVerdict verdict : *facts.access())
      json.value(accessText(verdict));
    json.endArray();
  }
  json.endObject();
}

static void variantJson(const abi::ExecutableView &executable, const fb::Variant &variant, JsonWriter &json) {
  json.beginObject();
  json.member("name", variant.name()->string_view());
  json.member("target", abi::archFromStruct(*variant.arch()).toString());
  json.member("origin", originText(variant.origin()));
  json.member("priority", variant.priority());
  json.key("images");
  json.numbers(*variant.images());
  const VariantBytes bytes = bytesOf(executable.raw(), variant);
  json.member("bytes", bytes.unpacked);
  json.member("stored_bytes", bytes.stored);
  json.key("kernels");
  json.beginArray();
  for (const fb::Kernel *kernel : *variant.kernels())
    kernelJson(executable, *kernel, json);
  json.endArray();
  json.endObject();
}

void dumpExecutableJson(const abi::ExecutableView &executable, uint64_t fileBytes, JsonWriter &json) {
  const fb::Executable &raw = executable.raw();
  json.beginObject();
  json.member("kind", "executable");
  json.member("name", executable.name());
  json.member("bytes", fileBytes);
  json.member("format_version", raw.format_version());
  json.member("producer", raw.producer() ? raw.producer()->string_view() : std::string_view());
  json.key("exports");
  json.beginArray();
  for (uint32_t i = 0; i < executable.exportCount(); ++i)
    exportJson(executable.exportAt(i), executable.declaredAt(i), json);
  json.endArray();
  json.key("variants");
  json.beginArray();
  for (const fb::Variant *variant : *raw.variants())
    variantJson(executable, *variant, json);
  json.endArray();
  json.key("images");
  json.beginArray();
  for (const fb::Image *image : *raw.images()) {
    json.beginObject();
    json.member("kind", kindText(image->kind()));
    json.member("isa", isaText(image->isa()));
    json.member("size", image->size());
    json.member("compression", image->compression() == fb::Compression::Zstd ? "zstd" : "none");
    json.member("stored_size", image->data()->size());
    json.member("source", sourceOf(*image));
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

} // namespace tenon::linker
