// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files behind a descriptor, read and written by queues.
#include "fixture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tenon::conformance {

/// A file of the system's, deleted with the last descriptor.
class Files : public DeviceTest {
protected:
  void TearDown() override {
    for (int descriptor : descriptors)
      close(descriptor);
    DeviceTest::TearDown();
  }
  /// Open for reading and writing, with these bytes.
  int create(const std::vector<uint8_t> &contents) {
    const int descriptor = memfd_create("tenon-conformance", MFD_CLOEXEC);
    EXPECT_GE(descriptor, 0);
    descriptors.push_back(descriptor);
    for (size_t done = 0; done < contents.size();) {
      const ssize_t written = ::write(descriptor, contents.data() + done, contents.size() - done);
      if (written <= 0) {
        ADD_FAILURE() << "the file cannot be written";
        break;
      }
      done += static_cast<size_t>(written);
    }
    return descriptor;
  }
  std::shared_ptr<File> import(const std::vector<uint8_t> &contents, uint32_t access = kAccessAll) {
    auto file = File::importDescriptor(create(contents), access, "conformance file");
    EXPECT_TRUE(file.ok()) << file.status().toString();
    return file.take();
  }
  static std::vector<uint8_t> contentsOf(const File &file) {
    std::vector<uint8_t> bytes(file.size());
    const Status status = file.read(0, bytes);
    EXPECT_TRUE(status.ok()) << status.toString();
    return bytes;
  }
  std::shared_ptr<Buffer> filled(uint64_t bytes, uint8_t value, MemoryType memory) {
    auto buffer = allocate(bytes, {.memory = memory});
    const Status status = device->stream().fill({buffer->address(), bytes}, value, 1);
    EXPECT_TRUE(status.ok()) << status.toString();
    EXPECT_TRUE(device->stream().synchronize().ok());
    return buffer;
  }
  /// Submits with a signal and waits for it.
  template <typename Submit> Status await(const Submit &submit) {
    const SemaphorePoint signal = {Semaphore::create(), 1};
    TENON_RETURN_IF_ERROR(submit(SemaphorePoints(&signal, 1)));
    return signal.semaphore->wait(1, kWaitForever);
  }
  Status read(const std::shared_ptr<File> &file, uint64_t offset, const BufferRef &target) {
    return await([&](SemaphorePoints signals) { return queue->readFile({}, file, offset, target, signals); });
  }
  Status write(const BufferRef &source, const std::shared_ptr<File> &file, uint64_t offset) {
    return await([&](SemaphorePoints signals) { return queue->writeFile({}, source, file, offset, signals); });
  }

  std::vector<int> descriptors;
};

constexpr MemoryType kBothMemories[] = {MemoryType::DeviceLocal, MemoryType::HostVisible};
// More than the ring of chunks holds, and no multiple of anything.
constexpr uint64_t kLarge = (uint64_t(20) << 20) + 4099;

