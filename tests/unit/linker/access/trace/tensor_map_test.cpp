// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tensor map a store names: the address of a place in the parameters, as long as it is only copied.
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

/// A pointer p, maps a and d, and a struct s of 640 bytes with maps at 64 and 256 and a pointer at 600.
const ParameterSlots kSlots = {{.parameter = 0, .isPointer = true},
                               {.parameter = 1},
                               {.parameter = 1, .isMap = true},
                               {.parameter = 2},
                               {.parameter = 2, .isMap = true},
                               {.parameter = 3},
                               {.parameter = 3, .offset = 64, .isMap = true},
                               {.parameter = 3, .offset = 256, .isMap = true},
                               {.parameter = 3, .offset = 600, .isPointer = true}};

/// Of a, d and the struct's maps: "w" is written, "m" may be, "-" is not; "!" any map may be meant. " p": so may a
/// pointer. %rd1 is p, %rd2 and %rd3 the addresses of a and d, %rd4 that of s in its window, %rd5 the generic one.
std::string stored(std::string_view body, std::string_view before = "") {
  constexpr std::string_view kStart =
      ".visible .entry k(.param .u64 p, .param .align 64 .b8 a[128], .param .align 64 .b8 d[128],\n"
      ".param .align 64 .b8 s[640]) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<40>;\n"
      "ld.param.u64 %rd1, [p]; mov.b64 %rd20, a; cvta.param.u64 %rd2, %rd20; mov.b64 %rd21, d; cvta.param.u64 %rd3, "
      "%rd21; mov.b64 %rd4, s; cvta.param.u64 %rd5, %rd4; mov.u32 %r1, %tid.x;\n";
  Diagnostics diagnostics;
  const ptx::Module module =
      ptx::parse(std::make_shared<SourceFile>(
                     "a.ptx", testing::ptxModule(concat(before, kStart, body, "\nret;\n}\n"), "sm_90", "8.6")),
                 diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  const KernelTrace trace = ModuleTracer(module).trace(module.functions.back(), kSlots);
  std::string words;
  for (size_t i = 0; i < kSlots.size(); ++i)
    if (kSlots[i].isMap)
      words += trace.slots[i].written ? 'w' : trace.slots[i].maybeWritten ? 'm' : '-';
  words += trace.storedToMap ? "!" : "";
  for (size_t i : {0u, 8u})
    words += trace.slots[i].maybeWritten || trace.slots[i].stored ? " p" : "";
  return trace.gaveUp ? "gave up" : words;
}

std::string through(std::string_view address) {
  return concat("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [", address, ", {%r1}], [%r2];");
}

TEST(TensorMaps, AStoreNamesTheMapWhoseAddressIsCopied) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"mov.b64 %rd9, %rd2;", "w---"},
      {"mov.b64 %rd9, %rd3;", "-w--"},
      {"cvta.to.param.u64 %rd8, %rd3; cvta.param.u64 %rd9, %rd8;", "-w--"},
      {"add.s64 %rd9, %rd5, 64;", "--w-"},
      {"add.s64 %rd8, %rd4, 256; cvta.param.u64 %rd9, %rd8;", "---w"},
      {"mov.b64 %rd8, s+64; cvta.param.u64 %rd9, %rd8;", "--w-"},
      {"add.s64 %rd8, %rd5, 512; add.s64 %rd9, %rd8, -448;", "--w-"},
      {"selp.b64 %rd9, %rd2, %rd3, %p1;", "mm--"},
      {"@%p1 bra L; mov.b64 %rd9, %rd2; bra M; L: mov.b64 %rd9, %rd3; M:", "mm--"},
      {"mov.b64 %rd9, %rd2; @%p1 mov.b64 %rd9, %rd3;", "mm--"},
      {"mov.b64 %rd9, %rd3; prefetch.tensormap [%rd9];", "-w--"},
      {"min.u64 %rd9, %rd2, %rd3;", "mm--"},
      {"mov.b64 {%r8, %r9}, %rd2; mov.b64 %rd9, {%r8, %r9};", "w---"},
      {".local .align 8 .b8 v[16]; st.local.u64 [v+8], %rd2; ld.local.u64 %rd9, [v+8];", "w---"},
      // Part of a map stands at 320, of a pointer at 400; in between what the caller passed.
      {"add.s64 %rd9, %rd5, 320;", "----! p p"},
      {"add.s64 %rd9, %rd5, 384;", "----"},
      {"add.s64 %rd9, %rd5, 472;", "----"},
      {"add.s64 %rd9, %rd5, 480;", "----! p p"},
  };
  for (const auto &[made, words] : cases)
    EXPECT_EQ(stored(concat(made, through("%rd9"))), words) << made;
}

