// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma: the kernels of hopper.cu against the host. The layouts of shared memory are worked out here a second time,
// element by element. Inputs are small integers, so that every sum is exact.
#include "tests/kernels/hopper_testing.h"

#include <bit>
#include <functional>

namespace tenon::kernels {
namespace {

uint16_t half(int value) {
  return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
}
uint16_t bfloat(int value) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16);
}

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
