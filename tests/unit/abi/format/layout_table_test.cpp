// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/layout_table.h"

#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::abi;

static Export roundTrip(const Export &value) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(exportToTable(builder, value));
  return exportFromTable(*flatbuffers::GetRoot<fb::Export>(builder.GetBufferPointer()));
}

TEST(LayoutTable, KeepsEverything) {
  Export value;
  value.name = "gemm";
  value.symbol = "_Z4gemmPf";
  value.ordinal = 3;
  value.layout.bindings = {{BindingKind::UniformBuffer, true, true, 16, "a"}, {}};
  value.layout.constants = {Constant::word(),
                            Constant::scalar(ElementType::F64),
                            {ConstantKind::Struct, ElementType::I32, 12, 4, "s"},
                            {ConstantKind::TensorMap, ElementType::I32, 128, 128, "m"},
                            {ConstantKind::TensorMap, ElementType::BF16, 128, 64, "encoded",
                             TensorMap{.binding = 1,
                                       .box = {1, 8, 64},
                                       .elementStrides = {1, 2, 1},
                                       .interleave = TensorMapInterleave::B32,
                                       .swizzle = TensorMapSwizzle::B32,
                                       .promotion = TensorMapPromotion::L2B128,
                                       .fill = TensorMapFill::Nans}}};
  value.layout.hiddenPointers = 2;
  value.layout.parameters = {
      DeclaredParameter::constant(4),
      DeclaredParameter::hidden(),
      DeclaredParameter::constant(0),
      DeclaredParameter::structOf(24, 8, {{ParameterKind::Constant, 1, 0}, {ParameterKind::Hidden, 0, 8}}),
      DeclaredParameter::constant(2),
      DeclaredParameter::structOf(4, 4),
      DeclaredParameter::binding(1)};
  value.layout.parameters[4].members = {{ParameterKind::Binding, 0, 0}};
  value.launch = {{128, 2, 1}, 32, 4096, {2, 1, 1}, true, true};
  value.declaredAt = {"dir/example.mlir", 31, 5};
  Export read = roundTrip(value);
  EXPECT_EQ(read.name, value.name);
  EXPECT_EQ(read.symbol, value.symbol);
  EXPECT_EQ(read.ordinal, value.ordinal);
  EXPECT_EQ(read.layout, value.layout);
  EXPECT_EQ(read.launch, value.launch);
  EXPECT_EQ(read.declaredAt, value.declaredAt);
}

// Files of layouts in the usual order are as they were.
TEST(LayoutTable, WritesNoOrderWhereThereIsNone) {
  Export value;
  value.layout.bindings.resize(2);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(exportToTable(builder, value));
  EXPECT_EQ(flatbuffers::GetRoot<fb::Export>(builder.GetBufferPointer())->layout()->parameters(), nullptr);
  value.layout.parameters = {DeclaredParameter::binding(0), DeclaredParameter::binding(1), DeclaredParameter::hidden()};
  const Layout read = roundTrip(value).layout;
  EXPECT_TRUE(read.parameters.empty());
  EXPECT_EQ(read.hiddenPointers, 1u);
}

TEST(LayoutTable, TakesTheNameAsTheSymbol) {
  Export value;
  value.name = "add";
  EXPECT_EQ(roundTrip(value).symbol, "add");
  value.symbol = "add";
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(exportToTable(builder, value));
  EXPECT_EQ(flatbuffers::GetRoot<fb::Export>(builder.GetBufferPointer())->symbol(), nullptr);
}

TEST(LayoutTable, ReadsPlaces) {
  for (SourceLocation where : {SourceLocation{"a.mlir", 3, 4}, SourceLocation{"a.mlir", 3, 0},
                               SourceLocation{"a.mlir", 0, 0}, SourceLocation{}, SourceLocation{"c:/x y.mlir", 1, 2}}) {
    Export value;
    value.name = "k";
    value.declaredAt = where;
    EXPECT_EQ(roundTrip(value).declaredAt, where) << where.toString();
  }
}

// A manifest's JSON may leave out what its kind implies.
TEST(LayoutTable, FillsInWhatAKindImplies) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::Constant>> constants = {
      fb::CreateConstant(builder, fb::ConstantKind::Word),
      fb::CreateConstant(builder, fb::ConstantKind::Scalar, fb::ElementType::F64),
      fb::CreateConstant(builder, fb::ConstantKind::TensorMap), fb::CreateConstant(builder, fb::ConstantKind::Struct)};
  auto layout = fb::CreateLayout(builder, 0, builder.CreateVector(constants));
  auto launch = fb::CreateLaunch(builder, builder.CreateVector(std::vector<uint32_t>{64, 2}));
  builder.Finish(fb::CreateExport(builder, builder.CreateString("k"), 0, 0, layout, launch));
  Export value = exportFromTable(*flatbuffers::GetRoot<fb::Export>(builder.GetBufferPointer()));
  EXPECT_EQ(value.layout.constants[0].kind, ConstantKind::Word);
  EXPECT_EQ(value.layout.constants[0].size, 4u);
  EXPECT_EQ(value.layout.constants[0].alignment, 4u);
  EXPECT_EQ(value.layout.constants[0].element, ElementType::I1); // as written: a manifest tells an absent element so
  EXPECT_EQ(value.layout.constants[1], Constant::scalar(ElementType::F64));
  EXPECT_EQ(value.layout.constants[2].size, 128u);
  EXPECT_EQ(value.layout.constants[2].alignment, 64u);
  EXPECT_EQ(value.layout.constants[3].size, 0u); // a struct's size is never known: refused later
  EXPECT_EQ(value.launch.workgroupSize, (Extent3{0, 0, 0}));
}
