// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/report.h"

#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

static ExportReport reportOf(std::vector<Finding> findings, size_t cases) {
  return {"scale", "sm_80", "scale", "'a device'", cases, std::move(findings)};
}

static Finding finding(const char *check, Verdict verdict, const char *caseText, const char *message = "") {
  Finding out;
  out.check = check;
  out.verdict = verdict;
  out.caseText = caseText;
  out.message = message;
  return out;
}

TEST(CheckReport, ShowsTheFirstFailureOfEachCheck) {
  Finding failed = finding("bounds", Verdict::Failed, "n=31", "line one\nline two");
  failed.binding = 1;
  failed.byteOffset = -4;
  failed.element = -1;
  failed.found = "0x00";
  failed.expected = "0xa5";
  const ExportReport report =
      reportOf({finding("launch", Verdict::Passed, "n=7"), finding("bounds", Verdict::Passed, "n=7"),
                finding("read-only", Verdict::Skipped, "n=7", "no binding is read-only"),
                finding("launch", Verdict::Passed, "n=31"), failed,
                finding("read-only", Verdict::Skipped, "n=31", "no binding is read-only")},
               2);
  EXPECT_TRUE(report.hasFailed());
  EXPECT_EQ(tableOf(report), "export 'scale', variant 'sm_80', kernel 'scale' on 'a device': 2 cases\n"
                             "  launch     passed\n"
                             "  bounds     FAILED   1 of 2 cases, first n=31\n"
                             "             binding 1, byte -4, element -1: found 0x00, expected 0xa5\n"
                             "             line one\n"
                             "               line two\n"
                             "  read-only  skipped  no binding is read-only\n");
}

TEST(CheckReport, CountsWhatWasSkippedBesideWhatPassed) {
  const ExportReport report = reportOf({finding("bounds", Verdict::Passed, "n=1"),
                                        finding("bounds", Verdict::Skipped, "n=2", "the kernel does not run")},
                                       2);
  EXPECT_FALSE(report.hasFailed());
  EXPECT_NE(tableOf(report).find("  bounds     passed   1 of 2 cases, 1 skipped: the kernel does not run\n"),
            std::string::npos);
}

TEST(CheckReport, IsJson) {
  Finding failed = finding("outputs", Verdict::Failed, "n=1", "a \"quoted\"\nword");
  failed.binding = 0;
  failed.byteOffset = 0;
  EXPECT_EQ(jsonOf({reportOf({finding("launch", Verdict::Passed, "n=1"), failed}, 1)}),
            "{\"exports\": [\n {\"export\": \"scale\", \"variant\": \"sm_80\", \"kernel\": \"scale\", \"device\": \"'a "
            "device'\", \"failed\": true, \"findings\": [\n"
            "  {\"check\": \"launch\", \"case\": \"n=1\", \"result\": \"passed\"},\n"
            "  {\"check\": \"outputs\", \"case\": \"n=1\", \"result\": \"failed\", \"message\": \"a "
            "\\\"quoted\\\"\\u000aword\", \"binding\": 0, \"byte_offset\": 0}\n ]}\n]}\n");
}

} // namespace tenon::runtime
