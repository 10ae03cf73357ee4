// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/words/reporter.h"

#include <gtest/gtest.h>

namespace tenon::ptx {

TEST(PtxReporter, PrintsFilePlaceRuleAndFix) {
  SourceFile source("k.ptx", "");
  Diagnostics diagnostics;
  Reporter reporter(source, diagnostics);
  reporter.error(3, 7, "P-4", "found ';'", "write ','");
  EXPECT_EQ(diagnostics.toString(), "k.ptx:3:7: error: [P-4] found ';'\nfix: write ','\n");
}

TEST(PtxReporter, StopsTheFlood) {
  SourceFile source("k.ptx", "");
  Diagnostics diagnostics;
  Reporter reporter(source, diagnostics);
  for (uint32_t i = 1; i <= 1000; ++i)
    reporter.error(i, 1, "P-4", "found ';'");
  EXPECT_TRUE(reporter.full());
  ASSERT_EQ(diagnostics.errorCount(), Reporter::kMaximumErrors + 1);
  EXPECT_EQ(diagnostics.items().back().toString(),
            "k.ptx:100:1: error: [P-13] stopped after 100 errors; the rest of the file was not read\n"
            "fix: correct the first errors: later ones often follow from them\n");
}

TEST(PtxReporter, QuotesOnlyPrintableTextOfModestLength) {
  EXPECT_EQ(quoteText("add"), "'add'");
  EXPECT_EQ(quoteText("a\x01\xff"), "'a\\x01\\xff'");
  EXPECT_EQ(quoteText(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
}

} // namespace tenon::ptx
