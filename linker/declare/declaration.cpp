// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FlatBuffers' JSON leaves absent numbers 0, so what a person left out is told from what is there: a constant with an
// element but no kind is a scalar. The same rules backwards keep a drafted manifest as short as a written one.
#include "linker/declare/declaration.h"

#include "abi/format/executable_view.h"
#include "abi/format/manifest_generated.h"
#include "support/text.h"

#include <algorithm>
#include <optional>

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
  auto report = [&](const char *slot, size_t i, const char *what, unsigned value) {
    diagnostics.error(
        declared.declaredAt, "",
        concat("export '", declared.name, "': ", slot, ' ', i, " has ", what, ' ', value, ", which is none"));
    return false;
  };
  bool ok = true;
  abi::Layout &layout = declared.layout;
  for (size_t i = 0; i < layout.bindings.size(); ++i)
    if (layout.bindings[i].kind > abi::BindingKind::UniformBuffer) {
      ok = report("binding", i, "kind", unsigned(layout.bindings[i].kind));
      layout.bindings[i].kind = abi::BindingKind::StorageBuffer;
    }
  for (size_t i = 0; i < layout.constants.size(); ++i) {
    abi::Constant &constant = layout.constants[i];
    const abi::TensorMap map = constant.map.value_or(abi::TensorMap());
    if (constant.kind > abi::ConstantKind::TensorMap)
      ok = report("constant", i, "kind", unsigned(constant.kind));
    else if (map.mode > abi::TensorMapMode::Im2col)
      ok = report("constant", i, "tensor_map.mode", unsigned(map.mode));
    else if (map.interleave > abi::TensorMapInterleave::B32)
      ok = report("constant", i, "tensor_map.interleave", unsigned(map.interleave));
    else if (map.swizzle > abi::TensorMapSwizzle::B128)
      ok = report("constant", i, "tensor_map.swizzle", unsigned(map.swizzle));
    else if (map.promotion > abi::TensorMapPromotion::L2B256)
      ok = report("constant", i, "tensor_map.promotion", unsigned(map.promotion));
    else if (map.fill > abi::TensorMapFill::Nans)
      ok = report("constant", i, "tensor_map.fill", unsigned(map.fill));
    else if (constant.element > abi::ElementType::Index)
      ok = report("constant", i, "element", unsigned(constant.element));
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

/// {a, b}, from members that are there.
class Members {
public:
  void add(const char *name, std::string value) {
    text_ += concat(text_.empty() ? "" : ", ", '"', name, "\": ", value);
  }
  void number(const char *name, uint64_t value, uint64_t otherwise = 0) {
    if (value != otherwise)
      add(name, concat(value));
  }
  void flag(const char *name, bool value) {
    if (value)
      add(name, "true");
  }
  void name(const std::string &value) {
    if (!value.empty())
      add("name", jsonString(value));
  }
  std::string text() const { return concat('{', text_, '}'); }

private:
  std::string text_;
};

std::string bindingJson(const abi::Binding &binding) {
  Members members;
  if (binding.kind == abi::BindingKind::UniformBuffer)
    members.add("kind", "\"UniformBuffer\"");
  members.flag("read_only", binding.readOnly);
  members.flag("indirect", binding.indirect);
  members.number("alignment", binding.alignment);
  members.name(binding.name);
  return members.text();
}

std::string numbersJson(const std::vector<uint32_t> &values) {
  std::string out = "[";
  for (uint32_t value : values)
    out += concat(out.size() == 1 ? "" : ", ", value);
  return out + ']';
}

std::string tensorMapJson(const abi::TensorMap &map) {
  Members members;
  members.add("binding", concat(map.binding));
  members.add("box", numbersJson(map.box));
  if (!map.elementStrides.empty())
    members.add("element_strides", numbersJson(map.elementStrides));
  if (map.interleave != abi::TensorMapInterleave::None)
    members.add("interleave", jsonString(abi::spelling(map.interleave)));
  if (map.swizzle != abi::TensorMapSwizzle::None)
    members.add("swizzle", jsonString(abi::spelling(map.swizzle)));
  if (map.promotion != abi::TensorMapPromotion::None)
    members.add("promotion", jsonString(abi::spelling(map.promotion)));
  if (map.fill != abi::TensorMapFill::Zeros)
    members.add("fill", jsonString(abi::spelling(map.fill)));
  return members.text();
}

std::string constantJson(const abi::Constant &constant) {
  Members members;
  switch (constant.kind) {
  case abi::ConstantKind::Word:
    break;
  case abi::ConstantKind::Scalar:
    if (constant.element == abi::ElementType::I1) // an element 0 is one that was not written
      members.add("kind", "\"Scalar\"");
    members.add("element", jsonString(fb::EnumNameElementType(fb::ElementType(constant.element))));
    break;
  case abi::ConstantKind::Struct:
    members.add("kind", "\"Struct\"");
    members.number("size", constant.size);
    members.number("alignment", constant.alignment);
    break;
  case abi::ConstantKind::TensorMap:
    members.add("kind", "\"TensorMap\"");
    members.number("size", constant.size, 128);
    members.number("alignment", constant.alignment, 64);
    if (constant.map) {
      members.add("element", jsonString(fb::EnumNameElementType(fb::ElementType(constant.element))));
      members.add("tensor_map", tensorMapJson(*constant.map));
    }
    break;
  }
  members.name(constant.name);
  return members.text();
}

template <typename T> std::string listJson(const std::vector<T> &values, std::string (*json)(const T &)) {
  std::string out = "[";
  for (const T &value : values)
    out += concat(out.size() == 1 ? "" : ", ", json(value));
  return out + ']';
}

std::string extentJson(const abi::Extent3 &extent) {
  size_t count = extent[2] != 1 ? 3 : extent[1] != 1 ? 2 : 1;
  std::string out = concat('[', extent[0]);
  for (size_t i = 1; i < count; ++i)
    out += concat(", ", extent[i]);
  return out + ']';
}

std::string launchJson(const abi::Launch &launch) {
  Members members;
  members.add("workgroup_size", extentJson(launch.workgroupSize));
  members.number("subgroup_size", launch.subgroupSize);
  members.number("dynamic_shared_bytes", launch.dynamicSharedBytes);
  if (launch.cluster != abi::Extent3{0, 0, 0})
    members.add("cluster", extentJson(launch.cluster));
  members.flag("cooperative", launch.cooperative);
  members.flag("programmatic_dependent_launch", launch.programmaticDependentLaunch);
  return members.text();
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
    error("has a workgroup_size that is not 1 to 3 extents");
  else
    error("has no workgroup_size").withFix("add \"launch\": {\"workgroup_size\": [64]}");
  if (std::optional<abi::Extent3> cluster = extentOf(table.launch()->cluster()))
    declared.launch.cluster = *cluster;
  else if (table.launch()->cluster())
    error("has a cluster that is not 1 to 3 extents");
  const abi::Layout &layout = declared.layout;
  const size_t parameters = layout.bindings.size() + layout.constants.size() + layout.hiddenPointers;
  if (!declaration.signature.empty() && declaration.signature.size() != parameters)
    error(concat("has a signature of ", declaration.signature.size(), " types, the parameters of its layout are ",
                 parameters))
        .withFix("list one type for each binding, constant and hidden pointer, in this order");
  return declaration;
}

std::string declarationToJson(const Declaration &declaration, size_t indent, const std::vector<std::string> &notes) {
  const std::string margin(indent, ' ');
  const abi::Export &declared = declaration.exported;
  std::string out;
  for (const std::string &note : notes)
    out += concat(margin, "// ", note, '\n');
  out += concat(margin, "{\"name\": ", jsonString(declared.name), ',');
  if (declared.symbol != declared.name && !declared.symbol.empty())
    out += concat(" \"symbol\": ", jsonString(declared.symbol), ',');
  out += concat('\n', margin, " \"launch\": ", launchJson(declared.launch), ",\n");
  out += concat(margin, " \"layout\": {\"bindings\": ", listJson(declared.layout.bindings, bindingJson), ",\n");
  out += concat(margin, "            \"constants\": ", listJson(declared.layout.constants, constantJson));
  if (declared.layout.hiddenPointers)
    out += concat(",\n", margin, "            \"hidden_pointers\": ", declared.layout.hiddenPointers);
  out += '}';
  if (!declaration.signature.empty())
    out += concat(",\n", margin, " \"signature\": ",
                  listJson<std::string>(declaration.signature, [](const std::string &s) { return jsonString(s); }));
  return out + '}';
}

} // namespace tenon::linker
