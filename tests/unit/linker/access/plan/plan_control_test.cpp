// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where control goes on: what a pointer's bits decide.
#include "tests/unit/linker/access/plan/plan_words.h"

namespace tenon::linker {
namespace {

using testing::expectLines, testing::PlanOf, testing::planned;

struct Case {
  std::string_view body;
  testing::Lines lines;
};

void expectAll(std::span<const Case> cases, std::string_view before = "") {
  for (const Case &row : cases)
    expectLines(row.body, row.lines, before);
}

TEST(PlanControl, AGuardOrAnIndexMadeOfAPointerIsAStep) {
  const Case cases[] = {
      {"setp.lt.u64 %p1, %rd1, 7; @%p1 bra L; L:", {"4: Steer <- a:few"}},
      {"setp.lt.u32 %p1, %r1, 7; @%p1 bra L; L:", {}},
      {"ld.global.u32 %r9, [%rd1]; setp.lt.u32 %p1, %r9, 7; @%p1 bra L; L:", {"3: Load.global 4/0 <- a"}},
      {"ld.shared.u32 %r9, [%r2]; setp.lt.u32 %p1, %r9, 7; @!%p1 bra L; L:",
       {"3: Load.shared 4/4 %r9 <- 1", "4: Compute Blend/Narrow %p1 <- %r9", "5: Steer <- %p1"}},
      {"bfe.u64 %rd9, %rd1, 9, 1; cvt.u32.u64 %r9, %rd9; T: .branchtargets A, B; brx.idx %r9, T; A: ret; B:",
       {"5: Steer <- a:index"}},
      {"ld.global.u32 %r9, [%rd2]; T: .branchtargets A, B; @%p1 brx.idx %r9, T; A: ret; B:",
       {"3: Load.global 4/0 <- b"}},
      {"setp.lt.u64 %p1, %rd1, 7; @%p1 st.global.u32 [%rd2], 1;",
       {"4: Steer <- a:few", "4: Store.global 4/4 <- b 1 if"}},
      {"setp.lt.u64 %p1, %rd1, 7; bfe.u64 %rd9, %rd2, 9, 1; cvt.u32.u64 %r9, %rd9; T: .branchtargets A, B; @%p1 "
       "brx.idx %r9, T; A: ret; B:",
       {"6: Steer <- a:few", "6: Steer <- b:index"}},
      {"ld.global.u32 %r9, [%rd2]; setp.lt.u32 %p1, %r9, 7; @%p1 bra L; setp.lt.u32 %p2, %r9, 8; @%p2 bra L; L:",
       {"3: Load.global 4/0 <- b"}},
  };
  expectAll(cases);
}

TEST(PlanControl, TheFirstBranchByALoadedValueIsRemembered) {
  auto steer = [](std::string_view body) { return PlanOf(planned(body)).plan.foreignSteer; };
  EXPECT_EQ(steer("setp.lt.u64 %p1, %rd1, 7; @%p1 bra L; L:"), kNoInstruction) << "a pointer's bits are none";
  EXPECT_EQ(steer("ld.global.u32 %r9, [%rd1]; setp.lt.u32 %p1, %r9, 7; @%p1 bra L; L:"), 5u);
  EXPECT_EQ(steer("ld.global.u32 %r9, [%rd2]; T: .branchtargets A, B; @%p1 brx.idx %r9, T; A: ret; B:"), 4u);
  EXPECT_EQ(steer("ld.global.u32 %r9, [%rd2]; setp.lt.u32 %p1, %r9, 7; @%p1 bra L; setp.lt.u32 %p2, %r9, 8;\n"
                  "@%p2 bra L; L:"),
            5u);
  EXPECT_EQ(steer("ld.shared.u32 %r9, [%r2]; setp.lt.u32 %p1, %r9, 7; @%p1 bra L; L:"), kNoInstruction)
      << "found when the step runs";
}

} // namespace
} // namespace tenon::linker
