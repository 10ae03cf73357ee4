// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

Linked linkClaimed(std::string_view target, std::string_view version, std::string_view claimed) {
  return linkJob(Job().add(makeExport("k", 1)).object("k.ptx", ptxModule(entry("k", "p"), target, version), claimed));
}

TEST(LoadInputs, TakesMatchingHeaders) {
  EXPECT_LINKS(linkClaimed("sm_80", "7.0", "sm_80"));
  EXPECT_LINKS(linkClaimed("sm_90a", "8.0", "sm_90a"));
  EXPECT_LINKS(linkClaimed("sm_100f", "8.8", "sm_100f"));
}

TEST(LoadInputs, RefusesAnotherTarget) {
  EXPECT_FINDS(linkClaimed("sm_90", "8.0", "sm_80"),
               "k.ptx:2:1: error: [K-6] found .target sm_90, wanted .target sm_80\n"
               "fix: compile it with -arch=compute_80, or give it for sm_90");
}

TEST(LoadInputs, RefusesAnotherSuffixAndSaysWhatItMeans) {
  Linked linked = linkClaimed("sm_90a", "8.0", "sm_90");
  EXPECT_FINDS(linked, "[K-6] found .target sm_90a, wanted .target sm_90\n");
  EXPECT_FINDS(linked, "sm_90a runs on that architecture alone, sm_90 promises other devices");
  EXPECT_FINDS(linkClaimed("sm_100f", "8.8", "sm_100"), "sm_100f runs within its family");
  EXPECT_FINDS(linkClaimed("sm_90", "8.0", "sm_90a"), "[K-6] found .target sm_90, wanted .target sm_90a\n"
                                                      "fix: compile it with -arch=compute_90a");
}

TEST(LoadInputs, RefusesAVersionBelowTheTargets) {
  EXPECT_FINDS(linkClaimed("sm_90", "7.0", "sm_90"),
               "k.ptx:1:1: error: [K-6] found .version 7.0, wanted at least 7.8 for .target sm_90");
}

TEST(LoadInputs, RefusesUnknownTargets) {
  EXPECT_FINDS(linkClaimed("sm_80", "7.0", "sm_83"), "error: [K-6] target 'sm_83' of object 'k.ptx' is not known\n"
                                                     "fix: did you mean");
}

TEST(LoadInputs, RefusesNarrowAddresses) {
  Linked linked = linkJob(Job()
                              .add(makeExport("k", 1))
                              .object("k.ptx", ".version 8.0\n.target sm_80\n.address_size 32\n" + entry("k", "p")));
  EXPECT_FINDS(linked, "k.ptx:3:1: error: [K-1] found .address_size 32, wanted .address_size 64");
  linked = linkJob(Job().add(makeExport("k", 1)).object("k.ptx", ".version 8.0\n.target sm_80\n" + entry("k", "p")));
  EXPECT_FINDS(linked, "[K-1] found no .address_size (32)");
}

TEST(LoadInputs, ReportsSyntaxErrorsOfAllObjectsAtOnce) {
  Job job = Job().add(makeExport("k", 1));
  for (const char *path : {"a.ptx", "b.ptx"})
    job.object(path, ptxModule(".visible .entry k(.param .u64 p {\n"));
  Linked linked = linkJob(job);
  EXPECT_FINDS(linked, "a.ptx:4:");
  EXPECT_FINDS(linked, "b.ptx:4:");
  EXPECT_FALSE(linked.has("K-2")) << linked.text();
}

TEST(LoadInputs, NotesWhereTheObjectIsGiven) {
  Job job = Job().add(makeExport("k", 1)).object("k.ptx", ptxModule(entry("k", "p"), "sm_75"));
  job.job.objects[0].declaredAt = {"job.json", 12, 5};
  EXPECT_FINDS(linkJob(job), "job.json:12:5: note: the object is given for sm_80 here");
}

} // namespace
} // namespace tenon::linker
