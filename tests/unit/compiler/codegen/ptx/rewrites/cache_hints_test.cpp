// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/cache_hints.h"

#include "tests/unit/compiler/codegen/ptx/rewrites/rewritten.h"

namespace tenon::compiler::codegen {
namespace {

/// A function that loads `type` by `load` ("align 16, !nontemporal !0") from `space`, with its hints.
std::string hinted(const std::string &type, const std::string &load, unsigned space = 1) {
  const std::string pointer = "ptr addrspace(" + std::to_string(space) + ") %p";
  const std::string text = "define " + type + " @f(" + pointer + ") {\n%r = load " + type + ", " + pointer + ", " +
                           load + "\nret " + type + " %r\n}\n!0 = !{i32 1}\n";
  return rewritten(text, Printed::FunctionF, [](llvm::Module &module) { addCacheHints(module); });
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(CacheHintsTest, VectorsOf16And8BytesOfAnyElement) {
  for (const char *type : {"<4 x float>", "<8 x bfloat>", "<2 x double>", "<2 x i64>"}) {
    const std::string text = hinted(type, "align 16, !nontemporal !0");
    EXPECT_TRUE(has(text, "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;")) << text;
    EXPECT_TRUE(has(text, "cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;")) << text;
    EXPECT_FALSE(has(text, " load ")) << text;
  }
  EXPECT_TRUE(has(hinted("<8 x i8>", "align 8, !nontemporal !0"), "cache_hint.v2.b32 {$0, $1}, [$2], $3;"));
}

TEST(CacheHintsTest, OthersStay) {
  EXPECT_TRUE(has(hinted("<4 x float>", "align 16"), " load "));
  EXPECT_TRUE(has(hinted("float", "align 4, !nontemporal !0"), " load "));
  EXPECT_TRUE(has(hinted("<4 x i8>", "align 4, !nontemporal !0"), " load "));
  EXPECT_TRUE(has(hinted("<4 x float>", "align 8, !nontemporal !0"), " load ")) << "would fault";
  EXPECT_TRUE(has(hinted("<4 x float>", "align 16, !nontemporal !0", 3), " load ")) << "shared memory";
}

} // namespace
} // namespace tenon::compiler::codegen
