// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls: which function runs, what it is given and hands back.
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

struct Case {
  std::string_view body;
  std::vector<std::string> lines;
};

void expectAll(std::span<const Case> cases, std::string_view before = "") {
  for (const Case &row : cases)
    EXPECT_EQ(testing::detailsOf(row.body, before), row.lines) << row.body;
}

constexpr std::string_view kFunctions = R"ptx(
.func declared(.param .b64 x);
.func writer(.param .b64 x) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x]; st.u32 [%rd1], 1; ret; }
.func reader(.param .b64 x) { .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.b64 %rd1, [x]; ld.u32 %r1, [%rd1]; ret; }
.func declared(.param .b64 x) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x]; ld.param.b64 %rd2, [x]; st.u32 [%rd2], 1; ret; }
.extern .func other(.param .b64 x);
.extern .func (.param .b64 r) other2(.param .b64 x);
.extern .func (.param .b32 r) vprintf(.param .b64 x, .param .b64 y);
.extern .func (.param .b64 r) malloc(.param .b64 x);
.func (.param .b64 r) pick(.param .b64 x) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x]; add.u64 %rd2, %rd1, 8; st.param.b64 [r], %rd2; ret; }
.func (.param .b64 r) empty() { ret; }
.func (.param .b64 r) blank(.param .b64 x) { .reg .b64 %rd<3>; .local .b64 d; ld.local.b64 %rd2, [d]; ld.param.b64 %rd1, [x]; st.local.b64 [d], %rd1; st.param.b64 [r], %rd2; ret; }
.func loader(.param .b64 x) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x]; ld.u64 %rd2, [%rd1]; st.u32 [%rd2], 1; ret; }
.func steerer(.param .b64 x) { .reg .b64 %rd<3>; .reg .pred %p<3>; ld.param.b64 %rd1, [x]; setp.lt.u64 %p1, %rd1, 7; @%p1 ret; ret; }
.func (.param .b64 r) sharer() { .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.shared.u64 %rd1, [%r1]; st.param.b64 [r], %rd1; ret; }
.visible .entry kernel(.param .u64 x) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; st.global.u32 [%rd1], 1; ret; }
)ptx";

