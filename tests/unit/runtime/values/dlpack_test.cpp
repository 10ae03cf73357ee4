// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/values/dlpack.h"

#include "runtime/memory/allocator.h"
#include "runtime/queue/submission_queue.h"
#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

class DlpackTest : public FakeDeviceTest {
protected:
  DlpackTest() { open(); }
  Tensor make(const BufferOptions &options = {}) {
    return {abi::ElementType::BF16, {2, 3}, allocateBuffer(*device, 12, options).take()};
  }
  /// A producer's tensor of 2x3 f32, whose deleter is counted.
  struct Producer {
    float data[8] = {};
    int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
    int deleted = 0;
    dlpack::ManagedVersioned managed = {};
    Producer() {
      managed.version = {1, 3};
      managed.context = this;
      managed.deleter = [](dlpack::ManagedVersioned *self) { ++static_cast<Producer *>(self->context)->deleted; };
      managed.tensor = {data, {dlpack::kCuda, 0}, 2, {dlpack::kFloat, 32, 1}, shape, strides, 8};
    }
  };
};

TEST_F(DlpackTest, AnExportedTensorKeepsItsMemory) {
  Tensor tensor = make();
  const uint64_t address = tensor.buffer->address();
  auto managed = exportDlpack(tensor);
  ASSERT_OK(managed.status());
  tensor.buffer.reset();
  EXPECT_EQ(fake.liveAllocations, 1);
  const dlpack::TensorView &view = (*managed)->tensor;
  EXPECT_EQ((*managed)->version.major, 1u);
  EXPECT_EQ((*managed)->flags, 0u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(view.data), address);
  EXPECT_EQ(view.device.type, dlpack::kCuda);
  EXPECT_EQ(view.rank, 2);
  EXPECT_EQ(view.type.code, dlpack::kBfloat);
  EXPECT_EQ(view.type.bits, 16);
  EXPECT_EQ(view.shape[1], 3);
  EXPECT_EQ(view.strides[0], 3);
  EXPECT_EQ(view.strides[1], 1);
  (*managed)->deleter(*managed);
  EXPECT_EQ(fake.liveAllocations, 0);
}

TEST_F(DlpackTest, WhatIsExportedCanBeImported) {
  for (MemoryType memory : {MemoryType::DeviceLocal, MemoryType::HostVisible}) {
    Tensor tensor = make({.memory = memory});
    for (bool isVersioned : {true, false}) {
      auto back = isVersioned ? importDlpack(*device, exportDlpack(tensor).take())
                              : importDlpackUnversioned(*device, exportDlpackUnversioned(tensor).take());
      ASSERT_OK(back.status());
      EXPECT_EQ(back->shape, tensor.shape);
      EXPECT_EQ(back->element, tensor.element);
      EXPECT_EQ(back->buffer->address(), tensor.buffer->address());
      EXPECT_EQ(back->buffer->options().memory, memory);
      EXPECT_EQ(tensor.buffer.use_count(), 2);
      back = makeError(StatusCode::Aborted, "over");
      EXPECT_EQ(tensor.buffer.use_count(), 1);
    }
  }
}

TEST_F(DlpackTest, ReadOnlyIsAFlag) {
  Tensor tensor = make({.access = kAccessRead});
  EXPECT_STATUS(exportDlpackUnversioned(tensor).status(), FailedPrecondition, "is read only");
  auto back = importDlpack(*device, exportDlpack(tensor).take());
  ASSERT_OK(back.status());
  EXPECT_EQ(back->buffer->options().access, kAccessRead);
}

TEST_F(DlpackTest, AnImportedTensorIsDeletedWithItsLastUser) {
  Producer producer;
  auto tensor = importDlpack(*device, &producer.managed);
  ASSERT_OK(tensor.status());
  EXPECT_EQ(tensor->element, abi::ElementType::F32);
  EXPECT_EQ(tensor->buffer->address(), reinterpret_cast<uint64_t>(producer.data + 2)); // the byte offset
  EXPECT_EQ(tensor->buffer->size(), 24u);
  EXPECT_EQ(producer.deleted, 0);
  tensor = makeError(StatusCode::Aborted, "over");
  EXPECT_EQ(producer.deleted, 1);
}

