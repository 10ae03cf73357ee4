// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/layout.h"

#include <gtest/gtest.h>

using namespace tenon::abi;

static Binding binding(bool readOnly) {
  Binding out;
  out.readOnly = readOnly;
  return out;
}

TEST(Layout, PrintsWhatWasDeclared) {
  Layout layout;
  EXPECT_EQ(layout.toString(), "0 bindings");
  layout.bindings = {binding(false)};
  EXPECT_EQ(layout.toString(), "1 binding (ReadWrite)");
  layout.bindings = {binding(true), binding(true), binding(false)};
  layout.constants = {Constant::word(), Constant::word()};
  EXPECT_EQ(layout.toString(), "3 bindings (ReadOnly, ReadOnly, ReadWrite), constants = 2");
  layout.constants = {Constant::scalar(ElementType::I64), Constant::scalar(ElementType::BF16)};
  layout.hiddenPointers = 2;
  EXPECT_EQ(layout.toString(),
            "3 bindings (ReadOnly, ReadOnly, ReadWrite), constants = [i64, bf16], 2 hidden pointers");
}

TEST(Layout, PrintsTheRareParts) {
  Layout layout;
  layout.bindings = {{BindingKind::UniformBuffer, true, true, 16, "a"}};
  layout.constants = {Constant::word(),
                      {ConstantKind::Struct, ElementType::I32, 12, 4, ""},
                      {ConstantKind::TensorMap, ElementType::I32, 128, 64, ""}};
  layout.hiddenPointers = 1;
  EXPECT_EQ(layout.toString(),
            "1 binding (uniform ReadOnly|Indirect align 16), constants = [word, struct<12, align 4>, "
            "tensor_map], 1 hidden pointer");
}

TEST(Layout, PrintsTheOrderOfParameters) {
  using Kind = ParameterKind;
  Layout layout;
  layout.bindings.resize(3);
  layout.constants = {Constant::word(), {ConstantKind::Struct, ElementType::I32, 16, 8, ""}};
  layout.parameters = {DeclaredParameter::constant(0),
                       DeclaredParameter::hidden(),
                       DeclaredParameter::binding(1),
                       DeclaredParameter::structOf(16, 8, {{Kind::Binding, 0, 0}, {Kind::Hidden, 0, 8}}),
                       DeclaredParameter::structOf(4, 2),
                       DeclaredParameter::constant(1)};
  layout.parameters.back().members = {{Kind::Binding, 2, 8}};
  EXPECT_EQ(layout.toString(),
            "3 bindings (ReadWrite, ReadWrite, ReadWrite), constants = [word, struct<16, align 8>], parameters = "
            "[constant 0, hidden, binding 1, struct<16, alignment = 8>(binding 0 at 0, hidden at 8), "
            "padding<4, alignment = 2>, constant 1(binding 2 at 8)]");
}

TEST(Layout, MakesScalarsNaturallyAligned) {
  for (ElementType type : {ElementType::I1, ElementType::F16, ElementType::I32, ElementType::Index}) {
    Constant constant = Constant::scalar(type);
    EXPECT_EQ(constant.kind, ConstantKind::Scalar);
    EXPECT_EQ(constant.size, byteSize(type));
    EXPECT_EQ(constant.alignment, byteSize(type));
  }
}

TEST(Launch, CountsThreads) {
  Launch launch;
  launch.workgroupSize = {32, 4, 2};
  EXPECT_EQ(launch.threads(), 256u);
}
