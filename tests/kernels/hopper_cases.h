// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor loads whose shared memory is compared with the host and recorded on a GPU: one table for hopper_test.cpp and
// tests/golden/hopper.cpp. The tensor has rows of 256 bytes, 40 of them, and its bytes follow from their place
// (tensorBytes).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tenon::kernels {

inline constexpr uint32_t kTensorRowBytes = 256, kTensorRows = 40, kDumpBytes = 8192;

struct TensorCase {
  const char *name;
  CUtensorMapDataType type;
  uint32_t elementBytes;
  CUtensorMapSwizzle swizzle;
  uint32_t boxX, boxY; // elements
  int x, y;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  uint32_t stepY = 1;
  // Elements of one row that are copied times rows: what the mbarrier hears of.
  uint32_t bytes() const { return boxX * elementBytes * ((boxY + stepY - 1) / stepY); }
};

inline const std::vector<TensorCase> &tensorCases() {
  constexpr CUtensorMapFloatOOBfill kNan = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  constexpr CUtensorMapFloatOOBfill kZero = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  static const std::vector<TensorCase> cases = {
      {"u8_none", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, CU_TENSOR_MAP_SWIZZLE_NONE, 48, 20, 16, 3},
      {"u8_32b", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, CU_TENSOR_MAP_SWIZZLE_32B, 32, 32, 16, 3},
      {"u8_64b", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, CU_TENSOR_MAP_SWIZZLE_64B, 64, 32, 16, 3},
      {"u8_128b", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, CU_TENSOR_MAP_SWIZZLE_128B, 128, 32, 16, 3},
      {"f16_none", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_NONE, 64, 16, 8, 2},
      {"f16_32b", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_32B, 16, 16, 8, 2},
      {"f16_64b", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_64B, 32, 16, 8, 2},
      {"f16_128b", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_128B, 64, 16, 8, 2},
      {"bf16_128b", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_128B, 64, 8, 0, 0},
      {"f32_32b", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, CU_TENSOR_MAP_SWIZZLE_32B, 8, 16, 4, 1},
      {"f32_64b", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, CU_TENSOR_MAP_SWIZZLE_64B, 16, 16, 4, 1},
      {"f32_128b", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, CU_TENSOR_MAP_SWIZZLE_128B, 32, 16, 4, 1},
      {"f64_128b", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, CU_TENSOR_MAP_SWIZZLE_128B, 16, 16, 2, 1},
      {"u64_128b", CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, CU_TENSOR_MAP_SWIZZLE_128B, 16, 16, 2, 1},
      // Rows of the box shorter than the swizzle.
      {"f16_64b_short", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_64B, 16, 16, 0, 0},
      {"f16_128b_short", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_128B, 32, 16, 0, 0},
      {"f32_128b_shortest", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, CU_TENSOR_MAP_SWIZZLE_128B, 4, 16, 0, 0},
      // Partly and wholly outside of the tensor. Along a row a box begins at a multiple of 16 bytes, outside too.
      {"u8_outside_low", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, CU_TENSOR_MAP_SWIZZLE_NONE, 32, 8, -16, -3},
      {"u8_outside_high", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, CU_TENSOR_MAP_SWIZZLE_NONE, 32, 8, 240, 36},
      {"f16_outside_zero", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_128B, 64, 16, 104, 30, kZero},
      {"f16_outside_nan", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_128B, 64, 16, -8, -4, kNan},
      {"bf16_outside_nan", CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_NONE, 64, 8, -16, -4, kNan},
      {"f32_outside_nan", CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, CU_TENSOR_MAP_SWIZZLE_64B, 16, 8, 60, 38, kNan},
      {"f64_outside_nan", CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, CU_TENSOR_MAP_SWIZZLE_NONE, 4, 4, 30, 38, kNan},
      {"f16_nowhere", CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, CU_TENSOR_MAP_SWIZZLE_NONE, 16, 8, 504, 0},
      // Every second, every third row.
      {"u8_step2", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, CU_TENSOR_MAP_SWIZZLE_NONE, 32, 16, 0, 1, kZero, 2},
      {"u8_step3", CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, CU_TENSOR_MAP_SWIZZLE_NONE, 32, 16, 0, 1, kZero, 3},
      // Types that change numbers on their way.
      {"f32_flushed", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4, CU_TENSOR_MAP_SWIZZLE_NONE, 64, 8, 0, 0},
      {"tf32", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, CU_TENSOR_MAP_SWIZZLE_NONE, 64, 8, 0, 0},
      {"tf32_flushed", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4, CU_TENSOR_MAP_SWIZZLE_NONE, 64, 8, 0, 0}};
  return cases;
}

/// The tensor. Where a type changes numbers, the numbers for which that matters: subnormals, ties, both signs.
inline std::vector<uint8_t> tensorBytes(const TensorCase &tensor) {
  std::vector<uint8_t> bytes(kTensorRowBytes * kTensorRows);
  bool changes = tensor.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ ||
                 tensor.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 || tensor.type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
  for (uint32_t k = 0; k < bytes.size(); ++k)
    bytes[k] = static_cast<uint8_t>(k * 7 + k / 256 * 31 + k / 2048);
  if (!changes)
    return bytes;
  constexpr uint32_t kEdges[] = {0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3f800fff, 0x3f801000,
                                 0x3f801001, 0x3f803000, 0xbf801000, 0xbf803000, 0x7f7fffff, 0x7f800000,
                                 0xff800000, 0x7fc12345, 0x00001000, 0x80003000};
  for (uint32_t k = 0; k < bytes.size() / 4; ++k) {
    uint32_t value = kEdges[k % 16] + (k / 16 % 8 << 13 & (k % 16 < 11 ? 0xffffffff : 0));
    memcpy(&bytes[4 * k], &value, 4);
  }
  return bytes;
}

/// The map of a case on a tensor at `address`.
inline CUresult encodeCase(decltype(&::cuTensorMapEncodeTiled) encode, const TensorCase &tensor, uint64_t address,
                           CUtensorMap *map) {
  cuuint64_t sizes[2] = {kTensorRowBytes / tensor.elementBytes, kTensorRows}, strides[1] = {kTensorRowBytes};
  cuuint32_t box[2] = {tensor.boxX, tensor.boxY}, steps[2] = {1, tensor.stepY};
  return encode(map, tensor.type, 2, reinterpret_cast<void *>(address), sizes, strides, box, steps,
                CU_TENSOR_MAP_INTERLEAVE_NONE, tensor.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, tensor.fill);
}

} // namespace tenon::kernels
