// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How targets are spelled, what a refusal says, and the order of preference. Which image runs where, for every pair of
// a known target and a known device: arch_table_test.cpp.
#include "abi/target_arch.h"

#include "abi/arch_table.h"
#include "support/status.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace tenon;
using namespace tenon::abi;

static DeviceTraits device(uint16_t cc, int driver = 13000) {
  DeviceTraits traits;
  traits.name = "test";
  traits.computeCapability = cc;
  traits.driverVersion = driver;
  return traits;
}

static TargetArch arch(std::string_view text) {
  return parseTargetArch(text).value_or(TargetArch());
}

TEST(TargetArch, SaysWhatToBuildInEveryRefusal) {
  for (const ArchInfo &info : knownArchs())
    for (const Architecture &on : architectures())
      for (const Verdict &verdict :
           {runsPtx(info.arch, info.minimumIsa, device(on.number)), runsCubin(info.arch, device(on.number))})
        if (!verdict.runs)
          EXPECT_NE(verdict.reason.find("build"), std::string::npos) << verdict.reason;
}

TEST(TargetArch, ExplainsInWords) {
  EXPECT_EQ(runsPtx(arch("sm_90a"), 80, device(89)).reason,
            "sm_90a runs on compute capability 9.0 only, the device is 8.9: build for sm_89");
  EXPECT_EQ(runsPtx(arch("sm_90"), 80, device(89)).reason,
            "PTX for sm_90 needs compute capability 9.0 or later, the device is 8.9: build for sm_89 or earlier");
  EXPECT_EQ(runsPtx(arch("sm_100f"), 88, device(120)).reason,
            "sm_100f runs on its family (10.0, 10.3) from 10.0 on, the device is 12.0: build for sm_120");
  EXPECT_EQ(runsPtx(arch("sm_90f"), 88, device(90)).reason, "sm_90f names a family, and 9.0 has none: build for sm_90");
  EXPECT_EQ(runsPtx(arch("sm_80"), 88, device(80, 12060)).reason,
            "PTX ISA 8.8 is newer than 8.5, the newest that driver 12.6 takes: update the driver, or build with an "
            "older toolkit or .version");
  EXPECT_EQ(runsCubin(arch("sm_86"), device(80)).reason,
            "a cubin of sm_86 runs on 8.x from 8.6 on, the device is 8.0: build a cubin for sm_80, or PTX for sm_80");
  EXPECT_EQ(runsCubin(arch("sm_80"), device(87)).reason,
            "a cubin of sm_80 does not run on 8.7: Tegra parts and others do not share cubins: build a cubin for "
            "sm_87, or PTX for sm_80");
  EXPECT_EQ(runsPtx(arch("sm_80"), 70, device(86)).reason, "PTX for 8.0 runs on every later device, this one is 8.6");
}

TEST(TargetArch, AsksForTheJitAndForCubins) {
  DeviceTraits noJit = device(90), emulator = device(90);
  noJit.canJit = false;
  emulator.acceptsCubin = false;
  EXPECT_EQ(runsPtx(arch("sm_80"), 70, noJit).reason,
            "PTX needs the driver's compiler, which is missing or switched off: build a cubin for sm_90");
  EXPECT_TRUE(runsCubin(arch("sm_90"), noJit).runs);
  EXPECT_EQ(runsCubin(arch("sm_90"), emulator).reason,
            "this device runs PTX only and takes no cubin: build PTX beside it");
  EXPECT_TRUE(runsPtx(arch("sm_90"), 80, emulator).runs);
}

TEST(TargetArch, KnowsTheIsaOfEveryDriver) {
  const std::map<int, uint16_t> expected = {
      {0, 0},      {7050, 0},   {9020, 62},  {10020, 65}, {11000, 70}, {11030, 73}, {11080, 78},
      {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85}, {12060, 85},
      {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}, {13010, 91}, {13020, 92}, {14000, 99}};
  for (auto [driver, isa] : expected)
    EXPECT_EQ(maxIsaOfDriver(driver), isa) << driver;
}

