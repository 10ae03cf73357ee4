// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

using testing::body, testing::kHead, testing::ptxModule, testing::trace;

TEST(AccessTrace, FollowsThePathThatNvccPrints) {
  EXPECT_EQ(body("cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5;\n"
                 "ld.global.nc.f32 %f1, [%rd6]; cvta.to.global.u64 %rd7, %rd2; add.s64 %rd8, %rd7, %rd5;\n"
                 "st.global.f32 [%rd8], %f1;"),
            "read written");
}

/// Two pointers spilled to a local array, as nvcc prints it.
constexpr std::string_view kSpill =
    ".local .align 8 .b8 __local_depot0[32]; mov.u64 %rd10, __local_depot0; cvta.local.u64 %rd11, %rd10;\n"
    "add.u64 %rd12, %rd11, 8; add.u64 %rd13, %rd10, 8; st.local.u64 [%rd10], %rd1; st.u64 [%rd12], %rd2;\n"
    "st.local.u64 [%rd10+16], %rd3; ";

TEST(AccessTrace, TellsSlotsOfALocalArrayApart) {
  EXPECT_EQ(body(std::string(kSpill) + "ld.local.u64 %rd4, [%rd10]; ld.global.u32 %r1, [%rd4];\n"
                                       "ld.local.u64 %rd5, [%rd13]; st.global.u32 [%rd5], %r1;"),
            "read written");
  EXPECT_EQ(body(std::string(kSpill) + "ld.u64 %rd4, [%rd11+8]; st.global.u32 [%rd4], 1;\n"
                                       "ld.local.u64 %rd5, [__local_depot0]; ld.global.u32 %r1, [%rd5];"),
            "read written");
  EXPECT_EQ(body(std::string(kSpill) + "ld.local.u64 %rd4, [%rd10+16]; st.global.u32 [%rd4], 1;"), "number number")
      << "the constant";
}

TEST(AccessTrace, AnIndexIntoALocalArrayMayMeanAnySlot) {
  // Read with an index: either pointer.
  EXPECT_EQ(
      body(std::string(kSpill) + "add.s64 %rd6, %rd10, %rd3; ld.local.u64 %rd4, [%rd6]; st.global.u32 [%rd4], 1;"),
      "maybe maybe");
  // Written with an index: q may stand in every slot.
  EXPECT_EQ(body(std::string(kSpill) + "add.s64 %rd6, %rd10, %rd3; st.local.u64 [%rd6], %rd2;\n"
                                       "ld.local.u64 %rd4, [%rd10]; st.global.u32 [%rd4], 1;"),
            "maybe maybe");
}

TEST(AccessTrace, ACalledFunctionMayWriteAnySlotThatItCanReach) {
  const std::string call = "{ .param .b64 a; .param .b64 b; st.param.b64 [a], %rd11; st.param.b64 [b], %rd2;\n"
                           "call f, (a, b); } ld.local.u64 %rd4, [%rd10]; st.global.u32 [%rd4], 1;";
  EXPECT_EQ(body(std::string(kSpill) + call,
                 ".func f(.param .b64 x, .param .b64 y) { .reg .b64 %rd<9>; ld.param.b64 %rd1, [x];\n"
                 "ld.param.b64 %rd2, [y]; st.u64 [%rd1], %rd2; ret; }\n"),
            "maybe maybe");
}

TEST(AccessTrace, TellsUnusedFromNotAnAddress) {
  EXPECT_EQ(trace(".visible .entry k(.param .u64 p, .param .u64 q) { .reg .b64 %rd<9>; .reg .pred %p<9>;\n"
                  "ld.param.u64 %rd1, [p]; setp.lt.u64 %p1, %rd1, 7; ret; }"),
            "number unused");
}

