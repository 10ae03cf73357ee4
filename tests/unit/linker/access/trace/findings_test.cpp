// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is put down of accesses: of each slot, and of the kernel.
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

struct Case {
  std::string_view body;
  std::vector<std::string> lines;
};

void expectAll(std::span<const Case> cases, std::string_view before = "") {
  for (const Case &row : cases)
    EXPECT_EQ(testing::detailsOf(row.body, before), row.lines) << row.body;
}

TEST(Findings, EveryAccessIsPutDownOnce) {
  const Case cases[] = {
      {"ld.global.u32 %r9, [%rd1]; st.global.u32 [%rd2], %r9;",
       {"a: named addressed sole", "b: named addressed sole written@4", "n: named"}},
      {"ld.global.nc.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1]; st.global.v2.u32 [%rd2], {%r4, %r5}; st.global.v4.u32 "
       "[%rd2], {%r4, %r5, %r6, %r7};",
       {"a: named addressed sole nc@3 widest=16@3", "b: named addressed sole written@4 widest=16@5", "n: named"}},
      {"ld.global.v2.u64 {%rd4, %rd5}, [%rd1]; ld.global.v4.u64 {%rd6, %rd7, %rd8, %rd9}, [%rd1]; ld.global.v2.u64 "
       "{%rd4, %rd5}, [%rd1];",
       {"a: named addressed sole widest=32@4", "b: named", "n: named"}},
      {"cvt.u64.u32 %rd8, %r1; add.u64 %rd9, %rd1, %rd8; ld.global.u32 %r9, [%rd9];",
       {"a: named addressed joint", "b: named", "n: named joint"}},
      {"cvt.u64.u32 %rd8, %r1; ld.global.u32 %r9, [%rd8];",
       {"a: named", "b: named", "n: named addressed sole alone@4"}},
      {"cvt.u64.u32 %rd8, %r1; st.global.u32 [%rd8], 1;",
       {"a: named", "b: named", "n: named addressed sole alone@4", "kernel: elsewhere"}},
      {"st.global.u32 [g], 1;", {"a: named", "b: named", "n: named", "kernel: elsewhere module@3"}},
      {"mov.u64 %rd9, g; add.u64 %rd9, %rd9, %rd8; st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere module@5"}},
      {"mov.u64 %rd9, g; selp.b64 %rd8, %rd9, %rd1, %p1; st.global.u32 [%rd8], 1;",
       {"a: named addressed sole maybe@5", "b: named", "n: named", "kernel: elsewhere module@5"}},
      {"st.global.u32 [%rd9], 1;", {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"selp.b64 %rd9, %rd1, %rd2, %p1; st.global.u32 [%rd9], 1;",
       {"a: named addressed joint maybe@4", "b: named addressed joint maybe@4", "n: named", "kernel: elsewhere"}},
      {"selp.b64 %rd9, %rd1, 0, %p1; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole written@4", "b: named", "n: named"}},
      {"ld.global.u64 %rd9, [%rd1]; st.global.u32 [%rd9], 1;",
       {"a: named addressed sole", "b: named", "n: named", "kernel: elsewhere"}},
      {"ld.global.u64 %rd9, [%rd1]; add.u64 %rd8, %rd9, %rd2; st.global.u32 [%rd8], 1;",
       {"a: named addressed sole", "b: named addressed sole written@5", "n: named"}},
      {"selp.b64 %rd9, %rd1, %rd2, %p1; ld.global.u64 %rd8, [%rd9]; selp.b64 %rd7, %rd1, %rd8, %p1; st.global.u32 "
       "[%rd7], 1;",
       {"a: named addressed sole joint maybe@6", "b: named addressed joint", "n: named", "kernel: elsewhere"}},
      {"sub.u64 %rd9, 0, %rd1; st.global.u32 [%rd9], 1;",
       {"a: named addressed maybe@4", "b: named", "n: named", "kernel: elsewhere"}},
      {"selp.b64 %rd8, 0, 1, %p1; sub.u64 %rd9, %rd1, %rd8; selp.b64 %rd7, %rd9, 4, %p2; st.global.u32 [%rd7], 1;",
       {"a: named addressed sole written@6", "b: named", "n: named"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; st.global.u32 [%rd8], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; mov.u64 %rd9, g; add.u64 %rd9, %rd9, %rd8; st.global.u32 [%rd9], 1;",
       {"a: named", "b: named", "n: named", "kernel: elsewhere module@6"}},
      {"bfe.u64 %rd8, %rd1, 9, 10; ld.global.u64 %rd9, [%rd2]; add.u64 %rd9, %rd9, %rd8; st.global.u32 [%rd9], 1;",
       {"a: named maybe@6", "b: named addressed sole", "n: named", "kernel: elsewhere"}},
      {"st.global.u32 [%rd1], 1; st.global.u32 [%rd1+4], 1; ld.global.u32 %r9, [%rd1];",
       {"a: named addressed sole written@3", "b: named", "n: named"}},
      {"st.global.u64 [%rd2], %rd1; st.global.u64 [%rd2], %rd1;",
       {"a: named addressed stored@3", "b: named addressed sole written@3", "n: named"}},
      {"atom.global.add.u32 %r9, [%rd1], 1; red.global.add.u32 [%rd2], 1;",
       {"a: named addressed sole written@3", "b: named addressed sole written@4", "n: named"}},
      {"st.u64 [%rd2], %rd1;", {"a: named addressed stored@3", "b: named addressed sole written@3", "n: named"}},
      {"@%p1 st.global.u32 [%rd1], 1;", {"a: named addressed sole written@3", "b: named", "n: named"}},
      {"discard.global.L2 [%rd1], 128;", {"a: named addressed sole written@3", "b: named", "n: named"}},
      {"and.b64 %rd9, %rd1, 15; ld.global.u32 %r9, [%rd2];",
       {"a: named low-bits", "b: named addressed sole", "n: named"}},
      {"cvt.u32.u64 %r8, %rd1; and.b32 %r9, %r8, 15; and.b32 %r7, %r1, 3;",
       {"a: named low-bits", "b: named", "n: named low-bits"}},
      {"prefetch.global.L2 [%rd1]; add.u64 %rd9, %rd1, %rd2; prefetch.global.L2 [%rd9];",
       {"a: named sole joint", "b: named joint", "n: named"}},
  };
  expectAll(cases, ".global .u32 g;\n");
}