TEST(TargetArch, ParsesNames) {
  EXPECT_EQ(arch("sm_90a"), (TargetArch{90, ArchSuffix::A}));
  EXPECT_EQ(arch("compute_100f"), (TargetArch{100, ArchSuffix::F}));
  EXPECT_EQ(arch("sm_999"), (TargetArch{999, ArchSuffix::None}));
  for (const char *bad : {"", "sm_", "sm_a", "sm_9", "sm_090", "sm_90b", "sm_90aa", "SM_90", "90", "sm_-9", "sm_99999",
                          "sm_ 90", "compute_", "sm_90 "})
    EXPECT_FALSE(parseTargetArch(bad)) << bad;
  for (const ArchInfo &info : knownArchs()) {
    EXPECT_EQ(parseTargetArch(info.arch.toString()), info.arch);
    EXPECT_EQ(findArch(info.arch), &info);
  }
  EXPECT_EQ(findArch({91, ArchSuffix::None}), nullptr);
  EXPECT_TRUE(knownArchList().starts_with(knownArchs().front().arch.toString() + ", "));
  EXPECT_NE(knownArchList().find(", sm_90, sm_90a, sm_100, "), std::string::npos);
  EXPECT_TRUE(knownArchList().ends_with("sm_121, sm_121a, sm_121f"));
}

TEST(TargetArch, ListsArchsAscending) {
  auto key = [](const ArchInfo &info) { return info.arch.number * 4 + int(info.arch.suffix); };
  for (size_t i = 1; i < knownArchs().size(); ++i)
    EXPECT_LT(key(knownArchs()[i - 1]), key(knownArchs()[i]));
}

TEST(TargetArch, ChecksWhatAKernelNeeds) {
  DeviceTraits traits = device(80);
  traits.maxSharedOptinBytes = 100 * 1024;
  Candidate candidate;
  candidate.threads = 1024;
  candidate.staticSharedBytes = 48 * 1024;
  candidate.dynamicSharedBytes = 52 * 1024;
  EXPECT_TRUE(fits(candidate, traits).runs);
  candidate.dynamicSharedBytes += 1;
  EXPECT_EQ(fits(candidate, traits).reason, "102401 bytes of shared memory (49152 static, 53249 dynamic), the device "
                                            "has 102400 for a workgroup: use smaller tiles");
  candidate.origin = Origin::Generated;
  EXPECT_EQ(fits(candidate, traits).reason, "102401 bytes of shared memory (49152 static, 53249 dynamic), the device "
                                            "has 102400 for a workgroup: compile for sm_80 too");
  candidate.origin = Origin::HandWritten;
  traits.maxSharedOptinBytes = 0; // not known
  EXPECT_TRUE(fits(candidate, traits).runs);
  candidate.staticSharedBytes += 1;
  EXPECT_EQ(fits(candidate, traits).reason,
            "49153 bytes of static shared memory, at most 49152 are possible: make it dynamic shared memory");
  candidate.staticSharedBytes = 0;
  candidate.threads = 1025;
  EXPECT_EQ(fits(candidate, traits).reason,
            "a workgroup of 1025 threads, the device takes 1024: make workgroup_size smaller");
  candidate.threads = 513;
  traits.maxThreadsPerBlock = 512;
  EXPECT_FALSE(fits(candidate, traits).runs);
  candidate.threads = 1;
  candidate.clusterBlocks = 2;
  EXPECT_EQ(fits(candidate, traits).reason, "a cluster of 2 workgroups needs compute capability 9.0 or later, the "
                                            "device is 8.0: provide a variant without clusters");
  EXPECT_TRUE(fits(candidate, device(90)).runs);
}

static Candidate candidate(std::string_view target, ImageKind kind, Origin origin = Origin::HandWritten,
                           int32_t priority = 0) {
  Candidate out;
  out.variantName = target;
  out.arch = arch(target);
  out.kind = kind;
  out.isa = kind == ImageKind::Ptx ? findArch(out.arch)->minimumIsa : 0;
  out.origin = origin;
  out.priority = priority;
  return out;
}

