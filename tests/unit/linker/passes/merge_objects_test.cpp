// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

std::string imageText(const Linked &linked, uint32_t image) {
  const abi::ExecutableView executable = view(linked);
  Result<std::vector<uint8_t>> bytes = executable.imageBytes(image);
  return bytes.ok() ? std::string(bytes->begin(), bytes->end()) : std::string();
}

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

/// `w` stores a number through its argument; the kernel calls it.
std::string weakUser(std::string_view function, std::string_view name = "k") {
  return std::string(function) + entry(name, "p", "",
                                       concat("  .reg .b64 d; ld.param.u64 d, [", name,
                                              "_param_0];\n  { .param .b64 a; st.param.b64 [a], d; call w, (a); }\n"));
}
std::string storing(std::string_view linkage, int value) {
  return concat(linkage, " .func w(.param .b64 a) { .reg .b64 d; ld.param.b64 d, [a]; st.global.b32 [d], ", value,
                "; ret; }\n");
}

TEST(MergeObjects, TheStrongDefinitionRunsInsteadOfAWeakOne) {
  for (bool strongFirst : {false, true})
    for (bool otherSymbol : {false, true}) { // which joins the objects anyway
      Job job = Job().add(makeExport("k", 1));
      const std::string user =
          ptxModule(concat(otherSymbol ? ".extern .global .b32 v;\n" : "", weakUser(storing(".weak", 1111))));
      const std::string strong = ptxModule(concat(".visible .global .b32 v = 1;\n", storing(".visible", 2222)));
      job.object("a.ptx", strongFirst ? strong : user).object("b.ptx", strongFirst ? user : strong);
      Linked linked = linkJob(job);
      EXPECT_LINKS(linked);
      const std::string text = imageText(linked, 0);
      EXPECT_NE(text.find("2222"), std::string::npos) << text;
      EXPECT_EQ(text.find("1111"), std::string::npos) << text;
    }
}

TEST(MergeObjects, TheFirstOfTwoWeakDefinitionsRuns) {
  Job job = Job().add(makeExport("k", 1)).add(makeExport("l", 1));
  job.object("a.ptx", ptxModule(weakUser(storing(".weak", 1111))));
  job.object("b.ptx", ptxModule(weakUser(storing(".weak", 2222), "l")));
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  ASSERT_EQ(view(linked).raw().images()->size(), 1u);
  EXPECT_EQ(imageText(linked, 0).find("2222"), std::string::npos);
}

TEST(MergeObjects, TheSameWeakDefinitionTwiceJoinsNothing) {
  Job job = Job().add(makeExport("k", 1)).add(makeExport("l", 1));
  std::string spaced = storing(".weak", 1111);
  spaced.replace(spaced.find("ld.param"), 0, "// a comment\n.loc 1 7 3, function_name $L, inlined_at 1 2 3\n");
  job.object("a.ptx", ptxModule(weakUser(storing(".weak", 1111))));
  job.object("b.ptx", ptxModule(weakUser(spaced, "l")));
  Linked linked = linkJob(job);
  EXPECT_LINKS(linked);
  EXPECT_EQ(view(linked).raw().images()->size(), 2u);
}

TEST(MergeObjects, AStrongVariableTakesThePlaceOfWeakAndCommonOnes) {
  for (const char *weaker : {".weak .global .b32 v = 1111;\n", ".common .global .b32 v;\n"}) {
    Job job = Job().add(makeExport("k", 1));
    job.object("a.ptx", ptxModule(concat(weaker, entry("k", "p", "", "  .reg .b32 r; ld.global.b32 r, [v];\n"))));
    job.object("b.ptx", ptxModule(".visible .global .b32 v = 2222;\n"));
    Linked linked = linkJob(job);
    EXPECT_LINKS(linked);
    const std::string text = imageText(linked, 0);
    EXPECT_NE(text.find("2222"), std::string::npos) << text;
    EXPECT_EQ(text.find("1111"), std::string::npos) << text;
  }
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