TEST(TraceCall, AFunctionDoesWhatItIsGiven) {
  const Case cases[] = {
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call writer, (x); }",
       {"a: named addressed sole written@1:1", "b: named", "n: named"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call reader, (x); }",
       {"a: named addressed sole", "b: named", "n: named"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call declared, (x); }",
       {"a: named addressed sole written@3:2", "b: named", "n: named"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call other, (x); }",
       {"a: named addressed passed@4", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call writer, (x, x); }",
       {"a: named addressed passed@4", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), writer, (x); }",
       {"a: named addressed passed@4", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call kernel, (x); }",
       {"a: named addressed passed@4", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 y; .param .b32 r; st.param.b64 [x], %rd1; st.param.b64 [y], %rd2; call (r), "
       "vprintf, (x, y); ld.param.b32 %r9, [r]; cvt.u64.u32 %rd9, %r9; st.global.u32 [%rd9], 1; }",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], 8; call (r), malloc, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), other2, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6 passed@4", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), pick, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@6", "b: named", "n: named"}},
      {"mov.u64 %rd9, %rd2; { .param .b64 x; st.param.b64 [x], %rd1; @%p1 call (%rd9), pick, (x); } st.global.u32 "
       "[%rd9], 1;",
       {"a: named addressed joint maybe@6", "b: named addressed joint maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call (%rd9), pick, (x); } st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@5", "b: named", "n: named"}},
      {"call (%rd9), pick, (%rd1); st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@4", "b: named", "n: named"}},
      {"{ .param .b64 x; .param .b64 r; call (r), pick, (x); ld.param.b64 %rd9, [r]; } st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@5", "b: named addressed maybe@5", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 r; call (r), empty, (); ld.param.b64 %rd9, [r]; } st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@5", "b: named addressed maybe@5", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), blank, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@6", "b: named", "n: named"}},
      {".local .align 8 .b8 d[16]; st.local.u64 [d], %rd1; mov.u64 %rd8, d; cvta.local.u64 %rd8, %rd8; { .param .b64 "
       "x; st.param.b64 [x], %rd8; call other, (x); }",
       {"a: named addressed passed@7", "b: named", "n: named", "kernel: elsewhere"}},
      {".local .align 8 .b8 d[16]; st.local.u64 [d], %rd1; mov.u64 %rd8, d; cvta.local.u64 %rd8, %rd8; { .param .b64 "
       "x; st.param.b64 [x], %rd8; call loader, (x); }",
       {"a: named addressed sole written@11:2", "b: named", "n: named"}},
      {"{ .param .b64 x; st.param.b32 [x], %rd1; call writer, (x); }",
       {"a: named addressed maybe@1:1", "b: named addressed maybe@1:1", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call writer, (x); } { .param .b64 x; st.param.b64 [x], %rd2; call "
       "reader, (x); }",
       {"a: named addressed sole written@1:1", "b: named addressed sole", "n: named"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; { .param .b64 x; st.param.b64 [x], %rd8; call other, (x); }",
       {"a: named addressed passed@5", "b: named", "n: named", "kernel: elsewhere"}},
      {"setp.lt.u64 %p1, %rd1, 7; { .param .b64 x; st.param.b64 [x], %rd2; @%p1 call writer, (x); }",
       {"a: named steers@5", "b: named addressed sole written@1:1", "n: named"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call steerer, (x); }",
       {"a: named steers@12:2", "b: named", "n: named"}},
      {"st.shared.u64 [%r2], %rd1; { .param .b64 r; call (r), sharer, (); ld.param.b64 %rd9, [r]; } st.global.u32 "
       "[%rd9], 1;",
       {"a: named addressed sole maybe@6", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; call other, (x); }",
       {"a: named addressed passed@3", "b: named addressed passed@3", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; st.param.b64 [x], %rd1; call reader, (x); } { .param .b64 x; .param .b64 r; call (r), pick, "
       "(x); ld.param.b64 %rd9, [r]; } st.global.u32 [%rd9], 1;",
       {"a: named addressed sole maybe@7", "b: named addressed maybe@7", "n: named", "kernel: elsewhere"}},
  };
  expectAll(cases, kFunctions);
}

constexpr std::string_view kReturning = R"ptx(
.func (.param .b64 r) half(.param .b64 x) { .reg .pred %p<3>; @%p1 st.param.b64 [r], 5; ret; }
.func (.param .b64 r) path(.param .b64 x) { .reg .pred %p<3>; @%p1 bra L; st.param.b64 [r], 5; L: ret; }
.func (.param .b64 r) part(.param .b64 x) { .reg .pred %p<3>; st.param.b32 [r], 5; ret; }
.func (.param .b64 r) both(.param .b64 x) { .reg .pred %p<3>; @%p1 bra L; st.param.b64 [r], 5; bra M; L: st.param.b64 [r], 6; M: ret; }
.func (.param .b64 r) traps(.param .b64 x) { .reg .pred %p<3>; @%p1 bra L; st.param.b64 [r], 5; ret; L: trap; }
.func (.param .align 8 .b8 r[16]) pair(.param .b64 x) { .reg .pred %p<3>; st.param.v2.b64 [r], {5, 6}; ret; }
.func (.param .align 8 .b8 r[16]) padded(.param .b64 x) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x]; st.param.b64 [r], %rd1; st.param.b32 [r+8], 6; ret; }
.func (.param .align 8 .b8 r[24]) hole(.param .b64 x) { st.param.b64 [r+16], 5; st.param.b64 [r], 6; ret; }
.func (.param .b64 r) second(.param .align 8 .b8 x[16]) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x+8]; st.param.b64 [r], %rd1; ret; }
.func (.param .b64 r) end(.param .b64 x) { .reg .pred %p<3>; @%p1 bra L; st.param.b64 [r], 5; L: }
.func (.param .b64 r) early(.param .b64 x) { .reg .pred %p<3>; @%p1 ret; st.param.b64 [r], 5; ret; }
.func (.param .b64 r) id(.param .b64 x) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x]; st.param.b64 [r], %rd1; ret; }
)ptx";

TEST(TraceCall, WhatIsNotStoredIsWhatAnotherCallHasLeftThere) {
  const Case cases[] = {
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), half, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), path, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), part, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), both, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), traps, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .align 8 .b8 r[16]; st.param.b64 [x], %rd1; call (r), pair, (x); ld.param.b64 %rd9, "
       "[r]; } st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), end, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd1; call (r), early, (x); ld.param.b64 %rd9, [r]; } "
       "st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; @%p1 bra L; st.param.b64 [x], 4; L: call (r), both, (x); ld.param.b64 %rd9, "
       "[r]; } st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; @%p1 bra L; st.param.b64 [x], 4; L: call (r), id, (x); ld.param.b64 %rd9, [r]; "
       "} st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@7", "b: named addressed maybe@7", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; .param .b64 q; st.param.b64 [x], 4; call (r), id, (x); call (q), id, (r); "
       "ld.param.b64 %rd9, [q]; } st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; L: call (r), id, (x); ld.param.b64 %rd9, [r]; st.param.b64 [x], 4; "
       "st.global.u32 [%rd9], 1; @%p1 bra L; }",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .b64 r; st.param.b32 [x], 4; st.param.b32 [x+4], 4; call (r), id, (x); ld.param.b64 "
       "%rd9, [r]; } st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      // What a struct has between and behind its fields is nobody's.
      {"{ .param .b64 x; .param .align 8 .b8 r[16]; st.param.b64 [x], %rd1; call (r), padded, (x); ld.param.b64 %rd9, "
       "[r]; ld.param.b32 %r9, [r+8]; } st.global.u32 [%rd9], %r9;",
       {"a: named addressed sole written@7", "b: named", "n: named"}},
      {"{ .param .b64 x; .param .align 8 .b8 r[16]; st.param.b64 [x], %rd1; call (r), padded, (x); ld.param.b64 %rd9, "
       "[r+8]; } st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .align 8 .b8 r[24]; st.param.b64 [x], %rd1; call (r), hole, (x); ld.param.b64 %rd9, "
       "[r+16]; } st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"{ .param .b64 x; .param .align 8 .b8 r[24]; st.param.b64 [x], %rd1; call (r), hole, (x); ld.param.b64 %rd9, "
       "[r+8]; } st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .align 8 .b8 x[16]; .param .b64 r; st.param.b64 [x+8], %rd1; call (r), second, (x); ld.param.b64 "
       "%rd9, [r]; } st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@6", "b: named", "n: named"}},
      {"{ .param .align 8 .b8 x[16]; .param .b64 r; st.param.b64 [x], 4; call (r), second, (x); ld.param.b64 %rd9, "
       "[r]; } st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
      {"{ .param .align 8 .b8 x[16]; .param .b64 r; st.param.b64 [x+9223372036854775807], 4; call (r), second, (x); "
       "ld.param.b64 %rd9, [r]; } st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@6", "b: named addressed maybe@6", "n: named", "kernel: elsewhere"}},
  };
  expectAll(cases, kReturning);
}

