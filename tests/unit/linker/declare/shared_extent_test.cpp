// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/shared_extent.h"

#include "tests/unit/linker/declare_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

/// Of a kernel with this body and 128 threads; 0: no limit was found.
uint32_t extentOf(std::string_view body, std::string_view before = "", abi::Extent3 workgroup = {128, 1, 1}) {
  const ObjectInput input = objectOf(concat(".extern .shared .align 16 .b8 smem[];\n", before,
                                            "\n.entry k(.param .u32 n) { .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .b16 "
                                            "%h<4>; .reg .pred %p<4>;\n",
                                            body, "\nret; }\n"));
  Diagnostics diagnostics;
  std::unique_ptr<Object> object = parseObject(input, diagnostics);
  EXPECT_TRUE(object) << diagnostics.toString();
  const ptx::Function *entry = object->module.findFunction("k");
  return sharedExtent(object->module, *entry, workgroup).value_or(0);
}

TEST(SharedExtent, FollowsShiftsMasksAndSumsOfTid) {
  EXPECT_EQ(extentOf("st.shared.u32 [smem+60], 1;"), 64u);
  EXPECT_EQ(extentOf("mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, smem; add.s32 %r4, %r3, %r2;\n"
                     "st.shared.u32 [%r4], 1;"),
            512u);
  EXPECT_EQ(extentOf("mov.u32 %r1, %tid.x; and.b32 %r3, %r1, 3; mad.lo.s32 %r2, %r3, 100, smem;\n"
                     "ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r2+8];"),
            336u); // 300 + 8 + 16, up to the next multiple of 16
  EXPECT_EQ(extentOf("mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; neg.s32 %r3, %r2; and.b32 %r4, %r3, 576;\n"
                     "shl.b32 %r5, %r1, 1; and.b32 %r9, %r5, 60; xor.b32 %r6, %r4, %r9; mov.b32 %r7, smem;\n"
                     "add.s32 %r8, %r7, %r6; st.shared.b32 [%r8+512], %r1;"),
            1152u); // 576 + 60 + 512 + 4
  EXPECT_EQ(extentOf("mov.u32 %r1, %tid.y; mov.u32 %r2, %ntid.x; mul.lo.s32 %r3, %r1, %r2; mov.u32 %r4, %tid.x;\n"
                     "add.s32 %r6, %r3, %r4; shl.b32 %r7, %r6, 3; mov.u32 %r5, smem; add.s32 %r8, %r5, %r7;\n"
                     "st.shared.u64 [%r8], %rd1;",
                     "", {16, 8, 1}),
            1024u);
}

TEST(SharedExtent, CountsWhatAnInstructionReaches) {
  EXPECT_EQ(extentOf("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [smem+1008];"), 1024u);
  EXPECT_EQ(extentOf("cp.async.cg.shared.global [smem+32], [%rd1], 16;"), 48u);
  EXPECT_EQ(extentOf("atom.shared.add.u32 %r1, [smem+12], 1; st.shared.v2.b16 [smem+20], {%h1, %h2};"), 32u);
  EXPECT_EQ(extentOf("mbarrier.init.shared::cta.b64 [smem+24], 1;"), 32u);
}

// A ring of three buffers, as a software pipeline counts through it.
TEST(SharedExtent, FollowsARingOfBuffers) {
  EXPECT_EQ(extentOf("mov.b32 %r1, -1; mov.u32 %r9, 0;\nloop: add.s32 %r2, %r1, 1; setp.gt.s32 %p1, %r2, 2;\n"
                     "selp.b32 %r1, 0, %r2, %p1; shl.b32 %r3, %r1, 10; mov.b32 %r4, smem; add.s32 %r5, %r4, %r3;\n"
                     "st.shared.b32 [%r5+1020], %r2; add.s32 %r9, %r9, 1; setp.lt.s32 %p2, %r9, 100; @%p2 bra loop;"),
            0u); // -1 is among the values of %r1 where the address is made
  EXPECT_EQ(extentOf("mov.b32 %r1, -1; mov.u32 %r9, 0;\nloop: add.s32 %r2, %r1, 1; setp.gt.s32 %p1, %r2, 2;\n"
                     "selp.b32 %r6, 0, %r2, %p1; mov.b32 %r1, %r6; shl.b32 %r3, %r6, 10; mov.b32 %r4, smem;\n"
                     "add.s32 %r5, %r4, %r3; st.shared.b32 [%r5+1020], %r2; add.s32 %r9, %r9, 1;\n"
                     "setp.lt.s32 %p2, %r9, 100; @%p2 bra loop;"),
            3072u);
}

TEST(SharedExtent, HasNoLimitForWhatItCannotFollow) {
  EXPECT_EQ(extentOf("ld.param.u32 %r1, [n]; mov.u32 %r2, smem; add.s32 %r2, %r2, %r1; st.shared.u32 [%r2], 1;"), 0u);
  EXPECT_EQ(extentOf("mov.u32 %r1, 0;\nloop: add.s32 %r1, %r1, 4; mov.u32 %r2, smem; add.s32 %r2, %r2, %r1;\n"
                     "st.shared.u32 [%r2], 1; setp.lt.u32 %p1, %r1, 64; @%p1 bra loop;"),
            0u);
  EXPECT_EQ(extentOf("mov.u64 %rd1, smem; cvta.shared.u64 %rd2, %rd1; st.u32 [%rd2+4], 1;"), 0u);
  EXPECT_EQ(extentOf("mov.u32 %r1, smem; shr.u32 %r2, %r1, 4; st.shared.u32 [smem], %r2;"), 0u); // of a descriptor
  EXPECT_EQ(extentOf("mov.u32 %r1, smem; st.shared.u32 [smem], %r1;"), 0u);
  EXPECT_EQ(extentOf("mov.u32 %r1, smem; add.s32 %r1, %r1, -4; st.shared.u32 [%r1], 1;"), 0u);
  EXPECT_EQ(extentOf("mov.u32 %r1, %tid.x; cvt.u16.u32 %h1, %r1; mul.lo.s16 %h1, %h1, 1000; cvt.u32.u16 %r2, %h1;\n"
                     "mov.u32 %r3, smem; add.s32 %r3, %r3, %r2; st.shared.u32 [%r3], 1;"),
            0u);
  EXPECT_EQ(extentOf("st.shared.u32 [smem], 1;",
                     ".func f() { .reg .b32 %r; mov.u32 %r, smem; st.shared.u32 [%r+4], 1; ret; }"),
            0u);
}

} // namespace
} // namespace tenon::linker
