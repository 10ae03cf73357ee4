// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FlatBuffers' JSON leaves absent numbers 0, so what a person left out is told from what is there: a constant with an
// element but no kind is a scalar. The same rules backwards keep a drafted manifest as short as a written one.
#include "linker/declare/declaration.h"

#include "abi/format/layout_table.h"
#include "abi/format/manifest_generated.h"
#include "support/text/json.h"
#include "support/text/text.h"

#include <algorithm>
#include <optional>
#include <span>

namespace tenon::linker {
namespace {

namespace fb = abi::fb;

/// The extents given, then ones. Nothing: more than three of them, or none.
std::optional<abi::Extent3> extentOf(const flatbuffers::Vector<uint32_t> *values) {
  if (!values || values->size() == 0 || values->size() > 3)
    return std::nullopt;
  abi::Extent3 extent = {1, 1, 1};
  for (uint32_t i = 0; i < values->size(); ++i)
    extent[i] = values->Get(i);
  return extent;
}

/// A word with an element is a scalar whose kind was not written.
void completeConstant(const fb::Constant &table, abi::Constant &constant) {
  if (table.kind() != fb::ConstantKind::Word)
    return;
  // I1 is the schema's default, so its value alone does not tell it from one that was left out.
  if (!reinterpret_cast<const flatbuffers::Table &>(table).CheckField(fb::Constant::VT_ELEMENT)) {
    constant.element = abi::Constant::word().element;
    return;
  }
  const std::string name = constant.name;
  constant = abi::Constant::scalar(abi::ElementType(table.element()));
  constant.name = name;
}

/// JSON takes any number for an enumerator. Those that mean nothing are reported and made harmless.
bool checkEnumerators(abi::Export &declared, Diagnostics &diagnostics) {
  auto report = [&](const char *slot, size_t i, const char *what, unsigned value, const char *const *names) {
    std::string known;
    for (; *names; ++names)
      known += concat(known.empty() ? "" : ", ", *names);
    diagnostics.error(declared.declaredAt, "",
                      concat("export '", declared.name, "': ", slot, ' ', i, " has ", what, ' ', value,
                             ", which is none (known: ", known, ')'));
    return false;
  };
  bool ok = true;
  abi::Layout &layout = declared.layout;
  for (size_t i = 0; i < layout.bindings.size(); ++i)
    if (layout.bindings[i].kind > abi::BindingKind::UniformBuffer) {
      ok = report("binding", i, "kind", unsigned(layout.bindings[i].kind), fb::EnumNamesBindingKind());
      layout.bindings[i].kind = abi::BindingKind::StorageBuffer;
    }
  for (size_t i = 0; i < layout.constants.size(); ++i) {
    abi::Constant &constant = layout.constants[i];
    const abi::TensorMap map = constant.map.value_or(abi::TensorMap());
    if (constant.kind > abi::ConstantKind::TensorMap)
      ok = report("constant", i, "kind", unsigned(constant.kind), fb::EnumNamesConstantKind());
    else if (map.mode > abi::TensorMapMode::Im2col)
      ok = report("constant", i, "tensor_map.mode", unsigned(map.mode), fb::EnumNamesTensorMapMode());
    else if (map.interleave > abi::TensorMapInterleave::B32)
      ok = report("constant", i, "tensor_map.interleave", unsigned(map.interleave), fb::EnumNamesTensorMapInterleave());
    else if (map.swizzle > abi::TensorMapSwizzle::B128)
      ok = report("constant", i, "tensor_map.swizzle", unsigned(map.swizzle), fb::EnumNamesTensorMapSwizzle());
    else if (map.promotion > abi::TensorMapPromotion::L2B256)
      ok = report("constant", i, "tensor_map.promotion", unsigned(map.promotion), fb::EnumNamesTensorMapPromotion());
    else if (map.fill > abi::TensorMapFill::Nans)
      ok = report("constant", i, "tensor_map.fill", unsigned(map.fill), fb::EnumNamesTensorMapFill());
    else if (constant.element > abi::ElementType::Index)
      ok = report("constant", i, "element", unsigned(constant.element), fb::EnumNamesElementType());
    else
      continue;
    constant = abi::Constant::word();
  }
  return ok;
}

/// What goes into a header as it is stands on one line, in and out of quotes.
bool isTypeText(std::string_view type) {
  return !type.empty() && std::none_of(type.begin(), type.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == ';' || c == '#';
  });
}

void numberMember(JsonWriter &json, const char *name, uint64_t value, uint64_t otherwise = 0) {
  if (value != otherwise)
    json.member(name, value);
}
void flagMember(JsonWriter &json, const char *name, bool value) {
  if (value)
    json.member(name, true);
}
void nameMember(JsonWriter &json, const std::string &name) {
  if (!name.empty())
    json.member("name", name);
}
void numbersMember(JsonWriter &json, const char *name, std::span<const uint32_t> values) {
  json.key(name);
  json.numbers(values);
}

void writeBinding(JsonWriter &json, const abi::Binding &binding) {
  json.beginObject();
  if (binding.kind == abi::BindingKind::UniformBuffer)
    json.member("kind", "UniformBuffer");
  flagMember(json, "read_only", binding.readOnly);
  flagMember(json, "indirect", binding.indirect);
  numberMember(json, "alignment", binding.alignment);
  nameMember(json, binding.name);
  json.endObject();
}

void writeTensorMap(JsonWriter &json, const abi::TensorMap &map) {
  json.beginObject();
  json.member("binding", map.binding);
  numbersMember(json, "box", map.box);
  if (!map.elementStrides.empty())
    numbersMember(json, "element_strides", map.elementStrides);
  if (map.interleave != abi::TensorMapInterleave::None)
    json.member("interleave", abi::spelling(map.interleave));
  if (map.swizzle != abi::TensorMapSwizzle::None)
    json.member("swizzle", abi::spelling(map.swizzle));
  if (map.promotion != abi::TensorMapPromotion::None)
    json.member("promotion", abi::spelling(map.promotion));
  if (map.fill != abi::TensorMapFill::Zeros)
    json.member("fill", abi::spelling(map.fill));
  flagMember(json, "optional", map.isOptional);
  flagMember(json, "rounds_to_tf32", map.roundsToTf32);
  json.endObject();
}

void writeConstant(JsonWriter &json, const abi::Constant &constant) {
  const char *element = fb::EnumNameElementType(fb::ElementType(constant.element));
  json.beginObject();
  switch (constant.kind) {
  case abi::ConstantKind::Word:
    break;
  case abi::ConstantKind::Scalar:
    if (constant.element == abi::ElementType::I1) // an element 0 is one that was not written
      json.member("kind", "Scalar");
    json.member("element", element);
    break;
  case abi::ConstantKind::Struct:
    json.member("kind", "Struct");
    numberMember(json, "size", constant.size);
    numberMember(json, "alignment", constant.alignment);
    break;
  case abi::ConstantKind::TensorMap:
    json.member("kind", "TensorMap");
    numberMember(json, "size", constant.size, 128);
    numberMember(json, "alignment", constant.alignment, 64);
    if (constant.map) {
      json.member("element", element);
      json.key("tensor_map");
      writeTensorMap(json, *constant.map);
    }
    break;
  }
  nameMember(json, constant.name);
  json.endObject();
}

void writeParameterKind(JsonWriter &json, abi::ParameterKind kind, uint32_t index) {
  switch (kind) {
  case abi::ParameterKind::Binding:
    return json.member("binding", index);
  case abi::ParameterKind::Constant:
    return json.member("constant", index);
  case abi::ParameterKind::Hidden:
    return json.member("hidden", true);
  case abi::ParameterKind::Struct:
    break;
  }
}

void writeParameter(JsonWriter &json, const abi::DeclaredParameter &parameter) {
  json.beginObject();
  writeParameterKind(json, parameter.kind, parameter.index);
  numberMember(json, "size", parameter.size);
  numberMember(json, "alignment", parameter.alignment);
  if (!parameter.members.empty()) {
    json.key("members");
    json.beginArray();
    for (const abi::ParameterMember &member : parameter.members) {
      json.beginObject();
      json.member("offset", member.offset);
      writeParameterKind(json, member.kind, member.index);
      json.endObject();
    }
    json.endArray();
  }
  json.endObject();
}

void writeLaunch(JsonWriter &json, const abi::Launch &launch) {
  auto extentMember = [&](const char *name, const abi::Extent3 &extent) {
    const size_t count = extent[2] != 1 ? 3 : extent[1] != 1 ? 2 : 1;
    numbersMember(json, name, std::span(extent).first(count));
  };
  json.beginObject();
  extentMember("workgroup_size", launch.workgroupSize);
  numberMember(json, "subgroup_size", launch.subgroupSize);
  numberMember(json, "dynamic_shared_bytes", launch.dynamicSharedBytes);
  if (launch.cluster != abi::Extent3{0, 0, 0})
    extentMember("cluster", launch.cluster);
  flagMember(json, "cooperative", launch.cooperative);
  flagMember(json, "programmatic_dependent_launch", launch.programmaticDependentLaunch);
  json.endObject();
}

} // namespace

