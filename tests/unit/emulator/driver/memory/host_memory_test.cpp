// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pinned and registered host memory: addresses on both sides, flags, and what kernels may do with it.
#include "tests/unit/emulator/harness.h"

#include <sys/mman.h>

namespace tenon::emulator::test {
namespace {

const char *kIncrement = R"(
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3]; add.u32 %r3, %r2, 1; st.global.u32 [%rd3], %r3;
  ret;
}
)";

TEST(EmulatorHostMemory, DeviceMemoryHasAPlaceForTheHost) {
  Session session;
  void *found = nullptr;
  ASSERT_EQ(cuGetProcAddress("tenonEmulatorHostPointer", &found, 13000, 0, nullptr), CUDA_SUCCESS);
  auto hostPointer = reinterpret_cast<void *(*)(CUdeviceptr, size_t)>(found);
  DeviceArray<uint32_t> array(32);
  auto *host = static_cast<uint32_t *>(hostPointer(array.address, 128));
  ASSERT_NE(host, nullptr);
  host[3] = 41;
  EXPECT_EQ(run(header() + kIncrement, {array.address}), CUDA_SUCCESS);
  EXPECT_EQ(host[3], 42u);
  EXPECT_EQ(hostPointer(array.address + 124, 4), host + 31);
  EXPECT_EQ(hostPointer(array.address + 4, 128), nullptr);
  EXPECT_EQ(hostPointer(8, 4), nullptr);
}

TEST(EmulatorHostMemory, KernelsReachRegisteredMemory) {
  Session session;
  std::vector<uint32_t> values(1000, 5);
  ASSERT_EQ(cuMemHostRegister(values.data(), 4000, CU_MEMHOSTREGISTER_DEVICEMAP), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemHostGetDevicePointer(&address, values.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(run(header() + kIncrement, {address}), CUDA_SUCCESS);
  EXPECT_EQ(values[0], 6u);
  EXPECT_EQ(values[31], 6u);
  EXPECT_EQ(values[32], 5u);
  CUdeviceptr middle = 0;
  ASSERT_EQ(cuMemHostGetDevicePointer(&middle, &values[10], 0), CUDA_SUCCESS);
  EXPECT_EQ(middle, address + 40);
  DeviceArray<uint32_t> array(4);
  ASSERT_EQ(cuMemcpyDtoD(array.address, address, 16), CUDA_SUCCESS);
  EXPECT_EQ(array.read()[3], 6u);
  ASSERT_EQ(cuMemsetD32(address, 9, 2), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(values[1], 9u);
  unsigned type = 0;
  ASSERT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_SUCCESS);
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  void *host = nullptr;
  ASSERT_EQ(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address), CUDA_SUCCESS);
  EXPECT_EQ(host, values.data());

  EXPECT_EQ(cuMemHostRegister(&values[500], 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(cuMemHostUnregister(&values[1]), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  ASSERT_EQ(cuMemHostUnregister(values.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(values.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(cuMemHostGetDevicePointer(&address, values.data(), 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatorHostMemory, KernelsStayWithinWhatIsRegistered) {
  Session session;
  std::vector<uint32_t> values(64, 5);
  ASSERT_EQ(cuMemHostRegister(values.data(), 64, 0), CUDA_SUCCESS); // 16 of 32 elements
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemHostGetDevicePointer(&address, values.data(), 0), CUDA_SUCCESS);
  EXPECT_EQ(run(header() + kIncrement, {address}), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(lastReport().find("0 bytes past the end of the 64-byte range of registered host memory at 0x"),
            std::string::npos)
      << lastReport();
  EXPECT_EQ(values[16], 5u);
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  CUcontext context;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(values[0], 5u) << "a reset leaves the program's memory alone";
  ASSERT_EQ(cuMemHostUnregister(values.data()), CUDA_SUCCESS);
}

TEST(EmulatorHostMemory, ArgumentsAreChecked) {
  Session session;
  uint32_t value = 0;
  EXPECT_EQ(cuMemHostRegister(nullptr, 4, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostRegister(&value, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostRegister(&value, 4, 1 << 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostRegister(&value, 4, CU_MEMHOSTREGISTER_IOMEMORY), CUDA_ERROR_NOT_SUPPORTED);
  void *gone = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(gone, 4096);
  EXPECT_EQ(cuMemHostRegister(gone, 4096, 0), CUDA_ERROR_INVALID_VALUE) << "nothing is mapped there";
  EXPECT_EQ(cuMemHostRegister(&value, size_t(1) << 60, 0), CUDA_ERROR_INVALID_VALUE) << "nor is so much";
  EXPECT_EQ(cuMemHostRegister(&value, SIZE_MAX - reinterpret_cast<uintptr_t>(&value), 0), CUDA_ERROR_INVALID_VALUE);
  void *pinned = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister(pinned, 64, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  unsigned flags = 0;
  ASSERT_EQ(cuMemHostGetFlags(&flags, pinned), CUDA_SUCCESS);
  EXPECT_EQ(flags, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  EXPECT_EQ(cuMemHostGetFlags(&flags, &value), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  int same = 1;
  ASSERT_EQ(cuDeviceGetAttribute(&same, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 0), CUDA_SUCCESS);
  EXPECT_EQ(same, 0) << "the device's address is another one";
}

} // namespace
} // namespace tenon::emulator::test
