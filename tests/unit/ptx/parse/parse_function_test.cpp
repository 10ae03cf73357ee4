// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {
using namespace test;

using Extents = std::array<uint32_t, 3>;
using Kind = Statement::Kind;

TEST(PtxFunction, ReadsAKernelsHeader) {
  Parsed parsed = parseModule(".visible .entry k(.param .u64 p, .param .u32 n)\n"
                              ".maxntid 256, 2\n.reqntid 128\n.minnctapersm 3 .maxnreg 64\n.explicitcluster\n"
                              ".reqnctapercluster 2, 1, 1 .maxclusterrank 8 .blocksareclusters .pragma \"a\", \"b\";\n"
                              "{ ret; }\n");
  ASSERT_EQ(parsed.errors, "");
  const Function &k = parsed.module.functions[0];
  EXPECT_TRUE(k.isEntry);
  EXPECT_TRUE(k.isVisible);
  EXPECT_FALSE(k.isDeclaration);
  EXPECT_EQ(k.name, "k");
  EXPECT_EQ(k.line, 4u);
  EXPECT_EQ(k.column, 17u);
  ASSERT_EQ(k.parameters.size(), 2u);
  EXPECT_EQ(k.parameters[1].name, "n");
  EXPECT_EQ(k.parameters[1].type, ScalarType::U32);
  EXPECT_EQ(k.maxThreads, (Extents{256, 2, 1}));
  EXPECT_EQ(k.requiredThreads, (Extents{128, 1, 1}));
  EXPECT_EQ(k.minBlocksPerSm, 3u);
  EXPECT_EQ(k.maxRegisters, 64u);
  EXPECT_TRUE(k.explicitCluster);
  EXPECT_EQ(k.requiredCluster, (Extents{2, 1, 1}));
  EXPECT_EQ(k.maxClusterRank, 8u);
  EXPECT_TRUE(k.blocksAreClusters);
  EXPECT_EQ(k.pragmas, (std::vector<std::string_view>{"a", "b"}));
  std::string_view text = parsed.module.source->text();
  std::string_view whole = text.substr(k.range.begin, k.range.end - k.range.begin);
  EXPECT_TRUE(whole.starts_with(".visible .entry k("));
  EXPECT_TRUE(whole.ends_with("{ ret; }"));
}

TEST(PtxFunction, ReadsFunctionsAndDeclarations) {
  Parsed parsed =
      parseModule(".extern .func (.param .b32 r) vprintf\n(\n.param .b64 a,\n.param .b64 b\n)\n;\n"
                  ".extern .func stop() .noreturn;\n"
                  ".weak .func (.reg .b32 r, .reg .b64 s) two(.reg .b32 x) { ret; }\n"
                  ".func .attribute(.unified(0xABCD, 1)) none .abi_preserve 3 .abi_preserve_control 1 { ret; }\n"
                  ".entry old .maxnctapersm 2 { ret; }\n");
  ASSERT_EQ(parsed.errors, "");
  const std::vector<Function> &functions = parsed.module.functions;
  ASSERT_EQ(functions.size(), 5u);
  EXPECT_TRUE(functions[0].isDeclaration);
  EXPECT_TRUE(functions[0].isExtern);
  EXPECT_EQ(functions[0].returns.size(), 1u);
  EXPECT_EQ(functions[0].parameters.size(), 2u);
  EXPECT_FALSE(functions[0].noReturn);
  EXPECT_TRUE(functions[1].noReturn);
  EXPECT_TRUE(functions[2].isWeak);
  EXPECT_EQ(functions[2].returns[1].space, StateSpace::Reg);
  EXPECT_FALSE(functions[3].isDeclaration);
  EXPECT_FALSE(functions[3].isEntry);
  EXPECT_EQ(functions[4].minBlocksPerSm, 2u);
}

