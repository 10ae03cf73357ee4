// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/symbol/merge_ptx.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// Merges modules for sm_80 made of these bodies, named 0.ptx, 1.ptx, ...
struct Merged {
  Diagnostics diagnostics;
  std::vector<ObjectInput> inputs;
  std::string text;
  std::vector<LineOrigin> lines;

  explicit Merged(std::vector<std::string> bodies) {
    for (const std::string &body : bodies)
      inputs.push_back({.path = concat(inputs.size(), ".ptx"), .bytes = body});
    std::vector<std::unique_ptr<Object>> objects;
    std::vector<const Object *> borrowed;
    for (const ObjectInput &input : inputs) {
      objects.push_back(parseObject(input, diagnostics));
      EXPECT_NE(objects.back(), nullptr) << diagnostics.toString();
      borrowed.push_back(objects.back().get());
    }
    if (std::optional<MergedText> merged = mergePtx(borrowed, diagnostics)) {
      text = merged->text;
      lines = merged->lines;
      ObjectInput result{.path = "merged.ptx", .bytes = text};
      EXPECT_NE(parseObject(result, diagnostics), nullptr) << diagnostics.toString() << text;
    }
  }
  bool has(std::string_view part) const { return text.find(part) != std::string::npos; }
  size_t count(std::string_view part) const {
    size_t n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  }
  bool reports(std::string_view part) const { return diagnostics.toString().find(part) != std::string::npos; }
};

TEST(MergePtx, WritesOneHeaderWithTheHighestVersion) {
  Merged merged({ptxModule(entry("a", "p"), "sm_80", "8.0"), ptxModule(entry("b", "p"), "sm_80, debug", "8.3")});
  EXPECT_TRUE(merged.text.starts_with(".version 8.3\n.target sm_80\n.address_size 64\n")) << merged.text;
  EXPECT_EQ(merged.count(".version"), 1u);
  EXPECT_EQ(merged.count("debug"), 0u);
}

TEST(MergePtx, DeclarationsMetLaterTakeTheDefinitionsLinkage) {
  Merged merged({ptxModule(".extern .func f(.param .b32 x);\n"), ptxModule(".weak .func f(.param .b32 y) { ret; }\n")});
  EXPECT_TRUE(merged.has(".weak .func f(.param .b32 x);\n.weak .func f(.param .b32 y) { ret; }\n")) << merged.text;
}

TEST(MergePtx, DeclarationsMetBeforeGo) {
  Merged merged({ptxModule(".visible .func f() { ret; }\n.visible .global .b32 v = 3;\n"),
                 ptxModule(".extern .func f();\n.extern .global .b32 v;\n.extern .func vprintf();\n")});
  EXPECT_EQ(merged.count(".func f"), 1u) << merged.text;
  EXPECT_EQ(merged.count(".b32 v"), 1u) << merged.text;
  EXPECT_TRUE(merged.has(".extern .func vprintf();")) << "nobody defines it: " << merged.text;
}

TEST(MergePtx, VariablesDefinedLaterMoveToTheFront) {
  Merged merged({ptxModule(".extern .global .align 4 .b32 v[2];\n" + entry("k", "p")),
                 ptxModule("\n.visible .global .align 4 .b32 v[2] = {1, // one\n 2};\n")});
  EXPECT_EQ(merged.count(".b32 v"), 1u) << merged.text;
  EXPECT_LT(merged.text.find(".b32 v"), merged.text.find(".entry k")) << merged.text;
  EXPECT_EQ(merged.lines[3].input->path, "1.ptx");
  EXPECT_EQ(merged.lines[3].line, 5u);
}

TEST(MergePtx, LosingWeakDefinitionsGo) {
  Merged first({ptxModule(".weak .func f() { ret; }\n"), ptxModule(".weak .func f() { exit; }\n")});
  EXPECT_TRUE(first.has("ret") && !first.has("exit")) << first.text;
  Merged strong({ptxModule(".weak .func f() { ret; }\n"), ptxModule(".visible .func f() { exit; }\n")});
  EXPECT_TRUE(strong.has(".visible .func f() ;")) << strong.text;
  EXPECT_TRUE(strong.has("exit") && !strong.has("ret;")) << strong.text;
}

TEST(MergePtx, PrivateNamesThatCollideAreRenamedThroughoutTheirObject) {
  const std::string body = ".global .b8 $str[2] = {1};\n.func f() { .reg .b64 r; mov.u64 r, $str; ret; }\n";
  Merged merged({ptxModule(body + entry("a", "p", "", "  call f; // f\n")),
                 ptxModule(body + entry("b", "p", "", "  call f;\n"))});
  EXPECT_EQ(merged.count("$str$0"), 2u) << merged.text;
  EXPECT_EQ(merged.count("$str$1"), 2u) << merged.text;
  EXPECT_TRUE(merged.has("call f$0; // f\n") && merged.has("call f$1;")) << merged.text;
}

