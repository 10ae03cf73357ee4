// Tensor maps: what the encoder refuses, where a box goes.
#include "emulator/memory.h"
#include "emulator/tensor_map.h"
#include "tests/unit/emulator/harness.h"

#include <functional>

namespace tenon::emulator::test {
namespace {

struct Arguments {
  CUtensorMap map;
  int mapOffset = 0;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  cuuint32_t rank = 2;
  uint64_t address = 0x10000;
  cuuint64_t sizes[5] = {64, 64, 1, 1, 1}, strides[4] = {128, 8192, 8192, 8192};
  cuuint32_t box[5] = {64, 16, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  CUresult encode() {
    char *at = reinterpret_cast<char *>(&map) + mapOffset;
    return cuTensorMapEncodeTiled(reinterpret_cast<CUtensorMap *>(at), type, rank, reinterpret_cast<void *>(address),
                                  sizes, strides, box, steps, interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  fill);
  }
};

TEST(EmulatorTensorMap, RefusesWhatADriverRefuses) {
  Session session;
  EXPECT_EQ(Arguments().encode(), CUDA_SUCCESS);
  struct Refused {
    const char *what;
    std::function<void(Arguments &)> change;
    CUresult code = CUDA_ERROR_INVALID_VALUE;
  };
  const Refused cases[] = {
      {"map not aligned", [](Arguments &a) { a.mapOffset = 16; }},
      {"no dimension", [](Arguments &a) { a.rank = 0; }},
      {"six dimensions", [](Arguments &a) { a.rank = 6; }},
      {"address not aligned", [](Arguments &a) { a.address += 8; }},
      {"type", [](Arguments &a) { a.type = static_cast<CUtensorMapDataType>(99); }},
      {"no elements", [](Arguments &a) { a.sizes[1] = 0; }},
      {"too many elements", [](Arguments &a) { a.sizes[1] = (1ull << 32) + 1; }},
      {"stride not a multiple of 16", [](Arguments &a) { a.strides[0] = 136; }},
      {"stride too large", [](Arguments &a) { a.strides[0] = 1ull << 40; }},
      {"empty box", [](Arguments &a) { a.box[1] = 0; }},
      {"large box", [](Arguments &a) { a.box[1] = 257; }},
      {"row of 8 bytes", [](Arguments &a) { a.box[0] = 4; }},
      {"row longer than the swizzle", [](Arguments &a) { a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }},
      {"step 0", [](Arguments &a) { a.steps[1] = 0; }},
      {"step 9", [](Arguments &a) { a.steps[1] = 9; }},
      {"NaN for integers",
       [](Arguments &a) {
         a.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
         a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
       }},
      {"interleaved", [](Arguments &a) { a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; }, CUDA_ERROR_NOT_SUPPORTED}};
  for (const Refused &refused : cases) {
    Arguments arguments;
    refused.change(arguments);
    EXPECT_EQ(arguments.encode(), refused.code) << refused.what;
  }
  // What only looks wrong.
  Arguments odd;
  odd.sizes[0] = 63;
  odd.sizes[1] = 1ull << 32;
  odd.box[1] = 256;
  odd.steps[1] = 8;
  EXPECT_EQ(odd.encode(), CUDA_SUCCESS);
}

TEST(EmulatorTensorMap, ReplacesTheAddress) {
  Session session;
  Arguments arguments;
  ASSERT_EQ(arguments.encode(), CUDA_SUCCESS);
  EXPECT_EQ(cuTensorMapReplaceAddress(&arguments.map, reinterpret_cast<void *>(0x20000)), CUDA_SUCCESS);
  TensorMap map;
  memcpy(&map, &arguments.map, sizeof map);
  EXPECT_EQ(map.address, 0x20000u);
  EXPECT_EQ(cuTensorMapReplaceAddress(&arguments.map, reinterpret_cast<void *>(0x20008)), CUDA_ERROR_INVALID_VALUE);
  CUtensorMap nothing = {};
  EXPECT_EQ(cuTensorMapReplaceAddress(&nothing, reinterpret_cast<void *>(0x20000)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTensorMapEncodeIm2col(&arguments.map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, nullptr, nullptr, nullptr,
                                    nullptr, nullptr, 1, 1, nullptr, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST(EmulatorTensorMap, SwizzlesChunksByTheirAddress) {
  // The first lines of each pattern, by hand: which chunk of 16 bytes stands at chunk 0, 1, 2, .. of a line.
  EXPECT_EQ(swizzled(0x400, 0), 0x400u);
  EXPECT_EQ(swizzled(0x400, 3), 0x400u);
  EXPECT_EQ(swizzled(0x480, 3), 0x490u);
  EXPECT_EQ(swizzled(0x4b3, 3), 0x4a3u);
  EXPECT_EQ(swizzled(0x7f0, 3), 0x780u);
  EXPECT_EQ(swizzled(0x480, 1), 0x490u);
  EXPECT_EQ(swizzled(0x500, 1), 0x500u);
  EXPECT_EQ(swizzled(0x580, 2), 0x5b0u);
  EXPECT_EQ(swizzled(0x600, 2), 0x600u);
  for (uint32_t mode = 0; mode < 4; ++mode)
    for (uint64_t at = 0; at < 4096; ++at)
      EXPECT_EQ(swizzled(swizzled(at, mode), mode), at);
}

} // namespace
} // namespace tenon::emulator::test