/// What a store puts into a cell is seen by loads in front of it, in the next sweep, and so on from cell to cell; a
/// call in between, whether it hands something back or not, ends no sweep early.
TEST(TraceCall, CellsOfALoopReachTheEndAroundCalls) {
  constexpr std::string_view before = ".func quiet() { ret; }\n"
                                      ".func (.param .b64 r) same() { st.param.b64 [r], 5; ret; }\n";
  for (std::string_view call : {"call quiet, ();", "{ .param .b64 r; call (r), same, (); }"})
    EXPECT_EQ(testing::body(concat(".local .align 8 .b8 d[32]; st.local.u64 [d], %rd2; st.local.u64 [d+8], %rd2; "
                                   "st.local.u64 [d+16], %rd2;\n"
                                   "L: ld.local.u64 %rd9, [d]; st.global.u32 [%rd9], 1; ld.local.u64 %rd10, [d+8];\n"
                                   "st.local.u64 [d], %rd10; ld.local.u64 %rd11, [d+16]; st.local.u64 [d+8], %rd11;\n"
                                   "st.local.u64 [d+16], %rd1; ",
                                   call, " @%p1 bra L;"),
                            before),
              "maybe maybe")
        << call;
}

/// Beside calls, what nobody stored to is what one of them has left there.
TEST(TraceCall, ALoadOfAnArgumentThatNobodyStored) {
  constexpr std::string_view before = ".func quiet(.param .align 8 .b8 x[16]) { ret; }\n";
  EXPECT_EQ(
      testing::body("{ .param .align 8 .b8 x[16]; st.param.b64 [x], 4; call quiet, (x); ld.param.b64 %rd9, [x+8]; "
                    "}\nst.global.u32 [%rd9], 1;",
                    before),
      "maybe maybe");
  EXPECT_EQ(testing::body("{ .param .align 8 .b8 x[16]; st.param.b64 [x], 4; call quiet, (x); ld.param.b64 %rd9, [x]; "
                          "}\nst.global.u32 [%rd9], 1;",
                          before),
            "number number");
}

/// More sets of arguments than a function has instances share the last one.
TEST(TraceCall, ManySetsOfArgumentsAreFollowedTogether) {
  const std::string pick = ".func (.param .b64 r) pick(.param .b64 x) { .reg .b64 %rd<3>; ld.param.b64 %rd1, [x];\n"
                           "st.param.b64 [r], %rd1; ret; }\n";
  auto calls = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += concat("{ .param .b64 x; .param .b64 r; st.param.b64 [x], %rd", i, "; call (r), pick, (x);\n",
                     "ld.param.b64 %rd", 20 + i, ", [r]; }\n");
    return text;
  };
  auto wordsOf = [&](int count, int written) {
    std::string text = pick + ".visible .entry k(";
    for (int i = 0; i < count; ++i)
      text += concat(i ? ", " : "", ".param .u64 p", i);
    text += ") { .reg .b64 %rd<99>;\n";
    for (int i = 0; i < count; ++i)
      text += concat("ld.param.u64 %rd", i, ", [p", i, "];\n");
    return testing::trace(concat(text, calls(count), "st.global.u32 [%rd", 20 + written, "], 1; ret; }\n"));
  };
  EXPECT_EQ(wordsOf(8, 7), "number number number number number number number written");
  EXPECT_EQ(wordsOf(10, 0), "written number number number number number number number number number");
  EXPECT_EQ(wordsOf(10, 9), "number number number number number number number maybe maybe maybe");
}

} // namespace
} // namespace tenon::linker
