// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executable/tensor_map.h"

#include "tests/unit/runtime/fixture.h"

#include <cstring>

namespace tenon::runtime {

using namespace tenon::test;

namespace {

struct Asked {
  CUtensorMapDataType type;
  std::vector<cuuint64_t> dims, strides;
  std::vector<cuuint32_t> box, elementStrides;
  uint64_t address = 0;
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
} asked;

CUresult record(CUtensorMap *, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *dims,
                const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *elementStrides,
                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                CUtensorMapFloatOOBfill fill) {
  asked = {type,
           {dims, dims + rank},
           {strides, strides + rank - 1},
           {box, box + rank},
           {elementStrides, elementStrides + rank},
           reinterpret_cast<uint64_t>(address),
           int(interleave),
           int(swizzle),
           int(promotion),
           int(fill)};
  return CUDA_SUCCESS;
}

CUresult refuse(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_ERROR_INVALID_VALUE;
}

abi::EncodedTensorMap declaredMap() {
  abi::EncodedTensorMap declared;
  declared.element = abi::ElementType::BF16;
  declared.map.box = {1, 8, 64};
  declared.map.elementStrides = {1, 2, 1};
  declared.map.swizzle = abi::TensorMapSwizzle::B128;
  declared.map.promotion = abi::TensorMapPromotion::L2B256;
  declared.map.fill = abi::TensorMapFill::Nans;
  return declared;
}

Status encode(const abi::EncodedTensorMap &declared, std::vector<uint64_t> extents, uint64_t address = 4096,
              uint64_t bytes = 1 << 20, TensorMapEncoder encoder = record) {
  CUtensorMap map;
  return encodeTensorMap(encoder, declared, {address, bytes}, extents, map);
}

} // namespace

TEST(TensorMap, TurnsTheShapeAround) {
  ASSERT_OK(encode(declaredMap(), {2, 100, 72}));
  EXPECT_EQ(asked.type, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(asked.dims, (std::vector<cuuint64_t>{72, 100, 2}));
  EXPECT_EQ(asked.strides, (std::vector<cuuint64_t>{144, 14400}));
  EXPECT_EQ(asked.box, (std::vector<cuuint32_t>{64, 8, 1}));
  EXPECT_EQ(asked.elementStrides, (std::vector<cuuint32_t>{1, 2, 1}));
  EXPECT_EQ(asked.address, 4096u);
  EXPECT_EQ(asked.swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_EQ(asked.promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  EXPECT_EQ(asked.fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

TEST(TensorMap, RoundsWhereThatIsDeclared) {
  abi::EncodedTensorMap declared;
  declared.map.box = {8, 32};
  ASSERT_OK(encode(declared, {100, 72}));
  EXPECT_EQ(asked.type, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  declared.map.roundsToTf32 = true;
  ASSERT_OK(encode(declared, {100, 72}));
  EXPECT_EQ(asked.type, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
}

TEST(TensorMap, NamesWhatTheDriverWouldOnlyCallInvalid) {
  EXPECT_STATUS(encode(declaredMap(), {2, 100, 72}, 4104), InvalidArgument, "begins at address 4104");
  EXPECT_STATUS(encode(declaredMap(), {2, 0, 72}), InvalidArgument, "has extent 0 along dimension 1");
  EXPECT_STATUS(encode(declaredMap(), {2, 100, 70}), InvalidArgument, "has rows of 140 bytes along dimension 2");
  EXPECT_STATUS(encode(declaredMap(), {2, 100, 72}, 4096, 28799), OutOfRange, "has 28800 bytes, the binding 28799");
  EXPECT_STATUS(encode(declaredMap(), {2, uint64_t(1) << 32, uint64_t(1) << 32}), InvalidArgument, "2^40");
  EXPECT_STATUS(encode(declaredMap(), {2, 100, 72}, 4096, 1 << 20, nullptr), Unimplemented, "cuTensorMapEncodeTiled");
  EXPECT_STATUS(encode(declaredMap(), {2, 100, 72}, 4096, 1 << 20, refuse), InvalidArgument, "refused by the driver");
}

TEST(TensorMap, AnOptionalOneIsZerosWhereTheTensorHasNone) {
  abi::EncodedTensorMap declared = declaredMap();
  declared.map.isOptional = true;
  for (auto [extents, address] : {std::pair(std::vector<uint64_t>{2, 100, 72}, uint64_t(4104)),
                                  {{2, 0, 72}, 4096},
                                  {{2, 100, 70}, 4096},
                                  {{2, 100, 0}, 4096}}) {
    CUtensorMap map;
    std::memset(&map, 0xff, sizeof map);
    ASSERT_OK(encodeTensorMap(refuse, declared, {address, 1 << 20}, extents, map));
    for (unsigned char byte : std::span(reinterpret_cast<const unsigned char *>(&map), sizeof map))
      ASSERT_EQ(byte, 0);
  }
  asked = {};
  ASSERT_OK(encode(declared, {2, 100, 72}));
  EXPECT_EQ(asked.dims.size(), 3u);
  EXPECT_STATUS(encode(declared, {2, 100, 72}, 4096, 28799), OutOfRange, "has 28800 bytes, the binding 28799");
}

} // namespace tenon::runtime
