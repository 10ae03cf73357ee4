// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that goes to other libraries and processes, and theirs that comes in.
#include "fixture.h"

#include "runtime/memory/shared_memory.h"
#include "runtime/values/dlpack.h"

#include <unistd.h>

namespace tenon::conformance {

using Exchange = DeviceTest;

TEST_F(Exchange, DlpackTensorsAreTheSameMemory) {
  std::shared_ptr<Buffer> owner = upload(numbers(kThreads));
  auto managed = exportDlpack({abi::ElementType::I32, {4, 16}, owner});
  ASSERT_TRUE(managed.ok()) << managed.status().toString();
  EXPECT_EQ((*managed)->tensor.device.id, device->ordinal());
  auto tensor = importDlpack(*device, *managed);
  ASSERT_TRUE(tensor.ok()) << tensor.status().toString();
  EXPECT_EQ(tensor->shape, (Shape{4, 16}));
  const auto imported = std::const_pointer_cast<Buffer>(tensor->buffer);
  const SemaphorePoint done = {Semaphore::create(), 1};
  OK(queue->dispatch({}, executable, kScale, {1, 1, 1}, {{BufferRef::of(imported)}, {kThreads, 3}}, {&done, 1}));
  OK(done.semaphore->wait(1, kWaitForever));
  std::vector<uint32_t> wanted = numbers(kThreads);
  for (uint32_t &value : wanted)
    value *= 3;
  EXPECT_EQ(download<uint32_t>(*owner), wanted);
  EXPECT_GT(owner.use_count(), 1);
}
TEST_F(Exchange, DlpackTensorsOfPinnedMemory) {
  auto owner = allocate(256, {.memory = MemoryType::HostVisible});
  auto tensor = importDlpack(*device, exportDlpack({abi::ElementType::F32, {64}, owner}).take());
  ASSERT_TRUE(tensor.ok()) << tensor.status().toString();
  EXPECT_EQ(tensor->buffer->address(), owner->address());
  const SemaphorePoint done = {Semaphore::create(), 1};
  OK(queue->fill({}, BufferRef::of(std::const_pointer_cast<Buffer>(tensor->buffer)), 5, 1, {&done, 1}));
  OK(done.semaphore->wait(1, kWaitForever));
  EXPECT_EQ(owner->map(0, 256, kAccessRead)->back(), 5);
}
TEST_F(Exchange, DlpackTensorsOfOtherDevicesAreRefused) {
  dlpack::ManagedVersioned *managed = exportDlpack({abi::ElementType::F32, {4}, allocate(16)}).take();
  managed->tensor.device = {dlpack::kCuda, device->ordinal() + 1};
  FAILS(importDlpack(*device, managed).status(), FailedPrecondition, "memory of CUDA device");
  managed->deleter(managed);
}
TEST_F(Exchange, MemoryGoesThroughADescriptor) {
  auto owner = allocateShareable(*device, 5000, {});
  if (owner.status().code() == StatusCode::Unimplemented)
    GTEST_SKIP() << owner.status().message();
  ASSERT_TRUE(owner.ok()) << owner.status().toString();
  auto descriptor = exportDescriptor(**owner);
  ASSERT_TRUE(descriptor.ok()) << descriptor.status().toString();
  auto imported = importDescriptor(*device, *descriptor, 5000, {});
  ASSERT_TRUE(imported.ok()) << imported.status().toString();
  close(*descriptor);
  const SemaphorePoint done = {Semaphore::create(), 1};
  OK(queue->fill({}, BufferRef::of(*imported), 0x5a, 1, {&done, 1}));
  OK(done.semaphore->wait(1, kWaitForever));
  EXPECT_EQ(download<uint8_t>(**owner), std::vector<uint8_t>(5000, 0x5a));
  owner = makeError(StatusCode::Aborted, "over"); // the memory lives on
  EXPECT_EQ(download<uint8_t>(**imported), std::vector<uint8_t>(5000, 0x5a));
}
TEST_F(Exchange, OtherMemoryHasNoDescriptor) {
  auto buffer = allocate(4096);
  const Status status = exportDescriptor(*buffer).status().clone();
  EXPECT_FALSE(status.ok());
  if (status.code() == StatusCode::Unimplemented)
    EXPECT_NE(status.message().find("has no cuMem"), std::string_view::npos) << status.toString();
  else
    EXPECT_NE(status.message().find("only memory of allocateShareable"), std::string_view::npos) << status.toString();
  EXPECT_FALSE(importDescriptor(*device, -1, 64, {}).ok());
}

} // namespace tenon::conformance
