// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/fatbin_testing.h"
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

const std::string kPtx = ptxModule(entry("k", "pw"));
const std::string kCubin = makeCubin("k", {{0, 8}, {8, 4}});

Job jobOf(std::string path, std::string bytes) {
  Job job = Job().add(makeExport("k", 1, {abi::Constant::word()}));
  job.job.objects.push_back({.path = std::move(path), .bytes = std::move(bytes)});
  return job;
}

TEST(ExpandObjects, KeepsPtxAndCubinOfOneModuleTogether) {
  Job job = jobOf("k.fatbin", makeFatbin({{.kind = 2, .payload = kCubin}, {.kind = 1, .payload = kPtx}}));
  job.job.imagePolicy = ImagePolicy::CubinAndPtx;
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  const abi::ExecutableView executable = view(linked);
  ASSERT_EQ(executable.raw().images()->size(), 2u);
  EXPECT_EQ(executable.raw().images()->Get(0)->kind(), abi::fb::ImageKind::Cubin);
  EXPECT_EQ(executable.raw().images()->Get(0)->source()->str(), "k.fatbin:sm_80.ptx");
  EXPECT_EQ(executable.findKernel(0, 0)->facts()->registers(), 14u);
}

TEST(ExpandObjects, HoldsTheCubinAgainstTheLayoutToo) {
  Job job = jobOf("k.fatbin", makeFatbin({{.kind = 2, .payload = makeCubin("k", {{0, 8}})}, {.payload = kPtx}}));
  job.job.imagePolicy = ImagePolicy::CubinAndPtx;
  EXPECT_FINDS(linkJob(job), "error: [K-17] 'k' takes 1 parameters by the cubin's own account, the layout has 2");
}

TEST(ExpandObjects, TakesWhatTheTargetAsksFor) {
  Job job = jobOf("k.fatbin", makeFatbin({{.payload = kPtx}, {.arch = 90, .payload = "never read"}}));
  job.job.objects[0].target = {.number = 80};
  EXPECT_LINKS(linkJob(job));
  job.job.objects[0].target = {.number = 86};
  EXPECT_FINDS(linkJob(job),
               "k.fatbin: error: [K-6] it holds no code for sm_86; it has code for 'sm_80 (PTX)' and 'sm_90 (PTX)'");
}

TEST(ExpandObjects, NamesTheWayThroughArchivesAndHostObjects) {
  const std::string host = makeElf(62, 0, 0, {{.name = ".nv_fatbin", .bytes = makeFatbin({{.payload = kPtx}})}});
  const std::string plain = makeElf(62, 0, 0, {});
  Job job = jobOf("libk.a", "!<arch>\n" + archiveMember("host.o/", plain) + archiveMember("k.o/", host));
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  EXPECT_EQ(view(linked).raw().images()->Get(0)->source()->str(), "libk.a(k.o):.nv_fatbin:sm_80.ptx");
  EXPECT_FINDS(linkJob(jobOf("k.o", plain)), "k.o: error: [K-1] the host object holds no device code");
}

TEST(ExpandObjects, RefusesWrappersThatAreNone) {
  const std::string fatbin = makeFatbin({{.payload = kPtx}});
  auto host = [&](const std::string &wrappers) {
    return makeElf(62, 0, 0,
                   {{.name = ".nv_fatbin", .bytes = fatbin}, {.name = ".nvFatBinSegment", .bytes = wrappers}});
  };
  const std::string good = little(uint32_t(0x466243B1)) + little(uint32_t(1)) + std::string(16, '\0');
  EXPECT_LINKS(linkJob(jobOf("k.o", host(good + good))));
  std::string bad = good + good;
  bad[24] ^= 1;
  EXPECT_FINDS(linkJob(jobOf("k.o", host(bad))),
               "k.o:.nvFatBinSegment: error: [K-1] the fatbin is damaged: the wrapper at byte 24 is none");
  EXPECT_FINDS(linkJob(jobOf("k.o", host(good.substr(1)))), "its wrappers have 23 bytes, not a multiple of 24");
  EXPECT_FINDS(
      linkJob(jobOf("k.fatbin", good)),
      "k.fatbin: error: [K-1] the fatbin is damaged: it is the wrapper of one, which holds pointers and no code");
}

TEST(ExpandObjects, LinksWhatWasLinked) {
  Linked first = linkJob(Job().add(makeExport("k", 1, {abi::Constant::word()})).object("k.ptx", kPtx));
  Linked again = linkJob(jobOf("k.tnx", std::string(first.bytes.begin(), first.bytes.end())));
  EXPECT_LINKS(again);
  EXPECT_EQ(view(again).raw().images()->size(), 1u);
}

TEST(ExpandObjects, RefusesByName) {
  EXPECT_FINDS(linkJob(jobOf("k.fatbin", makeFatbin({{.kind = 8, .payload = "ir"}}))),
               "k.fatbin:sm_80.ltoir: error: [K-1] the image is LTO-IR");
  EXPECT_FINDS(linkJob(jobOf("k.fatbin", makeFatbin({{.kind = 9, .payload = "?"}}))),
               "k.fatbin:sm_80.unknown: error: [K-1] the image is of an unknown kind");
  EXPECT_FINDS(linkJob(jobOf("k.fatbin", makeFatbin({}))), "k.fatbin: error: [K-1] it holds no device code");
}

TEST(ExpandObjects, ProvesACubinFromItsMetadata) {
  Linked linked = linkJob(jobOf("k.cubin", kCubin));
  EXPECT_FINDS(linked, "k.cubin: remark: [K-18] there is no PTX beside the cubin");
  const abi::ExecutableView executable = view(linked);
  ASSERT_EQ(executable.raw().images()->size(), 1u);
  EXPECT_EQ(executable.raw().images()->Get(0)->kind(), abi::fb::ImageKind::Cubin);
  EXPECT_EQ(executable.raw().images()->Get(0)->isa(), 0);
  EXPECT_EQ(executable.findKernel(0, 0)->facts()->access(), nullptr) << "nothing is known of it";
  EXPECT_FINDS(linkJob(jobOf("k.cubin", makeCubin("k", {{0, 8}, {16, 4}}))), "error: [K-4] parameter 1 of 'k'");
  Job other = jobOf("k.cubin", kCubin);
  other.job.objects[0].target = {.number = 90};
  EXPECT_FINDS(linkJob(other), "k.cubin: error: [K-6] found a cubin for sm_80, wanted one for sm_90");
  const std::string hopper = makeCubin("k", {{0, 8}, {8, 4}}, 90);
  EXPECT_FINDS(linkJob(jobOf("k.cubin", hopper)),
               "k.cubin: error: [K-6] the cubin does not say whether it is for sm_90 or for sm_90a");
  Job named = jobOf("k.cubin", hopper);
  named.job.objects[0].target = {.number = 90, .suffix = abi::ArchSuffix::A};
  EXPECT_FINDS(linkJob(named), "fix: give the PTX as well: nvcc -fatbin -gencode arch=compute_90a,");
  Job strict = jobOf("k.cubin", kCubin);
  strict.job.strict = true;
  EXPECT_FINDS(linkJob(strict), "k.cubin: error: [K-18]");
  EXPECT_FINDS(linkJob(jobOf("k.cubin", kCubin.substr(0, 70))), "k.cubin: error: [K-1] the ELF file is damaged");
}

} // namespace
} // namespace tenon::linker
