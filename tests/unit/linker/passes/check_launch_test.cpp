// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

Linked linkWith(std::string_view directives, abi::Extent3 workgroup, abi::Extent3 cluster = {0, 0, 0}) {
  abi::Export declared = makeExport("k", 1);
  declared.launch.workgroupSize = workgroup;
  declared.launch.cluster = cluster;
  return linkJob(Job().add(declared).object("a.ptx", ptxModule(entry("k", "p", directives), "sm_90"), "sm_90"));
}

TEST(CheckLaunch, RequiredThreadsAreMetExactly) {
  EXPECT_LINKS(linkWith(".reqntid 64", {64, 1, 1}));
  EXPECT_FINDS(linkWith(".reqntid 8, 8", {64, 1, 1}),
               "a.ptx:4:17: error: [K-8] 'k' has .reqntid 8x8x1, the export declares workgroup size 64x1x1\n"
               "job.json:7:3: note: export 'k' is declared here\n"
               "fix: declare workgroup_size 8x8x1");
}

TEST(CheckLaunch, MaximumThreadsBoundTheProduct) {
  EXPECT_LINKS(linkWith(".maxntid 128", {8, 8, 2}));
  EXPECT_FINDS(linkWith(".maxntid 128, 1, 1", {256, 1, 1}),
               "[K-8] 'k' has .maxntid 128x1x1 (128 threads), the export declares workgroup size 256x1x1 (256)");
}

TEST(CheckLaunch, RefusesWorkgroupsThatNoDeviceTakes) {
  EXPECT_LINKS(linkWith("", {1024, 1, 1}));
  EXPECT_LINKS(linkWith("", {16, 1, 64}));
  EXPECT_FINDS(linkWith("", {1024, 2, 1}),
               "job.json:7:3: error: [K-8] export 'k': workgroup size 1024x2x1 is more than 1024 threads");
  EXPECT_FINDS(linkWith("", {65536, 65536, 65536}), "is more than 1024 threads");
  EXPECT_FINDS(linkWith("", {1, 1, 65}), "[K-8] export 'k': workgroup size 1x1x65 has more than 64 threads along z");
  EXPECT_FINDS(linkWith("", {0, 1, 1}), "[K-8] export 'k': workgroup size 0x1x1 has no threads");
}

TEST(CheckLaunch, RefusesOtherSubgroups) {
  abi::Export declared = makeExport("k", 1);
  declared.launch.subgroupSize = 32;
  EXPECT_LINKS(linkOne(entry("k", "p"), declared));
  declared.launch.subgroupSize = 64;
  EXPECT_FINDS(linkOne(entry("k", "p"), declared), "[K-8] export 'k': subgroup size 64, CUDA devices have 32 lanes");
}

TEST(CheckLaunch, WhatWaitsForItsGridIsCooperative) {
  const std::string module = ptxModule(entry("k", "p", "", "  mov.u32 %r1, %envreg2;\n"), "sm_80");
  abi::Export declared = makeExport("k", 1);
  EXPECT_FINDS(linkJob(Job().add(declared).object("a.ptx", module, "sm_80")),
               "warning: [K-25] 'k' reads %envreg2, as a grid that waits for all of its workgroups does");
  declared.launch.cooperative = true;
  EXPECT_LINKS(linkJob(Job().add(declared).object("a.ptx", module, "sm_80")));
}

TEST(CheckLaunch, RequiredClustersAreMetExactly) {
  EXPECT_LINKS(linkWith(".reqnctapercluster 2", {64, 1, 1}, {2, 1, 1}));
  EXPECT_LINKS(linkWith("", {64, 1, 1}, {2, 1, 1}));
  EXPECT_FINDS(linkWith(".reqnctapercluster 2", {64, 1, 1}),
               "[K-8] 'k' has .reqnctapercluster 2x1x1, the export declares none");
  EXPECT_FINDS(linkWith(".reqnctapercluster 2", {64, 1, 1}, {4, 1, 1}), "the export declares cluster 4x1x1");
  EXPECT_FINDS(linkWith(".explicitcluster", {64, 1, 1}),
               "[K-8] 'k' has .explicitcluster, the export declares no cluster");
  EXPECT_FINDS(linkWith(".explicitcluster .maxclusterrank 4", {64, 1, 1}, {8, 1, 1}),
               "[K-8] 'k' has .maxclusterrank 4, the export declares cluster 8x1x1 (8 workgroups)");
}

