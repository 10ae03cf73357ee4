// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/link_options.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

std::string mistake(std::vector<const char *> arguments, LinkOptions::Work work = LinkOptions::Work::Link) {
  LinkOptions options;
  CommandLine line = options.commandLine();
  arguments.insert(arguments.begin(), "tenon-link");
  CommandLine::Outcome outcome = line.evaluate(int(arguments.size()), arguments.data());
  if (outcome.exitStatus)
    return outcome.error;
  Status status = options.check();
  if (status.ok())
    EXPECT_EQ(options.work, work);
  return std::string(status.message());
}

TEST(LinkOptions, KnowsItsWorks) {
  using Work = LinkOptions::Work;
  EXPECT_EQ(mistake({"a.json", "-o", "x.tnx"}, Work::Link), "");
  EXPECT_EQ(mistake({"a.json", "--explain", "--device=sm_80"}, Work::Link), "");
  EXPECT_EQ(mistake({"a.json", "--header=x.cuh"}, Work::Header), "");
  EXPECT_EQ(mistake({"--import=k.ptx"}, Work::Import), "");
  EXPECT_EQ(mistake({"--replace", "k=k.ptx", "a.tnx", "-o", "b.tnx"}, Work::Replace), "");
}

TEST(LinkOptions, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(mistake({}), "no manifest or object given");
  EXPECT_EQ(mistake({"a.json"}), "no output given: -o FILE (or --check, or --explain)");
  EXPECT_EQ(mistake({"a.json", "--kernel=k", "-o", "x"}), "--kernel needs --import");
  EXPECT_EQ(mistake({"a.json", "--variant=k", "-o", "x"}), "--variant needs --replace");
  EXPECT_EQ(mistake({"a.json", "--no-jit", "-o", "x"}), "--no-jit needs --require-coverage or --explain");
  EXPECT_EQ(mistake({"a.json", "--depfile=d", "-o", "-"}), "--depfile needs the output's name: -o FILE");
  EXPECT_EQ(mistake({"a.json", "--map=m", "--header=h"}), "--header links nothing: give neither -o nor --explain");
  EXPECT_EQ(mistake({"--replace", "k=k.ptx", "a.tnx", "--map=m", "-o", "b.tnx"}),
            "--replace takes neither --map, --reproduce, --explain nor --require-coverage");
  EXPECT_EQ(mistake({"a.json", "--jobs=0", "-o", "x"}), "--jobs is a number from 1 to 1024, not '0'");
  EXPECT_TRUE(mistake({"a.json", "--target=sm_83", "-o", "x"})
                  .starts_with("unknown target 'sm_83'; did you mean 'sm_53', 'sm_80' or 'sm_86'? Known: sm_"));
  EXPECT_TRUE(mistake({"a.json", "--images=sass", "-o", "x"}).starts_with("--images is "));
}

TEST(LinkFlags, FillTheJob) {
  LinkFlags flags{.strict = true, .images = "cubin", .ptxas = "p", .jobs = "3", .nvcc = "n", .sourceCache = "c"};
  flags.sourceFlags = {"-O1"};
  LinkJob job;
  ASSERT_TRUE(flags.applyTo(job).ok());
  EXPECT_TRUE(job.strict);
  EXPECT_EQ(job.imagePolicy, ImagePolicy::Cubin);
  EXPECT_EQ(job.ptxasPath, "p");
  EXPECT_EQ(job.jobs, 3u);
  EXPECT_EQ(job.sources.compiler, "n");
  EXPECT_EQ(job.sources.cacheFolder, "c");
  EXPECT_EQ(job.sources.flags, std::vector<std::string>{"-O1"});
}

TEST(LinkFlags, ParseTargets) {
  Result<std::vector<abi::TargetArch>> targets = parseTargetList({"sm_80,compute_90a", "sm_120"});
  ASSERT_TRUE(targets.ok());
  ASSERT_EQ(targets->size(), 3u);
  EXPECT_EQ((*targets)[1].toString(), "sm_90a");
  EXPECT_FALSE(parseTargetList({"sm_80,,compute_90a"}).ok());
}

} // namespace
} // namespace tenon::linker
