// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check of barriers: what compute-sanitizer's synccheck calls divergent, and what is none.
#include "tests/unit/emulator/check/checked.h"

namespace tenon::emulator::test {
namespace {

using Barriers = Checked;

TEST_F(Barriers, PartOfAWarpInABranch) {
  // if (t < 16) __syncthreads(); out[t] = t;
  const std::string said = report("setp.ge.u32 %p0, %r0, 16;\n@%p0 bra AROUND;\nbar.sync 0;\nAROUND:\n"
                                  "mad.wide.u32 %rd2, %r0, 4, %rd0;\nst.global.u32 [%rd2], %r0;\n",
                                  {}, 1, 32);
  EXPECT_HAS(said,
             "kernel 'k', thread (0,0,0) of block (0,0,0): [barriers] waits for a barrier 0 of the whole block that "
             "thread (16,0,0) of block (0,0,0) went around");
  EXPECT_HAS(said, "bar.sync 0");
}

TEST_F(Barriers, PartOfABlockInABranch) {
  for (const char *relation : {"ge", "lt"}) // whichever warp runs first
    EXPECT_HAS(report(std::string("setp.") + relation +
                      ".u32 %p0, %r0, 32;\n@%p0 bra AROUND;\nbar.sync 0;\nAROUND:\n"
                      "mad.wide.u32 %rd2, %r0, 4, %rd0;\nst.global.u32 [%rd2], %r0;\n"),
               "went around: __syncthreads in divergent code");
}

TEST_F(Barriers, ThePredicateOfABarrier) {
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 16;\n@%p0 bar.sync 0;\n", {}, 1, 32),
             "thread (16,0,0) of block (0,0,0): [barriers] this thread's predicate leaves out a barrier");
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 32;\n@%p0 bar.sync 0;\n"), "went around");
}

TEST_F(Barriers, TwoArmsOfABranch) {
  const std::string arms = "@%p0 bra OTHER;\nbar.sync 0;\nbra END;\nOTHER:\nbar.sync 0;\nEND:\n";
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 16;\n" + arms, {}, 1, 32),
             "[barriers] the lanes of a warp wait for barrier 0 at different places");
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 32;\n" + arms),
             "[barriers] barrier 0 of the whole block is reached at different places");
  expectNothing(
      "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra OTHER;\nbar.sync 1, 32;\nbra END;\nOTHER:\nbar.sync 2, 32;\nEND:\n");
}

TEST_F(Barriers, LoopsOfDifferentLengths) {
  EXPECT_HAS(report("and.b32 %r1, %r0, 1;\nadd.u32 %r1, %r1, 1;\nLOOP:\nbar.sync 0;\nsub.u32 %r1, %r1, 1;\n"
                    "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra LOOP;\nmov.u32 %r2, 1;\n"),
             "[barriers]");
  EXPECT_HAS(report("shr.u32 %r1, %r0, 5;\nadd.u32 %r1, %r1, 1;\nLOOP:\nbar.sync 0;\nsub.u32 %r1, %r1, 1;\n"
                    "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra LOOP;\nmov.u32 %r2, 1;\n"),
             "went around");
  expectNothing(
      "mov.u32 %r1, 5;\nLOOP:\nbar.sync 0;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra LOOP;\n");
}

TEST_F(Barriers, WhoHasLeftEarlyIsNotMissed) {
  const std::string rest = "bar.sync 0;\nmad.wide.u32 %rd2, %r0, 4, %rd0;\nst.global.u32 [%rd2], %r0;\n";
  // if (t >= 40) return; also behind some work of their own.
  expectNothing("setp.ge.u32 %p0, %r0, 40;\n@%p0 bra END;\n" + rest + "END:\n");
  expectNothing("setp.ge.u32 %p0, %r0, 40;\n@%p0 ret;\n" + rest);
  expectNothing("setp.ge.u32 %p0, %r0, 32;\n@%p0 bra OWN;\n" + rest +
                "bra END;\nOWN:\nmad.wide.u32 %rd2, %r0, 4, %rd0;\nst.global.u32 [%rd2], 1;\nEND:\n");
}

TEST_F(Barriers, ThreadsThatNeedNotBeTogether) {
  // barrier without .aligned: each thread for itself, from any place.
  expectNothing(
      "setp.lt.u32 %p0, %r0, 16;\n@%p0 bra OTHER;\nbarrier.sync 0;\nbra END;\nOTHER:\nbarrier.sync 0;\nEND:\n");
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 16;\n@%p0 bra OTHER;\nbarrier.sync.aligned 0;\nbra END;\nOTHER:\n"
                    "barrier.sync.aligned 0;\nEND:\n"),
             "[barriers] the lanes of a warp wait for barrier 0 at different places");
  // Lanes that come one after the other to one place are together there.
  expectNothing(
      "mov.u32 %r1, %r0;\nLOOP:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 400;\n@%p0 bra LOOP;\nbar.sync 0;\n");
}

TEST_F(Barriers, Counts) {
  EXPECT_HAS(report("bar.sync 1, 96;\n"), "[barriers] a barrier for 96 threads, the block has 64");
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 32;\n@%p0 bar.sync 1, 64;\n@!%p0 bar.sync 1, 32;\n"),
             "[barriers] barrier 1 is for 32 threads here, those who came before wait for 64 threads");
  EXPECT_HAS(report("setp.lt.u32 %p0, %r0, 32;\n@%p0 bar.sync 1;\n@!%p0 bar.sync 1, 64;\n"),
             "[barriers] barrier 1 is for 64 threads here, those who came before wait for the whole block");
  EXPECT_HAS(report("shr.u32 %r1, %r0, 4;\nadd.u32 %r1, %r1, 1;\nshl.b32 %r1, %r1, 5;\nbar.sync 1, %r1;\n"),
             "[barriers] the lanes of a warp give barrier 1 different counts");
  // Part of a warp at a barrier that counts whole ones, while the rest goes on.
  EXPECT_HAS(
      report("setp.ge.u32 %p0, %r0, 16;\n@%p0 bra OTHER;\nbar.sync 1, 32;\nbra END;\nOTHER:\nbar.sync 2, 32;\nEND:\n",
             {}, 1, 32),
      "deadlock");
  // A last warp that is not whole counts as one; an arrival may be the first of the next phase.
  expectNothing("bar.sync 1, 64;\n", {}, 1, 40);
  expectNothing(
      "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra WAIT;\nbar.arrive 1, 64;\nbar.sync 2, 64;\nbar.arrive 1, 64;\nbra END;\n"
      "WAIT:\nbar.sync 1, 64;\nbar.arrive 2, 64;\nbar.sync 1, 64;\nEND:\n");
}

TEST_F(Barriers, InAFunction) {
  const std::string ptx = header("sm_80") + R"(
.func meet()
{
bar.sync 0;
ret;
}
.visible .entry k(.param .u64 a, .param .u64 b)
{
.reg .b32 %r<3>;
.reg .pred %p<2>;
mov.u32 %r0, %tid.x;
setp.RELATION.u32 %p0, %r0, 32;
@%p0 bra AROUND;
call meet;
AROUND:
add.u32 %r1, %r0, %r0;
ret;
}
)";
  auto with = [&](const char *relation) {
    std::string text = ptx;
    return text.replace(text.find("RELATION"), 8, relation);
  };
  EXPECT_EQ(run(with("gt"), {0, 0}, 1, 32), CUDA_SUCCESS);
  EXPECT_EQ(run(with("ge"), {0, 0}, 1, 64), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_HAS(lastReport(), "went around");
  revive();
}

} // namespace
} // namespace tenon::emulator::test
