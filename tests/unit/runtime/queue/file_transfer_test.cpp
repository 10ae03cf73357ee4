// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/queue/file_transfer.h"

#include "tests/unit/runtime/command_buffer_fixture.h"

#include "runtime/memory/transfer.h"
#include "runtime/queue/submission_queue.h"

#include <sys/mman.h>
#include <unistd.h>

namespace tenon::runtime {

using namespace tenon::test;

class FileTransferTest : public CommandBufferFixture {
protected:
  FileTransferTest() : descriptor(memfd_create("tenon", 0)), contents(1000) {
    for (size_t i = 0; i < contents.size(); ++i)
      contents[i] = static_cast<uint8_t>(i * 7);
    EXPECT_EQ(pwrite(descriptor, contents.data(), contents.size(), 0), 1000);
    file = File::importDescriptor(descriptor, kAccessAll, "f").take();
    memory = allocateBuffer(*device, 1000, {}).take();
  }
  void TearDown() override {
    memory.reset();
    close(descriptor);
    CommandBufferFixture::TearDown();
  }
  FileCommand command(FileCommand::Kind kind, uint64_t fileOffset, uint64_t offset, uint64_t length) {
    return {kind, file, fileOffset, BufferRef::of(memory, offset, length)};
  }
  std::vector<uint8_t> read(uint64_t offset, uint64_t length) {
    std::vector<uint8_t> bytes(length);
    EXPECT_TRUE(downloadBytes(*memory, offset, bytes).ok());
    return bytes;
  }
  std::vector<uint8_t> part(uint64_t offset, uint64_t length) const {
    return {contents.begin() + static_cast<ptrdiff_t>(offset),
            contents.begin() + static_cast<ptrdiff_t>(offset + length)};
  }

