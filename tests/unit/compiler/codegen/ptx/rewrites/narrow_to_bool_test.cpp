// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/narrow_to_bool.h"

#include "tests/unit/compiler/codegen/ptx/rewrites/rewritten.h"

namespace tenon::compiler::codegen {
namespace {

struct Narrowed {
  unsigned count = 0;
  std::string text;
  bool has(const std::string &part) const { return text.find(part) != std::string::npos; }
};

/// A function that returns %r, which `body` makes of %x and %v.
Narrowed narrow(const std::string &type, const std::string &body) {
  const std::string text = "define " + type + " @f(float %x, <2 x half> %v) {\n" + body + "\nret " + type + " %r\n}\n";
  Narrowed result;
  result.text = rewritten(text, Printed::Module, [&](llvm::Module &module) { result.count = narrowToBool(module); });
  return result;
}

TEST(NarrowToBoolTest, GoesThroughAnIntegerWithTheSameSign) {
  Narrowed withSign = narrow("i1", "%r = fptosi float %x to i1");
  EXPECT_EQ(withSign.count, 1u);
  EXPECT_TRUE(withSign.has("fptosi float %x to i32") && withSign.has("trunc i32")) << withSign.text;
  Narrowed without = narrow("i1", "%r = fptoui float %x to i1");
  EXPECT_TRUE(without.has("fptoui float %x to i32") && without.has("trunc i32")) << without.text;
}

TEST(NarrowToBoolTest, TakesVectors) {
  Narrowed vector = narrow("<2 x i1>", "%r = fptosi <2 x half> %v to <2 x i1>");
  EXPECT_EQ(vector.count, 1u);
  EXPECT_TRUE(vector.has("fptosi <2 x half> %v to <2 x i32>") && vector.has("trunc <2 x i32>")) << vector.text;
}

TEST(NarrowToBoolTest, LeavesOtherConversions) {
  EXPECT_EQ(narrow("i8", "%r = fptosi float %x to i8").count, 0u);
  EXPECT_EQ(narrow("i1", "%i = bitcast float %x to i32\n%r = trunc i32 %i to i1").count, 0u);
}

} // namespace
} // namespace tenon::compiler::codegen
