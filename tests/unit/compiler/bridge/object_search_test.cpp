// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/object_search.h"

#include "support/files/file.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace tenon::compiler::bridge {
namespace {

TEST(ObjectSearch, TriesEveryPathThenTheInputsFolder) {
  ObjectSearch search{.paths = {"a", "b/c"}, .inputFolder = "input"};
  EXPECT_EQ(search.candidates("k.ptx"), (std::vector<std::string>{"a/k.ptx", "b/c/k.ptx", "input/k.ptx"}));
}

TEST(ObjectSearch, TakesAbsolutePathsAsTheyAre) {
  ObjectSearch search{.paths = {"a"}, .inputFolder = "input"};
  EXPECT_EQ(search.candidates("/k.ptx"), std::vector<std::string>{"/k.ptx"});
}

TEST(ObjectSearch, LooksInTheCurrentFolderForAnInputWithoutOne) {
  EXPECT_EQ(ObjectSearch{}.candidates("k.ptx"), std::vector<std::string>{"k.ptx"});
}

TEST(ObjectSearch, FindsTheFirstThatIsAFile) {
  std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / "object_search";
  std::filesystem::create_directories(root / "first" / "k.ptx"); // a folder is no object
  std::filesystem::create_directories(root / "second");
  ASSERT_TRUE(writeFile((root / "second" / "k.ptx").string(), "x").ok());
  ObjectSearch search{.paths = {(root / "first").string(), (root / "second").string()}, .inputFolder = ""};
  EXPECT_EQ(search.find("k.ptx"), (root / "second" / "k.ptx").string());
  EXPECT_EQ(search.find("absent.ptx"), std::nullopt);
  std::filesystem::remove_all(root);
}

} // namespace
} // namespace tenon::compiler::bridge