TEST(PtxFunction, ListsStatementsInOrder) {
  Parsed parsed = parseModule(R"(.entry k() {
.reg .pred %p<2>, q;
.loc 1 12 3
{ .reg .b32 t; inner: mov.b32 t, 1; }
.pragma "nounroll";
$L__BB0_1 : @%p1 bra $L__BB0_1;
.loc	2 15 5, function_name $L__info_string0+4, inlined_at 1 8 3
ret;
})");
  ASSERT_EQ(parsed.errors, "");
  const Function &k = parsed.module.functions[0];
  std::vector<Kind> kinds;
  for (const Statement &statement : k.statements)
    kinds.push_back(statement.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::Declaration, Kind::Declaration, Kind::Loc, Kind::BlockBegin,
                                      Kind::Declaration, Kind::Label, Kind::Instruction, Kind::BlockEnd, Kind::Pragma,
                                      Kind::Label, Kind::Instruction, Kind::Loc, Kind::Instruction}));
  EXPECT_EQ(k.declarations[k.statements[4].index].name, "t");
  EXPECT_EQ(k.statements[5].name, "inner");
  EXPECT_EQ(k.statements[8].name, "nounroll");
  EXPECT_EQ(k.statements[9].name, "$L__BB0_1");
  EXPECT_EQ(k.instructions[k.statements[10].index].predicate, "%p1");
  ASSERT_EQ(k.marks.size(), 2u);
  EXPECT_EQ(k.marks[0].file, 1u);
  EXPECT_EQ(k.marks[0].line, 12u);
  EXPECT_EQ(k.marks[0].column, 3u);
  EXPECT_EQ(k.marks[1].functionName, "$L__info_string0");
  EXPECT_EQ(k.marks[1].inlinedFile, 1u);
  EXPECT_EQ(k.marks[1].inlinedLine, 8u);
  EXPECT_EQ(k.marks[1].inlinedColumn, 3u);
}

