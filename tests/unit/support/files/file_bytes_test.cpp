// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/files/file_bytes.h"

#include "support/files/file.h"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tenon;

namespace {

/// A file of its own, whose last change is as old as wanted.
class FileBytesTest : public ::testing::Test {
protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "tenon_bytes_XXXXXX";
    const int fd = ::mkstemp(path_.data());
    ASSERT_GE(fd, 0);
    ::close(fd);
  }
  void TearDown() override { ::unlink(path_.c_str()); }

  /// In place: the file stays the same one.
  void put(std::string_view bytes) const {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_TRUNC);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::write(fd, bytes.data(), bytes.size()), ssize_t(bytes.size()));
    ::close(fd);
  }
  /// The time of a file's last change of status cannot be set: it has to pass.
  static void waitUntilOld() { ::usleep(2'100'000); }

  FileBytes read() const {
    Result<FileBytes> bytes = FileBytes::read(path_);
    EXPECT_TRUE(bytes.ok()) << bytes.status().toString();
    return bytes.ok() ? bytes.take() : FileBytes();
  }

  std::string path_;
};

const std::string kLarge(50'001, 'x');

TEST_F(FileBytesTest, HoldsWhatIsGivenAndWhatIsCopied) {
  FileBytes bytes = std::string("abc");
  const char *data = bytes.data();
  FileBytes copy = bytes;
  bytes = FileBytes();
  EXPECT_EQ(copy.view(), "abc");
  EXPECT_EQ(copy.data(), data);
  EXPECT_EQ(data[3], '\0');
  EXPECT_FALSE(copy.isMapped());
  EXPECT_TRUE(copy.unchanged().ok());
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(*bytes.data(), '\0');
}

TEST_F(FileBytesTest, CopiesWhatIsSmallFreshOrFillsItsPages) {
  put("small");
  EXPECT_FALSE(read().isMapped());
  put(kLarge);
  EXPECT_EQ(read().view(), kLarge);
  EXPECT_FALSE(read().isMapped()) << "written a moment ago";
  put(std::string(65536, 'x'));
  waitUntilOld();
  EXPECT_FALSE(read().isMapped()) << "no NUL would follow";
  EXPECT_EQ(read().size(), 65536u);
  EXPECT_EQ(read().data()[65536], '\0');
}

TEST_F(FileBytesTest, MapsWhatIsLargeAndOldAndTellsOfAChange) {
  put(kLarge);
  waitUntilOld();
  const FileBytes bytes = read();
  ASSERT_TRUE(bytes.isMapped());
  EXPECT_EQ(bytes.view(), kLarge);
  EXPECT_EQ(bytes.data()[kLarge.size()], '\0');
  EXPECT_TRUE(bytes.unchanged().ok());
  put(std::string(kLarge.size(), 'y')); // the same size
  EXPECT_EQ(bytes.unchanged().toString(), concat("failed precondition: '", path_, "' was changed while it was read"));
}

TEST_F(FileBytesTest, TellsOfAFileThatWasReplacedOrRemoved) {
  put(kLarge);
  waitUntilOld();
  const FileBytes bytes = read();
  ASSERT_TRUE(bytes.isMapped());
  ASSERT_TRUE(writeFile(path_, kLarge).ok()); // another file under its name
  EXPECT_FALSE(bytes.unchanged().ok());
  EXPECT_EQ(bytes.view(), kLarge);
  ::unlink(path_.c_str());
  EXPECT_FALSE(bytes.unchanged().ok());
}

TEST_F(FileBytesTest, NamesTheMissingFile) {
  const Result<FileBytes> bytes = FileBytes::read(path_ + ".none");
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().toString(), concat("not found: cannot read '", path_, ".none': No such file or directory"));
}

using FileBytesDeathTest = FileBytesTest;

TEST_F(FileBytesDeathTest, AFileThatIsCutShortEndsTheProcessWithItsName) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  put(kLarge);
  waitUntilOld();
  auto readCutShort = [&] {
    reportLostBytes("tenon-test");
    const FileBytes bytes = read();
    if (!bytes.isMapped() || ::truncate(path_.c_str(), 10) != 0)
      ::_exit(3);
    ::_exit(bytes.data()[40'000]);
  };
  EXPECT_EXIT(
      readCutShort(), ::testing::ExitedWithCode(1),
      "tenon-test: error: '.*' was cut short while it was read\nfix: let whatever writes the file finish first");
}

TEST_F(FileBytesDeathTest, AnotherBusErrorIsLeftToTheSystem) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto raiseIt = [] {
    reportLostBytes("tenon-test");
    ::raise(SIGBUS);
    ::raise(SIGBUS);
    ::_exit(3);
  };
  EXPECT_EXIT(raiseIt(), ::testing::KilledBySignal(SIGBUS), "");
}

} // namespace
