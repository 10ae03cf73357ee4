// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/files/file.h"

#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
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

TEST_F(FileTest, ReplacesASymbolicLinkAndLeavesWhatItNames) {
  ASSERT_TRUE(writeFile(path("real"), "old").ok());
  ASSERT_EQ(::symlink(path("real").c_str(), path("link").c_str()), 0);
  ASSERT_TRUE(writeFile(path("link"), "new").ok());
  EXPECT_EQ(*readFile(path("real")), "old");
  EXPECT_EQ(*readFile(path("link")), "new");
  struct stat info;
  ASSERT_EQ(::lstat(path("link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISREG(info.st_mode));
}

TEST_F(FileTest, ReplacesALinkThatNamesNothing) {
  ASSERT_EQ(::symlink(path("none").c_str(), path("link").c_str()), 0);
  ASSERT_TRUE(writeFile(path("link"), "new").ok());
  EXPECT_EQ(names(), std::vector<std::string>{"link"});
}

TEST_F(FileTest, WritesToTheDescriptorThatAPathStandsFor) {
  const int fd = ::open(path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::write(fd, "one ", 4), 4);
  EXPECT_TRUE(writeFile(concat("/dev/fd/", fd), "two").ok());
  ::close(fd);
  EXPECT_EQ(*readFile(path("out")), "one two");
  EXPECT_EQ(writeFile(concat("/dev/fd/", fd), "x").toString(),
            concat("failed precondition: cannot write '/dev/fd/", fd, "': Bad file descriptor"));
}

TEST_F(FileTest, WritesDevicesBehindALinkInPlace) {
  ASSERT_EQ(::symlink("/dev/full", path("link").c_str()), 0);
  EXPECT_EQ(writeFile(path("link"), "x").toString(),
            concat("failed precondition: cannot write '", path("link"), "': No space left on device"));
}

TEST_F(FileTest, RefusesDevicesAndSocketsAsInput) {
  EXPECT_EQ(readFile("/dev/zero").status().toString(),
            "failed precondition: cannot read '/dev/zero': it is a device, expected a file");
  EXPECT_EQ(*readFile("/dev/null"), "");
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path("s").size(), sizeof(address.sun_path));
  path("s").copy(address.sun_path, path("s").size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
  EXPECT_EQ(readFile(path("s")).status().toString(),
            concat("failed precondition: cannot read '", path("s"), "': it is a socket, expected a file"));
  ::close(fd);
}

TEST_F(FileTest, ReadsANamedPipeToItsEnd) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string text(200'000, 'x'); // more than a pipe holds
  std::thread writer([&] {
    const int fd = ::open(path("pipe").c_str(), O_WRONLY);
    for (size_t done = 0; done < text.size();)
      done += static_cast<size_t>(::write(fd, text.data() + done, text.size() - done));
    ::close(fd);
  });
  const Result<std::string> read = readFile(path("pipe"));
  writer.join();
  ASSERT_TRUE(read.ok()) << read.status().toString();
  EXPECT_EQ(*read, text);
}

TEST_F(FileTest, GivesUpOnAPipeThatNobodyWritesTo) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(readFile(path("pipe"), {.writerMilliseconds = 50}).status().toString(),
            concat("failed precondition: cannot read '", path("pipe"),
                   "': it is a named pipe, and nobody opened it to write within 50 milliseconds"));
}

TEST_F(FileTest, GivesUpOnAPipeWhoseWriterIsSilent) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int fd = ::open(path("pipe").c_str(), O_RDWR); // a writer from the beginning on
  const ReadLimits limits = {.writerMilliseconds = 10, .silenceMilliseconds = 50};
  const std::string silent = concat("failed precondition: cannot read '", path("pipe"),
                                    "': it is a named pipe, and nobody wrote to it for 50 milliseconds");
  EXPECT_EQ(readFile(path("pipe"), limits).status().toString(), silent);
  ASSERT_EQ(::write(fd, "abc", 3), 3);
  EXPECT_EQ(readFile(path("pipe"), limits).status().toString(), silent); // and does not end
  ::close(fd);
}

TEST_F(FileTest, APipeThatIsClosedAtOnceIsEmpty) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] { ::close(::open(path("pipe").c_str(), O_WRONLY)); });
  const Result<std::string> read = readFile(path("pipe"));
  writer.join();
  ASSERT_TRUE(read.ok()) << read.status().toString();
  EXPECT_EQ(*read, "");
}