TEST(CheckLaunch, GeneratedKernelsBringClustersOfTheirOwn) {
  abi::Export declared = makeExport("k", 1);
  declared.launch.workgroupSize = {64, 1, 1};
  Job job;
  job.add(declared).object("a.ptx", ptxModule(entry("k", "p", ".explicitcluster .reqnctapercluster 2"), "sm_90"),
                           "sm_90");
  EXPECT_FINDS(linkJob(job), "[K-8] 'k' has .reqnctapercluster 2x1x1, the export declares none");
  job.job.objects.back().origin = abi::Origin::Generated;
  EXPECT_LINKS(linkJob(job));
}

// What is declared is the hand-written kernel's: one that is generated beside it, for devices without clusters, is in
// none.
TEST(CheckLaunch, GeneratedKernelsForDevicesWithoutClustersAreInNone) {
  abi::Export declared = makeExport("k", 1);
  declared.launch.workgroupSize = {64, 1, 1};
  declared.launch.cluster = {2, 1, 1};
  for (const char *target : {"sm_80", "sm_90"}) {
    Job job;
    job.add(declared)
        .object("a.ptx", ptxModule(entry("k", "p", ".explicitcluster .reqnctapercluster 2"), "sm_90a"), "sm_90a")
        .object("b.ptx", ptxModule(entry("k", "p", ""), target), target);
    if (std::string_view(target) == "sm_80")
      EXPECT_FINDS(linkJob(job), "[K-8] 'k' is built for sm_80, clusters (declared 2x1x1) need sm_90 or later");
    job.job.objects.back().origin = abi::Origin::Generated;
    Linked linked = linkJob(job);
    EXPECT_LINKS(linked);
    const std::vector<abi::Candidate> candidates = view(linked).candidates(0);
    ASSERT_EQ(candidates.size(), 2u);
    EXPECT_EQ(candidates[0].clusterBlocks, 2u);
    EXPECT_EQ(candidates[1].clusterBlocks, std::string_view(target) == "sm_80" ? 1u : 2u);
  }
}

TEST(CheckLaunch, WhoGeneratedAKernelChoseItsWorkgroupAndGrid) {
  const std::string body = "  .reg .b32 %n;\n  mov.u32 %n, %nctaid.x;\n";
  for (const bool readsGrid : {false, true}) {
    abi::Export declared = makeExport("k", 1);
    declared.launch.workgroupSize = {64, 1, 1};
    Job job;
    job.add(declared).object("a.ptx", ptxModule(entry("k", "p", ".reqntid 384", readsGrid ? body : "")));
    EXPECT_FINDS(linkJob(job), "[K-8] 'k' has .reqntid 384x1x1, the export declares workgroup size 64x1x1");
    job.job.objects.back().origin = abi::Origin::Generated;
    Linked linked = linkJob(job);
    EXPECT_LINKS(linked);
    const abi::ExecutableView executable = view(linked);
    EXPECT_EQ(executable.findKernel(0, 0)->facts()->any_grid(), readsGrid);
    EXPECT_EQ(executable.candidates(0)[0].workgroupSize, (abi::Extent3{384, 1, 1}));
    EXPECT_EQ(executable.candidates(0)[0].threads, 384u);
    EXPECT_EQ(executable.candidates(0)[0].takesAnyGrid, readsGrid);
  }
}

TEST(CheckLaunch, RefusesAndWarnsOfLargeClusters) {
  Linked warned = linkWith("", {64, 1, 1}, {16, 1, 1});
  EXPECT_FALSE(warned.bytes.empty());
  EXPECT_FINDS(warned,
               "warning: [K-8] export 'k': cluster 16x1x1 is more than 8 workgroups, which not every device has");
  EXPECT_FINDS(linkWith("", {64, 1, 1}, {17, 1, 1}),
               "error: [K-8] export 'k': cluster 17x1x1 is more than 16 workgroups");
  EXPECT_FINDS(linkWith("", {64, 1, 1}, {2, 0, 1}), "error: [K-8] export 'k': cluster 2x0x1 has no workgroups");
}

TEST(CheckLaunch, ClustersNeedTheArchitecture) {
  abi::Export declared = makeExport("k", 1);
  declared.launch.cluster = {2, 1, 1};
  EXPECT_FINDS(linkOne(entry("k", "p"), declared),
               "[K-8] 'k' is built for sm_80, clusters (declared 2x1x1) need sm_90 or later");
}

TEST(CheckLaunch, RefusesBlocksThatAreClusters) {
  EXPECT_FINDS(linkWith(".reqntid 64 .reqnctapercluster 2 .blocksareclusters", {64, 1, 1}, {2, 1, 1}),
               "[K-8] 'k' has .blocksareclusters");
}

} // namespace
} // namespace tenon::linker
