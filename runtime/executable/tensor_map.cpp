// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From Tenon's order (shape, outermost first) to the driver's (innermost first).
#include "runtime/executable/tensor_map.h"

#include <algorithm>
#include <array>

namespace tenon::runtime {

static_assert(int(abi::TensorMapInterleave::B32) == CU_TENSOR_MAP_INTERLEAVE_32B);
static_assert(int(abi::TensorMapSwizzle::B128) == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(int(abi::TensorMapPromotion::L2B256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(int(abi::TensorMapFill::Nans) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

namespace {

constexpr uint64_t kMaxExtent = uint64_t(1) << 32;
constexpr uint64_t kMaxStrideBytes = uint64_t(1) << 40; // below

CUtensorMapDataType dataType(const abi::EncodedTensorMap &declared) {
  if (declared.map.roundsToTf32)
    return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  switch (declared.element) {
  case abi::ElementType::I8:
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  case abi::ElementType::I16:
    return CU_TENSOR_MAP_DATA_TYPE_UINT16;
  case abi::ElementType::I32:
    return CU_TENSOR_MAP_DATA_TYPE_INT32;
  case abi::ElementType::I64:
    return CU_TENSOR_MAP_DATA_TYPE_INT64;
  case abi::ElementType::F16:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  case abi::ElementType::BF16:
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  case abi::ElementType::F64:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  case abi::ElementType::F32:
  case abi::ElementType::I1:    // refused with the declaration
  case abi::ElementType::Index: // likewise
    break;
  }
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

std::string extentsText(std::span<const uint64_t> extents) {
  std::string text;
  for (uint64_t extent : extents)
    text += concat(text.empty() ? "" : "x", extent);
  return text;
}

/// Whether address and rows are aligned, and there is an element.
bool canBeDescribed(const abi::EncodedTensorMap &declared, DeviceRange range, std::span<const uint64_t> extents) {
  const uint32_t alignment = declared.map.alignment();
  // Rows of the other dimensions are multiples of the innermost ones.
  const bool hasRows = extents.size() > 1;
  return range.address % alignment == 0 && std::ranges::find(extents, uint64_t(0)) == extents.end() &&
         (!hasRows || extents.back() * abi::byteSize(declared.element) % alignment == 0);
}

} // namespace

CUresult encodeNoTensorMap(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                           const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                           CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_SUCCESS;
}

Status encodeTensorMap(TensorMapEncoder encode, const abi::EncodedTensorMap &declared, DeviceRange range,
                       std::span<const uint64_t> extents, CUtensorMap &out) {
  const abi::TensorMap &map = declared.map;
  if (!encode)
    return makeError(StatusCode::Unimplemented,
                     "[K-22] this driver has no cuTensorMapEncodeTiled (12.0 and later have it)");
  const std::string what = concat("[K-22] the tensor map of binding ", map.binding, ", ", extentsText(extents), "x",
                                  abi::spelling(declared.element));
  const uint32_t alignment = map.alignment();
  if (map.isOptional && !canBeDescribed(declared, range, extents)) {
    out = {};
    return okStatus();
  }
  if (range.address % alignment != 0)
    return makeError(StatusCode::InvalidArgument, what, ", begins at address ", range.address,
                     ", expected a multiple of ", alignment);

  const size_t rank = map.rank();
  std::array<cuuint64_t, abi::kMaxTensorMapRank> dims = {}, strides = {};
  std::array<cuuint32_t, abi::kMaxTensorMapRank> box = {}, elementStrides = {};
  uint64_t bytes = abi::byteSize(declared.element);
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = rank - 1 - i;
    const uint64_t extent = extents[axis];
    if (extent == 0 || extent > kMaxExtent)
      return makeError(StatusCode::InvalidArgument, what, ", has extent ", extent, " along dimension ", axis,
                       ", possible are 1 to ", kMaxExtent);
    dims[i] = extent;
    box[i] = map.box[axis];
    elementStrides[i] = map.elementStrides.empty() ? 1 : map.elementStrides[axis];
    if (__builtin_mul_overflow(bytes, extent, &bytes) || (i + 1 < rank && bytes >= kMaxStrideBytes))
      return makeError(StatusCode::InvalidArgument, what, ", has rows of 2^40 bytes or more along dimension ", axis);
    if (i + 1 == rank)
      break;
    strides[i] = bytes; // of the next dimension; that of the first is the element
    if (bytes % alignment != 0)
      return makeError(StatusCode::InvalidArgument, what, ", has rows of ", bytes, " bytes along dimension ", axis,
                       ", expected a multiple of ", alignment, ": pad the tensor");
  }
  if (bytes > range.bytes)
    return makeError(StatusCode::OutOfRange, what, ", has ", bytes, " bytes, the binding ", range.bytes);

  const CUresult result =
      encode(&out, dataType(declared), static_cast<cuuint32_t>(rank), reinterpret_cast<void *>(range.address),
             dims.data(), strides.data(), box.data(), elementStrides.data(),
             static_cast<CUtensorMapInterleave>(map.interleave), static_cast<CUtensorMapSwizzle>(map.swizzle),
             static_cast<CUtensorMapL2promotion>(map.promotion), static_cast<CUtensorMapFloatOOBfill>(map.fill));
  if (result != CUDA_SUCCESS)
    return makeError(StatusCode::InvalidArgument, what, ", is refused by the driver: cuTensorMapEncodeTiled answers ",
                     int(result), " (declared: ", map.toString(declared.element), ")");
  return okStatus();
}

} // namespace tenon::runtime
