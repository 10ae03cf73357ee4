// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/def_use.h"

#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {
using namespace test;

struct Resolved {
  Parsed parsed;
  DefUse uses;
};

Resolved resolve(std::string_view body, std::string_view before = "") {
  Resolved result;
  result.parsed = parseModule(std::string(before).append(".entry k(.param .u64 p) {\n").append(body).append("\n}\n"));
  EXPECT_EQ(result.parsed.errors, "");
  const Module &module = result.parsed.module;
  result.uses = computeDefUse(module.functions.back(), ModuleNames(module));
  return result;
}

/// "=r0 r1 p0 m0 -": registers, parameters, variables, module variables, functions; `=` marks what is written.
std::string names(const Resolved &resolved, uint32_t instruction) {
  std::string text;
  for (const NameRef &ref : resolved.uses.namesOf(instruction)) {
    text += text.empty() ? "" : " ";
    text += ref.isDefinition ? "=" : "";
    switch (ref.kind) {
    case NameRef::Kind::Other:
      text += "-";
      continue;
    case NameRef::Kind::Register:
      text += "r";
      break;
    case NameRef::Kind::Parameter:
      text += "p";
      break;
    case NameRef::Kind::Return:
      text += "ret";
      break;
    case NameRef::Kind::Variable:
      text += "v";
      break;
    case NameRef::Kind::ModuleVariable:
      text += "m";
      break;
    case NameRef::Kind::Function:
      text += "f";
      break;
    }
    text += std::to_string(ref.index);
  }
  return text;
}

TEST(PtxDefUse, NumbersRegistersAsTheyAreSeen) {
  Resolved r = resolve(".reg .b64 %rd<4>; ld.param.u64 %rd3, [p]; add.s64 %rd1, %rd3, %rd3;");
  EXPECT_EQ(names(r, 0), "=r0 p0");
  EXPECT_EQ(names(r, 1), "=r1 r0 r0");
  EXPECT_EQ(r.uses.registerCount, 2u);
  EXPECT_EQ(r.uses.definitions, (std::vector<uint32_t>{1, 1}));
}

TEST(PtxDefUse, RegistersHaveTheTypesOfTheirDeclarations) {
  Resolved r =
      resolve(".reg .b64 %rd<4>; .reg .f32 sum; .reg .b16 %rs<100000>; mov.b64 %rd1, 0; mov.f32 sum, 0f00000000; "
              "{ .reg .b32 %rd<3>; mov.b32 %rd1, 1; } mov.b16 %rs99999, 1;");
  EXPECT_EQ(names(r, 2), "=r2");
  EXPECT_EQ(r.uses.types[0], ScalarType::F32); // plain names are numbered where they are declared
  EXPECT_EQ(r.uses.types[1], ScalarType::B64);
  EXPECT_EQ(r.uses.types[2], ScalarType::B32);
  EXPECT_EQ(r.uses.types[3], ScalarType::B16);
}

TEST(PtxDefUse, PutsThePredicateFirst) {
  Resolved r = resolve(".reg .pred %p1; .reg .b32 %r<3>; @!%p1 mov.u32 %r1, %r2;");
  EXPECT_EQ(names(r, 0), "r0 =r1 r2");
}

TEST(PtxDefUse, KnowsWhatWritesNothing) {
  Resolved r = resolve(".reg .b32 %r<9>; .reg .b64 %rd<9>; st.global.u32 [%rd1], %r1; bar.sync %r1; bar.red.popc.u32 "
                       "%r2, 0, %r3; mov.b64 {%r4, %r5}, %rd2; call (%r6), f, (%r7); bra L; L:",
                       ".func (.reg .u32 o) f(.reg .u32 i) { ret; }\n");
  EXPECT_EQ(names(r, 0), "r0 r1");
  EXPECT_EQ(names(r, 1), "r1");
  EXPECT_EQ(names(r, 2), "=r2 r3");
  EXPECT_EQ(names(r, 3), "=r4 =r5 r6");
  EXPECT_EQ(names(r, 4), "=r7 f0 r8");
  EXPECT_EQ(names(r, 5), "-");
}

TEST(PtxDefUse, AScopeHidesAndGivesBack) {
  Resolved r = resolve(".reg .b32 t; mov.u32 t, 1; { .reg .b32 t; mov.u32 t, 2; { .reg .b32 t; mov.u32 t, 3; } "
                       "mov.u32 t, 4; } mov.u32 t, 5;");
  EXPECT_EQ(names(r, 0), "=r0");
  EXPECT_EQ(names(r, 1), "=r1");
  EXPECT_EQ(names(r, 2), "=r2");
  EXPECT_EQ(names(r, 3), "=r1");
  EXPECT_EQ(names(r, 4), "=r0");
  EXPECT_EQ(r.uses.definitions, (std::vector<uint32_t>{2, 2, 1}));
}

TEST(PtxDefUse, FamiliesOfAScopeEndWithIt) {
  Resolved r = resolve(".reg .b32 %r<2>; mov.u32 %r1, 1; { .reg .b32 %r<2>; mov.u32 %r1, 2; } mov.u32 %r1, 3;");
  EXPECT_EQ(names(r, 0), "=r0");
  EXPECT_EQ(names(r, 1), "=r1");
  EXPECT_EQ(names(r, 2), "=r0");
}

