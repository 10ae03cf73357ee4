// Clusters, bulk and tensor copies, wgmma: the kernels of hopper.cu against the host. The layouts of shared memory are
// worked out here a second time, element by element. Inputs are small integers, so that every sum is exact.
#include "tests/kernels/driver.h"
#include "tests/kernels/hopper_cases.h"

#include <bit>
#include <functional>

namespace tenon::kernels {
namespace {

class HopperKernels : public Kernels {
protected:
  void SetUp() override {
    Kernels::SetUp();
    if (driver().error.empty() && driver().capability != 90)
      GTEST_SKIP() << "kernels of sm_90a, the device has compute capability " << driver().capability / 10 << "."
                   << driver().capability % 10;
  }
  template <typename... Args>
  CUresult launchCluster(Shape grid, Shape block, Shape cluster, unsigned shared, Args... args) {
    void *parameters[] = {&args...};
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {cluster.x, cluster.y, cluster.z};
    CUlaunchConfig config = {};
    config.gridDimX = grid.x;
    config.gridDimY = grid.y;
    config.gridDimZ = grid.z;
    config.blockDimX = block.x;
    config.blockDimY = block.y;
    config.blockDimZ = block.z;
    config.sharedMemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUresult result = driver().cuLaunchKernelEx_(&config, function_, parameters, nullptr);
    return result == CUDA_SUCCESS ? driver().cuCtxSynchronize_() : result;
  }
};

uint16_t half(int value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}
uint16_t bfloat(int value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

// ---- Clusters

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

// ---- wgmma

/// A layout of a tile in shared memory, as a descriptor names it, and the place of its bytes.
struct TileLayout {
  const char *name;
  uint64_t swizzle; // of the descriptor
  uint32_t span;
  uint32_t leading, stride; // bytes
  uint64_t bits() const { return uint64_t(leading / 16) << 16 | uint64_t(stride / 16) << 32 | swizzle << 62; }
  uint32_t swizzled(uint32_t at) const {
    uint32_t chunks = span / 16; // 1: no swizzle
    return at ^ (at / 128 % chunks) * 16;
  }
  /// Byte `k` (of 32) of row `mn`.
  uint32_t row(uint32_t mn, uint32_t k) const {
    if (span == 16)
      return mn / 8 * stride + mn % 8 * 16 + k / 16 * leading + k % 16;
    return swizzled(mn / 8 * stride + mn % 8 * span + k);
  }
  /// 16-bit element `mn` of row `k`: transposed.
  uint32_t column(uint32_t mn, uint32_t k) const {
    uint32_t byte = mn * 2;
    if (span == 16)
      return byte / 16 * stride + byte % 16 + k % 8 * 16 + k / 8 * leading;
    return swizzled(byte / span * leading + byte % span + k % 8 * span + k / 8 * stride);
  }
};
const TileLayout kRowLayouts[] = {{"no swizzle", 0, 16, 128, 256},
                                  {"no swizzle, groups apart", 0, 16, 1024, 128},
                                  {"32 bytes", 3, 32, 16, 256},
                                  {"64 bytes", 2, 64, 16, 512},
                                  {"128 bytes", 1, 128, 16, 1024}};
const TileLayout kColumnLayouts[] = {{"no swizzle", 0, 16, 1024, 128},
                                     {"32 bytes", 3, 32, 512, 256},
                                     {"64 bytes", 2, 64, 1024, 512},
                                     {"128 bytes", 1, 128, 2048, 1024}};

/// Small numbers in the format of one kernel, with their values.
struct Format {
  uint32_t bytes;
  uint32_t (*encode)(int value);
  int low, high;
};
const Format kF16 = {2, [](int v) { return uint32_t(half(v)); }, -8, 8};
const Format kBF16 = {2, [](int v) { return uint32_t(bfloat(v)); }, -8, 8};
const Format kTF32 = {4, [](int v) { return std::bit_cast<uint32_t>(static_cast<float>(v)); }, -8, 8};
const Format kS8 = {1, [](int v) { return uint32_t(v) & 0xff; }, -128, 127};
const Format kU8 = {1, [](int v) { return uint32_t(v) & 0xff; }, 0, 255};
/// Powers of two and zero: exponent 7 + log2 of 4 and 3 bits, or 15 + log2 of 5 and 2.
template <int Bias, int Mantissa> uint32_t bytePower(int v) {
  uint32_t sign = v < 0 ? 0x80 : 0;
  int size = std::abs(v), exponent = size >= 4 ? 2 : size >= 2 ? 1 : 0;
  int fraction = ((size << Mantissa) >> exponent) & ((1 << Mantissa) - 1);
  return v == 0 ? 0 : sign | uint32_t(Bias + exponent) << Mantissa | uint32_t(fraction);
}
const Format kE4M3 = {1, &bytePower<7, 3>, -7, 7};
const Format kE5M2 = {1, &bytePower<15, 2>, -4, 4};

/// An image of 8 KiB of a tile of `count` rows.
std::vector<uint8_t> image(const std::vector<int> &values, uint32_t count, const Format &format,
                           const TileLayout &layout, bool transposed, uint32_t offset = 0) {
  std::vector<uint8_t> out(8192, 0x55);
  uint32_t perRow = 32 / format.bytes;
  for (uint32_t mn = 0; mn < count; ++mn)
    for (uint32_t k = 0; k < perRow; ++k) {
      uint32_t bits = format.encode(values[mn * perRow + k]);
      for (uint32_t b = 0; b < format.bytes; ++b) {
        uint32_t at = transposed ? layout.column(mn, k) + b : layout.row(mn, k * format.bytes + b + offset);
        out[at] = static_cast<uint8_t>(bits >> (8 * b));
      }
    }
  return out;
}

template <typename T>
void checkWgmma(const std::function<CUresult(CUdeviceptr, CUdeviceptr, uint64_t, uint64_t, int, CUdeviceptr, int)> &run,
                const Format &fa, const Format &fb, const TileLayout &la, const TileLayout &lb, bool ta, bool tb,
                int sign = 1, uint32_t offset = 0) {
  uint32_t k = 32 / fa.bytes;
  for (int accumulate : {0, 1}) {
    auto a = integers(64 * k, 7, fa.low, fa.high), b = integers(16 * k, 8, fb.low, fb.high);
    auto c = integers(64 * 16, 9, -100, 100);
    Array<uint8_t> da(image(a, 64, fa, la, ta, offset)), db(image(b, 16, fb, lb, tb, offset));
    Array<T> out(std::vector<T>(c.begin(), c.end()));
    ASSERT_EQ(run(da.address, db.address, la.bits(), lb.bits(), static_cast<int>(offset), out.address, accumulate),
              CUDA_SUCCESS);
    std::vector<T> want;
    for (uint32_t i = 0; i < 64; ++i)
      for (uint32_t j = 0; j < 16; ++j) {
        int sum = accumulate ? c[i * 16 + j] : 0;
        for (uint32_t t = 0; t < k; ++t)
          sum += sign * a[i * k + t] * b[j * k + t];
        want.push_back(static_cast<T>(sum));
      }
    EXPECT_EQ(out.read(), want) << "A " << la.name << ", B " << lb.name << ", offset " << offset;
  }
}

#define RUN_WGMMA                                                                                                      \
  [this](CUdeviceptr a, CUdeviceptr b, uint64_t da, uint64_t db, int offset, CUdeviceptr out, int accumulate) {        \
    return launch({1}, {128}, 16384, a, b, da, db, offset, out, accumulate);                                           \
  }

TEST_F(HopperKernels, WgmmaReadsEveryLayout) {
  TENON_KERNEL("hopper", "wgmma_f16");
  for (const TileLayout &a : kRowLayouts)
    for (const TileLayout &b : kRowLayouts)
      checkWgmma<float>(RUN_WGMMA, kF16, kF16, a, b, false, false);
}
TEST_F(HopperKernels, WgmmaStepsInsideOfASwizzle) {
  TENON_KERNEL("hopper", "wgmma_f16");
  for (uint32_t offset : {32u, 64u, 96u})
    checkWgmma<float>(RUN_WGMMA, kF16, kF16, kRowLayouts[4], kRowLayouts[4], false, false, 1, offset);
  checkWgmma<float>(RUN_WGMMA, kF16, kF16, kRowLayouts[3], kRowLayouts[3], false, false, 1, 32);
}
TEST_F(HopperKernels, WgmmaNegates) {
  TENON_KERNEL("hopper", "wgmma_f16_negative");
  checkWgmma<float>(RUN_WGMMA, kF16, kF16, kRowLayouts[4], kRowLayouts[4], false, false, -1);
}
TEST_F(HopperKernels, WgmmaTransposesA) {
  TENON_KERNEL("hopper", "wgmma_bf16_tn");
  for (const TileLayout &a : kColumnLayouts)
    checkWgmma<float>(RUN_WGMMA, kBF16, kBF16, a, kRowLayouts[4], true, false);
}
TEST_F(HopperKernels, WgmmaTransposesB) {
  TENON_KERNEL("hopper", "wgmma_bf16_nt");
  for (const TileLayout &b : kColumnLayouts)
    if (b.span <= 32) // 16 columns are 32 bytes
      checkWgmma<float>(RUN_WGMMA, kBF16, kBF16, kRowLayouts[4], b, false, true);
}
TEST_F(HopperKernels, WgmmaTf32) {
  TENON_KERNEL("hopper", "wgmma_tf32");
  checkWgmma<float>(RUN_WGMMA, kTF32, kTF32, kRowLayouts[4], kRowLayouts[3], false, false);
}
TEST_F(HopperKernels, WgmmaFloatsOfEightBits) {
  TENON_KERNEL("hopper", "wgmma_fp8");
  checkWgmma<float>(RUN_WGMMA, kE4M3, kE5M2, kRowLayouts[4], kRowLayouts[0], false, false);
}
TEST_F(HopperKernels, WgmmaIntegersOfEightBits) {
  TENON_KERNEL("hopper", "wgmma_s8");
  checkWgmma<int>(RUN_WGMMA, kS8, kU8, kRowLayouts[2], kRowLayouts[4], false, false);
}

TEST_F(HopperKernels, WgmmaTakesRegisters) {
  TENON_KERNEL("hopper", "wgmma_registers");
  auto a = integers(64 * 16, 11, -8, 8), b = integers(16 * 16, 12, -8, 8);
  std::vector<uint16_t> rows, want;
  for (int value : a)
    rows.push_back(half(value));
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < 16; ++j) {
      int sum = 0;
      for (size_t k = 0; k < 16; ++k)
        sum += a[i * 16 + k] * b[j * 16 + k];
      want.push_back(half(sum));
    }
  Array<uint16_t> da(rows), out(64 * 16);
  Array<uint8_t> db(image(b, 16, kF16, kRowLayouts[4], false));
  ASSERT_EQ(launch({1}, {128}, 8192, da.address, db.address, kRowLayouts[4].bits(), out.address), CUDA_SUCCESS);
  EXPECT_EQ(out.read(), want);
}

TEST_F(HopperKernels, GemmByTensorCopiesAndWgmma) {
  TENON_KERNEL("hopper", "gemm_tma_wgmma");
  const size_t m = 128, n = 192, k = 320;
  auto a = integers(m * k, 13, -4, 4), b = integers(n * k, 14, -4, 4);
  std::vector<uint16_t> ha, hb;
  for (int value : a)
    ha.push_back(half(value));
  for (int value : b)
    hb.push_back(half(value));
  Array<uint16_t> da(ha), db(hb);
  Array<float> dc(m * n);
  CUtensorMap ta, tb;
  auto encode = [&](CUtensorMap *map, CUdeviceptr address, size_t rows) {
    const cuuint64_t sizes[2] = {k, rows}, strides[1] = {2 * k};
    const cuuint32_t box[2] = {64, 64}, steps[2] = {1, 1};
    return driver().cuTensorMapEncodeTiled_(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void *>(address),
                                            sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                            CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  ASSERT_EQ(encode(&ta, da.address, m), CUDA_SUCCESS);
  ASSERT_EQ(encode(&tb, db.address, n), CUDA_SUCCESS);
  ASSERT_EQ(launch({n / 64, m / 64}, {160}, 32768, ta, tb, dc.address, int(n), int(k)), CUDA_SUCCESS);
  std::vector<float> want(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      int sum = 0;
      for (size_t t = 0; t < k; ++t)
        sum += a[i * k + t] * b[j * k + t];
      want[i * n + j] = static_cast<float>(sum);
    }
  EXPECT_EQ(dc.read(), want);
}

} // namespace
} // namespace tenon::kernels
