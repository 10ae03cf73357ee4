// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/compare.h"

#include "runtime/tools/tensor_text.h"
#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

/// The report of comparing two tensors given as text.
static std::string compare(const char *expected, const char *found) {
  std::string report;
  compareResults({OptionalValue(parseTensor(expected).take())}, {parseTensor(found).take()}, Thresholds(), 100, report);
  return report;
}
static const char *const kSuccess = "[SUCCESS] all function outputs matched their expected values.\n";

TEST(Compare, EqualValuesMatch) {
  for (const char *text : {"2xi32=1 2", "2xf32=1 NAN", "2xf16=inf -inf", "i1=1", "0xf32"})
    EXPECT_EQ(compare(text, text), kSuccess);
  EXPECT_EQ(compare("1xf32=0", "1xf32=-0"), kSuccess);
}

TEST(Compare, FloatsMatchWithinTheirThreshold) {
  EXPECT_EQ(compare("1xf32=1", "1xf32=1.00009"), kSuccess);
  EXPECT_NE(compare("1xf32=1", "1xf32=1.0002"), kSuccess);
  EXPECT_EQ(compare("1xf32=0", "1xf32=0.00009"), kSuccess);       // absolute near zero
  EXPECT_EQ(compare("1xf32=1000000", "1xf32=1000050"), kSuccess); // relative for large values
  EXPECT_NE(compare("1xf32=1000000", "1xf32=1000200"), kSuccess);
  EXPECT_EQ(compare("1xf16=1", "1xf16=1.00098"), kSuccess);
  EXPECT_EQ(compare("1xbf16=1", "1xbf16=1.0078"), kSuccess);
  EXPECT_NE(compare("1xf32=inf", "1xf32=3"), kSuccess);
  EXPECT_NE(compare("1xf32=nan", "1xf32=3"), kSuccess);
}

TEST(Compare, IntegersMatchExactly) {
  EXPECT_NE(compare("1xi64=9007199254740993", "1xi64=9007199254740992"), kSuccess);
}

TEST(Compare, NamesTheFirstElementThatDiffers) {
  EXPECT_EQ(compare("4xi32=1 2 3 4", "4xi32=1 2 9 9"),
            "[FAILED] result[0]: element at index 2 (9) does not match the expected (3); 2 of 4 elements differ\n"
            "  expected:\n    4xi32=1 2 3 4\n  actual:\n    4xi32=1 2 9 9\n");
}

TEST(Compare, NamesTypesThatDiffer) {
  EXPECT_EQ(compare("4xi32=1", "2x2xi32=1")
                .rfind("[FAILED] result[0]: the result is tensor<2x2xi32>, expected tensor<4xi32>\n", 0),
            0u);
}

TEST(Compare, CountsResults) {
  std::string report;
  EXPECT_FALSE(compareResults({}, {Scalar{}}, Thresholds(), 10, report));
  EXPECT_EQ(report, "[FAILED] the function has 1 result, 0 expected values were given\n");
}

TEST(Compare, IgnoresAndComparesScalars) {
  std::string report;
  const HostValue found = Scalar{abi::ElementType::I32, 7};
  EXPECT_TRUE(compareResults({std::nullopt}, {found}, Thresholds(), 10, report));
  EXPECT_EQ(report, kSuccess);
  report.clear();
  EXPECT_FALSE(compareResults({HostValue(Scalar{abi::ElementType::I32, 8})}, {found}, Thresholds(), 10, report));
  EXPECT_EQ(report, "[FAILED] result[0]: the scalars differ\n  expected:\n    i32=8\n  actual:\n    i32=7\n");
}

} // namespace tenon::runtime