  int descriptor;
  std::vector<uint8_t> contents;
  std::shared_ptr<File> file;
  std::shared_ptr<Buffer> memory;
};

TEST_F(FileTransferTest, GoesAroundTheRing) {
  FileTransfer transfer(device, {.chunkBytes = 64, .chunkCount = 3});
  ASSERT_OK(transfer.run(command(FileCommand::Kind::Read, 1, 3, 997)));
  EXPECT_EQ(read(3, 997), part(1, 997));
  EXPECT_EQ(fake.count("cuMemHostAlloc"), 3u);
  EXPECT_EQ(fake.count("cuMemcpyHtoDAsync_v2"), 16u);
  EXPECT_EQ(fake.count("cuEventSynchronize"), 13u); // what is written over, not the last three
  ASSERT_OK(device->stream().fill({memory->address(), 1000}, 5, 1));
  ASSERT_OK(transfer.run(command(FileCommand::Kind::Write, 500, 0, 300)));
  ASSERT_OK(transfer.run(command(FileCommand::Kind::Read, 400, 0, 500)));
  std::vector<uint8_t> wanted = part(400, 500);
  std::fill_n(wanted.begin() + 100, 300, uint8_t(5));
  EXPECT_EQ(read(0, 500), wanted);
  EXPECT_EQ(fake.count("cuMemHostAlloc"), 3u);
}

TEST_F(FileTransferTest, PinsNoMoreThanItNeeds) {
  FileTransfer transfer(device, {.chunkBytes = 64, .chunkCount = 3});
  ASSERT_OK(transfer.run(command(FileCommand::Kind::Read, 0, 0, 0)));
  EXPECT_EQ(fake.count("cuMemHostAlloc"), 0u);
  ASSERT_OK(transfer.run(command(FileCommand::Kind::Read, 0, 0, 64)));
  EXPECT_EQ(fake.count("cuMemHostAlloc"), 1u);
}

TEST_F(FileTransferTest, HostVisibleMemoryNeedsNoRing) {
  memory =
      allocateBuffer(*device, 1000, {.memory = MemoryType::HostVisible, .usage = kUsageAll & ~kUsageMapping}).take();
  const size_t before = fake.count("cuMemHostAlloc");
  FileTransfer transfer(device, {});
  ASSERT_OK(transfer.run(command(FileCommand::Kind::Read, 10, 20, 900)));
  EXPECT_EQ(read(20, 900), part(10, 900));
  EXPECT_EQ(fake.count("cuMemHostAlloc"), before);
}

TEST_F(FileTransferTest, AFailureWaitsForWhatIsUnderWay) {
  FileTransfer transfer(device, {.chunkBytes = 64, .chunkCount = 3});
  EXPECT_EQ(ftruncate(descriptor, 700), 0);
  EXPECT_STATUS(transfer.run(command(FileCommand::Kind::Read, 600, 0, 200)), DataLoss,
                "reading bytes 600 to 800 of file 'f': reading file 'f' at byte 700: it ends here, 28 bytes early");
  EXPECT_EQ(fake.calls.back(), "cuCtxPopCurrent_v2");
  EXPECT_EQ(fake.count("cuStreamSynchronize"), 1u);
  EXPECT_EQ(read(0, 64), part(600, 64));
}

TEST_F(FileTransferTest, EveryFailureOfTheDriverIsAnError) {
  for (auto [function, kind] : {std::pair{"cuStreamCreate", FileCommand::Kind::Read},
                                {"cuMemHostAlloc", FileCommand::Kind::Read},
                                {"cuEventCreate", FileCommand::Kind::Read},
                                {"cuMemcpyHtoDAsync_v2", FileCommand::Kind::Read},
                                {"cuMemcpyDtoHAsync_v2", FileCommand::Kind::Write},
                                {"cuEventRecord", FileCommand::Kind::Write},
                                {"cuEventSynchronize", FileCommand::Kind::Write},
                                {"cuStreamSynchronize", FileCommand::Kind::Read}}) {
    FileTransfer transfer(device, {.chunkBytes = 64, .chunkCount = 3});
    fake.failures = {{function, CUDA_ERROR_OUT_OF_MEMORY}};
    EXPECT_STATUS(transfer.run(command(kind, 0, 0, 500)), ResourceExhausted, function);
    fake.failures.clear();
    ASSERT_OK(transfer.run(command(kind, 0, 0, 500)));
  }
}

TEST_F(FileTransferTest, QueuesOrderFileOperations) {
  auto queue = SubmissionQueue::create(device).take();
  auto timeline = Semaphore::create();
  const SemaphorePoint go = {timeline, 1}, there = {timeline, 2}, filled = {timeline, 3}, written = {timeline, 4};
  ASSERT_OK(queue->readFile({&go, 1}, file, 0, BufferRef::of(memory), {&there, 1}));
  ASSERT_OK(queue->fill({&there, 1}, BufferRef::of(memory, 100, 4), 0, 1, {&filled, 1}));
  ASSERT_OK(queue->writeFile({&filled, 1}, BufferRef::of(memory), file, 0, {&written, 1}));
  EXPECT_STATUS(timeline->wait(2, 1000000), DeadlineExceeded, "is at 0");
  ASSERT_OK(timeline->signal(1));
  ASSERT_OK(timeline->wait(4, kWaitForever));
  std::vector<uint8_t> bytes(1000);
  ASSERT_OK(file->read(0, bytes));
  std::fill_n(contents.begin() + 100, 4, uint8_t(0));
  EXPECT_EQ(bytes, contents);
}

TEST_F(FileTransferTest, QueuesRefuseAndReport) {
  auto queue = SubmissionQueue::create(device).take();
  const BufferRef whole = BufferRef::of(memory);
  EXPECT_STATUS(queue->readFile({}, nullptr, 0, whole, {}), InvalidArgument, "read of a file: no file");
  EXPECT_STATUS(queue->readFile({}, file, 0, BufferRef::ofSlot(0), {}), InvalidArgument, "read of a file: no buffer");
  EXPECT_STATUS(queue->readFile({}, file, 1, whole, {}), OutOfRange, "1000 bytes from byte 1 of file 'f'");
  EXPECT_STATUS(queue->writeFile({}, BufferRef::of(memory, 900, 101), file, 0, {}), OutOfRange,
                "101 bytes from byte 900");
  EXPECT_STATUS(queue->readFile({}, file, 0, BufferRef::of(make(kUsageDispatch)), {}), FailedPrecondition,
                "needs a buffer of usage transfer target");
  EXPECT_STATUS(queue->writeFile({}, BufferRef::of(make(kUsageAll & ~kUsageMapping, kAccessWrite)), file, 0, {}),
                FailedPrecondition, "the source is read, the buffer is write only");
  auto readOnly = File::importDescriptor(descriptor, kAccessRead, "r").take();
  EXPECT_STATUS(queue->writeFile({}, whole, readOnly, 0, {}), FailedPrecondition, "file 'r' is read only");
  // What is found later.
  auto done = Semaphore::create();
  const SemaphorePoint signal = {done, 1};
  EXPECT_EQ(ftruncate(descriptor, 10), 0);
  ASSERT_OK(queue->readFile({}, file, 0, whole, {&signal, 1}));
  EXPECT_STATUS(done->wait(1, kWaitForever), DataLoss, "at byte 10: it ends here");
}

TEST_F(FileTransferTest, ADestroyedQueueDoesWhatItHasBegun) {
  auto queue = SubmissionQueue::create(device).take();
  auto gate = Semaphore::create(), done = Semaphore::create(), never = Semaphore::create();
  const SemaphorePoint open = {gate, 1}, signal = {done, 1}, late = {never, 1};
  ASSERT_OK(queue->readFile({}, file, 0, BufferRef::of(memory), {&signal, 1}));
  ASSERT_OK(queue->readFile({&open, 1}, file, 0, BufferRef::of(memory), {&late, 1}));
  ASSERT_OK(done->wait(1, kWaitForever));
  queue.reset();
  EXPECT_STATUS(never->wait(1, kWaitForever), Aborted, "the queue was destroyed");
}

} // namespace tenon::runtime