TEST(AccessTrace, FollowsEveryWayAPointerIsComputed) {
  for (std::string_view code :
       {"mov.b64 %rd4, %rd1;", "add.s64 %rd4, %rd3, %rd1;", "sub.s64 %rd4, %rd1, 8;", "mad.lo.s64 %rd4, %rd3, 4, %rd1;",
        "mad.wide.s32 %rd4, %r1, 4, %rd1;", "selp.b64 %rd4, %rd1, %rd1, %p1;", "and.b64 %rd4, %rd1, -16;",
        "or.b64 %rd4, %rd1, 4;", "xor.b64 %rd4, %rd1, 12;", "mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd4, {%r1, %r2};",
        "{ .reg .b64 t; mov.u64 t, %rd1; add.u64 %rd4, t, 4; }", "min.u64 %rd4, %rd1, %rd1; mov.u64 %rd4, %rd1;",
        "sub.s64 %rd5, %rd1, %rd2; add.s64 %rd4, %rd2, %rd5;"})
    EXPECT_EQ(body(std::string(code) + " st.global.u32 [%rd4+4], %r9;"), "written number") << code;
}

TEST(AccessTrace, ADistanceIsNoAddress) {
  EXPECT_EQ(body("sub.s64 %rd4, %rd2, %rd1; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r1, [%rd1];\n"
                 "st.global.u32 [%rd5], %r1;"),
            "read written")
      << "p + (q - p)";
  EXPECT_EQ(body("add.s64 %rd4, %rd1, 64; sub.s64 %rd5, %rd4, %rd1; add.s64 %rd6, %rd2, %rd5;\n"
                 "ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd6], %r1;"),
            "read written")
      << "an index from a difference";
}

TEST(AccessTrace, EveryWayOfWritingCounts) {
  for (std::string_view code :
       {"st.u32 [%rd1], %r1;", "st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};", "atom.global.add.u32 %r1, [%rd1], 1;",
        "red.global.add.f32 [%rd1], %f1;", "atom.global.cas.b64 %rd4, [%rd1], %rd3, %rd3;",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r1], 16;",
        "discard.global.L2 [%rd1], 128;", "multimem.red.relaxed.sys.global.add.f32 [%rd1], %f1;",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};",
        "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], 3;", "@%p1 st.global.u8 [%rd1], %r1;"})
    EXPECT_EQ(body(code), "written number") << code;
}

TEST(AccessTrace, EveryWayOfReadingIsNoWrite) {
  for (std::string_view code :
       {"ld.u32 %r1, [%rd1];", "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", "ldu.global.u32 %r1, [%rd1];",
        "cp.async.ca.shared.global [%r1], [%rd1], 16;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2];",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1];",
        "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];",
        "multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd1];"})
    EXPECT_EQ(body(code), "read number") << code;
}

TEST(AccessTrace, AnUnknownInstructionWithAnAddressProvesNothing) {
  EXPECT_EQ(body("frobnicate.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd2];"), "passed read");
}

TEST(AccessTrace, JoinsWhatPathsBring) {
  EXPECT_EQ(body("mov.b64 %rd4, %rd1; @%p1 bra L; mov.b64 %rd4, %rd2; L: st.global.u32 [%rd4], %r1;"), "maybe maybe");
  EXPECT_EQ(body("selp.b64 %rd4, %rd1, %rd2, %p1; st.global.u32 [%rd4], %r1;"), "maybe maybe");
  EXPECT_EQ(body("mov.b64 %rd4, %rd2; @%p1 mov.b64 %rd4, %rd1; st.global.u32 [%rd4], %r1;"), "maybe maybe");
}

TEST(AccessTrace, ARegisterUsedTwiceIsTwoPointers) {
  EXPECT_EQ(body("mov.b64 %rd4, %rd1; ld.global.u32 %r1, [%rd4]; mov.b64 %rd4, %rd2; st.global.u32 [%rd4], %r1;"),
            "read written")
      << "in one block";
  EXPECT_EQ(body("mov.b64 %rd4, %rd1; @%p1 bra L; ld.global.u32 %r1, [%rd4]; L: mov.b64 %rd4, %rd2; @%p2 bra M;\n"
                 "add.u64 %rd4, %rd4, 4; M: st.global.u32 [%rd4], %r1;"),
            "read written")
      << "over blocks";
}