TEST(PtxDefUse, StemsMayEndInDigitsAndNamesMayLookLikeMembers) {
  Resolved r = resolve(".reg .b32 a1<5>; .reg .b32 a<3>; mov.u32 a14, a1; mov.u32 a12, a2;");
  EXPECT_EQ(names(r, 0), "=r0 r1");
  EXPECT_EQ(names(r, 1), "=r2 r3");
  Resolved plain = resolve(".reg .b32 b<3>; .reg .b32 b1; mov.u32 b1, b2; mov.u32 b1, 0;");
  EXPECT_EQ(names(plain, 0), "=r0 r1");
  EXPECT_EQ(plain.uses.definitions[0], 2u);
}

TEST(PtxDefUse, PartsOfARegisterAreTheRegister) {
  Resolved r = resolve(".reg .v4 .f32 %v; .reg .f32 %f<2>; mov.f32 %f1, %v.x; mov.u32 %f1, %tid.x;");
  EXPECT_EQ(names(r, 0), "=r1 r0");
  EXPECT_EQ(names(r, 1), "=r1 -");
}

TEST(PtxDefUse, FindsVariablesAndFunctions) {
  Resolved r = resolve(".local .b8 depot[8]; .reg .b64 %rd<3>; mov.u64 %rd1, depot; mov.u64 %rd1, table; mov.u64 "
                       "%rd1, f; mov.u64 %rd1, other;",
                       ".global .u32 table;\n.func f();\n.func f() { ret; }\n.alias other, f;\n");
  EXPECT_EQ(names(r, 0), "=r0 v0");
  EXPECT_EQ(names(r, 1), "=r0 m0");
  EXPECT_EQ(names(r, 2), "=r0 f1") << "the definition, not the declaration";
  EXPECT_EQ(names(r, 3), "=r0 f1") << "through the alias";
}

TEST(PtxDefUse, HugeFamiliesCostNothing) {
  Resolved r = resolve(".reg .b32 %r<16777216>; .reg .b32 %q<16777216>; mov.u32 %r16777215, %q16000000; "
                       "mov.u32 %r16777215, %r7;");
  EXPECT_EQ(names(r, 0), "=r0 r1");
  EXPECT_EQ(names(r, 1), "=r0 r2");
  EXPECT_EQ(r.uses.registerCount, 3u);
}

TEST(PtxDefUse, NumbersBeyondTheFamilyAreNoMembers) {
  Resolved r = resolve(".reg .b32 %r<3>; mov.u32 %r1, %r3; mov.u32 %r1, %r99999999999999999999999;");
  EXPECT_EQ(names(r, 0), "=r0 -");
  EXPECT_EQ(names(r, 1), "=r0 -");
}

/// A comment before each `;` of an instruction sends it the long way through the parser, which splits no names.
TEST(PtxDefUse, IsTheSameForNamesThatTheParserHasNotSplit) {
  const std::string_view bodies[] = {
      ".reg .b32 %r<4>;\nadd.s32 %r1, %r2, %r03;\nadd.s32 %r4, %r3, %rd1;\n@%p1 mov.b32 %r1, %tid.x;\n",
      ".reg .b32 %r1<4>, %r<9>;\nadd.s32 %r12, %r14, %r1;\nadd.s32 %r13, %r8, %r123456789;\n",
      ".reg .b32 %r<9>, %r5;\nadd.s32 %r5, %r4, %r5;\nmov.b32 %r6, %r5;\n",
      ".reg .b32 %r<4>;\nadd.s32 %r1, %r2, 1;\n{\n.reg .b32 %r<2>;\nadd.s32 %r1, %r2, %r0;\n}\nadd.s32 %r1, %r0, 2;\n",
      ".reg .b64 %rd<16777216>;\nadd.s64 %rd1, %rd16777215, %rd2;\nadd.s64 %rd3, %rd99999999, %rd1000000;\n",
      ".reg .f32 %f<9>;\n.reg .b64 %rd<3>;\nld.v2.f32 {%f1, %f2}, [%rd1+8];\nst.f32 [%rd2], %f1;\nmov.b32 %f3, "
      "%f1.x;\n",
      ".reg .b32 r<9>;\n.reg .b32 longstem<9>;\nadd.s32 r1, r2, longstem3;\nadd.s32 longstem4, r3, r9;\n",
  };
  for (std::string_view body : bodies) {
    std::string commented(body);
    for (size_t at = commented.size(); (at = commented.rfind(";\n", at)) != std::string::npos && at-- > 0;)
      if (commented.substr(commented.rfind('\n', at) + 1, 4) != ".reg")
        commented.insert(at + 1, "/**/");
    const test::Parsed quick = test::parseBody(body), slow = test::parseBody(commented);
    ASSERT_EQ(quick.errors + slow.errors, "") << commented;
    const DefUse a = computeDefUse(quick.module.functions[0], ModuleNames(quick.module));
    const DefUse b = computeDefUse(slow.module.functions[0], ModuleNames(slow.module));
    EXPECT_EQ(a.registerCount, b.registerCount) << body;
    EXPECT_EQ(a.definitions, b.definitions) << body;
    EXPECT_EQ(a.first, b.first) << body;
    EXPECT_EQ(a.unknown, b.unknown) << body;
    ASSERT_EQ(a.names.size(), b.names.size()) << body;
    for (size_t i = 0; i < a.names.size(); ++i) {
      EXPECT_EQ(a.names[i].kind, b.names[i].kind) << body << i;
      EXPECT_EQ(a.names[i].index, b.names[i].index) << body << i;
      EXPECT_EQ(a.names[i].isDefinition, b.names[i].isDefinition) << body << i;
    }
  }
}

} // namespace
} // namespace tenon::ptx
