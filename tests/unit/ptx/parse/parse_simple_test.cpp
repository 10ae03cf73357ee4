// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The short way and the long way through an instruction make the same of it. A comment inside an instruction is what
// only the long way takes, so each line is parsed with and without one.
#include "tests/unit/ptx/module_equality.h"
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {
using namespace test;

/// A comment before the last `;`.
std::string withComment(std::string line) {
  return line.insert(line.rfind(';'), "/**/");
}

class PtxParseSimple : public ::testing::TestWithParam<const char *> {};

TEST_P(PtxParseSimple, AgreesWithTheParserOfAllOfPtx) {
  Parsed quick = parseModule(std::string(".entry k() {\n\t") + GetParam() + "\n}\n");
  Parsed slow = parseModule(".entry k() {\n\t" + withComment(GetParam()) + "\n}\n");
  ASSERT_EQ(quick.errors, "");
  ASSERT_EQ(slow.errors, "");
  const Function &a = quick.module.functions[0], &b = slow.module.functions[0];
  ASSERT_TRUE(equal(a, b)) << GetParam();
  ASSERT_EQ(a.instructions.size(), 1u);
  EXPECT_EQ(a.instructions[0].line, b.instructions[0].line);
  EXPECT_EQ(a.instructions[0].column, b.instructions[0].column);
  EXPECT_EQ(a.instructions[0].range.begin, b.instructions[0].range.begin);
  EXPECT_EQ(a.instructions[0].range.end + 4, b.instructions[0].range.end);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, PtxParseSimple,
    ::testing::Values("ret;", "@%p1 bra $L__BB0_2;", "@!%p1 bra $L__BB0_2;", "add.s32 \t%r1, %r2, %r3;",
                      "ld.param.u64 %rd3, [k_param_0];", "ld.global.nc.L2::128B.v2.f32 {%f1, %f2}, [%rd1+16];",
                      "ld.global.f32 %f1, [%rd1+-16];", "ld.global.f32 %f1, [%rd1-16];", "ld.global.f32 %f1, [ %rd1 ];",
                      "mov.u32 %r1, %tid.x;", "mov.b32 %r1, -5;", "mov.b32 %r1, 0;", "mov.b32 %r1, 017;",
                      "mov.b32 %r1, 0x1f;", "mov.b64 %rd1, 18446744073709551615;", "mov.b64 %rd1, 123456789012345678;",
                      "mov.f32 %f1, 0f3F800000;", "mov.f64 %fd1, 0d3FF0000000000000;", "mov.f32 %f1, 1.5;",
                      "mov.f32 %f1, -0f3F800000;", "mov.b32 %r1, WARP_SZ;", "mov.b32 %r1, 4*2;", "mov.b64 %rd1, sym+8;",
                      "setp.lt.s32 %p1|%p2, %r1, %r2;", "and.pred %p1, %p2, !%p3;", "neg.s32 %r1, -%r2;",
                      "mov.b64 {%r1, _}, %rd1;", "mov.b64 %rd1, {%r1, 3};",
                      "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, "
                      "{%f5, %f6}];",
                      "ld.u32 %r1, [a].unified;", "call.uni f, (%r1);", "call (%r1), f;",
                      "prmt.b32 %r1, %r2, %r3, 0x7632U;", "st.global.v4.f32 [%rd7], {%f21, %f20, %f19, %f18};",
                      "bar.sync 0;", "mov.u32 %r1, %r2.b0;", "red.async.relaxed.cluster.global.add.u32 [%rd1], %r1;",
                      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, "
                      "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11,%r12,%r13}, {%r1}, {%f1};"));

class PtxParseSimpleDeclaration : public ::testing::TestWithParam<const char *> {};

/// The comment goes before the first dot behind the state space, where the short way looks for a type.
TEST_P(PtxParseSimpleDeclaration, AgreesWithTheParserOfAllOfPtx) {
  const std::string line = GetParam();
  std::string commented = line;
  commented.insert(commented.find(' '), "/**/");
  for (const bool isParameter : {false, true}) {
    auto parsed = [&](const std::string &text) {
      return isParameter ? parseModule(".entry k(\n\t" + text + ",\n\t" + text + "x // last\n) {\nret;\n}\n")
                         : parseModule(".entry k() {\n\t" + text + ";\nret;\n}\n");
    };
    Parsed quick = parsed(line), slow = parsed(commented);
    const auto withoutPlaces = [](const std::string &errors) {
      std::string text;
      for (size_t at = 0; at < errors.size(); ++at)
        if (errors[at] < '0' || errors[at] > '9')
          text += errors[at];
      return text.substr(0, text.find('\n'));
    };
    ASSERT_EQ(withoutPlaces(quick.errors), withoutPlaces(slow.errors)) << line;
    if (!quick.errors.empty())
      continue;
    const Function &a = quick.module.functions[0], &b = slow.module.functions[0];
    ASSERT_TRUE(equal(a, b)) << line;
    const std::vector<Variable> &x = isParameter ? a.parameters : a.declarations;
    const std::vector<Variable> &y = isParameter ? b.parameters : b.declarations;
    ASSERT_EQ(x.size(), isParameter ? 2u : 1u);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(x[i].line, y[i].line);
      EXPECT_EQ(x[i].column + 4, y[i].column);
      EXPECT_EQ(x[i].range.begin + 4 * i, y[i].range.begin);
      EXPECT_EQ(x[i].range.end + 4 * (i + 1), y[i].range.end);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, PtxParseSimpleDeclaration,
                         ::testing::Values(".reg .b32 \t%r<12>", ".reg .pred %p", ".reg .b64 %rd<16777216>",
                                           ".reg .b64 %rd<16777217>", ".reg .b64 %rd<0>", ".reg .b64 %rd<07>",
                                           ".reg .b64 %rd< 7>", ".param .u64 p", ".param .u64 .ptr p",
                                           ".param .u64 .ptr .align 1 p", ".param .u64 .ptr .global .align 16 p",
                                           ".param .u64 .ptr .shared p", ".param .u64 .ptr .align 3 p",
                                           ".param .u64 .ptr .nowhere p", ".param .align 8 .b8 p[16]",
                                           ".param .v2 .f32 p", ".param .u64 %", ".param .u64 .u32 p",
                                           ".param .b32 p<3>", ".shared .b32 p", ".reg .x32 p"));

TEST(PtxParseSimple, MarksEndWithTheirNumbers) {
  Parsed parsed =
      parseModule(".entry k() {\n.loc 1 2 3\n.loc\t1 4 5, function_name a, inlined_at 1 6 7\n.loc 1 8 9\n// x\n"
                  ", function_name b, inlined_at 1 10 11\n.loc 1 0x10 2\nret;\n}\n");
  ASSERT_EQ(parsed.errors, "");
  const std::vector<SourceMark> &marks = parsed.module.functions[0].marks;
  ASSERT_EQ(marks.size(), 4u);
  EXPECT_EQ(marks[0].line, 2u);
  EXPECT_EQ(marks[0].inlinedLine, 0u);
  EXPECT_EQ(marks[1].inlinedLine, 6u);
  EXPECT_EQ(marks[2].functionName, "b");
  EXPECT_EQ(marks[2].inlinedLine, 10u);
  EXPECT_EQ(marks[3].line, 16u);
}

TEST(PtxParseSimple, SpellingsAreNumberedWithinAModule) {
  Parsed parsed =
      parseModule(".entry k() {\nadd.s32 %r1, %r2, %r3;\nret;\nadd.s32 %r4, %r5, %r6;\n}\n"
                  ".entry l() {\nadd.s32 %r1, %r2, %r3;\nadd.u32 %r1, %r2, %r3;\nld.u32 %r1, [a].unified;\n}\n");
  ASSERT_EQ(parsed.errors, "");
  const List<std::string_view> &modifiers = parsed.module.functions[0].instructions[2].modifiers;
  ASSERT_EQ(modifiers.size(), 1u);
  EXPECT_EQ(modifiers[0], "s32");
  auto number = [&](size_t function, size_t i) { return parsed.module.functions[function].instructions[i].spelling; };
  EXPECT_EQ(number(0, 0), number(0, 2));
  EXPECT_EQ(number(0, 0), number(1, 0));
  EXPECT_NE(number(0, 0), number(0, 1));
  EXPECT_NE(number(0, 0), number(1, 1));
  EXPECT_EQ(number(1, 2), kNoSpelling);
}

TEST(PtxParseSimple, LabelsKeepTheirTables) {
  Parsed parsed = parseModule(".entry k() {\nA:\nT:\n.branchtargets A, B;\nbrx.idx %r1, T;\nB: ret;\n}\n");
  ASSERT_EQ(parsed.errors, "");
  const Function &function = parsed.module.functions[0];
  EXPECT_EQ(function.tables.size(), 1u);
  EXPECT_EQ(function.instructions.size(), 2u);
  EXPECT_EQ(function.statements.size(), 5u);
  EXPECT_EQ(function.instructions[1].line, 9u);
  EXPECT_EQ(function.instructions[1].column, 4u);
}

TEST(PtxParseSimple, ErrorsKeepTheirPlaces) {
  Parsed parsed = parseModule(".entry k() {\nadd.s32 %r1, %r2;\nadd.s32 %r1 %r2;\nmov.u32 %r1, %r2\nret;\n}\n");
  EXPECT_NE(parsed.errors.find("k.ptx:6:13: error: [P-4]"), std::string::npos) << parsed.errors;
  EXPECT_NE(parsed.errors.find("k.ptx:7:17: error: [P-4]"), std::string::npos) << parsed.errors;
}

TEST(PtxBodies, AreShownOneByOneAndReadAgain) {
  const std::string text = std::string(kHeader) +
                           ".visible .entry a(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, "
                           "[p]; ret; }\n.func f();\n.func f() {\n  bar.sync 0;\n  ret;\n}\n";
  auto source = std::make_shared<SourceFile>("k.ptx", text);
  Diagnostics diagnostics;
  Module whole = parse(source, diagnostics);
  std::vector<std::string> shown;
  Module module = parseBodies(source, diagnostics, [&](const Module &so, const Function &function) {
    EXPECT_EQ(&function, &so.functions.back());
    EXPECT_TRUE(equal(function, whole.functions[so.functions.size() - 1]));
    shown.emplace_back(function.name);
  });
  EXPECT_EQ(diagnostics.toString(), "");
  EXPECT_EQ(shown, (std::vector<std::string>{"a", "f"}));
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_TRUE(module.functions[0].instructions.empty());
  EXPECT_FALSE(module.functions[0].isDeclaration);
  EXPECT_EQ(module.functions[0].parameters.size(), 1u);
  Arena arena;
  const Function again = parseBody(module, module.functions[2], arena);
  EXPECT_TRUE(equal(again, whole.functions[2]));
  EXPECT_EQ(again.instructions[1].line, whole.functions[2].instructions[1].line);
  EXPECT_EQ(again.instructions[1].column, whole.functions[2].instructions[1].column);
}

TEST(PtxBodies, AreNotShownBehindAnError) {
  auto source = std::make_shared<SourceFile>("k.ptx", std::string(kHeader) +
                                                          ".entry a() { add %r1 %r2; }\n.entry b() { ret; }\n");
  Diagnostics diagnostics;
  int shown = 0;
  parseBodies(source, diagnostics, [&](const Module &, const Function &) { ++shown; });
  EXPECT_TRUE(diagnostics.hasErrors());
  EXPECT_EQ(shown, 0);
}

} // namespace
} // namespace tenon::ptx