std::string extentText(const abi::Extent3 &extent) {
  return concat(extent[0], 'x', extent[1], 'x', extent[2]);
}

Declaration declarationFromTable(const fb::DeclaredExport &table, SourceLocation where, Diagnostics &diagnostics) {
  // Export's fields come first in DeclaredExport, with the same numbers: a table of the one reads as the other.
  Declaration declaration{abi::exportFromTable(reinterpret_cast<const fb::Export &>(table)), {}};
  abi::Export &declared = declaration.exported;
  if (where.known())
    declared.declaredAt = std::move(where);
  if (!checkEnumerators(declared, diagnostics))
    return declaration;
  if (Status status = abi::checkParameterTables(*table.layout()); !status.ok()) {
    diagnostics.error(declared.declaredAt, "K-3", concat("layout of export '", declared.name, "': ", status.message()))
        .withFix("write each parameter as {\"binding\": 0}, {\"constant\": 0}, {\"hidden\": true} or {\"size\": 24, "
                 "\"alignment\": 8, \"members\": [{\"offset\": 0, \"binding\": 0}]}");
    declared.layout.parameters.clear();
    return declaration;
  }
  for (size_t i = 0; i < declared.layout.constants.size(); ++i)
    completeConstant(*table.layout()->constants()->Get(uint32_t(i)), declared.layout.constants[i]);
  if (table.signature())
    for (const flatbuffers::String *type : *table.signature()) {
      declaration.signature.push_back(type->str());
      if (!isTypeText(declaration.signature.back()))
        diagnostics.error(declared.declaredAt, "",
                          concat("export '", declared.name, "' has a signature with ",
                                 jsonString(declaration.signature.back()), ", which is no type"));
    }

  auto error = [&](const std::string &message) -> Diagnostic & {
    return diagnostics.error(declared.declaredAt, "", concat("export '", declared.name, "' ", message));
  };
  if (std::optional<abi::Extent3> size = extentOf(table.launch()->workgroup_size()))
    declared.launch.workgroupSize = *size;
  else if (table.launch()->workgroup_size())
    error(concat("has a workgroup_size of ", table.launch()->workgroup_size()->size(), " extents, 1 to 3 are wanted"))
        .withFix("write \"workgroup_size\": [64], or [16, 8], or [8, 4, 4]");
  else
    error("has no workgroup_size").withFix("add \"launch\": {\"workgroup_size\": [64]}");
  if (std::optional<abi::Extent3> cluster = extentOf(table.launch()->cluster()))
    declared.launch.cluster = *cluster;
  else if (table.launch()->cluster())
    error(concat("has a cluster of ", table.launch()->cluster()->size(), " extents, 1 to 3 are wanted"))
        .withFix("write \"cluster\": [2], or [2, 2], or [2, 2, 1]");
  const abi::Layout &layout = declared.layout;
  const size_t listed =
      layout.parameters.empty() ? layout.bindings.size() + layout.constants.size() : layout.parameters.size();
  const size_t parameters = listed + layout.hiddenPointers;
  if (!declaration.signature.empty() && declaration.signature.size() != parameters)
    error(concat("has a signature of ", declaration.signature.size(), " types, the parameters of its layout are ",
                 parameters))
        .withFix(layout.parameters.empty()
                     ? "list one type for each binding, constant and hidden pointer, in this order"
                     : "list one type for each of 'parameters' and hidden pointer, in their order");
  return declaration;
}

