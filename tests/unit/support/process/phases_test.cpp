// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/process/phases.h"

#include <gtest/gtest.h>
#include <regex>
#include <thread>

namespace tenon {
namespace {

/// The table with numbers replaced: what is left is names and columns.
std::string namesOf(const Phases &phases) {
  return std::regex_replace(phases.text(), std::regex(" +[0-9]+\\.[0-9][0-9] ms"), " #");
}

TEST(Phases, EachHasALineAndTheSumIsLast) {
  Phases phases("tenon-x");
  phases.begin("read");
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  phases.begin("write all");
  phases.finish();
  EXPECT_EQ(namesOf(phases), "tenon-x: read #\ntenon-x: write all #\ntenon-x: total #\n");
  double read = 0, write = 0, total = 0;
  ASSERT_EQ(std::sscanf(phases.text().c_str(), "tenon-x: read %lf ms\ntenon-x: write all %lf ms\ntenon-x: total %lf",
                        &read, &write, &total),
            3);
  EXPECT_GE(read, 3);
  EXPECT_NEAR(total, read + write, 0.011);
}

TEST(Phases, PartsTakeThePlaceOfTheWhole) {
  Phases phases("tenon-x");
  phases.begin("read");
  phases.begin("compile");
  phases.divide({{"a", 0.5}, {"b", 0.25}});
  phases.begin("write");
  EXPECT_EQ(namesOf(phases), "tenon-x: read #\ntenon-x: a #\ntenon-x: b #\ntenon-x: write #\ntenon-x: total #\n");
}

TEST(Phases, PrintsOnceAndOnlyWhenAsked) {
  ::testing::internal::CaptureStderr();
  {
    Phases quiet("tenon-x");
    quiet.begin("read");
  }
  {
    Phases none("tenon-x");
    *none.verbose() = true;
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::testing::internal::CaptureStderr();
  {
    Phases loud("tenon-x");
    *loud.verbose() = true;
    loud.begin("read");
    loud.finish();
  }
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.find("tenon-x: read"), 0u) << printed;
  EXPECT_EQ(printed.rfind("tenon-x: read"), 0u) << printed;
}

} // namespace
} // namespace tenon
