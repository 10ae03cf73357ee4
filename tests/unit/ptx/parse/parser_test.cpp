// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/parse/parser.h"
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {
using namespace test;

TEST(PtxParser, ReadsTheHeader) {
  Parsed parsed =
      parseText("// made by hand\n.version 8.3\n.target sm_90a, debug, texmode_independent\n.address_size 64\n");
  EXPECT_EQ(parsed.errors, "");
  EXPECT_EQ(parsed.module.isa, 83);
  EXPECT_EQ(parsed.module.target, (abi::TargetArch{90, abi::ArchSuffix::A}));
  EXPECT_EQ(parsed.module.targetOptions, (std::vector<std::string_view>{"debug", "texmode_independent"}));
  EXPECT_EQ(parsed.module.addressSize, 64u);
  EXPECT_EQ(parsed.module.versionAt, (SourceLocation{"k.ptx", 2, 1}));
  EXPECT_EQ(parsed.module.targetAt, (SourceLocation{"k.ptx", 3, 1}));
  EXPECT_EQ(parsed.module.addressSizeAt, (SourceLocation{"k.ptx", 4, 1}));
}

TEST(PtxParser, ReportsABadHeader) {
  const std::string fix = "fix: a PTX file begins: .version 8.0  .target sm_80  .address_size 64\n";
  auto errors = [](std::string text) { return parseText(std::move(text)).errors; };
  EXPECT_EQ(errors(""), "k.ptx:1:1: error: [P-6] found the end of the file before a '.version'\n" + fix);
  EXPECT_EQ(errors(".target sm_80"), "k.ptx:1:1: error: [P-6] found '.target' before a '.version'\n" + fix);
  EXPECT_EQ(errors(".target sm_80 .target sm_90 .version 8.0").substr(0, 61),
            "k.ptx:1:1: error: [P-6] found '.target' before a '.version'\nf");
  EXPECT_EQ(errors(".version 8.0\n.entry k() { ret; }"),
            "k.ptx:2:1: error: [P-6] found '.entry' before a '.target'\n" + fix);
  EXPECT_EQ(errors(".version 8.0\n.global .u32 x;\n.global .u32 y;"),
            "k.ptx:2:1: error: [P-6] found '.global' before a '.target'\n" + fix);
  EXPECT_EQ(errors(".version 80 .target sm_80"), "k.ptx:1:10: error: [P-6] found '80', expected a version\n"
                                                 "fix: write it as in '.version 8.0'\n");
  EXPECT_EQ(errors(".version 8.0 .target gpu_80"),
            "k.ptx:1:28: error: [P-6] found the end of the file before a '.target'\n" + fix);
  EXPECT_EQ(errors(".version 8.0 .target compute_80"),
            "k.ptx:1:22: error: [P-6] found 'compute_80', expected an architecture like 'sm_80' or 'sm_90a'\n");
  EXPECT_EQ(errors(".version 8.0 .target sm_80, sm_90"),
            "k.ptx:1:29: error: [P-6] found a second architecture, 'sm_90'\nfix: name one architecture per file\n");
  EXPECT_EQ(errors(".version 8.0 .target sm_80 .address_size 16"),
            "k.ptx:1:42: error: [P-6] found '16', expected 64 (or 32) bits of address\n");
  EXPECT_EQ(errors(".version 8.0 .target 5"),
            "k.ptx:1:22: error: [P-4] found '5', expected an architecture like 'sm_80'\n");
}

TEST(PtxParser, SkipsDebugSectionsAndKeepsFiles) {
  Parsed parsed = parseModule(R"(
.file 1 "/a/b.cu"
.file 2 "C:\c.cuh", 1700000000, 512
.section .debug_info
{
.b32 45 // length
.b64 $L__func_begin0
.b32 .debug_abbrev+10
info: .b8 1,2,0x3,-4
}
.section	.debug_empty { }
.alias f, g;
.pragma "one", "two";
)");
  EXPECT_EQ(parsed.errors, "");
  ASSERT_EQ(parsed.module.files.size(), 2u);
  EXPECT_EQ(parsed.module.files[0].number, 1u);
  EXPECT_EQ(parsed.module.files[0].path, "/a/b.cu");
  EXPECT_EQ(parsed.module.files[1].path, "C:\\c.cuh");
  ASSERT_EQ(parsed.module.aliases.size(), 1u);
  EXPECT_EQ(parsed.module.aliases[0].name, "f");
  EXPECT_EQ(parsed.module.aliases[0].target, "g");
  EXPECT_EQ(parsed.module.aliases[0].line, 15u);
  EXPECT_EQ(parsed.module.pragmas, (std::vector<std::string_view>{"one", "two"}));
}

TEST(PtxParser, ReportsEveryErrorAndKeepsTheRest) {
  Parsed parsed = parseModule(".global .u33 a;\n"
                              ".global .u32 b;\n"
                              ".global .u32 c[2] = {1, 2, 3};\n"
                              ".entry k(.param .u64 p) .maxntd 3 { ret; }\n"
                              ".visible .entry l() { add.s32 %r1 %r2; mov.b64 %rd1, {%r1 %r2}; ret; }\n"
                              ".entry m() { ret; }\n");
  EXPECT_EQ(parsed.errors,
            "k.ptx:4:9: error: [P-7] found '.u33', expected a type\n"
            "fix: types are .pred, .b8 to .b128, .u8 to .u64, .s8 to .s64, .f16 to .f64, .bf16, .texref, .samplerref, "
            ".surfref\n"
            "k.ptx:6:28: error: [P-10] found one value too many for 'c'\n"
            "fix: there is room for 2 in these braces\n"
            "k.ptx:7:25: error: [P-5] '.maxntd' is not a directive that can stand here\n"
            "fix: did you mean '.maxntid'?\n"
            "k.ptx:8:35: error: [P-4] found '%r2', expected ',' or ';'\n"
            "k.ptx:8:59: error: [P-4] found '%r2', expected ',' or '}'\n");
  ASSERT_EQ(parsed.module.variables.size(), 1u);
  EXPECT_EQ(parsed.module.variables[0].name, "b");
  ASSERT_EQ(parsed.module.functions.size(), 2u);
  EXPECT_EQ(parsed.module.functions[0].name, "l");
  ASSERT_EQ(parsed.module.functions[0].instructions.size(), 1u);
  EXPECT_EQ(parsed.module.functions[0].instructions[0].opcode, "ret");
}

TEST(PtxParser, GoesOnAtTheNextFunctionWhenABodyIsOpen) {
  Parsed parsed = parseModule(".entry k() { ret;\n.visible .entry l() { ret; }\n");
  EXPECT_EQ(parsed.errors, "k.ptx:5:1: error: [P-11] found '.visible', but the body of 'k' at line 4 is not closed\n"
                           "fix: write '}' where the body ends\n");
  EXPECT_NE(parsed.module.findFunction("l"), nullptr);
}

TEST(PtxParser, StopsAfterAHundredErrors) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += "garbage;\n";
  Diagnostics diagnostics;
  parse(std::make_shared<SourceFile>("k.ptx", std::string(kHeader) + text), diagnostics);
  EXPECT_EQ(diagnostics.errorCount(), 101u);
  EXPECT_EQ(diagnostics.items().back().rule, "P-13");
}