static std::string order(const std::vector<Candidate> &candidates, const DeviceTraits &traits) {
  std::string out;
  for (const RankedCandidate &ranked : rankCandidates(candidates, traits)) {
    const Candidate &c = candidates[ranked.index];
    out += concat(out.empty() ? "" : " ", ranked.verdict.runs ? "" : "!",
                  c.kind == ImageKind::Ptx ? "ptx:" : "bin:", c.arch.number,
                  c.arch.suffix == ArchSuffix::A   ? "a"
                  : c.arch.suffix == ArchSuffix::F ? "f"
                                                   : "",
                  c.origin == Origin::Generated ? "/g" : "", c.priority == 0 ? "" : concat('^', c.priority));
  }
  return out;
}

TEST(RankCandidates, PrefersTheClosestImage) {
  using enum ImageKind;
  std::vector<Candidate> all = {candidate("sm_80", Ptx),     candidate("sm_103f", Ptx),   candidate("sm_90", Ptx),
                                candidate("sm_103a", Ptx),   candidate("sm_100", Cubin),  candidate("sm_103", Cubin),
                                candidate("sm_100f", Cubin), candidate("sm_103f", Cubin), candidate("sm_103a", Cubin),
                                candidate("sm_120", Cubin),  candidate("sm_90a", Ptx)};
  EXPECT_EQ(order(all, device(103)), "bin:103a bin:103f bin:100f bin:103 bin:100 ptx:103a ptx:103f ptx:90 ptx:80 "
                                     "!bin:120 !ptx:90a");
}

TEST(RankCandidates, TakesTheHighestLowerMinor) {
  using enum ImageKind;
  EXPECT_EQ(order({candidate("sm_80", Cubin), candidate("sm_86", Cubin)}, device(89)), "bin:86 bin:80");
  EXPECT_EQ(order({candidate("sm_80", Cubin), candidate("sm_80", Ptx), candidate("sm_86", Ptx)}, device(86)),
            "bin:80 ptx:86 ptx:80");
}

TEST(RankCandidates, PrefersHandWrittenThenPriorityThenOrder) {
  using enum ImageKind;
  EXPECT_EQ(order({candidate("sm_90", Cubin, Origin::Generated, 9), candidate("sm_75", Ptx)}, device(90)),
            "ptx:75 bin:90/g^9");
  EXPECT_EQ(order({candidate("sm_80", Ptx, Origin::HandWritten, 1), candidate("sm_80", Ptx, Origin::HandWritten, 2),
                   candidate("sm_75", Ptx, Origin::HandWritten, 9)},
                  device(90)),
            "ptx:80^2 ptx:80^1 ptx:75^9");
  std::vector<Candidate> same(5, candidate("sm_80", Ptx));
  auto ranking = rankCandidates(same, device(90));
  for (size_t i = 0; i < same.size(); ++i)
    EXPECT_EQ(ranking[i].index, i);
}

TEST(RankCandidates, RefusesWhatDoesNotFit) {
  std::vector<Candidate> both = {candidate("sm_80", ImageKind::Cubin), candidate("sm_80", ImageKind::Ptx)};
  both[0].threads = 2048;
  EXPECT_EQ(order(both, device(80)), "ptx:80 !bin:80");
}

// The order of what runs does not depend on the order given, as long as no two are alike.
TEST(RankCandidates, IsTheSameForEveryOrderGiven) {
  std::vector<Candidate> all;
  for (const ArchInfo &info : knownArchs())
    for (ImageKind kind : {ImageKind::Ptx, ImageKind::Cubin})
      for (Origin origin : {Origin::HandWritten, Origin::Generated})
        all.push_back(candidate(info.arch.toString(), kind, origin));
  std::mt19937 random(7);
  for (const Architecture &on : architectures()) {
    const uint16_t cc = on.number;
    auto running = [&] {
      std::string text = order(all, device(cc));
      return text.substr(0, text.find('!'));
    };
    // Thor's two numbers are one architecture: its cubins are equals, and the first given wins.
    if (cc == 101 || cc == 110)
      continue;
    std::string first = running();
    for (int round = 0; round < 3; ++round) {
      std::shuffle(all.begin(), all.end(), random);
      EXPECT_EQ(running(), first);
    }
  }
}
