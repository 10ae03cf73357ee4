// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/diagnostics.h"

#include <gtest/gtest.h>

using namespace tenon;

TEST(SourceLocation, PrintsWhatIsKnown) {
  EXPECT_EQ((SourceLocation{"k.ptx", 12, 3}).toString(), "k.ptx:12:3");
  EXPECT_EQ((SourceLocation{"k.ptx", 12, 0}).toString(), "k.ptx:12");
  EXPECT_EQ((SourceLocation{"k.ptx", 0, 0}).toString(), "k.ptx");
  EXPECT_EQ(SourceLocation().toString(), "");
  EXPECT_FALSE(SourceLocation().known());
}

TEST(Diagnostics, PrintsAsCompilersDo) {
  Diagnostics diagnostics;
  diagnostics
      .error({"kernels.ptx", 12, 3}, "K-4", "parameter 2 of 'saxpy' is .u32, the layout declares binding 2 (.u64)")
      .note({"example.mlir", 31, 5}, "declared here")
      .note({}, "a note without a place")
      .withFix("make it a pointer, or declare constants = 3");
  diagnostics.warning({}, "", "no place and no rule");
  EXPECT_EQ(diagnostics.toString(),
            "kernels.ptx:12:3: error: [K-4] parameter 2 of 'saxpy' is .u32, the layout declares binding 2 (.u64)\n"
            "example.mlir:31:5: note: declared here\n"
            "note: a note without a place\n"
            "fix: make it a pointer, or declare constants = 3\n"
            "warning: no place and no rule\n");
}

TEST(Diagnostics, PrintsRemarks) {
  Diagnostics diagnostics;
  diagnostics.remark({"k.ptx", 0, 0}, "K-16", "the image stays PTX");
  EXPECT_EQ(diagnostics.toString(), "k.ptx: remark: [K-16] the image stays PTX\n");
  EXPECT_FALSE(diagnostics.hasErrors());
}

TEST(Diagnostics, CountsErrorsOnly) {
  Diagnostics diagnostics;
  EXPECT_FALSE(diagnostics.hasErrors());
  diagnostics.warning({}, "", "w");
  EXPECT_FALSE(diagnostics.hasErrors());
  diagnostics.error({}, "", "e");
  EXPECT_TRUE(diagnostics.hasErrors());
  EXPECT_EQ(diagnostics.errorCount(), 1u);
}

TEST(Diagnostics, AppendsInOrder) {
  Diagnostics first, second;
  first.error({}, "", "a");
  second.warning({}, "", "b");
  second.error({}, "", "c");
  first.append(std::move(second));
  EXPECT_EQ(first.toString(), "error: a\nwarning: b\nerror: c\n");
  EXPECT_EQ(first.errorCount(), 2u);
}
