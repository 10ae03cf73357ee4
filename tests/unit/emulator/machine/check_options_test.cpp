// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/machine/check_options.h"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

TEST(CheckOptions, CheapChecksAreOnByDefault) {
  CheckOptions options;
  EXPECT_EQ(parseCheckOptions("", options), "");
  EXPECT_TRUE(options.memory && options.readonly);
  EXPECT_FALSE(options.uninitialised || options.races || options.barriers || options.async || options.leaks ||
               options.results || options.shadowed());
}

TEST(CheckOptions, NamesAddToTheDefault) {
  CheckOptions options;
  EXPECT_EQ(parseCheckOptions("races,async", options), "");
  EXPECT_TRUE(options.memory && options.readonly && options.races && options.async && options.shadowed());
  EXPECT_FALSE(options.uninitialised || options.leaks);
}

TEST(CheckOptions, ResultsNeedShadowMemory) {
  CheckOptions options;
  EXPECT_EQ(parseCheckOptions("results", options), "");
  EXPECT_TRUE(options.results && options.shadowed() && options.tracksWritten());
  EXPECT_FALSE(options.uninitialised);
}

TEST(CheckOptions, BarriersNeedNoShadowMemory) {
  CheckOptions options;
  EXPECT_EQ(parseCheckOptions("barriers", options), "");
  EXPECT_TRUE(options.barriers && !options.shadowed());
}

TEST(CheckOptions, AllIsEverything) {
  CheckOptions options;
  EXPECT_EQ(parseCheckOptions("all", options), "");
  EXPECT_TRUE(options.memory && options.readonly && options.races && options.async && options.uninitialised &&
              options.leaks && options.barriers && options.results);
}

TEST(CheckOptions, RefusesUnknownNamesWithTheList) {
  for (const char *text : {"race", "races,", "races,,memory", "Races", ","}) {
    CheckOptions options;
    std::string wrong = parseCheckOptions(text, options);
    EXPECT_NE(wrong.find("'uninitialised'"), std::string::npos) << text << ": " << wrong;
  }
}

} // namespace
} // namespace tenon::emulator
