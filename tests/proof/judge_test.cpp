// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The judge itself: a way that does not lead back to its pointer would refute nothing, and neither would a judge that
// sees no write.
#include "tests/proof/guesses.h"
#include "tests/proof/report.h"

#include <gtest/gtest.h>

namespace tenon::proof {
namespace {

std::string kernel(const std::string &body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
         ".reg .b64 %rd<8>;\n.reg .b32 %r<4>;\nld.param.u64 %rd0, [p];\nld.param.u64 %rd1, [q];\n" +
         body + "ret;\n}\n";
}

const std::vector<Verdict> kBothProved = {Verdict::ProvedReadOnly, Verdict::Unused};

class Laundering : public ::testing::Test {
protected:
  /// Runs the kernel against no claim at all: does it write behind parameter 0?
  void expectSameValue(const char *name, const Ways &ways) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const Case made = makeCase(seed, ways);
      const Outcome outcome = judge_.refute(made.ptx, {Verdict::Unknown, Verdict::Unknown}, 0, seed);
      ASSERT_EQ(outcome.state, Outcome::State::Ran) << name << ", seed " << seed << ": " << outcome.problem << made.ptx;
      ASSERT_TRUE(outcome.ended) << name << ", seed " << seed << ": " << outcome.fault << made.ptx;
      ASSERT_TRUE(outcome.written & 1) << name << ", seed " << seed << ": the value came back as another\n" << made.ptx;
    }
  }
  Judge judge_;
};

TEST_F(Laundering, EveryWayOfAValueKeepsIt) {
  for (std::span<const ValueWay> ways : {arithmeticWays(), halfWays(), memoryWays(), callWays()})
    for (const ValueWay &way : ways)
      expectSameValue(way.name, Ways(way));
}

TEST_F(Laundering, EveryChannelKeepsItsField) {
  for (std::span<const Channel> channels :
       {plainChannels(), controlChannels(), laneChannels(), memoryChannels(), callChannels()})
    for (const Channel &channel : channels)
      expectSameValue(channel.name, Ways(channel));
}

TEST_F(Laundering, EveryGuessFindsThePointer) {
  for (const Guess &guess : guesses())
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const Case made = makeCase(seed, guess);
      const Outcome outcome = judge_.refute(made.ptx, {Verdict::Unused, Verdict::Unknown}, 0, seed);
      ASSERT_EQ(outcome.state, Outcome::State::Ran) << guess.name << ", seed " << seed << ": " << outcome.problem;
      EXPECT_TRUE(outcome.isFailure()) << guess.name << ", seed " << seed << ": it is not found\n" << made.ptx;
    }
}

TEST(Maps, EveryStoreWritesBehindOneOfThem) {
  Judge judge;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Case made = makeCase(seed, classMask("maps"));
    ASSERT_GE(made.maps.count, 1u);
    const Outcome outcome =
        judge.refute(made.ptx, std::vector<Verdict>(made.bindings), made.constants, seed, made.maps);
    ASSERT_EQ(outcome.state, Outcome::State::Ran) << seed << ": " << outcome.problem << made.ptx;
    ASSERT_TRUE(outcome.ended) << seed << ": " << outcome.fault << made.ptx;
    EXPECT_NE(outcome.written & ((1u << made.maps.count) - 1), 0u) << seed << "\n" << made.ptx;
    EXPECT_EQ(outcome.written >> made.maps.count, 0u) << seed << ": a buffer without a map\n" << made.ptx;
  }
}

TEST(Generator, MakesTheSameKernelFromTheSameSeed) {
  const uint32_t all = classMask("all");
  EXPECT_EQ(makeCase(7, all), makeCase(7, all));
  EXPECT_NE(makeCase(7, all).ptx, makeCase(8, all).ptx);
}

TEST(Generator, KeepsToTheClassesThatItIsGiven) {
  for (const char *name : {"arithmetic", "memory", "parameters", "calls", "predicates", "control", "lanes", "atomics",
                           "copies", "maps", "benign"})
    for (uint64_t seed = 1; seed < 20; ++seed)
      EXPECT_EQ(makeCase(seed, classMask(name)).classes, classMask(name)) << name << " " << seed;
  EXPECT_EQ(classMask("other"), 0u);
}

TEST(Judge, SeesAWriteThatRefutesAClaim) {
  Judge judge;
  const Outcome outcome = judge.refute(kernel("st.global.u32 [%rd1+8], 1;\n"), kBothProved, 0, 1);
  EXPECT_TRUE(outcome.isFailure());
  EXPECT_EQ(outcome.refuted, 1);
  EXPECT_EQ(outcome.again, 16u);
  EXPECT_NE(outcome.by.find("[readonly] global write of 4 bytes"), std::string::npos) << outcome.by;
}

