// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The limits are those of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management"), which answers each
// of them with the same CUDA_ERROR_INVALID_VALUE.
#include "abi/tensor_map.h"

namespace tenon::abi {
namespace {

constexpr uint32_t kMaxBox = 256;         // elements along a dimension
constexpr uint32_t kMaxElementStride = 8; // elements
constexpr uint32_t kBoxRowAlignment = 16; // bytes
constexpr uint32_t kSwizzleBytes[] = {0, 32, 64, 128};

std::string extentsText(const std::vector<uint32_t> &values) {
  std::string out;
  for (uint32_t value : values)
    out += concat(out.empty() ? "" : "x", value);
  return out;
}

} // namespace

std::string_view spelling(TensorMapInterleave value) {
  constexpr std::string_view kNames[] = {"None", "B16", "B32"};
  return kNames[size_t(value)];
}

std::string_view spelling(TensorMapSwizzle value) {
  constexpr std::string_view kNames[] = {"None", "B32", "B64", "B128"};
  return kNames[size_t(value)];
}

std::string_view spelling(TensorMapPromotion value) {
  constexpr std::string_view kNames[] = {"None", "L2B64", "L2B128", "L2B256"};
  return kNames[size_t(value)];
}

std::string_view spelling(TensorMapFill value) {
  return value == TensorMapFill::Nans ? "Nans" : "Zeros";
}

std::string TensorMap::toString(ElementType element) const {
  std::string out = concat("binding ", binding, ", ", extentsText(box), box.empty() ? "" : "x",
                           roundsToTf32 ? "tf32" : spelling(element));
  if (!elementStrides.empty())
    out += concat(", strides ", extentsText(elementStrides));
  if (interleave != TensorMapInterleave::None)
    out += concat(", interleave ", spelling(interleave));
  if (swizzle != TensorMapSwizzle::None)
    out += concat(", swizzle ", spelling(swizzle));
  if (promotion != TensorMapPromotion::None)
    out += concat(", promotion ", spelling(promotion));
  if (fill != TensorMapFill::Zeros)
    out += concat(", fill ", spelling(fill));
  if (isOptional)
    out += ", optional";
  return out;
}

Status checkTensorMap(const TensorMap &map, ElementType element) {
  auto invalid = [](auto... words) { return makeError(StatusCode::InvalidArgument, words...); };
  if (map.mode != TensorMapMode::Tiled)
    return makeError(StatusCode::Unimplemented,
                     "a tensor map in im2col mode is not supported: take a tiled one, or pass the map as a "
                     "constant without \"tensor_map\", encoded by the caller");
  if (element == ElementType::I1 || element == ElementType::Index)
    return invalid("a tensor map has no elements of type ", spelling(element));
  const size_t rank = map.rank();
  if (rank == 0 || rank > kMaxTensorMapRank)
    return invalid("the box of a tensor map has ", rank, " dimensions, possible are 1 to ", kMaxTensorMapRank);
  for (uint32_t extent : map.box)
    if (extent == 0 || extent > kMaxBox)
      return invalid("the box of a tensor map is ", extentsText(map.box), ", each extent may be 1 to ", kMaxBox);
  if (!map.elementStrides.empty() && map.elementStrides.size() != rank)
    return invalid("a tensor map has ", map.elementStrides.size(), " element strides, its box ", rank, " dimensions");
  for (uint32_t stride : map.elementStrides)
    if (stride == 0 || stride > kMaxElementStride)
      return invalid("the element strides of a tensor map are ", extentsText(map.elementStrides), ", each may be 1 to ",
                     kMaxElementStride);
  if (map.interleave != TensorMapInterleave::None && rank < 3)
    return invalid("an interleaved tensor map has 3 dimensions or more, this one ", rank);
  if (map.interleave == TensorMapInterleave::B32 && map.swizzle != TensorMapSwizzle::B32)
    return invalid("a tensor map of interleave B32 has swizzle B32, this one ", spelling(map.swizzle));
  const uint32_t rowBytes = map.box.back() * byteSize(element);
  if (map.interleave == TensorMapInterleave::None && rowBytes % kBoxRowAlignment != 0)
    return invalid("the last extent of a tensor map's box is ", map.box.back(), " elements of ", spelling(element),
                   ", ", rowBytes, " bytes: make it a multiple of ", kBoxRowAlignment, " bytes");
  const uint32_t span = kSwizzleBytes[size_t(map.swizzle)];
  if (map.interleave == TensorMapInterleave::None && span != 0 && rowBytes > span)
    return invalid("the last extent of a tensor map's box is ", rowBytes, " bytes, swizzle ", spelling(map.swizzle),
                   " takes at most ", span);
  if (map.roundsToTf32 && element != ElementType::F32)
    return invalid("a tensor map of ", spelling(element), " cannot round to tf32, which is for f32");
  if (map.fill == TensorMapFill::Nans && !isFloat(element))
    return invalid("a tensor map of ", spelling(element), " cannot be filled with NaNs");
  return okStatus();
}

} // namespace tenon::abi
