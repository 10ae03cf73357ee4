// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/queue/file.h"

#include "tests/unit/runtime/fixture.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tenon::runtime {
namespace {

/// A file in memory, with the bytes 0, 1, 2, ...
class FileTest : public testing::Test {
protected:
  FileTest() : descriptor(memfd_create("tenon", 0)) {
    for (uint8_t i = 0; i < 100; ++i)
      EXPECT_EQ(pwrite(descriptor, &i, 1, i), 1);
    scripted.clear();
    calls = 0;
  }
  ~FileTest() override { close(descriptor); }
  std::shared_ptr<File> import(uint32_t access = kAccessAll, const FileCalls &with = FileCalls::posix()) {
    auto file = File::importDescriptor(descriptor, access, "weights.bin", with);
    EXPECT_TRUE(file.ok()) << file.status().toString();
    return file.take();
  }
  /// The next calls move so many bytes at most, or (below 0) fail with that errno; then they work.
  static FileCalls script(std::vector<int> answers) {
    scripted = std::move(answers);
    return {[](int fd, void *data, size_t bytes, off_t at) {
              const ssize_t most = nextAnswer(bytes);
              return most < 0 ? most : pread(fd, data, static_cast<size_t>(most), at);
            },
            [](int fd, const void *data, size_t bytes, off_t at) {
              const ssize_t most = nextAnswer(bytes);
              return most < 0 ? most : pwrite(fd, data, static_cast<size_t>(most), at);
            }};
  }
  static ssize_t nextAnswer(size_t bytes) {
    ++calls;
    if (scripted.empty())
      return static_cast<ssize_t>(bytes);
    const int answer = scripted.front();
    scripted.erase(scripted.begin());
    if (answer >= 0)
      return std::min<ssize_t>(answer, static_cast<ssize_t>(bytes));
    errno = -answer;
    return -1;
  }

  static inline std::vector<int> scripted;
  static inline int calls = 0;
  int descriptor;
  std::vector<uint8_t> bytes = std::vector<uint8_t>(10);
};

} // namespace

TEST_F(FileTest, ReadsAndWritesByPosition) {
  auto file = import();
  EXPECT_EQ(file->size(), 100u);
  ASSERT_OK(file->read(90, bytes));
  EXPECT_EQ(bytes[9], 99);
  ASSERT_OK(file->write(0, bytes));
  ASSERT_OK(file->read(5, bytes));
  EXPECT_EQ(bytes[0], 95);
  EXPECT_EQ(bytes[5], 10);
  EXPECT_EQ(lseek(descriptor, 0, SEEK_CUR), 0);
  ASSERT_OK(file->read(100, {}));
}

TEST_F(FileTest, KeepsADescriptorOfItsOwn) {
  auto file = import();
  close(descriptor);
  ASSERT_OK(file->read(0, bytes));
  EXPECT_EQ(bytes[9], 9);
  descriptor = -1;
}

TEST_F(FileTest, TakesUpShortAndInterruptedCalls) {
  auto file = import(kAccessAll, script({3, -EINTR, 1, -EINTR}));
  ASSERT_OK(file->read(20, bytes));
  EXPECT_EQ(bytes, (std::vector<uint8_t>{20, 21, 22, 23, 24, 25, 26, 27, 28, 29}));
  EXPECT_EQ(calls, 5);
  scripted = {-EINTR, 2, 5};
  ASSERT_OK(file->write(50, bytes));
  ASSERT_OK(file->read(52, bytes));
  EXPECT_EQ(bytes[7], 29);
}

TEST_F(FileTest, FailuresNameTheFileAndTheByte) {
  auto file = import(kAccessAll, script({4, -EIO}));
  EXPECT_STATUS(file->read(20, bytes), DataLoss, "reading file 'weights.bin' at byte 24: ");
  scripted = {-ENOSPC};
  EXPECT_STATUS(file->write(20, bytes), ResourceExhausted, "writing file 'weights.bin' at byte 20: No space left");
  scripted = {-EBADF};
  EXPECT_STATUS(file->write(20, bytes), FailedPrecondition, "(errno 9)");
  EXPECT_EQ(ftruncate(descriptor, 25), 0);
  EXPECT_STATUS(file->read(20, bytes), DataLoss,
                "at byte 25: it ends here, 5 bytes early; it had 100 bytes when it was imported");
}

TEST_F(FileTest, ChecksRangesAndAccess) {
  auto file = import();
  EXPECT_STATUS(file->check(91, 10, kAccessRead), OutOfRange,
                "10 bytes from byte 91 of file 'weights.bin', which has 100");
  EXPECT_STATUS(file->read(~uint64_t(0), bytes), OutOfRange, "which has 100");
  EXPECT_STATUS(import(kAccessRead)->write(0, bytes), FailedPrecondition, "'weights.bin' is read only");
  EXPECT_STATUS(import(kAccessWrite)->read(0, bytes), FailedPrecondition, "is write only");
}

TEST_F(FileTest, RefusesWhatCannotBeAFile) {
  auto status = [](int descriptor, uint32_t access) {
    return File::importDescriptor(descriptor, access, "f").status().clone();
  };
  EXPECT_STATUS(status(descriptor, 0), InvalidArgument, "a file's access is 0");
  EXPECT_STATUS(status(-1, kAccessRead), InvalidArgument, "file 'f': -1 is no open descriptor");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_STATUS(status(ends[0], kAccessRead), FailedPrecondition, "is not a regular file");
  close(ends[0]);
  close(ends[1]);
  EXPECT_STATUS(status(ends[0], kAccessRead), InvalidArgument, "is no open descriptor");
  const std::string path = concat("/proc/self/fd/", descriptor);
  const int reading = open(path.c_str(), O_RDONLY), writing = open(path.c_str(), O_WRONLY);
  const int appending = open(path.c_str(), O_RDWR | O_APPEND);
  EXPECT_STATUS(status(reading, kAccessAll), FailedPrecondition, "open for reading only");
  EXPECT_STATUS(status(writing, kAccessAll), FailedPrecondition, "open for writing only");
  EXPECT_STATUS(status(appending, kAccessAll), FailedPrecondition, "open to append");
  EXPECT_TRUE(File::importDescriptor(appending, kAccessRead, "f").ok());
  for (int opened : {reading, writing, appending})
    close(opened);
}

TEST_F(FileTest, MemoryIsAFileToo) {
  std::vector<uint8_t> memory(20, 7);
  int released = 0;
  {
    auto file = File::importMemory(memory.data(), memory.size(), kAccessAll, "m", [&] { ++released; }).take();
    ASSERT_OK(file->read(10, bytes));
    EXPECT_EQ(bytes[9], 7);
    bytes.assign(10, 8);
    ASSERT_OK(file->write(0, bytes));
    EXPECT_EQ(memory[9], 8);
    EXPECT_STATUS(file->write(11, bytes), OutOfRange, "10 bytes from byte 11 of file 'm'");
  }
  EXPECT_EQ(released, 1);
  EXPECT_STATUS(File::importMemory(nullptr, 1, kAccessRead, "m").status(), InvalidArgument, "a null address");
}

} // namespace tenon::runtime