TEST(Findings, SlotsBeyondTheTrackedOnesAreFoundTogether) {
  const ParameterSlots slots = slotPerParameter(std::vector<bool>(kTrackedSlots + 3, true));
  Findings findings;
  findings.reset(slots);
  EXPECT_EQ(findings.pointerBits(), slotBit(kFurtherSlots + 1) - 1);
  findings.read(Origins::of(kFurtherSlots), Step(), {});
  const KernelTrace trace = findings.take();
  ASSERT_EQ(trace.slots.size(), kTrackedSlots + 3);
  for (uint32_t i = 0; i < trace.slots.size(); ++i) {
    EXPECT_EQ(trace.slots[i].addressed, i >= kTrackedSlots) << i;
    EXPECT_FALSE(trace.slots[i].soleBase) << i;
    EXPECT_EQ(trace.slots[i].jointBase, i >= kTrackedSlots) << i;
  }
}

TEST(Findings, NothingIsLeftOfTheKernelBefore) {
  Findings findings;
  const ParameterSlots slots = slotPerParameter({true, true});
  findings.reset(slots);
  const Origins few = {.none = ~uint64_t(0), .few = slotBit(0)};
  findings.written(Origins::of(1), Step(), {0, 3});
  findings.leaked(slotBit(0));
  findings.steered(Origins::of(kForeign), {0, 4});
  findings.written(Origins::of(kForeign), Step(), {0, 5});
  findings.storedToMap({0, 6}, Origins::of(kForeign));
  findings.gaveUp();
  findings.clear();
  const std::vector<std::string> nothing = {"a:", "b:"};
  EXPECT_EQ(testing::details(findings.take()), nothing);
  findings.reset(slots);
  findings.leaked(slotBit(0) | slotBit(5));
  EXPECT_EQ(testing::details(findings.take()), nothing) << "no write and no branch that memory has a say in";
  findings.reset(slots);
  findings.leaked(slotBit(0));
  findings.written(Origins::of(kForeign), Step(), {0, 5});
  findings.steered(Origins::of(kForeign), {0, 4});
  findings.steered(Origins::of(kForeign), {0, 7});
  EXPECT_EQ(testing::details(findings.take()),
            (std::vector<std::string>{"a: maybe@5 steers@4", "b:", "kernel: elsewhere"}));
  findings.reset(slots);
  findings.leaked(slotBit(0));
  findings.storedToMap({0, 5}, Origins::number());
  EXPECT_EQ(testing::details(findings.take()), (std::vector<std::string>{"a:", "b:", "kernel: map@5"}));
  findings.reset(slots);
  findings.leaked(slotBit(0));
  findings.storedToMap({0, 5}, Origins::of(kForeign));
  EXPECT_EQ(testing::details(findings.take()), (std::vector<std::string>{"a: maybe@5", "b:", "kernel: map@5"}))
      << "a map that the kernel may have made";
  findings.reset(slots);
  findings.written(few, Step(), {0, 2});
  EXPECT_EQ(testing::details(findings.take()), (std::vector<std::string>{"a: maybe@2", "b:", "kernel: elsewhere"}))
      << "one of 4096 places, which may be its own";
  for (const Origins &little :
       {Origins{.none = ~slotBit(0), .index = slotBit(0)}, Origins{.none = ~slotBit(0), .near = slotBit(0)}}) {
    findings.reset(slots);
    findings.written(little, Step(), {0, 2});
    findings.written(sum(little, Origins::of(1)), Step(), {0, 3});
    EXPECT_EQ(testing::details(findings.take()),
              (std::vector<std::string>{"a:", "b: addressed sole written@3", "kernel: elsewhere"}))
        << "a small offset from a place that it does not choose";
    findings.reset(slots);
    findings.written(sum(little, Origins::of(1)).join(Origins::number()), Step(), {0, 3});
    EXPECT_EQ(testing::details(findings.take()),
              (std::vector<std::string>{"a: maybe@3", "b: addressed sole maybe@3", "kernel: elsewhere"}));
  }
}

TEST(Findings, TheFirstPlaceStays) {
  Findings findings;
  const ParameterSlots slots = slotPerParameter({true, true});
  findings.reset(slots);
  for (uint32_t i = 1; i < 4; ++i) {
    findings.escaped(slotBit(0), &SlotAccess::passed, {0, i});
    findings.escaped(slotBit(1), &SlotAccess::stored, {0, i});
    findings.written(Origins::of(0), Step(), {0, i});
    findings.written(sum(Origins::of(1), Origins::of(0)), Step(), {0, i});
    findings.steered(Origins::of(1), {0, i});
    findings.storedToMap({0, i}, Origins::number());
    Step step;
    step.nonCoherent = true;
    step.bytes = 16;
    findings.read(Origins::of(1), step, {0, i});
    findings.written(Origins::of(kModuleMemory), Step(), {0, i});
  }
  EXPECT_EQ(testing::details(findings.take()),
            (std::vector<std::string>{"a: addressed sole joint written@1 maybe@1 passed@1",
                                      "b: addressed sole joint maybe@1 stored@1 steers@1 nc@1 widest=16@1",
                                      "kernel: elsewhere module@1 map@1"}));
}

} // namespace
} // namespace tenon::linker
