// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/source/stable_ptx.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

TEST(StablePtx, ReplacesTheDigitsOfThePath) {
  EXPECT_EQ(stablePtx("_ZN27_INTERNAL_702264a6_4_s_cu_k29_GLOBAL__N__702264a6_4_s_cu_k6hiddenE;", "", "00c0ffee"),
            "_ZN27_INTERNAL_00c0ffee_4_s_cu_k29_GLOBAL__N__00c0ffee_4_s_cu_k6hiddenE;");
  EXPECT_EQ(stablePtx("__nv_static_18__941d538d_4_r_cu_k_counter", "", "00c0ffee"),
            "__nv_static_18__00c0ffee_4_r_cu_k_counter");
}

TEST(StablePtx, LeavesOtherDigitsAlone) {
  for (const char *text : {"_f_12345678_g", "mov.b32 x_deadbeef_, 1", "_INTERNAL_1234567_", "_INTERNAL_12345678",
                           "__nv_static___941d538d_4", "_GLOBAL__N__12345678"})
    EXPECT_EQ(stablePtx(text, "/a/", "00c0ffee"), text);
}

TEST(StablePtx, MakesFilesRelative) {
  EXPECT_EQ(stablePtx("\t.file\t1 \"/a/b/k.cu\", 17, 30\n.file 2 \"/usr/x.h\"\n.loc 1 2 3", "/a/b/", "00c0ffee"),
            "\t.file\t1 \"k.cu\"\n.file 2 \"/usr/x.h\"\n.loc 1 2 3");
  EXPECT_EQ(stablePtx(".file\n.file 1 \"", "/a/", ""), ".file\n.file 1 \"");
}

} // namespace
} // namespace tenon::linker
