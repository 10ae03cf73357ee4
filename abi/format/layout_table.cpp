// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts and exports between their value types (abi/layout.h) and the tables of a file
// (abi/format/schemas/layout.fbs). Both sides use the same numbers for their enumerators; the asserts below hold them
// together.
#include "abi/format/executable_view.h"
#include "abi/format/places.h"
#include "support/number.h"
#include "support/status.h"

#include <algorithm>

namespace tenon::abi {

static_assert(int(fb::ElementType::MAX) == int(ElementType::Index));
static_assert(int(fb::ElementType::F16) == int(ElementType::F16));
static_assert(int(fb::ElementType::F64) == int(ElementType::F64));
static_assert(int(fb::BindingKind::UniformBuffer) == int(BindingKind::UniformBuffer));
static_assert(int(fb::ConstantKind::Scalar) == int(ConstantKind::Scalar));
static_assert(int(fb::ConstantKind::Struct) == int(ConstantKind::Struct));
static_assert(int(fb::ConstantKind::TensorMap) == int(ConstantKind::TensorMap));
static_assert(int(fb::TensorMapInterleave::B32) == int(TensorMapInterleave::B32));
static_assert(int(fb::TensorMapSwizzle::B128) == int(TensorMapSwizzle::B128));
static_assert(int(fb::TensorMapPromotion::L2B256) == int(TensorMapPromotion::L2B256));
static_assert(int(fb::TensorMapFill::Nans) == int(TensorMapFill::Nans));
static_assert(int(fb::TensorMapMode::Im2col) == int(TensorMapMode::Im2col));
static_assert(int(fb::ArchSuffix::A) == int(ArchSuffix::A) && int(fb::ArchSuffix::F) == int(ArchSuffix::F));

static std::string stringOf(const flatbuffers::String *value) {
  return value ? value->str() : std::string();
}

static Extent3 extentOf(const flatbuffers::Vector<uint32_t> *value, Extent3 absent) {
  if (!value)
    return absent;
  if (value->size() != 3)
    return {0, 0, 0};
  return {value->Get(0), value->Get(1), value->Get(2)};
}

static std::vector<uint32_t> numbersOf(const flatbuffers::Vector<uint32_t> *values) {
  return values ? std::vector<uint32_t>(values->begin(), values->end()) : std::vector<uint32_t>();
}

static TensorMap tensorMapOf(const fb::TensorMap &table) {
  TensorMap out;
  out.mode = static_cast<TensorMapMode>(table.mode());
  out.binding = table.binding();
  out.box = numbersOf(table.box());
  out.elementStrides = numbersOf(table.element_strides());
  out.interleave = static_cast<TensorMapInterleave>(table.interleave());
  out.swizzle = static_cast<TensorMapSwizzle>(table.swizzle());
  out.promotion = static_cast<TensorMapPromotion>(table.promotion());
  out.fill = static_cast<TensorMapFill>(table.fill());
  return out;
}

static Constant constantOf(const fb::Constant &table) {
  Constant out;
  out.kind = static_cast<ConstantKind>(table.kind());
  out.element = static_cast<ElementType>(table.element());
  switch (out.kind) {
  case ConstantKind::Word:
  case ConstantKind::Struct:
    break;
  case ConstantKind::Scalar:
    out.size = out.alignment = byteSize(out.element);
    break;
  case ConstantKind::TensorMap:
    out.size = 128;
    out.alignment = 64;
    break;
  }
  if (table.size() != 0 || out.kind == ConstantKind::Struct)
    out.size = table.size();
  if (table.alignment() != 0)
    out.alignment = table.alignment();
  out.name = stringOf(table.name());
  if (out.kind == ConstantKind::TensorMap && table.tensor_map())
    out.map = tensorMapOf(*table.tensor_map());
  return out;
}

static constexpr uint32_t kNoIndex = ~uint32_t(0); // as the schema has it

/// What a parameter or member is, of a table that checkParameterTables() has passed.
template <typename Table, typename Out> static void readKind(const Table &table, Out &out) {
  out.kind = table.binding() != kNoIndex    ? ParameterKind::Binding
             : table.constant() != kNoIndex ? ParameterKind::Constant
             : table.hidden()               ? ParameterKind::Hidden
                                            : ParameterKind::Struct;
  out.index = out.kind == ParameterKind::Binding    ? table.binding()
              : out.kind == ParameterKind::Constant ? table.constant()
                                                    : 0;
}

static DeclaredParameter parameterOf(const fb::Parameter &table) {
  DeclaredParameter out;
  readKind(table, out);
  out.size = table.size();
  out.alignment = table.alignment();
  if (table.members()) {
    out.members.reserve(table.members()->size());
    for (const fb::ParameterMember *member : *table.members()) {
      readKind(*member, out.members.emplace_back());
      out.members.back().offset = member->offset();
    }
  }
  return out;
}

/// InvalidArgument: not exactly one of the fields that say what a parameter is.
template <typename Table> static Status checkKind(const Table &table, bool isStruct, std::string_view wanted) {
  std::string found;
  int count = 0;
  auto add = [&](bool is, std::string_view name) {
    if (is)
      found += concat(count++ ? " and " : "", name);
  };
  add(table.binding() != kNoIndex, "'binding'");
  add(table.constant() != kNoIndex, "'constant'");
  add(table.hidden(), "'hidden'");
  add(isStruct, "'size'");
  return count == 1 ? okStatus()
                    : makeError(StatusCode::InvalidArgument, count ? "has " + found : std::string("is empty"),
                                ", one of ", wanted, " is wanted");
}

Status checkParameterTables(const fb::Layout &layout) {
  if (!layout.parameters())
    return okStatus();
  for (uint32_t i = 0; i < layout.parameters()->size(); ++i) {
    const fb::Parameter &parameter = *layout.parameters()->Get(i);
    const bool isStruct = parameter.size() != 0;
    Status status = checkKind(parameter, isStruct, "'binding', 'constant', 'hidden' and 'size'");
    if (status.ok() && parameter.alignment() != 0 && !isStruct)
      status = makeError(StatusCode::InvalidArgument, "has an 'alignment', which only a struct has ('size')");
    for (uint32_t k = 0; status.ok() && parameter.members() && k < parameter.members()->size(); ++k) {
      status = checkKind(*parameter.members()->Get(k), false, "'binding', 'constant' and 'hidden'");
      if (!status.ok())
        status = std::move(status).withContext(concat("members[", k, ']'));
    }
    if (!status.ok())
      return std::move(status).withContext(concat("parameters[", i, ']'));
  }
  return okStatus();
}

Layout layoutFromTable(const fb::Layout &table) {
  Layout out;
  if (table.bindings()) {
    out.bindings.reserve(table.bindings()->size());
    for (const fb::Binding *binding : *table.bindings())
      out.bindings.push_back({static_cast<BindingKind>(binding->kind()), binding->read_only(), binding->indirect(),
                              binding->alignment(), stringOf(binding->name())});
  }
  if (table.constants()) {
    out.constants.reserve(table.constants()->size());
    for (const fb::Constant *constant : *table.constants())
      out.constants.push_back(constantOf(*constant));
  }
  out.hiddenPointers = table.hidden_pointers();
  if (table.parameters()) {
    out.parameters.reserve(table.parameters()->size());
    for (const fb::Parameter *parameter : *table.parameters())
      out.parameters.push_back(parameterOf(*parameter));
    out.simplifyOrder();
  }
  return out;
}

static Launch launchOf(const fb::Launch &table) {
  Launch out;
  out.workgroupSize = extentOf(table.workgroup_size(), out.workgroupSize);
  out.subgroupSize = table.subgroup_size();
  out.dynamicSharedBytes = table.dynamic_shared_bytes();
  out.cluster = extentOf(table.cluster(), out.cluster);
  out.cooperative = table.cooperative();
  out.programmaticDependentLaunch = table.programmatic_dependent_launch();
  return out;
}

/// Takes ":NUMBER" off the end of `text`; 0 where there is none.
static uint32_t takeLastNumber(std::string_view &text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return 0;
  const std::optional<uint32_t> number = parseNumber<uint32_t>(text.substr(colon + 1));
  if (!number)
    return 0;
  text = text.substr(0, colon);
  return *number;
}

SourceLocation parseLocation(std::string_view text) {
  SourceLocation out;
  uint32_t last = takeLastNumber(text);
  uint32_t before = takeLastNumber(text);
  out.file = text;
  out.line = before != 0 ? before : last;
  out.column = before != 0 ? last : 0;
  return out;
}

Export exportFromTable(const fb::Export &table) {
  Export out;
  out.name = stringOf(table.name());
  out.symbol = stringOf(table.symbol());
  if (out.symbol.empty())
    out.symbol = out.name;
  out.ordinal = table.ordinal();
  if (table.layout())
    out.layout = layoutFromTable(*table.layout());
  if (table.launch())
    out.launch = launchOf(*table.launch());
  out.declaredAt = parseLocation(stringOf(table.declared_at()));
  return out;
}

TargetArch archFromStruct(const fb::Arch &arch) {
  return {arch.number(), static_cast<ArchSuffix>(arch.suffix())};
}

static flatbuffers::Offset<flatbuffers::String> optionalString(flatbuffers::FlatBufferBuilder &builder,
                                                               const std::string &value) {
  return value.empty() ? flatbuffers::Offset<flatbuffers::String>() : builder.CreateString(value);
}

static flatbuffers::Offset<fb::TensorMap> tensorMapToTable(flatbuffers::FlatBufferBuilder &builder,
                                                           const Constant &constant) {
  if (!constant.map)
    return {};
  const TensorMap &map = *constant.map;
  auto box = builder.CreateVector(map.box);
  auto strides = map.elementStrides.empty() ? flatbuffers::Offset<flatbuffers::Vector<uint32_t>>()
                                            : builder.CreateVector(map.elementStrides);
  return fb::CreateTensorMap(builder, map.binding, box, strides, static_cast<fb::TensorMapInterleave>(map.interleave),
                             static_cast<fb::TensorMapSwizzle>(map.swizzle),
                             static_cast<fb::TensorMapPromotion>(map.promotion),
                             static_cast<fb::TensorMapFill>(map.fill), static_cast<fb::TensorMapMode>(map.mode));
}

static uint32_t indexOr(ParameterKind kind, ParameterKind wanted, uint32_t index) {
  return kind == wanted ? index : kNoIndex;
}

static flatbuffers::Offset<fb::Parameter> parameterToTable(flatbuffers::FlatBufferBuilder &builder,
                                                           const DeclaredParameter &value) {
  using enum ParameterKind;
  std::vector<flatbuffers::Offset<fb::ParameterMember>> members;
  for (const ParameterMember &member : value.members)
    members.push_back(fb::CreateParameterMember(builder, member.offset, indexOr(member.kind, Binding, member.index),
                                                indexOr(member.kind, Constant, member.index), member.kind == Hidden));
  auto memberVector = members.empty() ? 0 : builder.CreateVector(members);
  return fb::CreateParameter(builder, indexOr(value.kind, Binding, value.index),
                             indexOr(value.kind, Constant, value.index), value.kind == Hidden, value.size,
                             value.alignment, memberVector);
}

static flatbuffers::Offset<fb::Layout> layoutToTable(flatbuffers::FlatBufferBuilder &builder, const Layout &value) {
  std::vector<flatbuffers::Offset<fb::Binding>> bindings;
  for (const Binding &binding : value.bindings)
    bindings.push_back(fb::CreateBinding(builder, static_cast<fb::BindingKind>(binding.kind), binding.readOnly,
                                         binding.indirect, binding.alignment, optionalString(builder, binding.name)));
  std::vector<flatbuffers::Offset<fb::Constant>> constants;
  for (const Constant &constant : value.constants)
    constants.push_back(fb::CreateConstant(builder, static_cast<fb::ConstantKind>(constant.kind),
                                           static_cast<fb::ElementType>(constant.element), constant.size,
                                           constant.alignment, optionalString(builder, constant.name),
                                           tensorMapToTable(builder, constant)));
  std::vector<flatbuffers::Offset<fb::Parameter>> parameters;
  for (const DeclaredParameter &parameter : value.parameters)
    parameters.push_back(parameterToTable(builder, parameter));
  auto bindingVector = builder.CreateVector(bindings);
  auto constantVector = builder.CreateVector(constants);
  auto parameterVector = parameters.empty() ? 0 : builder.CreateVector(parameters);
  return fb::CreateLayout(builder, bindingVector, constantVector, value.hiddenPointers, parameterVector);
}

static flatbuffers::Offset<fb::Launch> launchToTable(flatbuffers::FlatBufferBuilder &builder, const Launch &value) {
  auto workgroupSize = builder.CreateVector(value.workgroupSize.data(), value.workgroupSize.size());
  flatbuffers::Offset<flatbuffers::Vector<uint32_t>> cluster;
  if (value.cluster != Extent3{0, 0, 0})
    cluster = builder.CreateVector(value.cluster.data(), value.cluster.size());
  return fb::CreateLaunch(builder, workgroupSize, value.subgroupSize, value.dynamicSharedBytes, cluster,
                          value.cooperative, value.programmaticDependentLaunch);
}

flatbuffers::Offset<fb::Export> exportToTable(flatbuffers::FlatBufferBuilder &builder, const Export &value) {
  auto name = builder.CreateString(value.name);
  auto symbol =
      value.symbol == value.name ? flatbuffers::Offset<flatbuffers::String>() : optionalString(builder, value.symbol);
  auto layout = layoutToTable(builder, value.layout);
  auto launch = launchToTable(builder, value.launch);
  auto declaredAt = optionalString(builder, value.declaredAt.toString());
  return fb::CreateExport(builder, name, symbol, value.ordinal, layout, launch, declaredAt);
}

/// Layouts with the same key are mostly equal.
static std::string keyOf(const Layout &value) {
  std::string key = concat(value.hiddenPointers);
  for (const Binding &binding : value.bindings)
    key += concat("\nb", int(binding.kind), ' ', int(binding.readOnly), ' ', int(binding.indirect), ' ',
                  binding.alignment, ' ', binding.name);
  for (const Constant &constant : value.constants)
    key += concat("\nc", int(constant.kind), ' ', int(constant.element), ' ', constant.size, ' ', constant.alignment,
                  ' ', constant.name);
  for (const DeclaredParameter &parameter : value.parameters)
    key += concat("\np", parameter.toString());
  return key;
}

static std::string keyOf(const Launch &value) {
  std::string key;
  for (uint32_t number : {value.workgroupSize[0], value.workgroupSize[1], value.workgroupSize[2], value.subgroupSize,
                          value.dynamicSharedBytes, value.cluster[0], value.cluster[1], value.cluster[2],
                          uint32_t(value.cooperative), uint32_t(value.programmaticDependentLaunch)})
    key += concat(number, ' ');
  return key;
}

flatbuffers::Offset<fb::Export> ExportTables::add(const Export &value) {
  std::vector<KnownLayout> &known = layouts_[keyOf(value.layout)];
  auto layout =
      std::find_if(known.begin(), known.end(), [&](const KnownLayout &other) { return other.layout == value.layout; });
  if (layout == known.end())
    layout = known.insert(known.end(), {value.layout, layoutToTable(builder_, value.layout)});
  auto [launch, newLaunch] = launches_.try_emplace(keyOf(value.launch));
  if (newLaunch)
    launch->second = launchToTable(builder_, value.launch);
  auto name = builder_.CreateString(value.name);
  auto symbol =
      value.symbol == value.name ? flatbuffers::Offset<flatbuffers::String>() : optionalString(builder_, value.symbol);
  return fb::CreateExport(builder_, name, symbol, 0, layout->table, launch->second);
}

} // namespace tenon::abi
