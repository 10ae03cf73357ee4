// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/format/type_spelling.h"
#include "abi/format/views/program_view.h"

#include "tests/unit/abi/sample_files.h"

#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::abi;
using namespace tenon::abi::test;

TEST(ProgramView, ShowsFunctionsAndExecutables) {
  ProgramParts parts;
  parts.functions.push_back(parts.functions[0]);
  parts.functions[1].name = "other";
  AlignedBytes bytes(write(parts));
  auto view = ProgramView::create(bytes.span(), "x");
  ASSERT_TRUE(view.ok()) << view.status().toString();
  EXPECT_EQ(view->functionCount(), 2u);
  EXPECT_EQ(view->functionAt(1).name()->string_view(), "other");
  EXPECT_EQ(*view->findFunction("other"), 1u);
  EXPECT_EQ(view->findFunction("mian").status().toString(),
            "not found: no function 'mian' in the program, which has 'main', 'other'");
  ASSERT_EQ(view->executableCount(), 1u);
  EXPECT_EQ(view->executableAt(0).exportAt(0).name, "add");
}

TEST(ProgramView, HasTheFunctionsOfAnEdition) {
  ProgramParts parts;
  parts.editions = {
      {.targets = {fb::Arch(80, fb::ArchSuffix::None), fb::Arch(90, fb::ArchSuffix::A)}, .functions = parts.functions}};
  parts.editions[0].functions[0].commands.resize(1);
  AlignedBytes bytes(write(parts));
  auto view = ProgramView::create(bytes.span(), "x");
  ASSERT_TRUE(view.ok()) << view.status().toString();
  EXPECT_EQ(view->editionCount(), 1u);
  EXPECT_EQ(view->editionTargets(), "");
  EXPECT_EQ(view->functionAt(0).commands()->size(), 3u);
  const ProgramView edition = view->withEdition(0);
  EXPECT_EQ(edition.editionTargets(), "sm_80, sm_90a");
  EXPECT_EQ(edition.functionAt(0).commands()->size(), 1u);
  EXPECT_EQ(edition.initializer(), nullptr);
  DeviceTraits device;
  device.computeCapability = 75;
  EXPECT_FALSE(view->isEditionFor(0, device));
  device.computeCapability = 86;
  EXPECT_TRUE(view->isEditionFor(0, device)) << "of sm_80";
  EXPECT_EQ(view->functionAt(0).commands()->size(), 3u);
}

TEST(ProgramView, TakesAnEmptyProgram) {
  ProgramParts parts;
  parts.functions.clear();
  AlignedBytes bytes(write(parts));
  auto view = ProgramView::create(bytes.span(), "x");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->functionCount(), 0u);
  EXPECT_EQ(view->findFunction("f").status().toString(), "not found: no function 'f' in the program, which has none");
}

TEST(ProgramView, RefusesAnExecutable) {
  AlignedBytes bytes(write(ExecutableParts()));
  EXPECT_EQ(ProgramView::create(bytes.span(), "x").status().code(), StatusCode::DataLoss);
}

static std::string spelled(fb::ValueKind kind, fb::ElementType element, std::vector<int64_t> shape) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::CreateValueType(builder, kind, element, shape.empty() ? 0 : builder.CreateVector(shape)));
  return typeSpelling(*flatbuffers::GetRoot<fb::ValueType>(builder.GetBufferPointer()));
}

TEST(TypeSpelling, IsMlirs) {
  EXPECT_EQ(spelled(fb::ValueKind::Tensor, fb::ElementType::F32, {-1, 4}), "tensor<?x4xf32>");
  EXPECT_EQ(spelled(fb::ValueKind::Tensor, fb::ElementType::BF16, {}), "tensor<bf16>");
  EXPECT_EQ(spelled(fb::ValueKind::Tensor, fb::ElementType::I1, {0}), "tensor<0xi1>");
  EXPECT_EQ(spelled(fb::ValueKind::Scalar, fb::ElementType::Index, {}), "index");
  EXPECT_EQ(spelled(fb::ValueKind::Unread, fb::ElementType::I32, {}), "any");
}
