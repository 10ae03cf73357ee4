// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

Linked linkBody(std::string_view before, std::string_view body) {
  return linkOne(concat(before,
                        ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
                        "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];\n",
                        body, "\nret;\n}\n"),
                 makeExport("k", 1));
}

TEST(CheckModuleState, AWriteToAVariableOfTheModuleIsPointedOut) {
  Linked linked = linkBody(".visible .global .align 4 .u32 counter = 7;\n", "atom.global.add.u32 %r2, [counter], 1;");
  EXPECT_FALSE(linked.bytes.empty()) << "a warning";
  EXPECT_FINDS(linked,
               "a.ptx:8:1: warning: [K-14] 'k' writes variable 'counter' (atom.global.add.u32), which keeps its "
               "value from one launch to the next");
  EXPECT_FINDS(linked, "a.ptx:4:");
  EXPECT_FINDS(linked, "fix: pass the memory as a binding");
}

TEST(CheckModuleState, SoIsOneThroughAPointer) {
  EXPECT_FINDS(
      linkBody(".global .u32 a;\n.global .u32 b[8];\n",
               "mov.u64 %rd2, b; add.s64 %rd3, %rd2, %rd1; ld.global.u32 %r3, [a]; st.global.u32 [%rd2+4], 1;"),
      "[K-14] 'k' writes one of 'a' or 'b' (st.global.u32), which keeps its value from one launch to the next\n"
      "a.ptx:4:14: note: 'a' is defined here\n"
      "job.json:7:3: note: export 'k' is declared here\n");
}

TEST(CheckModuleState, ReadingOneIsFine) {
  EXPECT_LINKS(linkBody(".global .u32 table[4] = {1, 2, 3, 4};\n", "ld.global.u32 %r2, [table+4];"));
}

} // namespace
} // namespace tenon::linker
