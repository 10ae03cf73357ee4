// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/async/tensor_map.h"

#include "emulator/memory/memory.h"

#include <algorithm>

namespace tenon::emulator {
namespace {

ElementType elementType(TensorElement type) {
  switch (type) {
  case TensorElement::U8:
    return ElementType::U8;
  case TensorElement::U16:
    return ElementType::U16;
  case TensorElement::U32:
    return ElementType::U32;
  case TensorElement::S32:
    return ElementType::S32;
  case TensorElement::U64:
    return ElementType::U64;
  case TensorElement::S64:
    return ElementType::S64;
  case TensorElement::F16:
    return ElementType::F16;
  case TensorElement::BF16:
    return ElementType::BF16;
  case TensorElement::F64:
    return ElementType::F64;
  case TensorElement::F32:
  case TensorElement::F32Ftz:
  case TensorElement::TF32:
  case TensorElement::TF32Ftz:
  case TensorElement::Count:
    return ElementType::F32;
  }
  return ElementType::U8;
}

ElementOp loadOperation(TensorElement type) {
  switch (type) {
  case TensorElement::TF32:
  case TensorElement::TF32Ftz:
    return ElementOp::RoundTf32;
  default:
    return ElementOp::Copy;
  }
}

/// 0x7ff7 over and over: a NaN in every format, and what an H200 writes.
uint64_t nanOf(TensorElement type) {
  return 0x7ff77ff77ff77ff7ull >> (64 - 8 * tensorElementBytes(type));
}

std::string number(uint64_t value) {
  return std::to_string(value);
}

std::string checkSizes(const TensorRequest &r, uint32_t bytes) {
  for (uint32_t d = 0; d < r.rank; ++d) {
    if (r.sizes[d] == 0 || r.sizes[d] > 1ull << 32)
      return "globalDim[" + number(d) + "] is " + number(r.sizes[d]) + ", it has to be 1 to 2^32";
    if (r.box[d] == 0 || r.box[d] > 256)
      return "boxDim[" + number(d) + "] is " + number(r.box[d]) + ", it has to be 1 to 256";
    if (r.steps[d] == 0 || r.steps[d] > 8)
      return "elementStrides[" + number(d) + "] is " + number(r.steps[d]) + ", it has to be 1 to 8";
  }
  for (uint32_t d = 0; d + 1 < r.rank; ++d) {
    if (r.strides[d] % 16 || r.strides[d] >= 1ull << 40)
      return "globalStrides[" + number(d) + "] is " + number(r.strides[d]) +
             ", it has to be a multiple of 16 below 2^40";
    uint64_t below = d == 0 ? r.sizes[0] * bytes : r.strides[d - 1];
    if (r.strides[d] < below && d == 0)
      return "globalStrides[0] is " + number(r.strides[0]) + ", less than the " + number(below) + " bytes of a row";
  }
  return "";
}

} // namespace

uint32_t tensorElementBytes(TensorElement type) {
  return elementSize(elementType(type));
}
bool isFloating(TensorElement type) {
  return type >= TensorElement::F16;
}

std::string checkTensorRequest(const TensorRequest &r) {
  if (r.type >= static_cast<uint32_t>(TensorElement::Count))
    return "tensorDataType " + number(r.type) + " is not a type of sm_90";
  TensorElement type = static_cast<TensorElement>(r.type);
  if (r.rank == 0 || r.rank > kTensorDimensions)
    return "tensorRank is " + number(r.rank) + ", it has to be 1 to 5";
  if (!r.sizes || !r.box || !r.steps || (r.rank > 1 && !r.strides))
    return "a null array";
  if (r.address == 0 || r.address % 16)
    return "globalAddress has to be a multiple of 16";
  if (r.swizzle > 3)
    return "swizzle " + number(r.swizzle) + " is not one of sm_90";
  if (r.promotion > 3 || r.fill > 1 || r.interleave > 2)
    return "l2Promotion, oobFill or interleave is no such value";
  if (r.fill && !isFloating(type))
    return "oobFill asks for NaN in integers";
  uint32_t bytes = tensorElementBytes(type);
  if (std::string wrong = checkSizes(r, bytes); !wrong.empty())
    return wrong;
  uint32_t inner = r.box[0] * bytes, span = 16u << r.swizzle;
  if (inner % 16)
    return "a row of the box has " + number(inner) + " bytes, it has to be a multiple of 16";
  if (r.swizzle && inner > span)
    return "a row of the box has " + number(inner) + " bytes, the swizzle spans " + number(span);
  return "";
}

TensorMap encodeTensorMap(const TensorRequest &r) {
  TensorMap map;
  map.type = static_cast<TensorElement>(r.type);
  map.rank = static_cast<uint8_t>(r.rank);
  map.swizzle = static_cast<uint8_t>(r.swizzle);
  map.fillsNan = static_cast<uint8_t>(r.fill);
  map.address = r.address;
  map.interleave = static_cast<uint8_t>(r.interleave);
  for (uint32_t d = 0; d < r.rank; ++d) {
    map.last[d] = static_cast<uint32_t>(r.sizes[d] - 1);
    map.box[d] = static_cast<uint16_t>(r.box[d]);
    map.step[d] = static_cast<uint8_t>(r.steps[d]);
    if (d + 1 < r.rank)
      map.stride[d] = r.strides[d];
  }
  return map;
}

uint32_t boxExtent(const TensorMap &map, uint32_t d) {
  // Dimension 0 has no step.
  return d == 0 ? map.box[0] : (map.box[d] + map.step[d] - 1u) / map.step[d];
}

uint64_t boxBytes(const TensorMap &map) {
  uint64_t bytes = tensorElementBytes(map.type);
  for (uint32_t d = 0; d < map.rank; ++d)
    bytes *= boxExtent(map, d);
  return bytes;
}

std::string checkTensorMap(const TensorMap &map) {
  if (map.type >= TensorElement::Count)
    return "its element type is " + number(uint32_t(map.type));
  if (map.address % 16)
    return "its address is no multiple of 16";
  for (uint32_t d = 0; d < map.rank; ++d) {
    if (map.box[d] < 1 || map.box[d] > 256)
      return "extent " + number(d) + " of its box is " + number(map.box[d]);
    if (map.step[d] < 1 || map.step[d] > 8)
      return "step " + number(d) + " is " + number(map.step[d]);
    if (d + 1 < map.rank && map.stride[d] % 16)
      return "stride " + number(d) + " is no multiple of 16";
  }
  const uint32_t row = boxExtent(map, 0) * tensorElementBytes(map.type), span = 16u << map.swizzle;
  if (row % 16 || (map.swizzle && row > span))
    return "a row of its box has " + number(row) + " bytes";
  return "";
}

bool planTensorCopy(const TensorMap &map, const TensorBox &box, const Memory &memory, CopyPlan &plan, uint64_t &bad) {
  const uint32_t element = tensorElementBytes(map.type), row = boxExtent(map, 0) * element;
  if (box.isLoad)
    plan.op = loadOperation(map.type);
  // Rows shorter than what the swizzle spans begin at multiples of the span all the same.
  const uint32_t pitch = map.swizzle ? 16u << map.swizzle : row;
  plan.type = elementType(map.type);
  plan.fill = map.fillsNan ? nanOf(map.type) : 0;
  uint32_t extent[kTensorDimensions] = {1, 1, 1, 1, 1}, rows = 1;
  for (uint32_t d = 1; d < map.rank; ++d)
    rows *= extent[d] = boxExtent(map, d);
  // The part of a row inside of the tensor: bytes [low, high).
  int64_t first = box.coordinates[0], size = int64_t(map.last[0]) + 1;
  int64_t low = std::clamp<int64_t>(-first, 0, row / element) * element;
  int64_t high = std::clamp<int64_t>(size - first, 0, row / element) * element;
  high = std::max(high, low);
  auto piece = [&](uint64_t at, uint64_t global, uint32_t bytes) {
    // Chunks of 16 bytes change places, unless none does.
    while (bytes) {
      uint64_t address = box.sharedAddress + at;
      uint32_t part = map.swizzle ? std::min<uint32_t>(bytes, 16 - (address & 15)) : bytes;
      uint8_t *shared = box.shared + (swizzled(address, map.swizzle) - box.sharedAddress);
      uint8_t *host = global ? memory.host(global) : nullptr;
      if (box.isLoad)
        plan.pieces.push_back({shared, host, part});
      else
        plan.pieces.push_back({host, shared, part});
      at += part;
      global += global ? part : 0;
      bytes -= part;
    }
  };
  for (uint32_t r = 0; r < rows; ++r) {
    uint64_t global = map.address, at = static_cast<uint64_t>(r) * pitch;
    bool inside = low < high;
    for (uint32_t d = 1, rest = r; d < map.rank; rest /= extent[d++]) {
      int64_t c = int64_t(box.coordinates[d]) + int64_t(rest % extent[d]) * map.step[d];
      inside &= c >= 0 && c <= int64_t(map.last[d]);
      global += static_cast<uint64_t>(c) * map.stride[d - 1];
    }
    if (!inside) {
      if (box.isLoad)
        piece(at, 0, row);
      continue;
    }
    global += static_cast<uint64_t>(first * int64_t(element) + low);
    if (!memory.accessible(global, static_cast<uint64_t>(high - low), !box.isLoad)) {
      bad = global;
      return false;
    }
    if (box.isLoad && low)
      piece(at, 0, static_cast<uint32_t>(low));
    piece(at + static_cast<uint64_t>(low), global, static_cast<uint32_t>(high - low));
    if (box.isLoad && high < row)
      piece(at + static_cast<uint64_t>(high), 0, row - static_cast<uint32_t>(high));
  }
  return true;
}

} // namespace tenon::emulator
