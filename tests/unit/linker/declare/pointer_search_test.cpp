// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/pointer_search.h"

#include "linker/access/trace/module_tracer.h"
#include "tests/unit/linker/declare_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// "0 2 1@8": pointers of the only kernel, those in structs with their offsets.
std::string pointersOf(std::string body) {
  const ObjectInput input = objectOf(std::move(body));
  Diagnostics diagnostics;
  std::unique_ptr<Object> object = parseObject(input, diagnostics);
  EXPECT_TRUE(object) << diagnostics.toString();
  ModuleTracer tracer(object->module);
  const ptx::Function &entry = object->module.functions.front();
  const PointerSearch found = findPointers(entry, tracer);
  EXPECT_EQ(found.trace.slots.size(), found.slots.size());
  std::string out;
  for (size_t i = 0; i < entry.parameters.size(); ++i)
    if (found.isPointer(i))
      out += concat(out.empty() ? "" : " ", i);
  for (const PointerSearch::Struct &holder : found.structs)
    for (size_t slot : holder.pointers)
      out += concat(out.empty() ? "" : " ", holder.parameter, '@', found.slots[slot].offset);
  return out;
}

constexpr std::string_view kRegisters = "{ .reg .b64 %r<9>; .reg .b32 %w<5>;\n";

TEST(PointerSearch, TakesBasesOfAddressesAndPtr) {
  EXPECT_EQ(pointersOf(concat(".entry k(.param .u64 a, .param .u64 b, .param .u64 .ptr c, .param .f64 d)\n", kRegisters,
                              "ld.param.u64 %r1, [b]; cvta.to.global.u64 %r2, %r1; ld.global.u32 %w1, [%r2]; ret; }")),
            "1 2");
}

// What one of them is chosen from are pointers; what may be added to one of them is none.
TEST(PointerSearch, TakesEachOfThoseThatAnAddressIsChosenFrom) {
  const std::string head = concat(".entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n", kRegisters,
                                  ".reg .pred %p; ld.param.u64 %r1, [a]; ld.param.u64 %r2, [b];\n"
                                  "ld.param.u64 %r3, [c]; ld.param.u32 %w1, [n]; setp.eq.u32 %p, %w1, 0;\n");
  EXPECT_EQ(pointersOf(head + "selp.b64 %r4, %r1, %r2, %p; selp.b64 %r4, %r4, %r3, %p; cvta.to.global.u64 %r5, %r4;\n"
                              "ld.global.u32 %w2, [%r5]; ret; }"),
            "0 1 2");
  EXPECT_EQ(pointersOf(head + "selp.b64 %r4, %r2, 0, %p; add.s64 %r5, %r1, %r4; ld.global.u32 %w2, [%r5]; ret; }"),
            "0");
  EXPECT_EQ(pointersOf(head + "mov.b64 %r4, %r1; @%p bra L; mov.b64 %r4, %r2; L: add.s64 %r5, %r4, 16;\n"
                              "st.global.u32 [%r5], %w1; ret; }"),
            "0 1");
}

// The kernel keeps both where it finds one of them by a number.
TEST(PointerSearch, TakesEachOfThoseThatAnAddressIsLoadedFrom) {
  for (const std::string space : {"shared", "local"})
    EXPECT_EQ(pointersOf(concat(".entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n", kRegisters,
                                ".", space, " .align 8 .b8 t[16]; ld.param.u64 %r1, [a]; ld.param.u64 %r2, [b];\n",
                                "ld.param.u64 %r3, [c]; st.", space, ".u64 [t], %r1; st.", space, ".u64 [t+8], %r2;\n",
                                "ld.param.u32 %w1, [n]; shl.b32 %w1, %w1, 3; mov.u32 %w2, t; add.s32 %w2, %w2, %w1;\n",
                                "ld.", space, ".u64 %r4, [%w2]; ld.f32 %w3, [%r4]; cvta.to.global.u64 %r5, %r2;\n",
                                "st.global.u64 [%r5], %r3; ret; }")),
              "0 1")
        << space;
}

// A tag in bits that addresses do not have, or in low ones. A small mask leaves an offset.
TEST(PointerSearch, TakesWhatATagIsTakenOff) {
  for (const auto &[mask, want] : {std::pair("281474976710655", "0 1"), {"-2", "0 1"}, {"4095", "1"}})
    EXPECT_EQ(pointersOf(concat(".entry k(.param .u64 a, .param .u64 b)\n", kRegisters,
                                "ld.param.u64 %r1, [a]; ld.param.u64 %r2, [b]; and.b64 %r3, %r1, ", mask,
                                "; mov.u32 %w1, %tid.x; mul.wide.u32 %r4, %w1, 4; add.s64 %r5, %r4, %r3;\n"
                                "ld.global.u32 %w2, [%r5]; st.global.u32 [%r2], %w2; ret; }")),
              want)
        << mask;
}