TEST(TensorMaps, AnAddressThatWasComputedNamesAny) {
  for (std::string_view made :
       {"add.s64 %rd9, %rd5, 0;",
        "add.s64 %rd9, %rd5, 65;",
        "add.s64 %rd9, %rd5, 192;",
        "add.s64 %rd9, %rd5, 500;",
        "add.s64 %rd9, %rd5, 4096;",
        "add.s64 %rd9, %rd5, -64;",
        "sub.s64 %rd8, %rd3, %rd2; add.s64 %rd9, %rd2, %rd8;",
        "mov.u64 %rd8, 128; add.s64 %rd9, %rd2, %rd8;",
        "mul.wide.u32 %rd8, %r1, 192; add.s64 %rd9, %rd5, %rd8;",
        "mul.wide.u32 %rd8, %r1, 192; mad.lo.s64 %rd9, %rd8, 2, %rd5;",
        "not.b64 %rd8, %rd2; neg.s64 %rd9, %rd8;",
        "neg.s64 %rd8, %rd2; not.b64 %rd9, %rd8;",
        "or.b64 %rd9, %rd2, 128;",
        "and.b64 %rd9, %rd2, -129;",
        "xor.b64 %rd9, %rd2, 64;",
        "xor.b64 %rd8, %rd2, %rd3; xor.b64 %rd9, %rd8, %rd2;",
        "shl.b64 %rd9, %rd2, 0;",
        "cvt.u32.u64 %r8, %rd2; cvt.u64.u32 %rd9, %r8;",
        "cvta.shared.u64 %rd9, %rd20;",
        "cvta.local.u64 %rd9, %rd20;",
        "mov.b64 {%r8, %r9}, %rd2; mov.b64 {%r10, %r11}, %rd3; mov.b64 %rd9, {%r10, %r9};",
        "@%p1 mov.b64 %rd9, %rd2;",
        "selp.b64 %rd9, %rd2, 64, %p1;",
        "mov.b64 %rd9, %rd1;",
        "mov.u64 %rd9, 64;",
        "ld.global.u64 %rd9, [%rd1];",
        "mov.u64 %rd9, g;",
        "mov.b64 %rd9, %rd2; L: add.s64 %rd9, %rd9, 192; @%p1 bra L;",
        "mov.b64 %rd9, %rd2; @%p1 add.s64 %rd9, %rd9, 192;",
        "add.cc.s64 %rd9, %rd5, 64;",
        ".local .align 8 .b8 v[16]; st.local.u64 [v], %rd2; st.local.u8 [v], %r1; ld.local.u64 %rd9, [v];",
        ".local .align 8 .b8 v[16]; st.local.u64 [v], %rd2; ld.local.u64 %rd9, [v+4];",
        ".shared .align 8 .b8 v[16]; mov.u64 %rd7, v; add.s64 %rd8, %rd7, %rd6; st.shared.u64 [%rd8], %rd2; "
        "ld.shared.u64 %rd9, [%rd8];",
        ".local .align 8 .b8 v[16]; mov.u64 %rd7, v; add.s64 %rd8, %rd7, %rd6; st.local.u64 [v], %rd2; st.local.u64 "
        "[%rd8], 64; ld.local.u64 %rd9, [v];",
        ".shared .align 8 .b8 v[16]; st.shared.u64 [v], %rd2; atom.shared.add.u64 %rd9, [v], 64;",
        "shfl.sync.idx.b32 %r8, %r1, 0, 31, -1; cvt.u64.u32 %rd8, %r8; add.s64 %rd9, %rd2, %rd8;"})
    EXPECT_EQ(stored(concat(made, through("%rd9")), ".global .align 128 .b8 g[128];\n").substr(0, 5), "----!") << made;
  EXPECT_EQ(stored(through("%rd2+64")).substr(0, 5), "----!");
}

