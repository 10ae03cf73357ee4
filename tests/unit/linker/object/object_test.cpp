// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/object.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

TEST(Object, IndexesDefinitionsBeforeDeclarations) {
  ObjectInput input{.path = "a.ptx", .bytes = ptxModule(".func f();\n.func f() { ret; }\n.extern .global .b32 v;\n")};
  Diagnostics diagnostics;
  std::unique_ptr<Object> object = parseObject(input, diagnostics);
  ASSERT_NE(object, nullptr) << diagnostics.toString();
  EXPECT_FALSE(object->functions.find("f")->isDeclaration);
  EXPECT_TRUE(object->variables.find("v")->isExtern);
}

TEST(Object, IsNullAfterASyntaxError) {
  ObjectInput input{.path = "a.ptx", .bytes = ptxModule(".func f( { ret; }\n")};
  Diagnostics diagnostics;
  EXPECT_EQ(parseObject(input, diagnostics), nullptr);
  EXPECT_TRUE(diagnostics.hasErrors());
}

TEST(Object, TellsPlacesOfMergedLinesAsWritten) {
  ObjectInput input{.path = "merged"}, origin{.path = "a.ptx"};
  Object object;
  object.input = &input;
  object.lines = {{&origin, 17}};
  EXPECT_EQ(object.placeOf(1, 4).toString(), "a.ptx:17:4");
  EXPECT_EQ(object.placeOf(2, 4).toString(), "merged:2:4");
}

TEST(Object, KnowsDynamicSharedMemory) {
  ObjectInput input{.path = "a.ptx",
                    .bytes = ptxModule(".extern .shared .align 4 .b8 a[];\n.extern .shared .b8 b[4];\n"
                                       ".shared .b8 c[4];\n")};
  Diagnostics diagnostics;
  std::unique_ptr<Object> object = parseObject(input, diagnostics);
  ASSERT_NE(object, nullptr) << diagnostics.toString();
  EXPECT_TRUE(isDynamicShared(*object->variables.find("a")));
  EXPECT_FALSE(isDynamicShared(*object->variables.find("b")));
  EXPECT_FALSE(isDynamicShared(*object->variables.find("c")));
}

} // namespace
} // namespace tenon::linker