TEST(PointerSearch, FindsPointersInStructs) {
  EXPECT_EQ(pointersOf(concat(".entry k(.param .u32 n, .param .align 8 .b8 s[64])\n", kRegisters,
                              "ld.param.u64 %r3, [s+24]; ld.global.u32 %w1, [%r3];\n"
                              "ld.param.u64 %r4, [s+40]; mul.lo.s64 %r4, %r4, 12; ld.param.u64 %r5, [s+48];\n"
                              "add.s64 %r6, %r5, %r4; st.global.u32 [%r6], %w1; ret; }")),
            "1@24 1@48");
}

TEST(PointerSearch, LeavesStructsOfNumbersAlone) {
  EXPECT_EQ(
      pointersOf(concat(".entry k(.param .u64 a, .param .align 4 .b8 s[16], .param .align 8 .b8 t[16])\n", kRegisters,
                        "ld.param.u64 %r1, [a]; ld.param.u64 %r2, [t]; mul.lo.s64 %r2, %r2, 4;\n"
                        "add.s64 %r3, %r1, %r2; ld.param.u32 %w1, [s+8]; st.global.u32 [%r3], %w1; ret; }")),
      "0");
}

TEST(PointerSearch, FindsTablesOfPointers) {
  const std::string index = "mov.u32 %w1, %ctaid.x; mul.wide.u32 %r1, %w1, 8;\n";
  // Of a struct in constant memory, beside a count and a number that is no pointer.
  EXPECT_EQ(
      pointersOf(concat(".entry k(.param .align 8 .b8 s[48], .param .u64 n)\n", kRegisters, index,
                        "mov.b64 %r2, s; add.s64 %r3, %r2, %r1; ld.param.u64 %r4, [%r3+8];\n"
                        "ld.param.u32 %w2, [s+32]; ld.param.u64 %r5, [n]; shl.b64 %r5, %r5, 2; add.s64 %r6, %r4, %r5;\n"
                        "ld.global.u32 %w3, [%r6]; ret; }")),
      "0@8 0@16 0@24");
  EXPECT_EQ(pointersOf(concat(".entry k(.param .align 8 .b8 s[16])\n", kRegisters, index,
                              "mov.b64 %r2, s; cvta.param.u64 %r2, %r2; add.s64 %r3, %r1, %r2; ld.u64 %r4, [%r3];\n"
                              "ld.global.u32 %w3, [%r4]; ret; }")),
            "0@0 0@8");
  // Copied to thread-private memory, as nvcc does with a struct that it cannot index.
  EXPECT_EQ(pointersOf(concat(".entry k(.param .align 8 .b8 s[24])\n{ .local .align 8 .b8 d[24];", kRegisters.substr(1),
                              index,
                              "mov.u64 %r2, d; ld.param.u64 %r3, [s]; st.local.u64 [%r2], %r3;\n"
                              "ld.param.u64 %r3, [s+8]; st.local.u64 [%r2+8], %r3; add.s64 %r4, %r2, %r1;\n"
                              "ld.param.u32 %w2, [s+16]; ld.local.u64 %r5, [%r4]; ld.global.u32 %w3, [%r5]; ret; }")),
            "0@0 0@8");
  // Numbers at an index.
  EXPECT_EQ(pointersOf(concat(".entry k(.param .align 8 .b8 s[16], .param .u64 p)\n", kRegisters, index,
                              "mov.b64 %r2, s; add.s64 %r3, %r2, %r1; ld.param.u64 %r4, [%r3];\n"
                              "ld.param.u64 %r5, [p]; st.global.u64 [%r5], %r4; ret; }")),
            "1");
}

// A trace tells 56 slots apart; here are 80 pointers.
TEST(PointerSearch, FindsMorePointersThanATraceTellsApart) {
  std::string body = ".entry k(.param .align 8 .b8 s[640])\n{ .reg .b64 %r<81>;\n", want;
  for (int i = 0; i < 80; ++i) {
    body += concat("ld.param.u64 %r", i, ", [s+", 8 * i, "]; st.global.u32 [%r", i, "], 1;\n");
    want += concat(i ? " " : "", "0@", 8 * i);
  }
  EXPECT_EQ(pointersOf(body + "ret; }"), want);
}

TEST(PointerSearch, TakesTheFirstOfTwoThatAreNeverApart) {
  EXPECT_EQ(pointersOf(concat(".entry k(.param .u64 a, .param .u64 b)\n", kRegisters,
                              "ld.param.u64 %r1, [a]; ld.param.u64 %r2, [b]; add.s64 %r3, %r1, %r2;\n"
                              "ld.global.u32 %w1, [%r3]; ret; }")),
            "0");
}

} // namespace
} // namespace tenon::linker
