// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/link.h"

#include "support/files/file.h"
#include "tests/unit/linker/link_testing.h"

#include <sys/stat.h>
#include <unistd.h>

namespace tenon::linker {
namespace {

using namespace testing;

const abi::Constant kWord = abi::Constant::word();

Job sampleJob() {
  Job job;
  job.add(makeExport("mul", 3, {kWord})).add(makeExport("scale", 2, {kWord}));
  for (const char *target : {"sm_75", "sm_80", "sm_90"})
    job.object(concat("/some/where/kernels_", target, ".ptx"),
               ptxModule(entry("mul", "pppw") + entry("scale", "ppw"), target), target);
  return job;
}

TEST(Link, MakesOneVariantPerTarget) {
  Linked linked = linkJob(sampleJob());
  EXPECT_LINKS(linked);
  abi::ExecutableView executable = view(linked);
  EXPECT_EQ(executable.name(), "test");
  ASSERT_EQ(executable.exportCount(), 2u);
  EXPECT_EQ(executable.exportAt(1).name, "scale");
  ASSERT_EQ(executable.candidates(0).size(), 3u);
  EXPECT_EQ(executable.candidates(0)[2].variantName, "sm_90");
  EXPECT_EQ(executable.candidates(0)[2].isa, 80);
  const abi::fb::Kernel *kernel = executable.findKernel(1, 1);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->facts()->parameter_bytes(), 20u);
  EXPECT_EQ(kernel->facts()->parameter_offsets(), nullptr) << "they follow from the layout";
}

TEST(Link, GivesTheSameBytesForTheSameJob) {
  Linked first = linkJob(sampleJob());
  // Move everything to other addresses; no hash or pointer order may show.
  std::vector<std::string> ballast;
  for (int i = 0; i < 100; ++i)
    ballast.emplace_back(size_t(i) * 977, 'x');
  Job copy = sampleJob();
  ballast.clear();
  EXPECT_EQ(first.bytes, linkJob(copy).bytes);
}

TEST(Link, GivesTheSameBytesInAnotherFolder) {
  Job moved = sampleJob();
  for (ObjectInput &object : moved.job.objects)
    object.path = "else" + object.path;
  for (abi::Export &value : moved.job.exports)
    value.declaredAt.file = "/tmp/job.json";
  EXPECT_EQ(linkJob(sampleJob()).bytes, linkJob(moved).bytes);
}

TEST(Link, OnlyProvesWhereNothingElseIsAskedFor) {
  Job job = sampleJob();
  job.job.proveOnly = true;
  Diagnostics diagnostics;
  Result<LinkOutput> proved = link(job.job, diagnostics);
  ASSERT_TRUE(proved.ok()) << diagnostics.toString();
  EXPECT_TRUE(proved->executable.empty());
  job.add(makeExport("gone", 1));
  EXPECT_FALSE(link(job.job, diagnostics).ok());
  EXPECT_EQ(diagnostics.errorCount(), 3u) << diagnostics.toString();
}

TEST(Link, RefusesAnObjectThatHasChangedSinceItWasRead) {
  const std::string path = ::testing::TempDir() + "tenon_link_changed.ptx";
  ASSERT_TRUE(writeFile(path, ptxModule(entry("k", "p") + "// " + std::string(20000, 'x'))).ok());
  ::usleep(2'100'000); // what was written a moment ago is copied
  Job job = Job().add(makeExport("k", 1));
  Result<FileBytes> bytes = FileBytes::read(path);
  ASSERT_TRUE(bytes.ok() && bytes->isMapped());
  job.job.objects.push_back({.path = path, .bytes = bytes.take(), .target = *abi::parseTargetArch("sm_80")});
  EXPECT_LINKS(linkJob(job));
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0); // a change of the file, if not of its bytes
  for (bool proveOnly : {false, true}) {
    job.job.proveOnly = proveOnly;
    Linked linked = linkJob(job);
    EXPECT_TRUE(linked.bytes.empty());
    EXPECT_EQ(linked.text(), concat(path, ": error: '", path, "' was changed while it was read\n",
                                    "fix: link again when whatever writes it has finished\n"));
  }
  ::unlink(path.c_str());
}

TEST(Link, ReportsFindingsOfEveryPassAtOnce) {
  Job job;
  abi::Export wide = makeExport("wide", 1);
  wide.launch.workgroupSize = {128, 1, 1};
  job.add(makeExport("count", 2)).add(makeExport("gone", 1)).add(std::move(wide));
  job.object("a.ptx", ptxModule(entry("count", "p") + entry("wide", "p", ".reqntid 32")));
  job.object("b.ptx", ptxModule(entry("wide", "p"), "sm_90"));
  Linked linked = linkJob(job);
  EXPECT_TRUE(linked.bytes.empty());
  EXPECT_FINDS(linked, "[K-2] entry point 'gone' is not in variant 'sm_80'");
  EXPECT_FINDS(linked, "[K-6] found .target sm_90, wanted .target sm_80");
  EXPECT_FINDS(linked, "[K-8] 'wide' has .reqntid 32x1x1");
  EXPECT_FINDS(linked, "[K-11] 'count' has 1 parameter");
  EXPECT_FINDS(linked, "[K-12] entry point 'wide' is defined again");
  Diagnostics again;
  Result<LinkOutput> output = link(job.job, again);
  EXPECT_EQ(output.status().message(), "linking 'test' failed with 5 errors");
}

TEST(Link, PutsIndependentObjectsOfOneVariantSideBySide) {
  Job job;
  job.add(makeExport("one", 1)).add(makeExport("two", 1));
  job.object("one.ptx", ptxModule(entry("one", "p"))).object("two.ptx", ptxModule(entry("two", "p")));
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  abi::ExecutableView executable = view(linked);
  ASSERT_EQ(executable.raw().variants()->size(), 2u);
  ASSERT_EQ(executable.candidates(0).size(), 1u);
  ASSERT_EQ(executable.candidates(1).size(), 1u);
  Result<std::vector<uint8_t>> image = executable.imageBytes(executable.candidates(1)[0].imageIndex);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(std::string(image->begin(), image->end()), job.job.objects[1].bytes);
}

} // namespace
} // namespace tenon::linker
