// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

TEST(CheckJob, RefusesAnEmptyJob) {
  Linked linked = linkJob(Job());
  EXPECT_FINDS(linked, "error: executable 'test' has no exports");
  EXPECT_FINDS(linked, "error: executable 'test' has no objects");
}

TEST(CheckJob, RefusesGapsAndRepeatedNames) {
  Job job;
  job.add(makeExport("k", 1)).add(makeExport("k", 1)).object("a.ptx", ptxModule(entry("k", "p")));
  job.job.exports[1].ordinal = 3;
  Linked linked = linkJob(job);
  EXPECT_FINDS(linked, "job.json:7:3: error: export 'k' has ordinal 3, its position is 1");
  EXPECT_FINDS(linked, "error: export 'k' is declared again");
}

TEST(CheckJob, RefusesNamelessExports) {
  EXPECT_FINDS(linkJob(Job().add(makeExport("", 1)).object("a.ptx", ptxModule(entry("k", "p")))),
               "error: export 0 has no name");
}

TEST(CheckJob, RefusesLayoutsWithoutAParameterBlock) {
  abi::Constant none{.kind = abi::ConstantKind::Struct, .size = 0};
  EXPECT_FINDS(linkOne(entry("k", "pw"), makeExport("k", 1, {none})),
               "job.json:7:3: error: [K-3] layout of export 'k': constant 0 has size 0");
  abi::Constant huge{.kind = abi::ConstantKind::Struct, .size = 40000};
  EXPECT_FINDS(linkOne(entry("k", "pw"), makeExport("k", 1, {huge})), "error: [K-5] layout of export 'k': ");
}

TEST(CheckJob, RefusesObjectsThatProvideWhatIsNoExport) {
  Job job = Job().add(makeExport("k", 1)).object("a.ptx", ptxModule(entry("k", "p")));
  job.job.objects[0].provides = {"k", "kk"};
  EXPECT_FINDS(linkJob(job), "error: object 'a.ptx' provides 'kk', executable 'test' has no such export");
}

} // namespace
} // namespace tenon::linker