std::string declarationToJson(const Declaration &declaration, size_t indent, const std::vector<std::string> &notes) {
  const std::string margin(indent, ' ');
  const abi::Export &declared = declaration.exported;
  JsonWriter json(JsonWriter::Style::Inline);
  json.beginObject();
  json.member("name", declared.name);
  if (declared.symbol != declared.name && !declared.symbol.empty())
    json.member("symbol", declared.symbol);
  json.breakLine(indent + 1);
  json.key("launch");
  writeLaunch(json, declared.launch);
  json.breakLine(indent + 1);
  json.key("layout");
  json.beginObject();
  const size_t inLayout = indent + 12; // under "bindings"
  json.key("bindings");
  json.beginArray();
  for (const abi::Binding &binding : declared.layout.bindings)
    writeBinding(json, binding);
  json.endArray();
  json.breakLine(inLayout);
  json.key("constants");
  json.beginArray();
  for (const abi::Constant &constant : declared.layout.constants)
    writeConstant(json, constant);
  json.endArray();
  if (declared.layout.hiddenPointers) {
    json.breakLine(inLayout);
    json.member("hidden_pointers", declared.layout.hiddenPointers);
  }
  if (!declared.layout.parameters.empty()) {
    json.breakLine(inLayout);
    json.key("parameters");
    json.beginArray();
    for (const abi::DeclaredParameter &parameter : declared.layout.parameters)
      writeParameter(json, parameter);
    json.endArray();
  }
  json.endObject();
  if (!declaration.signature.empty()) {
    json.breakLine(indent + 1);
    json.key("signature");
    json.beginArray();
    for (const std::string &type : declaration.signature)
      json.value(type);
    json.endArray();
  }
  json.endObject();
  std::string out;
  for (const std::string &note : notes)
    out += concat(margin, "// ", note, '\n');
  return out + margin + json.take();
}

} // namespace tenon::linker
