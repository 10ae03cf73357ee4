// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

TEST(ResolveEntries, FindsAnEntryBySymbol) {
  abi::Export declared = makeExport("pretty", 1);
  declared.symbol = "_Z3fooPf";
  Linked linked = linkOne(entry("_Z3fooPf", "p"), declared);
  EXPECT_LINKS(linked);
  const abi::ExecutableView executable = view(linked);
  EXPECT_EQ(executable.symbolOf(*executable.findKernel(0, 0)), "_Z3fooPf");
}

TEST(ResolveEntries, FindsEntriesInAnyOrderAndInAnyObject) {
  Job job;
  for (const char *name : {"c", "a", "d", "b", "a2"})
    job.add(makeExport(name, 1));
  job.job.exports.back().symbol = "a"; // the same kernel again
  job.object("1.ptx", ptxModule(entry("a", "p") + entry("x", "p") + entry("b", "p")));
  job.object("2.ptx", ptxModule(entry("y", "p") + entry("d", "p") + entry("c", "p")));
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  const abi::ExecutableView executable = view(linked);
  const char *symbols[] = {"c", "a", "d", "b", "a"};
  for (uint32_t i = 0; i < 5; ++i) { // an object that stands alone has a variant of its own in the file
    const abi::fb::Kernel *first = executable.findKernel(0, i), *second = executable.findKernel(1, i);
    ASSERT_NE(first == nullptr, second == nullptr) << i;
    EXPECT_EQ(executable.symbolOf(first ? *first : *second), symbols[i]);
  }
}

TEST(ResolveEntries, TakesTheStrongEntryWhereverItStands) {
  const std::string weak = ".weak .entry k(.param .u32 p) { ret; }\n"; // does not fit the layout
  for (bool first : {false, true}) {
    Job job = Job().add(makeExport("k", 1));
    job.object("a.ptx", ptxModule(first ? weak : entry("k", "p")));
    job.object("b.ptx", ptxModule(first ? entry("k", "p") : weak));
    EXPECT_LINKS(linkJob(job));
  }
}

TEST(ResolveEntries, OffersTheNearestNames) {
  EXPECT_FINDS(linkOne(entry("simple_mul2", "p"), makeExport("simple_mul", 1)),
               "a.ptx: error: [K-2] entry point 'simple_mul' is not in variant 'sm_80'\n"
               "job.json:7:3: note: export 'simple_mul' is declared here\n"
               "fix: did you mean 'simple_mul2'?");
  EXPECT_FINDS(linkOne(entry("abc", "p"), makeExport("simple_mul", 1)), "fix: entry points there: 'abc'");
  EXPECT_FINDS(linkOne(".func f() { ret; }\n", makeExport("simple_mul", 1)), "fix: there is no entry point at all");
}

TEST(ResolveEntries, SeesThatExternCIsMissing) {
  Linked linked = linkOne(entry("_Z10simple_mulPf", "p"), makeExport("simple_mul", 1));
  EXPECT_FINDS(linked, "a.ptx:4:17: note: it is here under its C++ name: '_Z10simple_mulPf' is 'simple_mul(float*)'");
  EXPECT_FINDS(linked, "fix: is extern \"C\" missing?");
}

TEST(ResolveEntries, SaysWhenTheNameIsNoEntry) {
  EXPECT_FINDS(linkOne(".visible .func k() { ret; }\n", makeExport("k", 1)),
               "a.ptx:4:16: error: [K-2] 'k' is a function (.func), wanted an entry point (.entry)");
  EXPECT_FINDS(linkOne(".visible .global .b32 k;\n", makeExport("k", 1)), "[K-2] 'k' is a variable");
}

TEST(ResolveEntries, TakesEntriesThatAreNotVisible) {
  EXPECT_LINKS(linkOne(".entry k(.param .u64 p) { ret; }\n", makeExport("k", 1)));
  EXPECT_LINKS(linkOne(".weak .entry k(.param .u64 p) { ret; }\n", makeExport("k", 1)));
  EXPECT_FINDS(linkOne(".entry k(.param .u32 p) { ret; }\n", makeExport("k", 1)), "[K-4]"); // proved as any other
}

constexpr const char *kPrivateEntry = ".entry k(.param .u32 p) { ret; }\n"; // does not fit the layout

