// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "abi/target_arch.h"
#include "support/status.h"

#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::abi;

static Candidate candidate(std::string name, TargetArch arch, ImageKind kind, uint16_t isa) {
  Candidate out;
  out.variantName = std::move(name);
  out.arch = arch;
  out.kind = kind;
  out.isa = isa;
  return out;
}

static DeviceTraits device(uint16_t cc, int driver) {
  DeviceTraits traits;
  traits.name = "NVIDIA A10";
  traits.computeCapability = cc;
  traits.driverVersion = driver;
  return traits;
}

TEST(ExplainRanking, MarksTheChosenImage) {
  std::vector<Candidate> candidates = {candidate("hopper", {90, ArchSuffix::A}, ImageKind::Ptx, 80),
                                       candidate("sm_75", {75, ArchSuffix::None}, ImageKind::Ptx, 63),
                                       candidate("sm_80", {80, ArchSuffix::None}, ImageKind::Cubin, 0)};
  DeviceTraits a10 = device(86, 12080);
  EXPECT_EQ(
      explainRanking(candidates, rankCandidates(candidates, a10), &a10),
      "device 'NVIDIA A10', compute capability 8.6, driver 12.8 (PTX ISA up to 8.7)\n"
      "  variant  target  image  ISA  origin        verdict\n"
      "* sm_80    sm_80   cubin  -    hand-written  runs: a cubin of sm_80 runs on 8.6, a later minor of the same "
      "major\n"
      "  sm_75    sm_75   PTX    6.3  hand-written  runs: PTX for 7.5 runs on every later device, this one is "
      "8.6\n"
      "  hopper   sm_90a  PTX    8.0  hand-written  no: sm_90a runs on compute capability 9.0 only, the device is "
      "8.6: build for sm_86\n");
}

TEST(ExplainRanking, SaysWhatToBuildWhenNothingRuns) {
  std::vector<Candidate> candidates = {candidate("sm_90", {90, ArchSuffix::None}, ImageKind::Ptx, 80)};
  DeviceTraits a10 = device(86, 12080);
  std::string text = explainRanking(candidates, rankCandidates(candidates, a10), &a10);
  EXPECT_NE(text.find("\n  sm_90 "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\nno image runs: build PTX for sm_86 or an earlier target with .version 8.7 or lower, or "
                             "a cubin for sm_86\n"))
      << text;
  EXPECT_TRUE(explainRanking(candidates, rankCandidates(candidates, a10)).ends_with("\nno image runs\n"));
}

TEST(ExplainRanking, SaysWhereADriverCompilesNoPtx) {
  DeviceTraits a10 = device(86, 12080);
  a10.canJit = false;
  EXPECT_TRUE(explainRanking({}, {}, &a10)
                  .starts_with("device 'NVIDIA A10', compute capability 8.6, driver 12.8 (no PTX compiler)\n"));
}

TEST(ExplainRanking, SaysThatNothingWasGiven) {
  DeviceTraits a10 = device(86, 12080);
  EXPECT_TRUE(explainRanking({}, {}, &a10)
                  .ends_with("verdict\nno image holds this export: build PTX for sm_86 or an "
                             "earlier target with .version 8.7 or lower, or a cubin for "
                             "sm_86\n"));
}

TEST(WhatToBuild, FollowsDriverAndDevice) {
  EXPECT_EQ(whatToBuild(device(120, 12060)),
            "build PTX for sm_90 or an earlier target with .version 8.5 or lower, or a cubin for sm_120");
  DeviceTraits emulator = device(90, 12080);
  emulator.acceptsCubin = false;
  EXPECT_EQ(whatToBuild(emulator), "build PTX for sm_90 or an earlier target with .version 8.7 or lower");
  DeviceTraits noJit = device(101, 12080);
  noJit.canJit = false;
  EXPECT_EQ(whatToBuild(noJit), "build a cubin for sm_110");
  noJit.acceptsCubin = false;
  EXPECT_EQ(whatToBuild(noJit), "this device and driver take no PTX that Tenon knows, and no cubin: update the driver");
}

TEST(ExplainRanking, SaysWhenTheKernelDoesNotFit) {
  std::vector<Candidate> candidates = {candidate("sm_80", {80, ArchSuffix::None}, ImageKind::Ptx, 70)};
  candidates[0].threads = 2048;
  DeviceTraits a10 = device(86, 12080);
  std::string text = explainRanking(candidates, rankCandidates(candidates, a10), &a10);
  EXPECT_TRUE(text.ends_with("no: a workgroup of 2048 threads, the device takes 1024: make workgroup_size smaller\n"
                             "no image runs: an image is for this device, but the kernel does not fit it\n"))
      << text;
}

TEST(ExplainRanking, SaysWhenWhatWouldRunIsRuledOut) {
  std::vector<Candidate> candidates = {candidate("sm_80", {80, ArchSuffix::None}, ImageKind::Ptx, 70)};
  DeviceTraits a10 = device(86, 12080);
  const std::vector<RankedCandidate> ranking = {{0, {false, "ruled out: only variant 'x' was asked for"}}};
  std::string text = explainRanking(candidates, ranking, &a10);
  EXPECT_TRUE(text.ends_with("no: ruled out: only variant 'x' was asked for\n"
                             "no image runs: one would, but it was ruled out\n"))
      << text;
}