TEST(Judge, SeesAStoreThroughAMap) {
  Judge judge;
  for (const MapShape &maps :
       {MapShape{2, false, false}, MapShape{2, false, true}, MapShape{2, true, false}, MapShape{2, true, true}}) {
    const std::string pointers = ".param .u64 p, .param .u64 q";
    const std::string ptx = concat(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(",
        maps.isFirst ? concat(mapParameters(maps), ", ", pointers) : concat(pointers, ", ", mapParameters(maps)),
        ")\n{\n.reg .b64 %rd<8>;\n.reg .b32 %r<4>;\n.shared .align 128 .b8 s[16];\nmov.u32 %r1, s;\nmov.u32 %r2, 8;\n"
        "st.shared.u32 [s], 77;\n",
        maps.isStruct ? concat("mov.b64 %rd2, k_maps;\nadd.s64 %rd3, %rd2, ", MapShape::offset(1), ";\n")
                      : std::string("mov.b64 %rd3, k_map_1;\n"),
        "cvta.param.u64 %rd4, %rd3;\n"
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd4, {%r2}], [%r1];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n");
    const Outcome outcome = judge.refute(ptx, kBothProved, 0, 1, maps);
    EXPECT_EQ(outcome.refuted, 1) << outcome.problem << outcome.fault;
    EXPECT_EQ(outcome.again, 16u);
    EXPECT_NE(outcome.by.find("[readonly] it reaches binding 1"), std::string::npos) << outcome.by;
    const Outcome linked = judge.judge(ptx, 2, 0, 1, maps);
    EXPECT_EQ(linked.verdicts, (std::vector<Verdict>{Verdict::ProvedReadOnly, Verdict::Written})) << linked.problem;
    EXPECT_EQ(linked.written, 2u) << linked.fault;
  }
}

TEST(Judge, SeesWritesThatOnlyNearBuffersAllow) {
  Judge judge;
  const std::string mixed = kernel("and.b64 %rd2, %rd0, 0xffffffff00000000;\nand.b64 %rd3, %rd1, 0xffffffff;\n"
                                   "or.b64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], 1;\n");
  EXPECT_EQ(judge.refute(mixed, kBothProved, 0, 1).refuted, 1);
}

TEST(Judge, FindsNothingWhereAClaimHolds) {
  Judge judge;
  const Outcome outcome = judge.refute(kernel("ld.global.u32 %r0, [%rd0];\nst.global.u32 [%rd1], %r0;\n"),
                                       {Verdict::ProvedReadOnly, Verdict::Written}, 0, 1);
  EXPECT_EQ(outcome.refuted, -1);
  EXPECT_TRUE(outcome.ended) << outcome.fault;
  EXPECT_EQ(outcome.written, 0u); // the words count up from 0, and so does what was there
}

TEST(Judge, AsksTheLinkerForItsVerdicts) {
  Judge judge;
  const Outcome outcome = judge.judge(kernel("ld.global.u32 %r0, [%rd0];\nst.global.u32 [%rd1+4], %r0;\n"), 2, 0, 1);
  EXPECT_EQ(outcome.verdicts, (std::vector<Verdict>{Verdict::ProvedReadOnly, Verdict::Written}));
  EXPECT_EQ(outcome.written, 2u);
}

TEST(Judge, SaysWhyAKernelCannotBeJudged) {
  Judge judge;
  const Outcome refused = judge.judge(kernel("mov.u32 %r0, [;\n"), 2, 0, 1);
  EXPECT_EQ(refused.state, Outcome::State::NotLinked);
  EXPECT_NE(refused.problem.find("k.ptx:10:"), std::string::npos) << refused.problem;
  const Outcome strange = judge.judge(kernel("mov.u32 %r0, %nosuch;\n"), 2, 0, 1);
  EXPECT_EQ(strange.state, Outcome::State::NotRun);
  EXPECT_NE(strange.problem.find("%nosuch"), std::string::npos) << strange.problem;
}

TEST(Report, CountsAndPrintsFailures) {
  Case made = makeCase(1, classMask("memory"));
  made.ways = "slot pieces";
  Outcome bad;
  bad.verdicts = kBothProved;
  bad.refuted = 0;
  bad.again = 16;
  bad.by = "it wrote";
  Report report, other;
  other.add(made, bad);
  made.seed = 0;
  report.add(made, bad);
  bad.again = 1; // a coincidence
  report.add(made, bad);
  report.merge(other);
  EXPECT_EQ(report.kernels(), 3u);
  EXPECT_EQ(report.refuted(), 2u);
  EXPECT_EQ(
      report.failures()[0].text(),
      "seed 0 (slot pieces): binding 0 is proved_read_only and was written, in 16 of 16 more runs at other places "
      "too:\nit wrote");
  EXPECT_EQ(report.failures()[1].kernel.seed, 1u);
  const std::string table = report.table();
  EXPECT_NE(table.find("\nall  "), std::string::npos) << table;
  EXPECT_NE(table.find("pieces                             3"), std::string::npos) << table;
}

} // namespace
} // namespace tenon::proof