TEST_F(Files, ReadEntireFiles) {
  const std::vector<uint8_t> contents = noise(5000);
  for (MemoryType memory : kBothMemories) {
    auto buffer = filled(contents.size(), 0xcd, memory);
    OK(read(import(contents, kAccessRead), 0, BufferRef::of(buffer)));
    EXPECT_EQ(download<uint8_t>(*buffer), contents);
  }
}
TEST_F(Files, ReadParts) {
  const std::vector<uint8_t> contents = noise(5000);
  auto file = import(contents);
  for (MemoryType memory : kBothMemories)
    for (uint64_t fileOffset : {0, 1, 777, 4990})
      for (uint64_t offset : {0, 3, 256}) {
        auto buffer = filled(1000, 0xcd, memory);
        const uint64_t length = std::min<uint64_t>(contents.size() - fileOffset, 500);
        OK(read(file, fileOffset, BufferRef::of(buffer, offset, length)));
        std::vector<uint8_t> wanted(1000, 0xcd);
        std::copy_n(contents.begin() + static_cast<ptrdiff_t>(fileOffset), length,
                    wanted.begin() + static_cast<ptrdiff_t>(offset));
        ASSERT_EQ(download<uint8_t>(*buffer), wanted) << fileOffset << ' ' << offset;
      }
}
TEST_F(Files, NoBytesAreRead) {
  auto buffer = filled(16, 0xcd, MemoryType::DeviceLocal);
  OK(read(import(noise(10)), 10, BufferRef::of(buffer, 16, 0)));
  OK(read(import({}), 0, BufferRef::of(buffer, 0, 0)));
  EXPECT_EQ(download<uint8_t>(*buffer), std::vector<uint8_t>(16, 0xcd));
}
TEST_F(Files, RangesAreChecked) {
  auto file = import(noise(100));
  auto buffer = allocate(200);
  const SemaphorePoint signal = {Semaphore::create(), 1};
  auto reads = [&](uint64_t fileOffset, uint64_t offset, uint64_t length) {
    return queue->readFile({}, file, fileOffset, BufferRef::of(buffer, offset, length), {&signal, 1});
  };
  FAILS(reads(1, 0, 100), OutOfRange, "100 bytes from byte 1 of file 'conformance file', which has 100 bytes");
  FAILS(reads(0, 0, kWholeBuffer), OutOfRange, "200 bytes from byte 0 of file");
  FAILS(reads(101, 0, 0), OutOfRange, "0 bytes from byte 101 of file");
  FAILS(reads(0, 150, 51), OutOfRange, "51 bytes from byte 150 of a buffer of 200 bytes");
  FAILS(reads(~uint64_t(0) - 4, 0, 8), OutOfRange, "file");
  FAILS(queue->writeFile({}, BufferRef::of(buffer, 0, 101), file, 0, {&signal, 1}), OutOfRange,
        "101 bytes from byte 0");
  EXPECT_EQ(signal.semaphore->state(1), Semaphore::State::Pending); // what is refused signals nothing
}
TEST_F(Files, AccessIsChecked) {
  auto buffer = allocate(64);
  FAILS(queue->writeFile({}, BufferRef::of(buffer), import(noise(64), kAccessRead), 0, {}), FailedPrecondition,
        "is read only");
  FAILS(queue->readFile({}, import(noise(64), kAccessWrite), 0, BufferRef::of(buffer), {}), FailedPrecondition,
        "is write only");
  FAILS(queue->readFile({}, import(noise(64)), 0, BufferRef::of(allocate(64, {.access = kAccessRead})), {}),
        FailedPrecondition, "the target is written, the buffer is read only");
}
TEST_F(Files, WriteEntireFiles) {
  for (MemoryType memory : kBothMemories) {
    auto file = import(std::vector<uint8_t>(5000, 0xab));
    OK(write(BufferRef::of(filled(5000, 0x11, memory)), file, 0));
    EXPECT_EQ(contentsOf(*file), std::vector<uint8_t>(5000, 0x11));
  }
}
TEST_F(Files, WriteParts) {
  const std::vector<uint8_t> data = noise(1000);
  auto source = upload(data);
  for (uint64_t fileOffset : {0, 1, 777, 1500})
    for (uint64_t offset : {0, 3, 256}) {
      auto file = import(std::vector<uint8_t>(2000, 0xab));
      OK(write(BufferRef::of(source, offset, 500), file, fileOffset));
      std::vector<uint8_t> wanted(2000, 0xab);
      std::copy_n(data.begin() + static_cast<ptrdiff_t>(offset), 500,
                  wanted.begin() + static_cast<ptrdiff_t>(fileOffset));
      ASSERT_EQ(contentsOf(*file), wanted) << fileOffset << ' ' << offset;
    }
}
TEST_F(Files, ReadThenWriteChained) {
  const std::vector<uint8_t> contents = noise(3000);
  auto from = import(contents, kAccessRead), to = import(std::vector<uint8_t>(3000));
  auto buffer = allocate(3000);
  auto timeline = Semaphore::create();
  const SemaphorePoint there = {timeline, 1}, written = {timeline, 2};
  OK(queue->writeFile({&there, 1}, BufferRef::of(buffer), to, 0, {&written, 1})); // submitted before what it waits for
  OK(queue->readFile({}, from, 0, BufferRef::of(buffer), {&there, 1}));
  OK(timeline->wait(2, kWaitForever));
  EXPECT_EQ(contentsOf(*to), contents);
}
TEST_F(Files, ReadModifyWrite) {
  std::vector<uint32_t> values = numbers(256);
  std::vector<uint8_t> bytes(1024);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  auto file = import(bytes);
  auto buffer = allocate(1024);
  auto timeline = Semaphore::create();
  const SemaphorePoint there = {timeline, 1}, scaled = {timeline, 2}, written = {timeline, 3};
  OK(queue->readFile({}, file, 0, BufferRef::of(buffer), {&there, 1}));
  OK(queue->dispatch({&there, 1}, executable, kScale, {4, 1, 1}, {{BufferRef::of(buffer)}, {256, 3}}, {&scaled, 1}));
  OK(queue->writeFile({&scaled, 1}, BufferRef::of(buffer), file, 0, {&written, 1}));
  OK(timeline->wait(3, kWaitForever));
  bytes = contentsOf(*file);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (uint32_t i = 0; i < 256; ++i)
    ASSERT_EQ(values[i], 3 * i);
}
TEST_F(Files, LargeReads) {
  const std::vector<uint8_t> contents = noise(kLarge);
  auto buffer = allocate(kLarge);
  OK(read(import(contents), 0, BufferRef::of(buffer)));
  EXPECT_TRUE(download<uint8_t>(*buffer) == contents);
}
TEST_F(Files, LargeReadsOfPartsLeaveTheRest) {
  const std::vector<uint8_t> contents = noise(kLarge);
  auto buffer = filled(kLarge, 0xcd, MemoryType::DeviceLocal);
  const ptrdiff_t begin = 513, length = static_cast<ptrdiff_t>(kLarge) - 3001, place = 1027;
  OK(read(import(contents), begin, BufferRef::of(buffer, place, length)));
  std::vector<uint8_t> wanted(kLarge, 0xcd);
  std::copy_n(contents.begin() + begin, length, wanted.begin() + place);
  EXPECT_TRUE(download<uint8_t>(*buffer) == wanted);
}
TEST_F(Files, LargeWrites) {
  const std::vector<uint8_t> data = noise(kLarge);
  auto file = import(std::vector<uint8_t>(kLarge));
  OK(write(BufferRef::of(upload(data)), file, 0));
  EXPECT_TRUE(contentsOf(*file) == data);
}
TEST_F(Files, LargeWritesOfPartsLeaveTheRest) {
  const std::vector<uint8_t> data = noise(kLarge);
  auto file = import(std::vector<uint8_t>(kLarge, 0xab));
  const ptrdiff_t begin = 1027, length = static_cast<ptrdiff_t>(kLarge) - 3001, place = 513;
  OK(write(BufferRef::of(upload(data), begin, length), file, place));
  std::vector<uint8_t> wanted(kLarge, 0xab);
  std::copy_n(data.begin() + begin, length, wanted.begin() + place);
  EXPECT_TRUE(contentsOf(*file) == wanted);
}
TEST_F(Files, OfMemoryAreReadAndWritten) {
  std::vector<uint8_t> memory = noise(5000);
  const std::vector<uint8_t> before = memory;
  auto file = File::importMemory(memory.data(), memory.size(), kAccessAll, "memory").take();
  auto buffer = allocate(5000);
  OK(read(file, 0, BufferRef::of(buffer)));
  EXPECT_EQ(download<uint8_t>(*buffer), before);
  OK(write(BufferRef::of(filled(100, 9, MemoryType::DeviceLocal)), file, 50));
  EXPECT_EQ(memory[49], before[49]);
  EXPECT_EQ(memory[50], 9);
  EXPECT_EQ(memory[149], 9);
  EXPECT_EQ(memory[150], before[150]);
}
TEST_F(Files, FailuresReachTheSignals) {
  const int descriptor = create(noise(kLarge));
  auto file = File::importDescriptor(descriptor, kAccessAll, "cut short").take();
  const uint64_t end = (uint64_t(9) << 20) + 7; // some chunks are under way by then
  ASSERT_EQ(ftruncate(descriptor, static_cast<off_t>(end)), 0);
  auto buffer = allocate(kLarge);
  const SemaphorePoint there = {Semaphore::create(), 1}, used = {Semaphore::create(), 1};
  OK(queue->readFile({}, file, 0, BufferRef::of(buffer), {&there, 1}));
  OK(queue->fill({&there, 1}, BufferRef::of(buffer), 1, 1, {&used, 1}));
  FAILS(there.semaphore->wait(1, kWaitForever), DataLoss, concat("file 'cut short' at byte ", end, ": it ends here"));
  FAILS(used.semaphore->wait(1, kWaitForever), DataLoss, "'cut short'");
  // The queue goes on.
  OK(read(file, 0, BufferRef::of(buffer, 0, 100)));
  std::vector<uint8_t> wanted = noise(100), found = download<uint8_t>(*buffer);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), found.begin()));
}
TEST_F(Files, AFailedWaitReadsNothing) {
  auto buffer = filled(64, 0xcd, MemoryType::DeviceLocal);
  const SemaphorePoint wait = {Semaphore::create(), 1}, signal = {Semaphore::create(), 1};
  OK(queue->readFile({&wait, 1}, import(noise(64)), 0, BufferRef::of(buffer), {&signal, 1}));
  wait.semaphore->fail(makeError(StatusCode::NotFound, "no more"));
  FAILS(signal.semaphore->wait(1, kWaitForever), NotFound, "no more");
  EXPECT_EQ(download<uint8_t>(*buffer), std::vector<uint8_t>(64, 0xcd));
}
TEST_F(Files, ManyOperationsAtOnceFromTwoQueues) {
  auto other = SubmissionQueue::create(device).take();
  const std::vector<uint8_t> contents = noise(64 * 4096);
  auto file = import(contents);
  auto buffer = allocate(contents.size());
  auto timeline = Semaphore::create();
  std::vector<SemaphorePoint> signals;
  for (uint64_t i = 0; i < 64; ++i) {
    signals.push_back({Semaphore::create(), 1});
    OK((i % 2 ? queue : other)
           ->readFile({}, file, i * 4096, BufferRef::of(buffer, i * 4096, 4096), {&signals.back(), 1}));
  }
  OK(waitSemaphores(signals, WaitMode::All, kWaitForever));
  EXPECT_TRUE(download<uint8_t>(*buffer) == contents);
}

} // namespace tenon::conformance