TEST(AccessTrace, AnOpcodeThatNobodyKnowsIsToldByItsOperands) {
  EXPECT_EQ(body("vanish.b32 %r1, %r2; vanish.b32 [%rd1], %r1;"), "passed number") << "the same word, with an address";
  EXPECT_EQ(body("vanish.b32 [%rd1], %r1; vanish.b32 %r1, %r2;"), "passed number");
  EXPECT_EQ(body("vanish.b32 %r1, %r2; vanish.b32 %r1, %r1;"), "number number");
}

TEST(AccessTrace, CountersAndPointersOfLoopsAreKnownUnlessTheyChange) {
  EXPECT_EQ(body("mov.u64 %rd5, 0; L: add.u64 %rd4, %rd1, %rd5; ld.global.u32 %r1, [%rd4]; add.u64 %rd5, %rd5, 4;\n"
                 "add.u64 %rd6, %rd2, %rd5; st.global.u32 [%rd6], %r1; @%p1 bra L;"),
            "read written");
  EXPECT_EQ(body("mov.u64 %rd5, 0; L: add.u64 %rd4, %rd1, %rd5; st.global.u32 [%rd4], %r1; mov.u64 %rd5, %rd2;\n"
                 "@%p1 bra L;"),
            "maybe maybe")
      << "a number the first time round, a pointer the second";
  EXPECT_EQ(body("mov.u64 %rd5, 0; L: mov.u64 %rd4, %rd5; ld.global.u32 %r1, [%rd4]; ld.global.u64 %rd5, [%rd1];\n"
                 "@%p1 bra L;"),
            "read number")
      << "a pointer from memory the second time";
}

TEST(AccessTrace, APartOfARegisterLeavesTheRest) {
  EXPECT_EQ(body(".reg .v2 .b64 %v; mov.b64 %v.x, %rd1; mov.b64 %v.y, %rd2; mov.b64 %rd4, %v.x;\n"
                 "st.global.u32 [%rd4], %r1;"),
            "maybe maybe");
}

TEST(AccessTrace, LoopsReachAFixpoint) {
  EXPECT_EQ(body("mov.b64 %rd4, %rd1; mov.b64 %rd5, %rd2; L: ld.global.u32 %r1, [%rd4]; st.global.u32 [%rd5], %r1;\n"
                 "add.u64 %rd4, %rd4, 4; add.u64 %rd5, %rd5, 4; @%p1 bra L;"),
            "read written");
  EXPECT_EQ(body("mov.b64 %rd4, %rd1; mov.b64 %rd5, %rd2; L: ld.global.u32 %r1, [%rd4]; st.global.u32 [%rd5], %r1;\n"
                 "mov.b64 %rd6, %rd4; mov.b64 %rd4, %rd5; mov.b64 %rd5, %rd6; @%p1 bra L;"),
            "maybe maybe")
      << "two buffers that swap";
}

TEST(AccessTrace, CodeThatIsNeverReachedDoesNothing) {
  EXPECT_EQ(body("ld.global.u32 %r1, [%rd1]; ret; st.global.u32 [%rd1], %r1;"), "read number");
}

TEST(AccessTrace, ABackwardChainIsFollowed) {
  EXPECT_EQ(
      body("bra A; C: st.global.u32 [%rd6], %r1; ret; B: mov.b64 %rd6, %rd5; bra C; A: mov.b64 %rd5, %rd1; bra B;"),
      "written number");
}

TEST(AccessTrace, APointerThatIsStoredIsLost) {
  EXPECT_EQ(body("st.global.u64 [%rd2], %rd1; ld.global.u32 %r1, [%rd1];"), "stored written");
  EXPECT_EQ(body("atom.global.exch.b64 %rd4, [%rd2], %rd1;"), "stored written");
  EXPECT_EQ(body("mov.u64 %rd4, slot; st.u64 [%rd4], %rd1;", ".global .u64 slot;\n"), "stored number");
}