TEST(ResolveEntries, TakesTheVisibleEntryBeforeAPrivateOne) {
  for (bool first : {false, true}) {
    Job job = Job().add(makeExport("k", 1));
    job.object("a.ptx", ptxModule(first ? kPrivateEntry : entry("k", "p")));
    job.object("b.ptx", ptxModule(first ? entry("k", "p") : kPrivateEntry));
    EXPECT_LINKS(linkJob(job));
  }
}

TEST(ResolveEntries, RefusesAnExportWithTwoPrivateEntries) {
  Job job = Job().add(makeExport("k", 1)).add(makeExport("x", 1));
  job.object("a.ptx", ptxModule(".entry k(.param .u64 p) { ret; }\n" + entry("x", "p")));
  job.object("b.ptx", ptxModule(".entry k(.param .u64 p) { ret; }\n"));
  Linked linked = linkJob(job);
  EXPECT_FINDS(linked, "b.ptx:4:8: error: [K-12] export 'k' may mean this entry point 'k' or another, each private to "
                       "its object in variant 'sm_80'\n"
                       "a.ptx:4:8: note: the other one\n"
                       "job.json:7:3: note: export 'k' is declared here\n"
                       "fix: rename one, make one visible, or give the objects different variant names");
  EXPECT_EQ(linked.diagnostics.errorCount(), 1u);
  job.job.exports = Job().add(makeExport("x", 1)).job.exports; // nobody names it
  EXPECT_LINKS(linkJob(job));
}

TEST(ResolveEntries, KeepsThePrivateNameOfAnEntryInMergedObjects) {
  const std::string calls = "{ call f; ret; }\n";
  for (bool first : {false, true}) {
    const std::string kernel = ".extern .func f();\n.entry k(.param .u64 p) " + calls;
    const std::string library = ".func k() { ret; }\n.visible .func f() " + std::string("{ call k; ret; }\n");
    Job job = Job().add(makeExport("k", 1));
    job.object("a.ptx", ptxModule(first ? kernel : library)).object("b.ptx", ptxModule(first ? library : kernel));
    EXPECT_LINKS(linkJob(job));
  }
}

TEST(ResolveEntries, ReportsEveryExportMissingInEveryVariant) {
  Job job = Job().add(makeExport("one", 1)).add(makeExport("two", 1));
  job.object("a.ptx", ptxModule(entry("one", "p"))).object("b.ptx", ptxModule(entry("one", "p"), "sm_90"), "sm_90");
  Linked linked = linkJob(job);
  EXPECT_FINDS(linked, "a.ptx: error: [K-2] entry point 'two' is not in variant 'sm_80'");
  EXPECT_FINDS(linked, "b.ptx: error: [K-2] entry point 'two' is not in variant 'sm_90'");
  EXPECT_EQ(linked.diagnostics.errorCount(), 2u);
}

TEST(ResolveEntries, NamesTheObjectsOfAVariantOfSeveral) {
  Job job = Job().add(makeExport("one", 1)).add(makeExport("two", 1));
  job.object("a.ptx", ptxModule(entry("one", "p"))).object("b.ptx", ptxModule(entry("x", "p")));
  EXPECT_FINDS(linkJob(job), "entry point 'two' is not in variant 'sm_80' ('a.ptx' and 'b.ptx')");
}

TEST(ResolveEntries, AsksAnObjectOnlyForWhatItProvides) {
  Job job = Job().add(makeExport("one", 1)).add(makeExport("two", 1));
  job.object("a.ptx", ptxModule(entry("one", "p") + entry("two", "p"))).object("g.ptx", ptxModule(entry("two", "p")));
  job.job.objects[1].origin = abi::Origin::Generated;
  job.job.objects[1].provides = {"two"};
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  abi::ExecutableView executable = view(linked);
  EXPECT_EQ(executable.candidates(0).size(), 1u);
  ASSERT_EQ(executable.candidates(1).size(), 2u);
  EXPECT_EQ(executable.candidates(1)[1].origin, abi::Origin::Generated);
}

TEST(ResolveEntries, TakesTheFirstOfSeveralWeakDefinitions) {
  Job job = Job().add(makeExport("k", 1));
  const std::string weak = ".weak .entry k(.param .u64 p) { ret; }\n";
  job.object("a.ptx", ptxModule(weak)).object("b.ptx", ptxModule(weak + "// second\n"));
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  ASSERT_EQ(view(linked).raw().images()->size(), 1u);
  EXPECT_EQ(view(linked).raw().images()->Get(0)->source()->str(), "a.ptx");
}

} // namespace
} // namespace tenon::linker
