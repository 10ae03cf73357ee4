// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the driver says of pointers. The expectations are what an H200's driver (13.0) answered.
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

/// What cuPointerGetAttributes gives for each kind of attribute that says whose memory it is.
struct Pointer {
  explicit Pointer(CUdeviceptr address) {
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_CONTEXT,          CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_DEVICE_POINTER,   CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                        CU_POINTER_ATTRIBUTE_IS_MANAGED,       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *data[] = {&context, &type, &device, &host, &isManaged, &ordinal, &begin, &bytes};
    EXPECT_EQ(cuPointerGetAttributes(8, attributes, data, address), CUDA_SUCCESS);
  }
  CUcontext context = reinterpret_cast<CUcontext>(7);
  unsigned type = 7, isManaged = 7;
  int ordinal = 7;
  CUdeviceptr device = 7, host = 7, begin = 7;
  size_t bytes = 7;
};

TEST(EmulatorPointers, SeveralAttributesAtOnce) {
  Session session;
  CUdeviceptr address;
  ASSERT_EQ(cuMemAlloc(&address, 4096), CUDA_SUCCESS);
  Pointer inside(address + 16);
  EXPECT_EQ(inside.context, session.context);
  EXPECT_EQ(inside.type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(inside.device, address + 16);
  EXPECT_EQ(inside.host, 0u) << "the host does not reach it";
  EXPECT_EQ(inside.isManaged, 0u);
  EXPECT_EQ(inside.ordinal, 0);
  EXPECT_EQ(inside.begin, address);
  EXPECT_EQ(inside.bytes, 4096u);
  ASSERT_EQ(cuMemFree(address), CUDA_SUCCESS);
  void *pinned;
  ASSERT_EQ(cuMemHostAlloc(&pinned, 64, 0), CUDA_SUCCESS);
  Pointer host(reinterpret_cast<CUdeviceptr>(pinned));
  EXPECT_EQ(host.type, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(host.device, reinterpret_cast<CUdeviceptr>(pinned));
  EXPECT_EQ(host.host, reinterpret_cast<CUdeviceptr>(pinned));
  ASSERT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
}

TEST(EmulatorPointers, AForeignPointerIsNoError) {
  Session session;
  int own = 0;
  const CUdeviceptr address = reinterpret_cast<CUdeviceptr>(&own);
  Pointer foreign(address);
  EXPECT_EQ(foreign.context, nullptr);
  EXPECT_EQ(foreign.type, 0u);
  EXPECT_EQ(foreign.device, 0u);
  EXPECT_EQ(foreign.host, address);
  EXPECT_EQ(foreign.isManaged, 0u);
  EXPECT_EQ(foreign.ordinal, -2);
  EXPECT_EQ(foreign.begin, 7u) << "left as it was";
  EXPECT_EQ(foreign.bytes, 7u) << "left as it was";
  unsigned type = 7;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatorPointers, RefusesUnknownAttributesAndNulls) {
  Session session;
  unsigned type = 7;
  void *data[] = {&type}, *nothing[] = {nullptr};
  CUpointer_attribute known = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  int numbers[] = {0, 99};
  EXPECT_EQ(cuPointerGetAttributes(0, &known, data, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttributes(1, nullptr, data, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttributes(1, &known, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttributes(1, &known, nothing, 0), CUDA_ERROR_INVALID_VALUE);
  for (int &number : numbers)
    EXPECT_EQ(cuPointerGetAttributes(1, reinterpret_cast<CUpointer_attribute *>(&number), data, 0),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(type, 7u);
}

TEST(EmulatorMemory, APitchedAllocationDoesNotWrapAround) {
  Session session;
  CUdeviceptr address = 0;
  size_t pitch = 0;
  // 16 rows of 2^60 + 512 bytes are 8192 modulo 2^64.
  EXPECT_EQ(cuMemAllocPitch(&address, &pitch, (size_t(1) << 60) + 512, 16, 4), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAllocPitch(&address, &pitch, SIZE_MAX, 1, 4), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_EQ(cuMemAllocPitch(&address, &pitch, 513, 3, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 1024u);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
}

} // namespace
} // namespace tenon::emulator::test
