// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

Linked linkCalling(std::string_view callee) {
  return linkOne(concat(".extern .func ", callee, "();\n", entry("k", "p", "", concat("  call ", callee, ";\n"))),
                 makeExport("k", 1));
}

TEST(CheckUnresolved, TakesWhatTheDriverBrings) {
  for (const char *name : {"vprintf", "__assertfail", "malloc", "free"})
    EXPECT_LINKS(linkCalling(name));
}

TEST(CheckUnresolved, RefusesAnUndefinedFunction) {
  EXPECT_FINDS(linkCalling("helper"),
               "a.ptx:7:3: error: [K-10] function 'helper', used by 'k', is defined in no object of variant 'sm_80'\n"
               "a.ptx:4:15: note: declared .extern here\n"
               "job.json:7:3: note: export 'k' is declared here\n"
               "fix: give the object that defines it for the same variant as well, put its definition into the same "
               "translation unit, or take the call out\n");
}

TEST(CheckUnresolved, KnowsTheLibrariesThatAreForgotten) {
  EXPECT_FINDS(linkCalling("__nv_sinf"), "fix: it is a function of libdevice");
  EXPECT_FINDS(linkCalling("cudaLaunchDeviceV2"), "fix: it is a function of cudadevrt");
}

TEST(CheckUnresolved, RefusesAnUndefinedVariableAndACallToNowhere) {
  EXPECT_FINDS(linkOne(".extern .global .b32 v;\n" +
                           entry("k", "p", "", "  .reg .b32 %r;\n  ld.global.b32 %r, [v];\n  call gone;\n"),
                       makeExport("k", 1)),
               "[K-10] variable 'v', used by 'k', is defined in no object");
  EXPECT_FINDS(linkOne(entry("k", "p", "", "  call gone;\n"), makeExport("k", 1)), "note: and declared nowhere");
}

TEST(CheckUnresolved, LooksOnlyAtWhatIsReached) {
  EXPECT_LINKS(
      linkOne(".extern .func gone();\n.func unused() { call gone; ret; }\n" + entry("k", "p"), makeExport("k", 1)));
}

TEST(CheckUnresolved, ReportsANameOncePerObject) {
  Linked linked = linkJob(
      Job()
          .add(makeExport("one", 1))
          .add(makeExport("two", 1))
          .object("a.ptx", ptxModule(".extern .func gone();\n.func via() { call gone; ret; }\n" +
                                     entry("one", "p", "", "  call via;\n") + entry("two", "p", "", "  call via;\n"))));
  EXPECT_FINDS(linked, "function 'gone', used by 'via' (reached from 'one')");
  EXPECT_EQ(linked.diagnostics.errorCount(), 1u);
}

} // namespace
} // namespace tenon::linker