TEST_F(DlpackTest, RefusedTensorsStayTheProducers) {
  Producer producer;
  dlpack::TensorView &view = producer.managed.tensor;
  const dlpack::TensorView good = view;
  auto status = [&] {
    Status out = importDlpack(*device, &producer.managed).status().clone();
    view = good;
    EXPECT_EQ(producer.deleted, 0);
    return out;
  };
  view.device = {dlpack::kCuda, 1};
  EXPECT_STATUS(status(), FailedPrecondition, "memory of CUDA device 1, the tensor is wanted on device 0");
  view.device = {dlpack::kCpu, 0};
  EXPECT_STATUS(status(), Unimplemented, "device type 1 (CPU: import it as host memory");
  view.device = {10, 0};
  EXPECT_STATUS(status(), Unimplemented, "device type 10;");
  view.type = {dlpack::kComplex, 24, 1};
  EXPECT_STATUS(status(), Unimplemented, "type code 5 with 24 bits");
  view.type = {7, 64, 1};
  EXPECT_STATUS(status(), Unimplemented, "type code 7 with 64 bits");
  view.type.lanes = 4;
  EXPECT_STATUS(status(), Unimplemented, "4 lanes");
  producer.strides[0] = 4;
  EXPECT_STATUS(status(), Unimplemented, "strides are not those of a dense");
  producer.strides[0] = 3;
  producer.shape[0] = -1;
  EXPECT_STATUS(status(), OutOfRange, "-1");
  producer.shape[0] = 2;
  view.data = nullptr;
  EXPECT_STATUS(status(), InvalidArgument, "a null address for 24 bytes");
  view.rank = -1;
  EXPECT_STATUS(status(), InvalidArgument, "rank -1");
  producer.managed.version.major = 2;
  EXPECT_STATUS(status(), Unimplemented, "version 2.3");
  EXPECT_STATUS(importDlpack(*device, nullptr).status(), InvalidArgument, "no tensor");
}

TEST_F(DlpackTest, ComplexNumbersArePairsOfFloats) {
  Producer producer;
  producer.managed.tensor.type = {dlpack::kComplex, 64, 1};
  auto tensor = importDlpack(*device, &producer.managed);
  ASSERT_OK(tensor.status());
  EXPECT_EQ(tensor->element, abi::ElementType::F32);
  EXPECT_EQ(tensor->shape, (Shape{2, 3, 2}));
  EXPECT_EQ(tensor->buffer->size(), 48u);
}

TEST_F(DlpackTest, StridesOfNothingDoNotCount) {
  Producer producer;
  producer.shape[0] = 1, producer.strides[0] = 77; // one row
  EXPECT_TRUE(importDlpack(*device, &producer.managed).ok());
  producer.shape[0] = 0; // no row
  EXPECT_TRUE(importDlpack(*device, &producer.managed).ok());
  producer.managed.tensor.strides = nullptr;
  producer.shape[0] = 2;
  EXPECT_TRUE(importDlpack(*device, &producer.managed).ok());
  EXPECT_EQ(producer.deleted, 3);
}

TEST_F(DlpackTest, DeallocatedMemoryIsNotExported) {
  auto queue = SubmissionQueue::create(device).take();
  std::shared_ptr<Buffer> memory = queue->allocate({}, 12, {}, {}).take();
  const Tensor tensor = {abi::ElementType::I32, {3}, memory};
  ASSERT_OK(queue->deallocate({}, memory, {}));
  ASSERT_OK(queue->waitIdle(kWaitForever));
  EXPECT_STATUS(exportDlpack(tensor).status(), FailedPrecondition, "was deallocated");
}

} // namespace tenon::runtime
