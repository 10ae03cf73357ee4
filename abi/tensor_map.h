// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor map: 128 bytes by value that tell the tensor memory accelerator (sm_90 and later) how a tensor lies in
// global memory and which box of it one copy moves. A kernel takes it as `const __grid_constant__ CUtensorMap`.
//
// A declaration says what the kernel was written for: the binding, the box, the swizzle. What differs from call to call
// (address, extents) comes with the dispatch, and the runtime encodes the map from both. Specification:
// abi/kernel_abi.md, "Tensor maps" and K-22.
#pragma once

#include "abi/element_type.h"
#include "support/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::abi {

inline constexpr size_t kMaxTensorMapRank = 5;

// In the driver's numbers (CUtensorMapInterleave and so on), which are frozen in files too.
enum class TensorMapMode : uint8_t { Tiled, Im2col };
enum class TensorMapInterleave : uint8_t { None, B16, B32 };
enum class TensorMapSwizzle : uint8_t { None, B32, B64, B128 };
enum class TensorMapPromotion : uint8_t { None, L2B64, L2B128, L2B256 };
enum class TensorMapFill : uint8_t { Zeros, Nans };

struct TensorMap {
  TensorMapMode mode = TensorMapMode::Tiled;
  uint32_t binding = 0;                 // whose memory it describes
  std::vector<uint32_t> box;            // [rank] elements, in the order of the tensor's shape: the last is contiguous
  std::vector<uint32_t> elementStrides; // [rank], or empty: every element
  TensorMapInterleave interleave = TensorMapInterleave::None;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  TensorMapPromotion promotion = TensorMapPromotion::None;
  TensorMapFill fill = TensorMapFill::Zeros; // what is read outside the tensor
  // Where the address or rows of a call are not aligned: the kernel gets a map of zeros, and has tested that itself.
  bool isOptional = false;
  // f32 become tf32 as they are copied to shared memory: rounded to 10 bits of mantissa, as tensor cores read them.
  bool roundsToTf32 = false;
  bool operator==(const TensorMap &) const = default;

  size_t rank() const { return box.size(); }
  /// Bytes that the tensor's address is a multiple of.
  uint32_t alignment() const { return interleave == TensorMapInterleave::B32 ? 32 : 16; }
  /// "binding 0, 64x32xf16, swizzle B128"; of f32 that are rounded, "64x32xtf32".
  std::string toString(ElementType element) const;
};

/// K-22 (the caller's message says so), as far as it is about the map alone: what cuTensorMapEncodeTiled would refuse
/// at every call.
/// @return InvalidArgument, or Unimplemented for im2col, with what was found and what is possible.
Status checkTensorMap(const TensorMap &map, ElementType element);

/// "B128", for enumerators of any of the kinds above.
std::string_view spelling(TensorMapInterleave value);
std::string_view spelling(TensorMapSwizzle value);
std::string_view spelling(TensorMapPromotion value);
std::string_view spelling(TensorMapFill value);

} // namespace tenon::abi