TEST(AccessTrace, PrivateMemoryIsFollowed) {
  constexpr std::string_view depot = ".local .align 8 .b8 depot[16]; mov.u64 %rd4, depot; cvta.local.u64 %rd5, %rd4;\n";
  EXPECT_EQ(body(std::string(depot) + "st.u64 [%rd5], %rd1; ld.local.u64 %rd6, [%rd4]; ld.global.u32 %r1, [%rd6];"),
            "read number");
  EXPECT_EQ(body(std::string(depot) + "st.local.u64 [%rd4], %rd1; ld.u64 %rd6, [%rd5]; st.global.u32 [%rd6], %r1;"),
            "written number");
  EXPECT_EQ(body(".shared .align 8 .b8 s[16]; st.shared.u64 [s], %rd1; ld.shared.u64 %rd6, [s]; st.u32 [%rd6], %r1;"),
            "written number");
  EXPECT_EQ(body(std::string(depot) + "st.local.u64 [%rd4], %rd1; st.global.u64 [%rd2], %rd5;"), "stored written")
      << "the address of what holds the pointer is stored";
}

constexpr std::string_view kReader =
    ".func (.param .b32 r) reader(.param .b64 a) { .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
    "ld.param.u64 %rd1, [a]; ld.u32 %r1, [%rd1]; st.param.b32 [r], %r1; ret; }\n";
constexpr std::string_view kWriter = ".func writer(.param .b64 a, .param .b32 v) { .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
                                     "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [v]; st.u32 [%rd1], %r1; ret; }\n";
constexpr std::string_view kPick = ".func (.param .b64 r) pick(.param .b64 a) { .reg .b64 %rd<9>;\n"
                                   "ld.param.u64 %rd1, [a]; add.u64 %rd2, %rd1, 8; st.param.b64 [r], %rd2; ret; }\n";

std::string callOf(std::string_view callee, std::string_view argument) {
  return concat("{ .param .b64 a0; .param .b32 a1; st.param.b64 [a0], ", argument, "; st.param.b32 [a1], 7;\n  call ",
                callee, ", (a0, a1); }\n");
}

TEST(AccessTrace, FollowsCalls) {
  EXPECT_EQ(body("{ .param .b64 a0; .param .b32 r0; st.param.b64 [a0], %rd1; call (r0), reader, (a0);\n"
                 "ld.param.b32 %r1, [r0]; }" +
                     callOf("writer", "%rd2"),
                 std::string(kReader).append(kWriter)),
            "read written");
}

TEST(AccessTrace, AFunctionIsRunPerSetOfArguments) {
  const std::string pick = "{ .param .b64 a0; .param .b64 r0; st.param.b64 [a0], %rd1; call (r0), pick, (a0);\n"
                           "ld.param.b64 %rd4, [r0]; } ld.u32 %r1, [%rd4];\n"
                           "{ .param .b64 a0; .param .b64 r0; st.param.b64 [a0], %rd2; call (r0), pick, (a0);\n"
                           "ld.param.b64 %rd5, [r0]; } st.u32 [%rd5], %r1;\n";
  EXPECT_EQ(body(pick, kPick), "read written");
}