TEST_F(FileTest, GivesUpOnWhatDoesNotEnd) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    const int fd = ::open(path("pipe").c_str(), O_WRONLY);
    const std::string text(150'000, 'x');
    std::signal(SIGPIPE, SIG_IGN);
    while (::write(fd, text.data(), text.size()) > 0) {
    }
    ::close(fd);
  });
  const Result<std::string> read = readFile(path("pipe"), {.bytes = 300'000});
  writer.join();
  EXPECT_EQ(read.status().toString(),
            concat("resource exhausted: cannot read '", path("pipe"), "': it does not end within 300000 bytes"));
}

TEST_F(FileTest, RefusesAFileThatIsLargerThanMemory) {
  const int fd = ::open(path("large").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::ftruncate(fd, off_t(1) << 42), 0); // holes: it takes no room
  ::close(fd);
  const Status status = readFile(path("large")).takeStatus();
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_TRUE(status.message().starts_with(concat("not enough memory for '", path("large"), "': 4398046511105 bytes")))
      << status.message();
}

TEST_F(FileTest, NoOutputIsAnInputOrAnotherOutput) {
  ASSERT_TRUE(writeFile(path("a"), "x").ok());
  const std::string inputs[] = {path("b"), path("a")};
  const std::string lost[] = {path("c"), path("a")}, twice[] = {path("c"), "", path("c")};
  const std::string distinct[] = {path("c"), "", "", path("d"), "-", "-", "/dev/null", "/dev/null"};
  const std::string renamed[] = {path("c"), path("./c")};
  EXPECT_EQ(checkOutputs(lost, inputs).toString(),
            concat("invalid argument: the output '", path("a"), "' is the input, which would be lost"));
  EXPECT_EQ(checkOutputs(twice, inputs).toString(),
            concat("invalid argument: two outputs are called '", path("c"), "', one of which would be lost"));
  EXPECT_EQ(checkOutputs(renamed, inputs).toString(), concat("invalid argument: two outputs are called '", path("c"),
                                                             "' and '", path("./c"), "', one of which would be lost"));
  EXPECT_TRUE(checkOutputs(distinct, inputs).ok());
}

TEST_F(FileTest, AnOutputThatIsTheInputIsSeenUnderAnotherName) {
  ASSERT_TRUE(writeFile(path("a"), "x").ok());
  ASSERT_EQ(::symlink(path("a").c_str(), path("b").c_str()), 0);
  EXPECT_EQ(checkOutputIsNotInput(path("a"), path("a")).toString(),
            concat("invalid argument: the output '", path("a"), "' is the input, which would be lost"));
  EXPECT_EQ(
      checkOutputIsNotInput(path("a"), path("b")).toString(),
      concat("invalid argument: the output '", path("a"), "' is the input '", path("b"), "', which would be lost"));
  EXPECT_TRUE(checkOutputIsNotInput(path("b"), path("a")).ok()); // the link is replaced, not what it names
  EXPECT_TRUE(checkOutputIsNotInput(path("c"), path("a")).ok());
  EXPECT_TRUE(checkOutputIsNotInput("-", "-").ok());
  EXPECT_TRUE(checkOutputIsNotInput("/dev/null", "/dev/null").ok());
}

TEST_F(FileTest, WritesDevicesInPlace) {
  ASSERT_TRUE(writeFile("/dev/null", "x").ok());
  struct stat info;
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}
