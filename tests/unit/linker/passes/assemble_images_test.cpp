// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The assembler here is a shell script that says and writes what the test wants; the real one is called by
// tests/lit/linker/images.test.
#include "linker/passes/passes.h"

#include "support/files/file.h"
#include "tests/unit/linker/cubin_testing.h"
#include "tests/unit/linker/link_testing.h"

#include <sys/stat.h>

namespace tenon::linker {
namespace {

using namespace testing;

class AssembleImages : public ::testing::Test {
protected:
  /// A ptxas that prints `log`, writes `cubin` and ends with `status`.
  std::string fakePtxas(const std::string &log, const std::string &cubin, int status = 0) {
    const std::string stem =
        concat(::testing::TempDir(), "tenon_ptxas_", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    EXPECT_TRUE(writeFile(stem + ".log", log).ok());
    EXPECT_TRUE(writeFile(stem + ".cubin", cubin).ok());
    EXPECT_TRUE(writeFile(stem, concat("#!/bin/sh\ncat '", stem, ".log'\ncat '", stem, ".cubin' > \"$5\"\ncp \"$3\" '",
                                       stem, ".ptx'\nexit ", status, "\n"))
                    .ok());
    EXPECT_EQ(chmod(stem.c_str(), 0700), 0);
    return stem;
  }

  static Job oneKernel(std::string ptxas, ImagePolicy policy = ImagePolicy::CubinAndPtx) {
    Job job = Job().add(makeExport("k", 1, {abi::Constant::word()})).object("a.ptx", ptxModule(entry("k", "pw")));
    job.job.imagePolicy = policy;
    job.job.ptxasPath = std::move(ptxas);
    return job;
  }

  static constexpr char kLog[] = "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
                                 "ptxas info    : Function properties for k\n"
                                 "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
                                 "ptxas info    : Used 33 registers, 360 bytes cmem[0]\n";
  const std::string cubin_ = makeCubin("k", {{0, 8}, {8, 4}});
};

TEST_F(AssembleImages, PutsTheCubinBeforeThePtx) {
  Linked linked = linkJob(oneKernel(fakePtxas(kLog, cubin_)));
  EXPECT_LINKS(linked);
  const abi::ExecutableView executable = view(linked);
  ASSERT_EQ(executable.raw().images()->size(), 2u);
  EXPECT_EQ(executable.raw().images()->Get(0)->kind(), abi::fb::ImageKind::Cubin);
  EXPECT_EQ(executable.raw().images()->Get(1)->kind(), abi::fb::ImageKind::Ptx);
  Result<std::vector<uint8_t>> bytes = executable.imageBytes(0);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(std::string(bytes->begin(), bytes->end()), cubin_);
  EXPECT_EQ(executable.findKernel(0, 0)->facts()->registers(), 33u);
  EXPECT_EQ(executable.findKernel(0, 0)->facts()->spill_bytes(), 12u);
}

TEST_F(AssembleImages, KeepsThePtxOrNotAsToldTo) {
  EXPECT_EQ(view(linkJob(oneKernel(fakePtxas(kLog, cubin_), ImagePolicy::Cubin))).raw().images()->size(), 1u);
  Linked ptx = linkJob(oneKernel("/no/such/ptxas", ImagePolicy::Ptx));
  EXPECT_LINKS(ptx);
  EXPECT_EQ(view(ptx).raw().images()->Get(0)->kind(), abi::fb::ImageKind::Ptx);
}

TEST_F(AssembleImages, GivesTheSameBytesForAnyNumberOfJobs) {
  Job job = Job().add(makeExport("k", 1, {abi::Constant::word()}));
  for (int i = 0; i < 9; ++i) {
    job.object(concat("a", i, ".ptx"), ptxModule(entry("k", "pw", "", concat("// ", i, "\n"))));
    job.job.objects.back().variantName = concat("v", i);
  }
  job.job.imagePolicy = ImagePolicy::CubinAndPtx;
  job.job.ptxasPath = fakePtxas(kLog, cubin_);
  job.job.jobs = 1;
  Linked one = linkJob(job);
  job.job.jobs = 5;
  EXPECT_EQ(one.bytes, linkJob(job).bytes);
  EXPECT_EQ(view(one).raw().images()->size(), 10u) << "nine texts and one cubin";
}

TEST_F(AssembleImages, MapsErrorsToTheObjectsLines) {
  Linked linked = linkJob(oneKernel(fakePtxas("ptxas /proc/self/fd/3, line 6; error   : Arguments mismatch\n"
                                              "ptxas error   : Entry function 'k' uses too much shared data\n",
                                              "", 255)));
  EXPECT_FINDS(linked, "a.ptx:6: error: [K-16] ptxas says: Arguments mismatch\n");
  EXPECT_FINDS(linked, "a.ptx:4:17: error: [K-16] ptxas says: Entry function 'k' uses too much shared data\n");
}

TEST_F(AssembleImages, SaysNothingOfBlocksThatOnlyLargerMultiprocessorsHold) {
  const std::string ptxas = fakePtxas(
      concat("ptxas warning : Value of threads per SM for entry k is out of range. .minnctapersm will be ignored\n",
             kLog),
      cubin_);
  Job job = oneKernel(ptxas);
  EXPECT_NE(linkJob(job).text().find(".minnctapersm will be ignored"), std::string::npos);
  job.job.objects.back().origin = abi::Origin::Generated;
  EXPECT_EQ(linkJob(job).text(), "");
}

TEST_F(AssembleImages, KeepsLinesAndFixesTheTimesOfSources) {
  const std::string ptxas = fakePtxas(kLog, cubin_);
  Job job = oneKernel(ptxas);
  FileBytes &bytes = job.job.objects[0].bytes;
  bytes = concat(bytes.view(), ".file 1 \"a.cu\"\n.file\t2 \"b.cu\", 5, 6\n");
  EXPECT_LINKS(linkJob(job));
  Result<std::string> text = readFile(ptxas + ".ptx");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, ptxModule(entry("k", "pw")) + ".file 1 \"a.cu\", 1, 1\n.file\t2 \"b.cu\", 5, 6\n");
}

TEST_F(AssembleImages, StaysPtxWherePtxasDoesNotKnowTheTarget) {
  const std::string ptxas = fakePtxas("ptxas fatal   : Value 'sm_80' is not defined for option 'gpu-name'\n", "", 1);
  Linked linked = linkJob(oneKernel(ptxas));
  EXPECT_EQ(linked.text(), "a.ptx: remark: [K-16] the image stays PTX: ptxas has no target sm_80\n");
  EXPECT_EQ(view(linked).raw().images()->size(), 1u);
  EXPECT_EQ(view(linked).findKernel(0, 0)->facts()->registers(), 0u);
  EXPECT_FINDS(linkJob(oneKernel(ptxas, ImagePolicy::Cubin)),
               "a.ptx: error: [K-16] there is no cubin: ptxas has no target sm_80\n"
               "fix: use a ptxas that knows it (--ptxas=PATH), or --images=cubin+ptx\n");
}

TEST_F(AssembleImages, StaysPtxWherePtxasIsOlder) {
  Linked linked = linkJob(
      oneKernel(fakePtxas("ptxas in, line 1; fatal   : Unsupported .version 8.0; current version is '7.8'\n", "", 1)));
  EXPECT_EQ(linked.text(), "a.ptx: remark: [K-16] the image stays PTX: ptxas says: Unsupported .version 8.0; current "
                           "version is '7.8'\n");
}

TEST_F(AssembleImages, RefusesAPtxasThatIsNone) {
  EXPECT_FINDS(linkJob(oneKernel("/no/such/ptxas")),
               "error: [K-16] cannot assemble: '/no/such/ptxas' is not a program that can be run\n");
}

TEST_F(AssembleImages, HoldsTheCubinAgainstTheLayout) {
  EXPECT_FINDS(linkJob(oneKernel(fakePtxas(kLog, makeCubin("k", {{0, 8}, {16, 4}})))),
               "a.ptx:4:17: error: [K-17] parameter 1 of 'k' has 4 bytes at byte 16 by the cubin's own account, the "
               "layout has 4 bytes at byte 8\n"
               "job.json:7:3: note: export 'k' is declared here\n"
               "fix: another version of ptxas (--ptxas), or --images=ptx\n");
  EXPECT_FINDS(linkJob(oneKernel(fakePtxas(kLog, makeCubin("k", {{0, 8}})))),
               "error: [K-17] 'k' takes 1 parameters by the cubin's own account, the layout has 2\n");
  EXPECT_FINDS(linkJob(oneKernel(fakePtxas(kLog, makeCubin("k", {{0, 8}})))),
               "error: [K-17] 'k' takes 8 bytes of parameters by the cubin's own account, the layout has 12\n");
  EXPECT_FINDS(linkJob(oneKernel(fakePtxas(kLog, makeCubin("k", {{0, 8}, {8, 4}}, 90)))),
               "a.ptx: error: [K-17] the cubin is for sm_90, wanted sm_80\n");
  EXPECT_FINDS(linkJob(oneKernel(fakePtxas(kLog, makeCubin("other", {{0, 8}, {8, 4}})))),
               "error: [K-17] the cubin has no kernel 'k'\n");
  EXPECT_FINDS(linkJob(oneKernel(fakePtxas(kLog, makeCubin("k", {{0, 8}, {8, 4}}, 80, 0, 1, 0)))),
               "error: [K-17] the cubin has code for 'k' that is marked as no entry point\n");
  EXPECT_LINKS(linkJob(oneKernel(fakePtxas(kLog, makeCubin("k", {{0, 8}, {8, 4}}, 80, 0, /*binding=*/0)))));
  EXPECT_FINDS(linkJob(oneKernel(fakePtxas(kLog, "no cubin"))),
               "a.ptx: error: [K-17] the image is no cubin: the ELF file is damaged");
}

TEST_F(AssembleImages, WarnsOfAnotherCountOfSharedMemory) {
  Linked linked = linkJob(oneKernel(fakePtxas("ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
                                              "ptxas info    : Used 33 registers, 64 bytes smem\n",
                                              cubin_)));
  EXPECT_FINDS(linked,
               "a.ptx:4:17: warning: [K-17] 'k' takes 64 bytes of static shared memory by the cubin's count, 0 by "
               "the linker's; the former is stored\n");
  EXPECT_EQ(view(linked).findKernel(0, 0)->facts()->static_shared_bytes(), 64u);
}

} // namespace
} // namespace tenon::linker