TEST(PtxFunction, ReadsTablesOfLabelsAndPrototypes) {
  Parsed parsed =
      parseBody("t: .branchtargets a,\n b, c;\nc: .calltargets f, g;\n"
                "prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;\n"
                "prototype_1 : .callprototype ()_ ();\nprototype_2: .callprototype _;");
  ASSERT_EQ(parsed.errors, "");
  const Function &k = parsed.module.functions[0];
  ASSERT_EQ(k.tables.size(), 5u);
  EXPECT_EQ(k.statements[0].kind, Kind::BranchTargets);
  EXPECT_EQ(k.statements[0].name, "t");
  EXPECT_EQ(k.tables[0].entries, (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(k.statements[1].kind, Kind::CallTargets);
  EXPECT_EQ(k.tables[1].entries, (std::vector<std::string_view>{"f", "g"}));
  EXPECT_EQ(k.statements[2].kind, Kind::CallPrototype);
  EXPECT_EQ(k.tables[2].returns.size(), 1u);
  ASSERT_EQ(k.tables[2].parameters.size(), 2u);
  EXPECT_EQ(k.tables[2].parameters[1].bytes(), 16u);
  EXPECT_TRUE(k.tables[2].noReturn);
  EXPECT_EQ(k.tables[2].line, 8u);
  EXPECT_FALSE(k.tables[3].noReturn);
}

TEST(PtxFunction, LimitsScopesButNotTheStack) {
  std::string text(100000, '{');
  EXPECT_EQ(bodyErrors(text), "k.ptx:5:256: error: [P-9] more than 256 scopes inside each other\n"
                              "k.ptx:8:1: error: [P-11] found the end of the file, but the body of 'k' at line 4 is "
                              "not closed\nfix: write '}' where the body ends\n");
}

TEST(PtxFunction, ReportsEveryErrorOfAModule) {
  const ErrorCase cases[] = {
      {R"(.common .func f() { ret; })",
       "k.ptx:4:1: error: [P-4] found '.common' on a function, expected .extern, .visible or .weak\n"},
      {R"(.entry (.param .b32 r) k() { ret; })", "k.ptx:4:8: error: [P-4] found '(', expected the name of a kernel\n"},
      {R"(.func 5() { ret; })", "k.ptx:4:7: error: [P-4] found '5', expected the name of a function\n"},
      {R"(.entry k() ret;)",
       "k.ptx:4:12: error: [P-4] found 'ret', expected '{' or ';' after the header of a function\n"
       "fix: before the body stand .maxntid .reqntid .minnctapersm .maxnreg .reqnctapercluster .explicitcluster "
       ".maxclusterrank .blocksareclusters .noreturn .pragma\n"},
      {R"(.entry k() .maxntd 5 { ret; })", "k.ptx:4:12: error: [P-5] '.maxntd' is not a directive that can stand here\n"
                                           "fix: did you mean '.maxntid'?\n"},
      {R"(.entry k() .global 5 { ret; })",
       "k.ptx:4:12: error: [P-5] '.global' is not a directive that can stand here\n"
       "fix: before the body stand .maxntid .reqntid .minnctapersm .maxnreg .reqnctapercluster .explicitcluster "
       ".maxclusterrank .blocksareclusters .noreturn .pragma\n"},
      {R"(.entry k() .maxntid 1,2,3,4 { ret; })",
       "k.ptx:4:27: error: [P-4] found '4', expected at most three extents\n"},
      {R"(.entry k() .maxntid 0 { ret; })",
       "k.ptx:4:21: error: [P-8] found '0' as an extent of '.maxntid', expected an integer from 1 to 4294967295\n"},
      {R"(.entry k() .minnctapersm -1 { ret; })",
       "k.ptx:4:26: error: [P-8] found '-1' as the number of blocks, expected an integer from 0 to 4294967295\n"},
      {R"(.entry k(.param .b32 n, .reg .b64 x) { ret; })",
       "k.ptx:4:25: error: [P-7] a parameter of a kernel is not .param\n"
       "fix: write '.param' before its type\n"},
      {R"(.entry k(.global .b32 x) { ret; })", "k.ptx:4:10: error: [P-7] a parameter is neither .param nor .reg\n"
                                               "fix: write '.param' before its type\n"},
      {R"(.entry k(.param .b32 5) { ret; })", "k.ptx:4:22: error: [P-4] found '5', expected the name of a parameter\n"},
      {R"(.entry k(.param .b32 x .param .b32 y) { ret; })",
       "k.ptx:4:24: error: [P-4] found '.param', expected ',' or ')'\n"},
      {R"(.entry k() { ret;)",
       "k.ptx:4:18: error: [P-11] found the end of the file, but the body of 'k' at line 4 is not closed\n"
       "fix: write '}' where the body ends\n"},
      {R"(.entry k() { ret; .visible .entry l() { ret; })",
       "k.ptx:4:19: error: [P-11] found '.visible', but the body of 'k' at line 4 is not closed\n"
       "fix: write '}' where the body ends\n"},
  };
  for (const ErrorCase &c : cases)
    EXPECT_EQ(moduleErrors(c.text), c.errors) << c.text;
}

TEST(PtxFunction, ReportsEveryErrorInABody) {
  const ErrorCase cases[] = {
      {R"(;)", "k.ptx:5:1: error: [P-4] found ';', expected an instruction, a label or a directive\n"
               "fix: remove the extra ';'\n"},
      {R"(5;)", "k.ptx:5:1: error: [P-4] found '5', expected an instruction, a label or a directive\n"},
      {R"(x: .branchtargets 5;)", "k.ptx:5:19: error: [P-4] found '5', expected a label\n"},
      {R"(x: .calltargets 5;)", "k.ptx:5:17: error: [P-4] found '5', expected the name of a function\n"},
      {R"(x: .callprototype (.param .b32 _) foo ();)",
       "k.ptx:5:35: error: [P-4] found 'foo', expected '_' in place of the function's name\n"},
      {R"(.target sm_80;)",
       "k.ptx:5:1: error: [P-5] '.target' is not a directive that can stand here\n"
       "fix: in a body stand .reg .param .shared .local .global .const .loc .pragma, labels and instructions\n"},
      {R"(.extern 5;)", "k.ptx:5:9: error: [P-4] found '5', expected a variable\n"},
      {R"(.loc -1 2 3)", "k.ptx:5:6: error: [P-4] found '-', expected the number of a file\n"},
      {R"(.loc 1 -1 3)", "k.ptx:5:8: error: [P-4] found '-', expected a line\n"},
      {R"(.loc 1 2 x)", "k.ptx:5:10: error: [P-4] found 'x', expected a column\n"},
      {R"(.loc 1 4294967296 3)", "k.ptx:5:8: error: [P-4] found '4294967296', expected a line\n"},
      {R"(.loc 1 2 3, inlined_at 1 2;)", "k.ptx:5:27: error: [P-4] found ';', expected a column\n"},
      {R"(.loc 1 2 3, foo)", "k.ptx:5:13: error: [P-4] found 'foo', expected 'function_name' or 'inlined_at'\n"},
      {R"(.loc 1 2 3, function_name 5)", "k.ptx:5:27: error: [P-4] found '5', expected the label of a name\n"},
  };
  for (const ErrorCase &c : cases)
    EXPECT_EQ(bodyErrors(c.text), c.errors) << c.text;
}

} // namespace
} // namespace tenon::ptx
