// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exports as the tables of a file. Apart from layout_table.cpp, which reads them, because readers link it, and only
// writers this.
#include "abi/format/layout_table.h"

#include "support/status.h"

#include <algorithm>

namespace tenon::abi {

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
                             static_cast<fb::TensorMapFill>(map.fill), static_cast<fb::TensorMapMode>(map.mode),
                             map.isOptional, map.roundsToTf32);
}

static constexpr uint32_t kNoIndex = ~uint32_t(0); // as the schema has it

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