TEST(MergePtx, PrivateNamesGiveWayToSharedOnes) {
  Merged merged({ptxModule(".func f() { ret; }\n" + entry("a", "p", "", "  call f;\n")),
                 ptxModule(".visible .func f() { ret; }\n" + entry("b", "p", "", "  call f;\n")),
                 ptxModule(".extern .func f();\n" + entry("c", "p", "", "  call f;\n"))});
  EXPECT_TRUE(merged.has("call f$0;")) << merged.text;
  EXPECT_EQ(merged.count("call f;"), 2u) << merged.text;
}

TEST(MergePtx, LeavesDebugInformationOut) {
  Merged merged({ptxModule(".visible .entry a()\n{\n  .loc 1 4 0\n  .loc 1 5 3, function_name L+2, inlined_at 1 7 1\n"
                           "  ret;\n}\n.file 1 \"a.cu\", 12, 34\n.section .debug_str\n{\nL:\n.b8 95,0\n}\n"),
                 ptxModule(entry("b", "p"))});
  for (const char *word : {".loc", ".file", ".section", "inlined_at", "95", "L:"})
    EXPECT_FALSE(merged.has(word)) << word << "\n" << merged.text;
  EXPECT_TRUE(merged.has("  ret;\n}\n")) << merged.text;
}

TEST(MergePtx, RefusesDeclarationsThatDiffer) {
  Merged function(
      {ptxModule(".extern .func f(.param .b32 x);\n"), ptxModule(".visible .func f(.param .b64 x) { ret; }\n")});
  EXPECT_TRUE(
      function.reports("0.ptx:4:14: error: [K-10] 'f' is declared otherwise than it is defined in another object\n"
                       "1.ptx:4:16: note: defined here\n") ||
      function.reports("0.ptx:4:15: error: [K-10] 'f' is declared otherwise than it is defined in another object\n"
                       "1.ptx:4:16: note: defined here\n"))
      << function.diagnostics.toString();
  Merged variable({ptxModule(".extern .global .b32 v;\n"), ptxModule(".visible .const .b32 v;\n")});
  EXPECT_TRUE(variable.reports("[K-10] 'v' is declared otherwise")) << variable.diagnostics.toString();
}

TEST(MergePtx, RefusesWhatItCannotMove) {
  Merged address({ptxModule(".extern .global .align 8 .u64 t[1];\n"),
                  ptxModule(".visible .func f() { ret; }\n.visible .global .align 8 .u64 t[1] = {f};\n")});
  EXPECT_TRUE(
      address.reports("[K-10] variable 't' is used by an object before this one and its initialiser holds an address"))
      << address.diagnostics.toString();
  Merged together({ptxModule(".extern .global .b32 a, b;\n"), ptxModule(".visible .global .b32 a;\n")});
  EXPECT_TRUE(together.reports("[K-10] 'b' is declared together with 'a' and defined nowhere"))
      << together.diagnostics.toString();
  Merged registers({ptxModule(".global .b32 r1;\n" + entry("a", "p", "", "  .reg .b32 r<4>;\n  mov.b32 r0, r1;\n")),
                    ptxModule(".global .b32 r1;\n" + entry("b", "p"))});
  EXPECT_TRUE(registers.reports("[K-10] private name 'r1' is taken in another object and names a register here"))
      << registers.diagnostics.toString();
  Merged option({ptxModule(entry("a", "p"), "sm_80, texmode_independent"), ptxModule(entry("b", "p"))});
  EXPECT_TRUE(option.reports("has target option 'texmode_independent', which is not supported"))
      << option.diagnostics.toString();
  Merged alias(
      {ptxModule(".visible .func g() { ret; }\n.visible .func f();\n.alias f, g;\n"), ptxModule(entry("b", "p"))});
  EXPECT_TRUE(alias.reports("has .alias 'f', which is not supported")) << alias.diagnostics.toString();
}

TEST(MergePtx, TellsWhereEachLineCameFrom) {
  Merged merged(
      {ptxModule(".extern .func f();\n\n" + entry("a", "p")), ptxModule("// second\n.visible .func f() { ret; }\n")});
  ASSERT_GE(merged.lines.size(), 5u);
  EXPECT_EQ(merged.lines[3].line, 4u);
  EXPECT_EQ(merged.lines[4].line, 6u) << "blank lines are left out";
  EXPECT_EQ(merged.lines.back().input->path, "1.ptx");
  EXPECT_EQ(merged.lines.back().line, 5u);
}

} // namespace
} // namespace tenon::linker
