// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structs in .local variables of a kernel, which functions get by their address (what nvcc -G makes of parameters).
#include "tests/unit/linker/access/trace/trace_words.h"

namespace tenon::linker {
namespace {

/// A kernel that puts a, b and n into a struct of its own at 8, 16 and 24, and passes the address of the struct to f.
std::vector<std::string> passed(std::string_view function, std::string_view before = "", std::string_view after = "") {
  std::vector<std::string> lines = testing::detailsOf(
      concat(".local .align 8 .b8 d[40]; mov.u64 %rd10, d; cvta.local.u64 %rd11, %rd10; add.s64 %rd12, %rd11, 8;\n",
             "st.u64 [%rd12], %rd1; st.u64 [%rd12+8], %rd2; st.u32 [%rd12+16], %r1;\n", before,
             "{ .param .b64 x; .param .b64 y; st.param.b64 [x], %rd12; call (y), f, (x); ld.param.b64 %rd13, [y]; }\n",
             after),
      concat(".func (.param .b64 r) f(.param .b64 x) { .reg .pred %p<4>; .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 "
             "%f<4>; ld.param.b64 %rd1, [x];\n",
             function, "\nret; }\n"));
  for (std::string &line : lines)
    line = line.substr(0, line.find(" low-bits"));
  return lines;
}

/// "a:read b:written": what is done with the two pointers.
std::string both(std::string_view function, std::string_view before = "", std::string_view after = "") {
  std::string words;
  const std::vector<std::string> lines = passed(function, before, after);
  for (size_t i = 0; i < 2; ++i) {
    auto has = [&](std::string_view word) { return lines[i].find(concat(" ", word)) != std::string::npos; };
    words += concat(i ? " " : "", has("written@")    ? "written"
                                  : has("maybe@")    ? "maybe"
                                  : has("stored@")   ? "stored"
                                  : has("passed@")   ? "passed"
                                  : has("steers@")   ? "steers"
                                  : has("addressed") ? "read"
                                                     : "unused");
  }
  return words;
}

TEST(StructByAddress, AFunctionReadsItsMembers) {
  EXPECT_EQ(both("ld.u64 %rd2, [%rd1]; ld.global.u32 %r1, [%rd2]; ld.u64 %rd3, [%rd1+8]; st.global.u32 [%rd3], %r1;"),
            "read written");
  EXPECT_EQ(both("ld.u64 %rd2, [%rd1+8]; ld.u32 %r1, [%rd1+16]; st.global.u32 [%rd2], %r1;"), "unused written")
      << "the number beside them tells nothing of them";
  EXPECT_EQ(both("ld.u32 %r1, [%rd1+16]; setp.eq.u32 %p1, %r1, 7; @%p1 ret; ld.u64 %rd2, [%rd1+8]; "
                 "st.global.u32 [%rd2], %r1;"),
            "unused written");
  EXPECT_EQ(both("ld.v2.u64 {%rd2, %rd3}, [%rd1]; st.global.u32 [%rd3], 1;"), "maybe maybe")
      << "members side by side are not told apart";
}

TEST(StructByAddress, AFunctionStoresMembers) {
  EXPECT_EQ(
      both("ld.u64 %rd2, [%rd1]; st.u64 [%rd1+8], %rd2;", "", "ld.u64 %rd14, [%rd12+8]; st.global.u32 [%rd14], 1;"),
      "maybe maybe");
  EXPECT_EQ(both("ld.u64 %rd2, [%rd1]; st.u64 [%rd1+24], %rd2;", "",
                 "ld.u64 %rd14, [%rd12+8]; st.global.u32 [%rd14], 1; ld.u64 %rd15, [%rd12+24]; ld.global.u32 %r2, "
                 "[%rd15];"),
            "read written");
  EXPECT_EQ(both("st.u32 [%rd1+4], 0;", "", "ld.u64 %rd14, [%rd12]; st.global.u32 [%rd14], 1;"), "maybe unused")
      << "half of it";
  EXPECT_EQ(both("st.u64 [%rd1], %rd1;", "", "ld.u64 %rd14, [%rd12]; st.u32 [%rd14], 1;"), "maybe unused")
      << "its own address, or what stood there";
}

TEST(StructByAddress, AnAddressThatIsComputedMayBeAnywhereInIt) {
  for (std::string_view address : {"add.s64 %rd4, %rd1, 16;", "ld.u64 %rd3, [%rd1]; add.s64 %rd4, %rd1, %rd3;",
                                   "ld.u32 %r1, [%rd1+16]; mul.wide.u32 %rd3, %r1, 8; add.s64 %rd4, %rd1, %rd3;"}) {
    const std::string words = both(concat(address, "ld.u64 %rd2, [%rd4]; st.global.u32 [%rd2], 1;"));
    EXPECT_TRUE(words.starts_with("maybe")) << address << words;
  }
  EXPECT_EQ(both("ld.u64 %rd2, [%rd1+64]; st.global.u32 [%rd2], 1;"), "maybe maybe") << "past its end";
}

/// What a path does not store is not there.
TEST(StructByAddress, AMemberThatAPathDoesNotStore) {
  EXPECT_EQ(both("ld.u64 %rd2, [%rd1+24]; ld.u64 %rd3, [%rd1]; add.s64 %rd4, %rd3, %rd2; st.global.u32 [%rd4], 1;",
                 "sub.s64 %rd20, %rd2, %rd1; @%p1 bra L; st.u64 [%rd12+24], %rd20; L:"),
            "maybe maybe");
}

TEST(StructByAddress, TwoFunctionsSeeWhatTheOtherStores) {
  const std::string_view writer = ".func g(.param .b64 x) { .reg .b64 %rd<4>; ld.param.b64 %rd1, [x]; "
                                  "ld.u64 %rd2, [%rd1]; st.u64 [%rd1+24], %rd2; ret; }\n";
  const std::vector<std::string> lines = testing::detailsOf(
      ".local .align 8 .b8 d[40]; mov.u64 %rd10, d; cvta.local.u64 %rd11, %rd10;\n"
      "st.u64 [%rd11], %rd1; st.u64 [%rd11+24], %rd2; L:\n"
      "{ .param .b64 x; st.param.b64 [x], %rd11; call reader, (x); } { .param .b64 x; st.param.b64 [x], %rd11; call g, "
      "(x); } @%p1 bra L;",
      concat(writer, ".func reader(.param .b64 x) { .reg .b64 %rd<4>; ld.param.b64 %rd1, [x]; ld.u64 %rd2, [%rd1+24]; "
                     "st.global.u32 [%rd2], 1; ret; }\n"));
  EXPECT_NE(lines[0].find("maybe@"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("maybe@"), std::string::npos) << lines[1];
}

} // namespace
} // namespace tenon::linker
