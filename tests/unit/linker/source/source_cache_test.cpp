// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/source/source_cache.h"

#include "support/files/file.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <thread>

namespace tenon::linker {
namespace {

namespace fs = std::filesystem;

class Cache : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "tenon_cache_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/in");
    write("a.cu", "source");
    write("h.cuh", "header");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string &name) const { return folder_ + "/in/" + name; }
  void write(const std::string &name, std::string_view text) { ASSERT_TRUE(writeFile(path(name), text).ok()); }
  std::string cacheFolder() const { return folder_ + "/cache"; }
  CachedSource compiled(std::string ptx = "ptx") const {
    return {.ptx = std::move(ptx), .log = "a warning\n", .files = {path("a.cu"), path("h.cuh")}};
  }

  std::string folder_;
};

// Each cache reads the files anew, as each link does.
TEST_F(Cache, FindsWhatWasStored) {
  EXPECT_FALSE(SourceCache(cacheFolder()).find("key"));
  ASSERT_TRUE(SourceCache(cacheFolder()).store("key", compiled()).ok());
  std::optional<CachedSource> found = SourceCache(cacheFolder()).find("key");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ptx, "ptx");
  EXPECT_EQ(found->log, "a warning\n");
  EXPECT_EQ(found->files, compiled().files);
  EXPECT_FALSE(SourceCache(cacheFolder()).find("other"));
}

TEST_F(Cache, SeesAChangedHeaderAndRemembersTheOldOne) {
  ASSERT_TRUE(SourceCache(cacheFolder()).store("key", compiled("old")).ok());
  write("h.cuh", "changed");
  EXPECT_FALSE(SourceCache(cacheFolder()).find("key"));
  ASSERT_TRUE(SourceCache(cacheFolder()).store("key", compiled("new")).ok());
  EXPECT_EQ(SourceCache(cacheFolder()).find("key")->ptx, "new");
  write("h.cuh", "header");
  EXPECT_EQ(SourceCache(cacheFolder()).find("key")->ptx, "old");
  fs::remove(path("h.cuh"));
  EXPECT_FALSE(SourceCache(cacheFolder()).find("key"));
}

TEST_F(Cache, TakesADamagedFileForNone) {
  ASSERT_TRUE(SourceCache(cacheFolder()).store("key", compiled()).ok());
  for (const auto &entry : fs::directory_iterator(cacheFolder())) {
    const std::string file = entry.path().string();
    const std::string bytes = *readFile(file);
    for (size_t size : {size_t(0), bytes.size() / 2, bytes.size() - 1}) {
      ASSERT_TRUE(writeFile(file, bytes.substr(0, size)).ok());
      EXPECT_FALSE(SourceCache(cacheFolder()).find("key")) << file << " " << size;
    }
    std::string flipped = bytes;
    flipped.back() ^= 1;
    ASSERT_TRUE(writeFile(file, flipped).ok());
    EXPECT_FALSE(SourceCache(cacheFolder()).find("key")) << file;
    ASSERT_TRUE(writeFile(file, bytes).ok());
    EXPECT_TRUE(SourceCache(cacheFolder()).find("key")) << file;
  }
}

TEST_F(Cache, StaysBelowItsLimit) {
  SourceCache cache(cacheFolder(), 20000);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(cache.store("key" + std::to_string(i), compiled(std::string(2000, char('a' + i)))).ok());
  uint64_t total = 0;
  for (const auto &entry : fs::directory_iterator(cacheFolder()))
    total += entry.file_size();
  EXPECT_LE(total, 20000u);
  EXPECT_GT(total, 2000u);
}

TEST_F(Cache, IsSharedByThreads) {
  SourceCache cache(cacheFolder());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        EXPECT_TRUE(cache.store("key", compiled()).ok());
        std::optional<CachedSource> found = cache.find("key");
        EXPECT_TRUE(found && found->ptx == "ptx");
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(Cache, WithoutAFolderKeepsNothing) {
  SourceCache none("");
  EXPECT_FALSE(none.isEnabled());
  EXPECT_TRUE(none.store("key", compiled()).ok());
  EXPECT_FALSE(none.find("key"));
}

TEST_F(Cache, SaysWhyItCannotBeWritten) {
  write("file", "");
  Status status = SourceCache(path("file")).store("key", compiled());
  EXPECT_NE(status.message().find("cannot make the folder"), std::string::npos) << status.message();
}

} // namespace
} // namespace tenon::linker
