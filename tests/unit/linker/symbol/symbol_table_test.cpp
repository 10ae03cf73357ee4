// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/symbol/symbol_table.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

Linked linkTwo(std::string_view first, std::string_view second) {
  return linkJob(Job()
                     .add(makeExport("k", 1))
                     .object("a.ptx", ptxModule(concat(entry("k", "p"), first)))
                     .object("b.ptx", ptxModule(concat(second, entry("other", "p")))));
}

TEST(SymbolTable, RefusesTwoStrongDefinitionsWithBothPlaces) {
  Linked linked = linkTwo(".visible .func f() { ret; }\n", ".visible .func f() { ret; }\n");
  EXPECT_FINDS(linked, "b.ptx:4:16: error: [K-12] function 'f' is defined again in variant 'sm_80'\n"
                       "a.ptx:8:16: note: first defined here, as a function\n"
                       "fix: remove one, rename one, make one `static`, or give the objects different variant names");
}

TEST(SymbolTable, ReportsEveryDuplicate) {
  Linked linked = linkTwo(".visible .func f() { ret; }\n.visible .global .b32 v;\n",
                          ".visible .func f() { ret; }\n.visible .global .b32 v;\n" + entry("k", "p"));
  EXPECT_FINDS(linked, "function 'f' is defined again");
  EXPECT_FINDS(linked, "variable 'v' is defined again");
  EXPECT_FINDS(linked, "entry point 'k' is defined again");
  EXPECT_EQ(linked.diagnostics.errorCount(), 3u);
}

TEST(SymbolTable, LetsPrivateWeakAndCommonNamesRepeat) {
  EXPECT_LINKS(linkTwo(".func f() { ret; }\n", ".func f() { ret; }\n"));
  EXPECT_LINKS(linkTwo(".weak .func f() { ret; }\n", ".weak .func f() { ret; }\n"));
  EXPECT_LINKS(linkTwo(".weak .func f() { ret; }\n", ".visible .func f() { ret; }\n"));
  EXPECT_LINKS(linkTwo(".common .global .b32 v;\n", ".common .global .b32 v;\n"));
}

TEST(SymbolTable, RefusesADuplicateWithinOneObject) {
  Linked linked = linkOne(entry("k", "p") + ".func f() { ret; }\n.func f() { ret; }\n", makeExport("k", 1));
  EXPECT_FINDS(linked, "a.ptx:9:7: error: [K-12] function 'f' is defined again\n");
  EXPECT_FINDS(linked, "fix: remove one of the definitions");
  EXPECT_EQ(linked.diagnostics.errorCount(), 1u);
}

TEST(SymbolTable, KeepsVariantsApart) {
  Job job = Job().add(makeExport("k", 1));
  job.object("a.ptx", ptxModule(entry("k", "p"))).object("b.ptx", ptxModule(entry("k", "p")));
  job.job.objects[1].variantName = "fast";
  EXPECT_LINKS(linkJob(job));
  job.job.objects[1].variantName.clear();
  job.job.objects[1].origin = abi::Origin::Generated;
  EXPECT_LINKS(linkJob(job));
}

} // namespace
} // namespace tenon::linker
