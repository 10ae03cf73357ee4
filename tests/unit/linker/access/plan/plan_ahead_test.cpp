// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How places behind one pointer compare: %rd1 is p, %rd2 is q, %rd3 a number; the words are those of p and q.
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

using testing::body;

struct Case {
  std::string_view name, text, words;
};

/// `p + i < p + n` is `i < n` where neither leads around 2^64; %r1 and %r2 are numbers.
TEST(PlanAhead, PlacesAheadOfOnePointerAreCompared) {
  const std::string_view end = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; ";
  const Case cases[] = {
      {"a loop to the end",
       "mov.u64 %rd6, %rd1; L: ld.global.u32 %r3, [%rd6]; add.s64 %rd6, %rd6, 4; setp.lt.u64 %p1, %rd6, %rd5; @%p1 bra "
       "L;",
       "read number"},
      {"in two registers",
       "cvta.to.global.u64 %rd7, %rd1; mov.u64 %rd6, %rd7; L: ld.global.u32 %r3, [%rd6]; add.s64 %rd8, %rd6, 16;\n"
       "mov.b64 %rd6, %rd8; setp.ge.u64 %p1, %rd8, %rd5; @!%p1 bra L;",
       "read number"},
      {"from a place of its own",
       "mad.wide.u32 %rd6, %r2, 8, %rd1; L: ld.global.u32 %r3, [%rd6]; add.s64 %rd6, %rd6, 1024;\n"
       "setp.gt.s64 %p1, %rd5, %rd6; @%p1 bra L;",
       "read number"},
      {"the distance in front",
       "cvt.u64.u32 %rd6, %r2; add.u64 %rd7, %rd6, %rd1; setp.le.u64 %p1, %rd7, %rd5; @%p1 bra L; L:", "number number"},
      {"widened, then multiplied",
       "cvt.u64.u32 %rd6, %r2; shl.b64 %rd7, %rd6, 2; add.s64 %rd8, %rd1, %rd7; L: ld.global.u32 %r3, [%rd8];\n"
       "add.s64 %rd8, %rd8, 512; setp.lt.u64 %p1, %rd8, %rd5; @%p1 bra L;",
       "read number"},
      {"times a number",
       "cvt.u64.u32 %rd6, %r2; mul.lo.s64 %rd7, %rd6, 12; add.s64 %rd8, %rd1, %rd7; setp.lt.u64 %p1, %rd8, %rd5;\n"
       "@%p1 bra L; L:",
       "number number"},
      {"shifted far",
       "cvt.u64.u32 %rd6, %r2; shl.b64 %rd7, %rd6, 13; add.s64 %rd8, %rd1, %rd7; setp.lt.u64 %p1, %rd8, %rd5;\n"
       "@%p1 bra L; L:",
       "steers number"},
      {"shifted by a number that is no constant",
       "cvt.u64.u32 %rd6, %r2; shl.b64 %rd7, %rd6, %r1; add.s64 %rd8, %rd1, %rd7; setp.lt.u64 %p1, %rd8, %rd5;\n"
       "@%p1 bra L; L:",
       "steers number"},
      {"shifted twice",
       "cvt.u64.u32 %rd6, %r2; shl.b64 %rd7, %rd6, 12; shl.b64 %rd8, %rd7, 12; add.s64 %rd9, %rd1, %rd8;\n"
       "setp.lt.u64 %p1, %rd9, %rd5; @%p1 bra L; L:",
       "steers number"},
      {"widened with a sign, then multiplied",
       "cvt.s64.s32 %rd6, %r2; shl.b64 %rd7, %rd6, 2; add.s64 %rd8, %rd1, %rd7; setp.lt.u64 %p1, %rd8, %rd5;\n"
       "@%p1 bra L; L:",
       "steers number"},
      {"a number of 64 bits, multiplied",
       "shl.b64 %rd7, %rd3, 2; add.s64 %rd8, %rd1, %rd7; setp.lt.u64 %p1, %rd8, %rd5; @%p1 bra L; L:", "steers number"},
      {"a pointer, multiplied",
       "shl.b64 %rd7, %rd2, 2; add.s64 %rd8, %rd1, %rd7; setp.lt.u64 %p1, %rd8, %rd5; @%p1 bra L; L:", "steers steers"},
      {"as a word", "set.lt.u32.u64 %r3, %rd1, %rd5; setp.eq.u32 %p1, %r3, 0; @%p1 bra L; L:", "number number"},
      {"a number with a sign",
       "mul.wide.s32 %rd6, %r2, 4; add.s64 %rd7, %rd1, %rd6; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:",
       "steers number"},
      {"a multiple with a sign",
       "mad.wide.s32 %rd6, %r2, 8, %rd1; setp.lt.u64 %p1, %rd6, %rd5; @%p1 bra L; L:", "steers number"},
      {"a number of 64 bits", "add.s64 %rd7, %rd1, %rd3; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:", "steers number"},
      {"less than it", "sub.s64 %rd7, %rd1, %rd4; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:", "steers number"},
      {"less by a number that stands there",
       "add.s64 %rd7, %rd1, -4; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:", "steers number"},
      {"a large factor",
       "mul.wide.u32 %rd6, %r2, 65536; add.s64 %rd7, %rd1, %rd6; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:",
       "steers number"},
      {"a distance round by round",
       "mov.u64 %rd6, %rd1; L: ld.global.u32 %r3, [%rd6]; add.s64 %rd6, %rd6, %rd4; setp.lt.u64 %p1, %rd6, %rd5;\n"
       "@%p1 bra L;",
       "steers number"},
      {"a distance round by round, in two registers",
       "mov.u64 %rd6, %rd1; L: ld.global.u32 %r3, [%rd6]; add.s64 %rd8, %rd6, %rd4; mov.u64 %rd6, %rd8;\n"
       "setp.lt.u64 %p1, %rd6, %rd5; @%p1 bra L;",
       "steers number"},
      {"a large step", "mov.u64 %rd6, %rd1; L: add.s64 %rd6, %rd6, 1025; setp.lt.u64 %p1, %rd6, %rd5; @%p1 bra L;",
       "steers number"},
      {"twice as far round by round",
       "mov.u64 %rd6, %rd1; L: add.s64 %rd6, %rd6, %rd6; setp.lt.u64 %p1, %rd6, %rd5; @%p1 bra L;", "steers number"},
      {"a distance that a path leaves unset",
       "@%p2 bra M; mul.wide.u32 %rd6, %r2, 4; M: add.s64 %rd7, %rd1, %rd6; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; "
       "L:",
       "steers number"},
      {"a distance that a guard leaves unset",
       "@%p2 mul.wide.u32 %rd6, %r2, 4; add.s64 %rd7, %rd1, %rd6; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:",
       "steers number"},
      {"a distance that is set behind",
       "add.s64 %rd7, %rd1, %rd6; mul.wide.u32 %rd6, %r2, 4; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:",
       "steers number"},
      {"a place that a path leaves unset",
       "@%p2 bra M; mov.u64 %rd6, %rd1; M: setp.lt.u64 %p1, %rd6, %rd5; @%p1 bra L; L:", "steers number"},
      {"with a carry", "add.cc.u64 %rd7, %rd1, 4; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:", "steers number"},
      {"places of two", "add.s64 %rd7, %rd2, 4; setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:", "steers steers"},
      {"one of two",
       "mov.u64 %rd7, %rd1; @%p2 bra M; mov.u64 %rd7, %rd2; M: setp.lt.u64 %p1, %rd7, %rd5; @%p1 bra L; L:",
       "steers steers"},
      {"halves of them",
       "cvt.u32.u64 %r3, %rd1; cvt.u32.u64 %r4, %rd5; setp.lt.u32 %p1, %r3, %r4; @%p1 bra L; L:", "steers number"},
  };
  for (const Case &row : cases)
    EXPECT_EQ(body(concat(end, row.text)), row.words) << row.name;
}

} // namespace
} // namespace tenon::linker
