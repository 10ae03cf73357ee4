// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/passes/passes.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// A kernel of two pointers and what stands behind them, for a target.
std::string kernel(std::string_view target, std::string_view constants, std::string_view body) {
  return ptxModule(
      concat(".visible .entry k(.param .u64 p, .param .u64 q", constants, ") {\n",
             "  .reg .b32 %r<9>; .reg .b64 %rd<9>;\n  ld.param.u64 %rd1, [p];\n  ld.param.u64 %rd2, [q];\n",
             "  ld.global.u32 %r1, [%rd1];\n", body, "  ret;\n}\n"),
      target);
}

constexpr std::string_view kWrite = "  st.global.u32 [%rd2], %r1;\n";

Linked linkPair(std::string first, std::string second, abi::Export value = makeExport("k", 2), bool strict = false) {
  Job job;
  job.job.strict = strict;
  return linkJob(
      job.add(std::move(value)).object("a.ptx", std::move(first)).object("b.ptx", std::move(second), "sm_90"));
}

TEST(CheckVariants, AgreeingVariantsLink) {
  EXPECT_LINKS(linkPair(kernel("sm_80", "", kWrite), kernel("sm_90", "", kWrite)));
  abi::Export word = makeExport("k", 2, {abi::Constant::word()});
  EXPECT_LINKS(linkPair(kernel("sm_80", ", .param .f32 a", kWrite), kernel("sm_90", ", .param .b32 a", kWrite), word));
}

TEST(CheckVariants, ParametersAreOfOneKind) {
  abi::Export words = makeExport("k", 2, {abi::Constant::word(), abi::Constant::word()});
  EXPECT_FINDS(linkPair(kernel("sm_80", ", .param .u32 n, .param .f32 a", kWrite),
                        kernel("sm_90", ", .param .f32 a, .param .u32 n", kWrite), words),
               "b.ptx:4:17: error: [K-15] variants of export 'k' differ at parameter 2: variant 'sm_90' takes (.u64, "
               ".u64, .f32, .u32), variant 'sm_80' takes (.u64, .u64, .u32, .f32)\n"
               "a.ptx:4:17: note: variant 'sm_80' is here\n"
               "job.json:7:3: note: export 'k' is declared here\n"
               "fix: compile every target from the same source\n");
}

TEST(CheckVariants, ParametersAreOfOneWidth) {
  abi::Export word = makeExport("k", 2, {abi::Constant::word()});
  Linked linked =
      linkPair(kernel("sm_80", ", .param .u32 n", kWrite), kernel("sm_90", ", .param .u64 n", kWrite), word);
  EXPECT_FINDS(linked, "[K-15] variants of export 'k' differ at parameter 2: variant 'sm_90' takes (.u64, .u64, .u64)");
  EXPECT_FINDS(linked, "[K-4]");
}

TEST(CheckVariants, AVariantThatDoesNothingIsAnError) {
  EXPECT_FINDS(linkPair(kernel("sm_80", "", kWrite), kernel("sm_90", "", "")),
               "b.ptx:4:17: error: [K-15] variant 'sm_90' of export 'k' writes no memory, other variants do\n"
               "a.ptx:4:17: note: variant 'sm_80' writes memory\n"
               "b.ptx:4:17: note: variant 'sm_90' writes nothing\n");
}

TEST(CheckVariants, ABindingThatSomeVariantsWriteIsAWarningAndStrictlyAnError) {
  const std::string both = kernel("sm_80", "", concat("  st.global.u32 [%rd1], 1;\n", kWrite));
  Linked linked = linkPair(both, kernel("sm_90", "", kWrite));
  EXPECT_FINDS(linked, "b.ptx:4:17: warning: [K-15] binding 0 of export 'k' is written by some variants, but variant "
                       "'sm_90' only reads it\n"
                       "a.ptx:4:17: note: variant 'sm_80' writes it\n"
                       "b.ptx:4:17: note: variant 'sm_90' only reads it\n"
                       "job.json:7:3: note: export 'k' is declared here\n");
  EXPECT_FINDS(linkPair(both, kernel("sm_90", "", kWrite), makeExport("k", 2), /*strict=*/true),
               "error: [K-15] binding 0");
}

TEST(CheckVariants, AGeneratedFallbackIsAnotherProgram) {
  Job job;
  job.add(makeExport("k", 2)).object("a.ptx", kernel("sm_80", "", kWrite)).object("b.ptx", kernel("sm_80", "", ""));
  job.job.objects[1].origin = abi::Origin::Generated;
  Linked linked = linkJob(job);
  EXPECT_FALSE(linked.has("[K-15]")) << linked.text();
}

} // namespace
} // namespace tenon::linker
