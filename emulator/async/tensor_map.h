// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensor map (CUtensorMap) and what a tensor copy does with it. A map describes a tensor of up to five dimensions
// in global memory and a box of it; a copy names the coordinates of the box's first element. The box lies dense in
// shared memory, first dimension fastest; elements outside of the tensor are filled on loads and left out on stores.
//
// With a swizzle, 16-byte chunks of shared memory change places: bits 4.. of the address are combined by exclusive or
// with bits 7.. of the same address (1, 2 or 3 bits for 32, 64 and 128 bytes), so the box has to begin at a multiple of
// 256, 512 or 1024 bytes to look the same everywhere.
//
// The 128 bytes are the driver's own business. These hold what the encoder was told, and a mark.
//
// Source: CUDA driver API, "Tensor Map Object Management"; PTX ISA, "Tensors", "tensormap.replace".
#pragma once

#include "emulator/async/async.h"

#include <cstdint>
#include <string>

namespace tenon::emulator {

class Memory;

/// In the order of CUtensorMapDataType.
enum class TensorElement : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Ftz, TF32, TF32Ftz, Count };
uint32_t tensorElementBytes(TensorElement type);
bool isFloating(TensorElement type);

inline constexpr uint32_t kTensorDimensions = 5;
inline constexpr uint32_t kTensorMapBytes = 128, kTensorMapAlignment = 64;

struct TensorMap {
  static constexpr uint32_t kMark = 0x544d4150;
  uint32_t mark = kMark;
  TensorElement type = TensorElement::U8;
  uint8_t rank = 1;
  uint8_t swizzle = 0;                   // CUtensorMapSwizzle: none, 32, 64, 128 bytes
  uint8_t fillsNan = 0;                  // out of bounds: NaN instead of zero
  uint64_t address = 0;                  // of element 0
  uint32_t last[kTensorDimensions] = {}; // size of each dimension - 1
  uint8_t step[kTensorDimensions] = {};  // elementStrides
  uint8_t interleave = 0;
  uint16_t box[kTensorDimensions] = {};
  uint64_t stride[kTensorDimensions - 1] = {}; // bytes between elements of dimension 1, 2, ..
  uint8_t unused[40] = {};
};
static_assert(sizeof(TensorMap) == kTensorMapBytes);

/// What the driver refuses in a map, or empty. The numbers are those of the program, before they are narrowed.
struct TensorRequest {
  uint32_t type, rank;
  uint64_t address;
  const uint64_t *sizes;   // [rank]
  const uint64_t *strides; // [rank - 1], bytes; may be null for rank 1
  const uint32_t *box;     // [rank]
  const uint32_t *steps;   // [rank]
  uint32_t interleave, swizzle, promotion, fill;
};
std::string checkTensorRequest(const TensorRequest &request);
TensorMap encodeTensorMap(const TensorRequest &request);

/// Elements of the box along dimension d that are copied.
uint32_t boxExtent(const TensorMap &map, uint32_t d);
uint64_t boxBytes(const TensorMap &map);
/// Whether a copy can go by these numbers, or what is wrong with them: a kernel may have made the map itself.
std::string checkTensorMap(const TensorMap &map);
/// Where a byte of the box goes: shared addresses, before and after the swizzle.
inline uint64_t swizzled(uint64_t address, uint32_t swizzle) {
  uint64_t mask = (1u << swizzle) - 1; // 0, 1, 3, 7
  return address ^ (address >> 7 & mask) << 4;
}

/// The pieces that move the box at `coordinates` [rank] between global memory and shared memory at `shared` (host
/// address; `sharedAddress` is what the program calls it). False: an element inside of the tensor is not accessible,
/// `bad` is its address.
struct TensorBox {
  const int32_t *coordinates;
  uint8_t *shared;
  uint64_t sharedAddress;
  bool isLoad;
};
bool planTensorCopy(const TensorMap &map, const TensorBox &box, const Memory &memory, CopyPlan &plan, uint64_t &bad);

} // namespace tenon::emulator
