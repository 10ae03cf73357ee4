// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/file.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon;

namespace {
/// A new empty folder, removed with its files at the end.
class FileTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "tenon_file_XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override {
    for (const std::string &name : names())
      ::unlink((folder_ + '/' + name).c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path(const std::string &name) const { return folder_ + '/' + name; }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    if (DIR *stream = ::opendir(folder_.c_str())) {
      while (dirent *entry = ::readdir(stream))
        if (std::string name = entry->d_name; name != "." && name != "..")
          out.push_back(name);
      ::closedir(stream);
    }
    return out;
  }
  std::string folder_;
};
} // namespace

TEST_F(FileTest, ReadsWhatWasWritten) {
  std::string bytes("a\0b\r\n", 5);
  bytes.append(300000, 'x');
  ASSERT_TRUE(writeFile(path("a"), bytes).ok());
  auto read = readFile(path("a"));
  ASSERT_TRUE(read.ok()) << read.status().toString();
  EXPECT_EQ(*read, bytes);
  EXPECT_EQ(names(), std::vector<std::string>{"a"}); // no temporary is left
}

TEST_F(FileTest, ReplacesAFile) {
  ASSERT_TRUE(writeFile(path("a"), "long text").ok());
  ASSERT_TRUE(writeFile(path("a"), "").ok());
  EXPECT_EQ(*readFile(path("a")), "");
}

TEST_F(FileTest, NamesTheMissingFile) {
  auto read = readFile(path("none"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().toString(), concat("not found: cannot read '", path("none"), "': No such file or directory"));
}

TEST_F(FileTest, RefusesAFolder) {
  EXPECT_EQ(readFile(folder_).status().toString(),
            concat("failed precondition: cannot read '", folder_, "': Is a directory"));
  EXPECT_EQ(writeFile(folder_, "x").toString(),
            concat("failed precondition: cannot write '", folder_, "': Is a directory"));
}

TEST_F(FileTest, NamesTheMissingFolder) {
  EXPECT_EQ(writeFile(path("no/file"), "x").toString(),
            concat("not found: cannot write '", path("no/file"), "': No such file or directory"));
}

TEST_F(FileTest, WritesThroughASymbolicLink) {
  ASSERT_TRUE(writeFile(path("real"), "old").ok());
  ASSERT_EQ(::symlink(path("real").c_str(), path("link").c_str()), 0);
  ASSERT_TRUE(writeFile(path("link"), "new").ok());
  EXPECT_EQ(*readFile(path("real")), "new");
  struct stat info;
  ASSERT_EQ(::lstat(path("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
}

TEST_F(FileTest, WritesDevicesInPlace) {
  ASSERT_TRUE(writeFile("/dev/null", "x").ok());
  struct stat info;
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}