TEST(TensorMaps, AddressesGoThroughFunctions) {
  constexpr std::string_view call =
      "{ .param .b64 i; .param .b64 o; st.param.b64 [i], %rd2; call.uni (o), f, (i); ld.param.b64 %rd9, [o]; }";
  auto given = [&](std::string_view made) {
    return stored(concat(call, through("%rd9")),
                  concat(".func (.param .b64 r) f(.param .b64 x) { .reg .b64 %rd<4>; ld.param.b64 %rd1, [x];", made,
                         "st.param.b64 [r], %rd2; ret; }\n"));
  };
  EXPECT_EQ(given("mov.b64 %rd2, %rd1;"), "w---");
  EXPECT_EQ(given("add.s64 %rd2, %rd1, 128;"), "----! p p");
  const std::string store =
      concat(".func f(.param .b64 x) { .reg .b64 %rd<4>; .reg .b32 %r<4>; ld.param.b64 %rd1, [x]; mov.u32 %r1, 0;",
             through("%rd1"), "ret; }\n");
  EXPECT_EQ(stored("{ .param .b64 i; st.param.b64 [i], %rd3; call.uni f, (i); }", store), "-w--");
  EXPECT_EQ(stored("{ .param .b64 i; st.param.b64 [i], %rd3; call.uni f, (i); st.param.b64 [i], %rd2; call.uni f, (i); "
                   "}",
                   store),
            "mm--")
      << "one variable of the calling convention, two values";
}

/// Which of two maps is written tells the bit.
TEST(TensorMaps, AChoiceByAPointerTellsOfIt) {
  EXPECT_EQ(stored(concat("setp.lt.u64 %p1, %rd1, 4096; selp.b64 %rd9, %rd2, %rd3, %p1;", through("%rd9"))), "mm-- p");
  EXPECT_EQ(stored(concat("setp.eq.u64 %p1, %rd1, 0; selp.b64 %rd9, %rd2, %rd3, %p1;", through("%rd9"))), "mm--");
}

/// Beyond the slots that are told apart no map has one of its own.
TEST(TensorMaps, OneOfManyParametersIsAny) {
  std::string head, named;
  ParameterSlots slots;
  for (uint32_t i = 0; i < kTrackedSlots; ++i) {
    head += concat(".param .u32 n", i, ", ");
    slots.push_back({.parameter = i});
  }
  slots.push_back({.parameter = kTrackedSlots});
  slots.push_back({.parameter = kTrackedSlots, .isMap = true});
  Diagnostics diagnostics;
  const ptx::Module module = ptx::parse(
      std::make_shared<SourceFile>(
          "a.ptx", testing::ptxModule(concat(".visible .entry k(", head, ".param .align 64 .b8 a[128]) {\n",
                                             ".reg .b32 %r<4>; .reg .b64 %rd<4>; mov.b64 %rd1, a; cvta.param.u64 "
                                             "%rd2, %rd1; mov.u32 %r1, 0; mov.u32 %r2, 0;",
                                             through("%rd2"), "ret; }\n"),
                                      "sm_90", "8.6")),
      diagnostics);
  EXPECT_EQ(diagnostics.toString(), "");
  EXPECT_TRUE(ModuleTracer(module).trace(module.functions.back(), slots).storedToMap);
}

} // namespace
} // namespace tenon::linker
