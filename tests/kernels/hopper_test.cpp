// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clusters, bulk and tensor copies: the kernels of hopper.cu against the host. The layouts of shared memory are worked
// out here a second time, element by element.
#include "tests/kernels/hopper_cases.h"
#include "tests/kernels/hopper_testing.h"

namespace tenon::kernels {
namespace {

TEST_F(HopperKernels, ClustersReduceThroughSharedMemory) {
  TENON_KERNEL("hopper", "cluster_sum");
  const size_t n = 96;
  for (unsigned size : {1u, 2u, 4u, 8u}) {
    auto values = integers(8 * n, size, -50, 50);
    std::vector<float> in(values.begin(), values.end());
    Array<float> din(in), dout(8 / size);
    ASSERT_EQ(launchCluster({8}, {64}, {size}, 0, din.address, dout.address, int(n)), CUDA_SUCCESS);
    std::vector<float> want(8 / size);
    for (size_t k = 0; k < in.size(); ++k)
      want[k / n / size] += in[k];
    EXPECT_EQ(dout.read(), want) << "clusters of " << size;
  }
}

TEST_F(HopperKernels, BlocksOfAClusterWriteToEachOther) {
  TENON_KERNEL("hopper", "cluster_ring");
  const unsigned blocks = 8;
  for (Shape cluster : {Shape{4}, Shape{2, 2}, Shape{2}}) {
    Array<uint32_t> out(blocks * 65);
    unsigned size = cluster.x * cluster.y;
    Shape grid = cluster.y > 1 ? Shape{4, 2} : Shape{blocks};
    ASSERT_EQ(launchCluster(grid, {64}, cluster, 0, out.address), CUDA_SUCCESS);
    std::vector<uint32_t> want;
    for (unsigned b = 0; b < blocks; ++b) {
      unsigned rank = b / grid.x % cluster.y * cluster.x + b % grid.x % cluster.x, from = (rank + size - 1) % size;
      for (unsigned t = 0; t < 64; ++t)
        want.push_back(1000 * from + t);
      want.push_back(rank == 0 ? size * 64 : 0);
    }
    EXPECT_EQ(out.read(), want) << "clusters of " << size;
  }
}

TEST_F(HopperKernels, StoresAsynchronouslyIntoAnotherBlock) {
  TENON_KERNEL("hopper", "cluster_send");
  Array<uint32_t> out(32);
  ASSERT_EQ(launch({2}, {32}, 0, out.address), CUDA_SUCCESS);
  std::vector<uint32_t> want;
  for (uint32_t t = 0; t < 32; ++t)
    want.push_back(t * 7);
  EXPECT_EQ(out.read(), want);
}

TEST_F(HopperKernels, RefusesClustersThatDoNotFit) {
  TENON_KERNEL("hopper", "cluster_sum");
  Array<float> in(96), out(8);
  EXPECT_EQ(launchCluster({6}, {64}, {4}, 0, in.address, out.address, 4), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(launchCluster({32}, {64}, {16}, 0, in.address, out.address, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

// ---- Copies

TEST_F(HopperKernels, CopiesInBulk) {
  TENON_KERNEL("hopper", "bulk_copy");
  auto values = integers(4 * 256, 3, -100, 100);
  std::vector<float> in(values.begin(), values.end()), twice, sums(256);
  Array<float> din(in), dout(in.size()), dsums(256);
  ASSERT_EQ(launch({4}, {256}, 0, din.address, dout.address, dsums.address), CUDA_SUCCESS);
  for (size_t k = 0; k < in.size(); ++k) {
    twice.push_back(2 * in[k]);
    sums[k % 256] += in[k];
  }
  EXPECT_EQ(dout.read(), twice);
  EXPECT_EQ(dsums.read(), sums);
}

/// What the load of a case leaves in shared memory, worked out byte by byte.
std::vector<uint8_t> expectedDump(const TensorCase &c) {
  std::vector<uint8_t> tensor = tensorBytes(c), out(kDumpBytes, 0xee);
  const int width = static_cast<int>(kTensorRowBytes / c.elementBytes);
  const uint32_t rowBytes = c.boxX * c.elementBytes, pitch = c.swizzle ? 16u << c.swizzle : rowBytes,
                 rows = (c.boxY + c.stepY - 1) / c.stepY;
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t k = 0; k < rowBytes; ++k) {
      int x = c.x + static_cast<int>(k / c.elementBytes), y = c.y + static_cast<int>(r * c.stepY);
      bool inside = x >= 0 && x < width && y >= 0 && y < static_cast<int>(kTensorRows);
      uint8_t value = 0;
      if (inside)
        value = tensor[static_cast<size_t>(y) * kTensorRowBytes + static_cast<size_t>(x) * c.elementBytes +
                       k % c.elementBytes];
      else if (c.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
        value = k % 2 ? 0x7f : 0xf7; // 0x7ff7 over and over
      uint32_t at = r * pitch + k, line = at / 128, chunk = at / 16 % 8;
      switch (c.swizzle) {
      case CU_TENSOR_MAP_SWIZZLE_32B:
        chunk = (chunk & 6) | ((chunk ^ line) & 1);
        break;
      case CU_TENSOR_MAP_SWIZZLE_64B:
        chunk = (chunk & 4) | ((chunk ^ line) & 3);
        break;
      case CU_TENSOR_MAP_SWIZZLE_128B:
        chunk ^= line % 8;
        break;
      default:
        break;
      }
      out[line * 128 + chunk * 16 + at % 16] = value;
    }
  return out;
}

TEST_F(HopperKernels, TensorLoadsSwizzleAndFill) {
  TENON_KERNEL("hopper", "tensor_dump");
  for (const TensorCase &c : tensorCases()) {
    if (c.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ) // numbers change: compared with a record of a GPU
      continue;
    Array<uint8_t> tensor(tensorBytes(c)), out(kDumpBytes);
    CUtensorMap map;
    ASSERT_EQ(encodeCase(driver().cuTensorMapEncodeTiled_, c, tensor.address, &map), CUDA_SUCCESS) << c.name;
    ASSERT_EQ(launch({1}, {128}, kDumpBytes, map, out.address, static_cast<int>(c.bytes()),
                     static_cast<int>(kDumpBytes), c.x, c.y),
              CUDA_SUCCESS)
        << c.name;
    EXPECT_EQ(out.read(), expectedDump(c)) << c.name;
  }
}

TEST_F(HopperKernels, TensorsOfThreeDimensionsMove) {
  TENON_KERNEL("hopper", "tensor_move");
  const cuuint64_t sizes[3] = {20, 6, 5}, strides[2] = {96, 96 * 6};
  const cuuint32_t box[3] = {16, 4, 2}, steps[3] = {1, 1, 1};
  auto values = integers(24 * 6 * 5, 5, 1, 1000);
  for (int z : {0, 4})
    for (int x : {0, 8}) { // an H200 refuses this at negative x (715)
      Array<int> from(values), to(values.size());
      CUtensorMap in, out;
      for (auto [map, address] : {std::pair{&in, from.address}, std::pair{&out, to.address}})
        ASSERT_EQ(driver().cuTensorMapEncodeTiled_(
                      map, CU_TENSOR_MAP_DATA_TYPE_INT32, 3, reinterpret_cast<void *>(address), sizes, strides, box,
                      steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_64B,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                  CUDA_SUCCESS);
      ASSERT_EQ(launch({1}, {32}, 16 * 4 * 2 * 4, in, out, 16 * 4 * 2 * 4, x, 3, z), CUDA_SUCCESS) << x << " " << z;
      std::vector<int> want(values.size());
      for (int k = z; k < z + 2; ++k)
        for (int j = 3; j < 7; ++j)
          for (int i = x; i < x + 16; ++i)
            if (k >= 0 && k < 5 && j < 6 && i >= 0 && i < 20)
              want[static_cast<size_t>((k * 6 + j) * 24 + i)] = values[static_cast<size_t>((k * 6 + j) * 24 + i)];
      EXPECT_EQ(to.read(), want) << x << " " << z;
    }
}

TEST_F(HopperKernels, MulticastReachesEveryBlock) {
  TENON_KERNEL("hopper", "tensor_multicast");
  auto values = integers(32 * 32, 6, -99, 99);
  std::vector<float> in(values.begin(), values.end()), want(in);
  want.insert(want.end(), in.begin(), in.end());
  Array<float> din(in), dout(2048);
  const cuuint64_t sizes[2] = {32, 32}, strides[1] = {128};
  const cuuint32_t box[2] = {32, 16}, steps[2] = {1, 1};
  CUtensorMap map;
  ASSERT_EQ(driver().cuTensorMapEncodeTiled_(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
                                             reinterpret_cast<void *>(din.address), sizes, strides, box, steps,
                                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_SUCCESS);
  ASSERT_EQ(launch({2}, {64}, 0, map, dout.address), CUDA_SUCCESS);
  EXPECT_EQ(dout.read(), want);
}

} // namespace
} // namespace tenon::kernels