TEST(AccessTrace, RecursionReachesAFixpoint) {
  constexpr std::string_view walk =
      ".func walk(.param .b64 a, .param .b32 v) { .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
      ".reg .pred %p<2>; ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [v];\n"
      "setp.eq.u32 %p1, %r1, 0; @%p1 bra L; sub.u32 %r2, %r1, 1; add.u64 %rd2, %rd1, 4;\n"
      "{ .param .b64 a0; .param .b32 a1; st.param.b64 [a0], %rd2; st.param.b32 [a1], %r2;\n"
      "call walk, (a0, a1); } ret; L: st.u32 [%rd1], %r1; ret; }\n";
  EXPECT_EQ(body(callOf("walk", "%rd1"), walk), "written number");
  constexpr std::string_view find =
      ".func (.param .b64 r) find(.param .b64 a) { .reg .b64 %rd<9>; .reg .pred %p<2>;\n"
      "ld.param.u64 %rd1, [a]; @%p1 bra L; add.u64 %rd2, %rd1, 8;\n"
      "{ .param .b64 a0; .param .b64 r0; st.param.b64 [a0], %rd2; call (r0), find, (a0);\n"
      "ld.param.b64 %rd3, [r0]; } st.param.b64 [r], %rd3; ret;\n"
      "L: st.param.b64 [r], %rd1; ret; }\n";
  EXPECT_EQ(body("{ .param .b64 a0; .param .b64 r0; st.param.b64 [a0], %rd1; call (r0), find, (a0);\n"
                 "ld.param.b64 %rd4, [r0]; } st.u32 [%rd4], %r1;",
                 find),
            "written number");
}

TEST(AccessTrace, PrintingIsReadingAndOtherUnknownCodeIsNot) {
  EXPECT_EQ(body(callOf("vprintf", "%rd1"), ".extern .func vprintf(.param .b64 a, .param .b32 b);\n"), "number number");
  EXPECT_EQ(body(callOf("other", "%rd1"), ".extern .func other(.param .b64 a, .param .b32 b);\n"), "passed number");
  EXPECT_EQ(
      body("{ .param .b64 a0; st.param.b64 [a0], %rd1; P: .callprototype _ (.param .b64 x); call %rd9, (a0), P; }"),
      "passed number")
      << "an indirect call";
}

TEST(AccessTrace, StructsByValueKeepTheirMembersApart) {
  constexpr std::string_view copy = ".func copy(.param .align 8 .b8 s[16]) { .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
                                    "ld.param.u64 %rd1, [s]; ld.param.u64 %rd2, [s+8]; ld.u32 %r1, [%rd1];\n"
                                    "st.u32 [%rd2], %r1; ret; }\n";
  EXPECT_EQ(body("{ .param .align 8 .b8 s0[16]; st.param.v2.b64 [s0], {%rd1, %rd2}; call copy, (s0); }", copy),
            "read written");
}

TEST(AccessTrace, PointersInsideAParameterHaveSlotsOfTheirOwn) {
  Diagnostics diagnostics;
  const ptx::Module module =
      ptx::parse(std::make_shared<SourceFile>(
                     "a.ptx", ptxModule(".visible .entry k(.param .align 8 .b8 s[24], .param .u64 p) {\n"
                                        ".reg .b64 %rd<9>; .reg .b32 %r<9>; ld.param.u64 %rd1, [s+8]; ld.param.u64 "
                                        "%rd2, [s+16];\nld.param.u32 %r1, [s]; ld.global.u32 %r2, [%rd1];\n"
                                        "st.global.u32 [%rd2], %r1; ret; }\n")),
                 diagnostics);
  const KernelTrace trace =
      ModuleTracer(module).trace(module.functions[0], {{.parameter = 0},
                                                       {.parameter = 0, .offset = 8, .isPointer = true},
                                                       {.parameter = 0, .offset = 16, .isPointer = true},
                                                       {.parameter = 1, .isPointer = true}});
  ASSERT_EQ(trace.slots.size(), 4u);
  EXPECT_TRUE(trace.slots[0].named);
  EXPECT_FALSE(trace.slots[0].addressed);
  EXPECT_TRUE(trace.slots[1].addressed && !trace.slots[1].written && !trace.slots[1].maybeWritten);
  EXPECT_TRUE(trace.slots[2].written);
  EXPECT_TRUE(trace.slots[2].named);
  EXPECT_FALSE(trace.slots[3].named);
}

