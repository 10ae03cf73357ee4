// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/files/folder_cache.h"

#include "support/files/file.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace tenon {
namespace {

namespace fs = std::filesystem;

class FolderCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder =
        ::testing::TempDir() + "tenon_folder_cache_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string folder;
};

TEST_F(FolderCacheTest, FindsWhatWasStored) {
  const FolderCache cache(folder, "magic 1 ", 1 << 20);
  EXPECT_FALSE(cache.find("a"));
  ASSERT_TRUE(cache.store("a", std::string("by\0tes", 6)).ok());
  EXPECT_EQ(cache.find("a"), std::string("by\0tes", 6));
  EXPECT_FALSE(FolderCache(folder, "magic 2 ", 1 << 20).find("a"));
  cache.remove("a");
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(FolderCacheTest, TakesADamagedFileForNone) {
  const FolderCache cache(folder, "magic 1 ", 1 << 20);
  ASSERT_TRUE(cache.store("a", "bytes").ok());
  const std::string whole = readFile(folder + "/a").take();
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    ASSERT_TRUE(writeFile(folder + "/a", whole.substr(0, cut)).ok());
    EXPECT_FALSE(cache.find("a")) << cut;
    std::string flipped = whole;
    flipped[cut] ^= 1;
    ASSERT_TRUE(writeFile(folder + "/a", flipped).ok());
    EXPECT_TRUE(!cache.find("a") || cut == 72) << cut; // the line end is not looked at
  }
}

TEST_F(FolderCacheTest, TakesWhatWasStoredUnderAnotherNameForNone) {
  const FolderCache cache(folder, "magic 1 ", 1 << 20);
  ASSERT_TRUE(cache.store("a", "bytes").ok());
  fs::copy_file(folder + "/a", folder + "/b");
  EXPECT_FALSE(cache.find("b"));
  EXPECT_EQ(cache.find("a"), "bytes");
}

TEST_F(FolderCacheTest, OpensNothingButFiles) {
  const FolderCache cache(folder, "magic 1 ", 1 << 20);
  ASSERT_TRUE(cache.store("a", "bytes").ok());
  ASSERT_EQ(mkfifo((folder + "/pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder + "/device");
  fs::create_directory(folder + "/folder");
  fs::create_symlink(folder + "/pipe", folder + "/link");
  const auto begin = std::chrono::steady_clock::now();
  for (const char *name : {"pipe", "device", "folder", "link"}) {
    EXPECT_FALSE(cache.find(name)) << name;
    EXPECT_FALSE(cache.store(name, "bytes").ok()) << name;
    EXPECT_FALSE(fs::is_regular_file(folder + "/" + name)) << name;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << "a pipe was waited for";
}

TEST_F(FolderCacheTest, DeletesWhatWasNotUsedForLongest) {
  const FolderCache cache(folder, "magic 1 ", 1000);
  for (const char *name : {"a", "b", "c"}) {
    ASSERT_TRUE(cache.store(name, std::string(200, 'x')).ok());
    fs::last_write_time(folder + "/" + name, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  EXPECT_TRUE(cache.find("a")); // used now
  ASSERT_TRUE(cache.store("d", std::string(300, 'x')).ok());
  EXPECT_TRUE(cache.find("a"));
  EXPECT_TRUE(cache.find("d"));
  EXPECT_TRUE(!cache.find("b") || !cache.find("c"));
}

TEST_F(FolderCacheTest, WithoutAFolderNothingIsKept) {
  const FolderCache cache("", "magic 1 ", 1000);
  EXPECT_TRUE(cache.store("a", "bytes").ok());
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(FolderCacheTest, LooksAtTheLimitOnceForMany) {
  const FolderCache cache(folder, "magic 1 ", 1000);
  for (const char *name : {"a", "b", "c", "d"})
    ASSERT_TRUE(cache.storeOneOfMany(name, std::string(300, 'x')).ok());
  for (const char *name : {"a", "b", "c", "d"})
    EXPECT_TRUE(cache.find(name)) << name;
  cache.trim();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}

} // namespace
} // namespace tenon
