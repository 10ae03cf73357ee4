// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

const std::string kUser = ".extern .func f();\n" + entry("k", "p", "", "  call f;\n");

TEST(MergeObjects, MakesOneImageOfObjectsThatNeedEachOther) {
  Job job = Job().add(makeExport("k", 1)).add(makeExport("alone", 1));
  job.object("in/k.ptx", ptxModule(kUser));
  job.object("alone.ptx", ptxModule(entry("alone", "p")));
  job.object("lib.ptx", ptxModule(".visible .func f() { .shared .align 4 .b8 s[100]; ret; }\n"));
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  const abi::ExecutableView executable = view(linked);
  ASSERT_EQ(executable.raw().images()->size(), 2u);
  EXPECT_EQ(executable.raw().images()->Get(0)->source()->str(), "k.ptx+lib.ptx");
  EXPECT_EQ(executable.raw().images()->Get(1)->source()->str(), "alone.ptx");
  EXPECT_EQ(executable.findKernel(0, 0)->facts()->static_shared_bytes(), 100u) << "seen through the call";
}

TEST(MergeObjects, FollowsChains) {
  Linked linked = linkJob(Job()
                              .add(makeExport("k", 1))
                              .object("a.ptx", ptxModule(kUser))
                              .object("b.ptx", ptxModule(".extern .global .b32 v;\n.visible .func f() { .reg .b32 r; "
                                                         "ld.global.b32 r, [v]; ret; }\n"))
                              .object("c.ptx", ptxModule(".visible .global .b32 v = 1;\n")));
  EXPECT_LINKS(linked);
  EXPECT_EQ(view(linked).raw().images()->Get(0)->source()->str(), "a.ptx+b.ptx+c.ptx");
}

TEST(MergeObjects, FindingsNameThePlaceAsWritten) {
  Linked linked =
      linkJob(Job()
                  .add(makeExport("k", 2))
                  .object("a.ptx", ptxModule("\n\n" + kUser))
                  .object("b.ptx", ptxModule(".extern .func gone();\n.visible .func f() { call gone; ret; }\n")));
  EXPECT_FINDS(linked, "a.ptx:7:17: error: [K-11] 'k' has 1 parameter");
  EXPECT_FINDS(linked,
               "b.ptx:5:22: error: [K-10] function 'gone', used by 'f' (reached from 'k'), is defined in no object");
}

TEST(MergeObjects, KeepsVariantsApart) {
  Linked linked =
      linkJob(Job()
                  .add(makeExport("k", 1))
                  .object("a.ptx", ptxModule(kUser))
                  .object("b.ptx", ptxModule(".visible .func f() { ret; }\n" + entry("k", "p"), "sm_90"), "sm_90"));
  EXPECT_FINDS(linked, "function 'f', used by 'k', is defined in no object of variant 'sm_80'");
}

TEST(MergeObjects, DoesNothingAfterADuplicate) {
  const std::string f = ".visible .func f() { ret; }\n";
  Linked linked = linkJob(Job()
                              .add(makeExport("k", 1))
                              .object("a.ptx", ptxModule(kUser))
                              .object("b.ptx", ptxModule(f))
                              .object("c.ptx", ptxModule(f)));
  EXPECT_FINDS(linked, "[K-12] function 'f' is defined again");
  EXPECT_EQ(linked.diagnostics.errorCount(), 1u) << linked.text();
}

} // namespace
} // namespace tenon::linker