TEST(PtxParser, KeepsItsSourceWhenMoved) {
  Module moved;
  {
    Parsed parsed = parseModule(".entry kernelWithALongName() { ret; }");
    moved = std::move(parsed.module);
  }
  EXPECT_EQ(moved.functions[0].name, "kernelWithALongName");
  EXPECT_EQ(moved.functions[0].name.data(), moved.source->text().data() + moved.source->text().find("kernelWith"));
}

TEST(PtxParser, ReportsEveryErrorOfAModule) {
  const ErrorCase cases[] = {
      {R"(.version 9.0)", "k.ptx:4:1: error: [P-6] found a second '.version'\n"
                          "fix: one file holds one module: pass the parts as separate objects\n"},
      {R"(add.s32 %r1, %r2, %r3;)", "k.ptx:4:1: error: [P-4] found 'add', expected a directive\n"
                                    "fix: at module level stand .version .target .address_size .file .section .alias "
                                    ".pragma, variables, .func and .entry\n"},
      {R"(.visble .entry k() { ret; })", "k.ptx:4:1: error: [P-5] '.visble' is not a directive that can stand here\n"
                                         "fix: did you mean '.visible'?\n"},
      {R"(.vector .u32 x;)", "k.ptx:4:1: error: [P-5] '.vector' is not a directive that can stand here\n"
                             "fix: at module level stand .version .target .address_size .file .section .alias .pragma, "
                             "variables, .func and .entry\n"},
      {R"(.visible 5;)", "k.ptx:4:10: error: [P-4] found '5', expected a variable or a function\n"},
      {R"(.visible .extern .global .u32 x;)", "k.ptx:4:10: error: [P-4] found a second linking directive, '.extern'\n"
                                              "fix: write one of .extern .visible .weak .common\n"},
      {R"(.reg .b32 x;)", "k.ptx:4:1: error: [P-7] variables of '.reg' cannot stand at module level\n"
                          "fix: declare it inside a function, or use .global, .const or .shared\n"},
      {R"(.file -1 "x")", "k.ptx:4:7: error: [P-4] found '-', expected the number of a file\n"},
      {R"(.file 1 "x", -1)",
       "k.ptx:4:14: error: [P-8] found '-1' as a time or a size, expected an integer from 0 to 18446744073709551615\n"},
      {R"(.func .attribute(.unified(-1, 0)) f();)",
       "k.ptx:4:27: error: [P-8] found '-1' as half of an identifier, expected an integer from 0 to "
       "18446744073709551615\n"},
      {R"(.alias a b;)", "k.ptx:4:10: error: [P-4] found 'b', expected ','\n"},
      {R"(.alias 5, b;)", "k.ptx:4:8: error: [P-4] found '5', expected the name of an alias\n"},
      {R"(.alias a, 5;)", "k.ptx:4:11: error: [P-4] found '5', expected the function that the alias stands for\n"},
      {R"(.file "x" "y")", "k.ptx:4:7: error: [P-4] found '\"x\"', expected the number of a file\n"},
      {R"(.file 1 x)", "k.ptx:4:9: error: [P-4] found 'x', expected the path of a file in quotes\n"},
      {R"(.section 5 { })", "k.ptx:4:10: error: [P-4] found '5', expected the name of a section\n"},
      {R"(.section .debug_x 5)", "k.ptx:4:19: error: [P-4] found '5', expected '{'\n"},
      {R"(.section .debug_x { .b8 1)",
       "k.ptx:4:26: error: [P-11] the section is not closed before the end of the file\n"
       "fix: write '}' where it ends\n"},
      {R"(.pragma nounroll;)", "k.ptx:4:9: error: [P-4] found 'nounroll', expected a pragma in quotes\n"},
      {R"(.target sm_80)", "k.ptx:4:1: error: [P-6] found a second '.target'\n"
                           "fix: list options after the first: .target sm_80, debug\n"},
      {R"(.global .attribute(.weird) .u32 x;)",
       "k.ptx:4:20: error: [P-4] found '.weird', expected '.managed' or '.unified'\n"},
      {R"(.func .attribute(.managed) f() { ret; })",
       "k.ptx:4:18: error: [P-4] found '.managed', expected '.unified'\n"},
      {R"(.global .attribute .managed .u32 x;)", "k.ptx:4:20: error: [P-4] found '.managed', expected '('\n"},
  };
  for (const ErrorCase &c : cases)
    EXPECT_EQ(moduleErrors(c.text), c.errors) << c.text;
}

} // namespace
} // namespace tenon::ptx
