// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/object/contained_ptx.h"

#include "tests/unit/linker/fatbin_testing.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

using namespace testing;

const std::string kPtx = ".version 7.0\n.target sm_80\n.address_size 64\n";
constexpr abi::TargetArch kAny{}, kSm80{.number = 80};

TEST(ContainedPtx, IsTheObjectItself) {
  EXPECT_EQ(containedPtx(kPtx, kSm80), std::vector<std::string>{kPtx});
  EXPECT_TRUE(containedPtx("no object", kAny).empty());
}

TEST(ContainedPtx, IsThatOfTheTarget) {
  const std::string fatbin = makeFatbin(
      {{.kind = 2, .payload = "code"}, {.kind = 1, .payload = kPtx}, {.kind = 1, .arch = 90, .payload = "b"}});
  EXPECT_EQ(containedPtx(fatbin, kSm80), std::vector<std::string>{kPtx});
  EXPECT_EQ(containedPtx(fatbin, kAny), (std::vector<std::string>{kPtx, "b"}));
}

TEST(ContainedPtx, IsFoundInArchives) {
  const std::string fatbin = makeFatbin({{.kind = 1, .payload = kPtx}});
  const std::string archive = "!<arch>\n" + archiveMember("a/", fatbin) + archiveMember("b/", "host code");
  EXPECT_EQ(containedPtx(archive, kSm80), std::vector<std::string>{kPtx});
  // As deep as a link goes, and no deeper.
  EXPECT_TRUE(containedPtx("!<arch>\n" +
                               archiveMember("c/", "!<arch>\n" +
                                                       archiveMember("d/", "!<arch>\n" + archiveMember("e/", archive))),
                           kSm80)
                  .empty());
}

TEST(ContainedPtx, PassesOverWhatIsDamaged) {
  const std::string fatbin = makeFatbin({{.kind = 1, .payload = kPtx}});
  for (size_t size = 0; size < fatbin.size(); ++size)
    EXPECT_TRUE(containedPtx(fatbin.substr(0, size), kSm80).empty()) << size;
}

} // namespace
} // namespace tenon::linker
