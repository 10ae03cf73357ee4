// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Broken input must end in errors, not in a crash, a hang or a flood: a small module is cut at every byte, and bytes
// and words of it are changed at random. The random numbers are fixed, so a failure repeats.
#include "ptx/printer.h"
#include "tests/unit/ptx/module_equality.h"
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {

constexpr std::string_view kModule = R"(// comment
.version 8.3
.target sm_90a, debug
.address_size 64
.file 1 "a.cu" , 1, 2
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b) .noreturn ;
.visible .global .align 8 .u64 table[2][2] = {{1, generic(x)+8}, {0xff(y), -(3 + 4) << 2}};
.global .attribute(.managed, .unified(1, 2)) .v2 .f32 f = {1.5, 0f3F800000};
.global .samplerref s = {filter_mode = nearest};
.extern .shared .align 16 .b8 dynamic[];
.alias a, b;
.visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 64 .b8 map[128])
.maxntid 256, 1, 1 .reqnctapercluster 2 .pragma "x";
{
  .reg .pred %p<2>; .reg .b32 %r<12>, t;
  .loc 1 2 3, function_name $L__info0+4, inlined_at 1 8 3
  @!%p1 bra $L__BB0_1;
  ld.global.nc.L2::128B.v4.f32 {%f1, _, %f3, %f4}, [%rd1+-8];
  setp.lt.and.s32 %p1|%p2, %r1, (4 + 4) * 2 ? 0x1F : 0b11U, !%p3;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile [%r1], [%rd1, {%r2, %r3}], [%r4]; /* comment */
  { .param .b64 param0; call (_), %rd1, (param0, 1), prototype_0; }
  prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _);
  targets: .branchtargets $L__BB0_1, l;
$L__BB0_1: mov.f64 %fd1, 1.5e-3; ld.u32 t, [a].unified;
  .pragma "nounroll"; vadd.u32.u32.u32 %r1, %r2.b0, -%r3.h1; ret;
}
.section .debug_str { l: .b8 1, 2 .b64 l+4 }
)";

/// Parses and looks at what any reader may rely on.
void check(std::string text) {
  Diagnostics diagnostics;
  Module module = parse(std::make_shared<SourceFile>("k.ptx", text), diagnostics);
  ASSERT_LE(diagnostics.errorCount(), 101u);
  for (const Diagnostic &diagnostic : diagnostics.items()) {
    ASSERT_GE(diagnostic.where.line, 1u) << text;
    ASSERT_GE(diagnostic.where.column, 1u) << text;
  }
  if (!diagnostics.hasErrors()) { // what parses must print to something that parses to the same
    test::Parsed again = test::parseText(print(module));
    ASSERT_EQ(again.errors, "") << text;
    ASSERT_TRUE(test::equal(module, again.module)) << text;
  }
  for (const Function &function : module.functions) {
    ASSERT_LE(function.range.begin, function.range.end);
    ASSERT_LE(function.range.end, text.size());
    for (const Instruction &instruction : function.instructions) {
      ASSERT_LT(instruction.range.begin, instruction.range.end);
      ASSERT_LE(instruction.range.end, text.size());
      ASSERT_FALSE(instruction.opcode.empty());
    }
    for (const Statement &statement : function.statements)
      if (statement.kind == Statement::Kind::Declaration)
        ASSERT_LT(statement.index, function.declarations.size());
  }
}

class Random {
public:
  size_t below(size_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % limit;
  }

private:
  uint64_t state_ = 42;
};

TEST(PtxFuzz, TheModuleItselfIsGood) {
  EXPECT_EQ(test::parseText(std::string(kModule)).errors, "");
}

TEST(PtxFuzz, SurvivesEveryTruncation) {
  for (size_t length = 0; length <= kModule.size(); ++length)
    check(std::string(kModule.substr(0, length)));
}

TEST(PtxFuzz, SurvivesEveryMissingByte) {
  for (size_t i = 0; i < kModule.size(); ++i)
    check(std::string(kModule).erase(i, 1));
}

TEST(PtxFuzz, SurvivesChangedBytes) {
  constexpr std::string_view kLikely = ".;:,(){}[]<>+-*/%!|@=\"~?_0123x \n";
  Random random;
  for (int round = 0; round < 20000; ++round) {
    std::string text(kModule);
    for (size_t changes = 1 + random.below(4); changes-- > 0;)
      text[random.below(text.size())] =
          random.below(2) ? static_cast<char>(random.below(256)) : kLikely[random.below(kLikely.size())];
    check(std::move(text));
  }
}

TEST(PtxFuzz, SurvivesMovedPieces) {
  Random random;
  for (int round = 0; round < 5000; ++round) {
    std::string text(kModule);
    for (size_t changes = 1 + random.below(3); changes-- > 0;) {
      std::string piece = text.substr(random.below(text.size()), random.below(60));
      if (random.below(2))
        text.insert(random.below(text.size()), piece);
      else
        text.replace(random.below(text.size()), piece.size(), piece);
    }
    check(std::move(text));
  }
}

TEST(PtxFuzz, SurvivesRepetition) {
  for (std::string_view piece :
       {"{",  "(",  "[", "<",  "-",  "!",  "~",  "@", "|",  "a|", "{a,",  "(1+",    "1?",  "[a,", ".",
        "..", ".x", ":", "a:", "\"", "/*", "//", "0", "0x", "\\", "\xff", "call (", "= {", "}"}) {
    std::string many;
    for (int i = 0; i < 20000; ++i)
      many += piece;
    for (std::string_view before : {"", ".entry k() { ", ".entry k() { mov.u32 a, ",
                                    ".global .u32 x = ", ".global .u32 x[4] = {", ".entry k(", ".section .debug_x { "})
      check(std::string(test::kHeader).append(before).append(many));
  }
}

} // namespace
} // namespace tenon::ptx