TEST(AccessTrace, TheAddressOfAParameterLeadsToIt) {
  EXPECT_EQ(body("mov.b64 %rd4, p; ld.param.u64 %rd5, [%rd4]; st.global.u32 [%rd5], %r1;"), "written number");
  EXPECT_EQ(body("mov.b64 %rd4, p; cvta.param.u64 %rd5, %rd4; ld.u64 %rd6, [%rd5]; st.u32 [%rd6], %r1;"),
            "written number");
}

TEST(AccessTrace, NotesWhatK14Needs) {
  KernelTrace found;
  trace(std::string(kHead) + "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; and.b64 %rd4, %rd2, 15;\n"
                             "setp.eq.u64 %p1, %rd4, 0; @%p1 st.global.v2.f64 [%rd2], {%rd5, %rd6};\n"
                             "add.s64 %rd7, %rd3, 4; ld.global.u32 %r1, [%rd7]; ret; }\n",
        &found);
  EXPECT_EQ(found.slots[0].widestBytes, 16u);
  EXPECT_FALSE(found.slots[0].lowBitsTested);
  EXPECT_TRUE(found.slots[0].nonCoherent);
  EXPECT_EQ(found.slots[1].widestBytes, 16u);
  EXPECT_TRUE(found.slots[1].lowBitsTested);
  EXPECT_TRUE(found.slots[2].aloneInAddress);
}

TEST(AccessTrace, SixtyParametersAndMore) {
  std::string text = ".visible .entry k(";
  for (int i = 0; i < 70; ++i)
    text += concat(i ? ", " : "", ".param .u64 p", i);
  text += ") { .reg .b64 %rd<99>; .reg .b32 %r<9>;\n";
  for (int i = 0; i < 70; ++i)
    text += concat("ld.param.u64 %rd", i, ", [p", i, "]; ld.global.u32 %r1, [%rd", i, "];\n");
  std::string words = trace(text + "st.global.u32 [%rd3], %r1; ret; }\n");
  EXPECT_EQ(words.substr(0, 27), "read read read written read");
  EXPECT_EQ(words.substr(words.size() - 9), "read read");
  words = trace(text + "st.global.u32 [%rd69], %r1; ret; }\n");
  EXPECT_EQ(words.substr(0, 9), "read read");
  EXPECT_EQ(words.substr(words.size() - 11), "maybe maybe") << "those beyond the 56th are known together only";
}

TEST(AccessTrace, RegistersThatNothingSetsAreNumbers) {
  EXPECT_EQ(body("add.s64 %rd4, %rd1, %rd9; st.global.u32 [%rd4], %r1;"), "written number");
  EXPECT_EQ(body("L: add.s64 %rd9, %rd9, 4; add.s64 %rd4, %rd1, %rd9; st.global.u32 [%rd4], %r1; @%p1 bra L;"),
            "written number");
}

TEST(AccessTrace, DeepAndWideCallsEnd) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += concat(".func f", i, "(.param .b64 a, .param .b32 b) { .reg .b64 %rd<9>; ld.param.u64 %rd1, [a];\n",
                   i ? callOf(concat("f", i - 1), "%rd1") : std::string("ld.u64 %rd2, [%rd1];"), " ret; }\n");
  EXPECT_EQ(body(callOf("f9", "%rd1"), text), "read number");
  EXPECT_EQ(body(callOf("f99", "%rd1"), text), "gave-up gave-up") << "more than 64 deep";
  std::string twice;
  for (int i = 0; i < 40; ++i)
    twice += concat(".func g", i, "(.param .b64 a, .param .b32 b) { .reg .b64 %rd<9>; ld.param.u64 %rd1, [a];\n",
                    i ? callOf(concat("g", i - 1), "%rd1") + callOf(concat("g", i - 1), "%rd1")
                      : std::string("st.u64 [%rd1], 1;"),
                    " ret; }\n");
  EXPECT_EQ(body(callOf("g39", "%rd2"), twice), "number written") << "2^40 paths, 40 functions";
}

} // namespace
} // namespace tenon::linker
