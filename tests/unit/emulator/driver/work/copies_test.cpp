// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills: rows and planes with pitch, kinds of memory, ranges; what is refused.
#include "tests/unit/emulator/harness.h"

#include <numeric>

namespace tenon::emulator::test {
namespace {

std::vector<uint8_t> counting(size_t n) {
  std::vector<uint8_t> bytes(n);
  std::iota(bytes.begin(), bytes.end(), uint8_t(0));
  return bytes;
}

TEST(EmulatorCopies, BoxesKeepTheirPitch) {
  Session session;
  DeviceArray<uint8_t> device(256);
  std::vector<uint8_t> from = counting(256), to(64, 0xee);
  // A box of 3 x 2 x 2 bytes from (1, 1, 1) of an 8 x 4 array, to (2, 0, 0) of an 8 x 4 one on the device.
  CUDA_MEMCPY3D in = {};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = from.data();
  in.srcXInBytes = in.srcY = in.srcZ = 1;
  in.srcPitch = in.dstPitch = 8;
  in.srcHeight = in.dstHeight = 4;
  in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  in.dstDevice = device.address;
  in.dstXInBytes = 2;
  in.WidthInBytes = 3;
  in.Height = in.Depth = 2;
  ASSERT_EQ(cuMemcpy3D(&in), CUDA_SUCCESS);
  auto got = device.read();
  for (size_t z = 0; z < 2; ++z)
    for (size_t y = 0; y < 2; ++y)
      for (size_t x = 0; x < 3; ++x)
        EXPECT_EQ(got[(z * 4 + y) * 8 + 2 + x], from[((z + 1) * 4 + y + 1) * 8 + 1 + x]);
  EXPECT_EQ(got[1], 0);
  EXPECT_EQ(got[5], 0);
  CUDA_MEMCPY2D out = {};
  out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  out.srcDevice = device.address;
  out.srcXInBytes = 2;
  out.srcPitch = 8;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = to.data();
  out.dstPitch = 16;
  out.WidthInBytes = 3;
  out.Height = 2;
  ASSERT_EQ(cuMemcpy2D(&out), CUDA_SUCCESS);
  EXPECT_EQ(to[0], from[41]);
  EXPECT_EQ(to[18], from[51]);
  EXPECT_EQ(to[3], 0xee);
}

TEST(EmulatorCopies, RefusesWhatDoesNotFit) {
  Session session;
  DeviceArray<uint8_t> device(64);
  std::vector<uint8_t> host(256);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcPitch = copy.dstPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device.address;
  copy.WidthInBytes = 16;
  copy.Height = 4;
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_SUCCESS);
  copy.Height = 5;
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE) << "the last row is outside";
  copy.Height = 4;
  copy.dstPitch = 15;
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE) << "rows overlap";
  copy.dstPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_NOT_SUPPORTED);
  copy.dstMemoryType = static_cast<CUmemorytype>(77);
  EXPECT_EQ(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoD(device.address, reinterpret_cast<CUdeviceptr>(host.data()), 4), CUDA_ERROR_INVALID_VALUE)
      << "host memory is not device memory";
  EXPECT_EQ(cuMemcpyHtoD(device.address, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD(device.address, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(EmulatorCopies, UnifiedAddressesFindOutWhatTheyAre) {
  Session session;
  DeviceArray<uint8_t> device(64);
  std::vector<uint8_t> from = counting(64), to(64);
  ASSERT_EQ(cuMemcpy(device.address, reinterpret_cast<CUdeviceptr>(from.data()), 64), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpy(reinterpret_cast<CUdeviceptr>(to.data()), device.address, 64), CUDA_SUCCESS);
  EXPECT_EQ(to, from);
  std::fill(to.begin(), to.end(), uint8_t(0));
  ASSERT_EQ(
      cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to.data()), reinterpret_cast<CUdeviceptr>(from.data()), 64, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(to, from) << "between host memories a copy is done when the call returns";
}

TEST(EmulatorCopies, FillsOfRows) {
  Session session;
  DeviceArray<uint16_t> device(32);
  ASSERT_EQ(cuMemsetD2D16(device.address, 16, 0xabcd, 3, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD2D8Async(device.address + 8, 16, 0x11, 2, 2, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  auto got = device.read();
  EXPECT_EQ(got[2], 0xabcd);
  EXPECT_EQ(got[3], 0);
  EXPECT_EQ(got[4], 0x1111);
  EXPECT_EQ(got[12], 0x1111);
  EXPECT_EQ(got[20], 0);
  EXPECT_EQ(got[26], 0xabcd);
  EXPECT_EQ(cuMemsetD2D16(device.address, 16, 0, 3, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD2D32(device.address, 6, 0, 1, 2), CUDA_ERROR_INVALID_VALUE) << "rows off their alignment";
}

} // namespace
} // namespace tenon::emulator::test
