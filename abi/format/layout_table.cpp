// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts and exports from the tables of a file (abi/format/schemas/layout.fbs) as their value types (abi/layout.h);
// the way back is write_layout_table.cpp's. Both sides use the same numbers for their enumerators; the asserts below
// hold them together.
#include "abi/format/layout_table.h"

#include "abi/format/places.h"
#include "support/number.h"
#include "support/status.h"

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
  out.isOptional = table.optional();
  out.roundsToTf32 = table.rounds_to_tf32();
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

} // namespace tenon::abi
