// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/async/bulk.h"

#include "emulator/async/tensor_map.h"
#include "emulator/check/range_check.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/machine/grid.h"
#include "emulator/machine/lanes.h"
#include "emulator/memory/memory.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

constexpr uint32_t kMbarrierBytes = 8;

ElementOp operationOf(int64_t packed) {
  return static_cast<ElementOp>(packed & 0xff);
}
ElementType typeOf(int64_t packed) {
  return static_cast<ElementType>(packed >> 8 & 0xff);
}

/// One copy's ends in shared memory and on an mbarrier: its own, or those of each block of a multicast.
struct Target {
  uint64_t shared, mbarrier;
};
std::vector<Target> targetsOf(Warp &warp, uint64_t shared, uint64_t mbarrier, uint32_t maskOperand, uint32_t lane) {
  if (maskOperand == kNoOperand)
    return {{shared, mbarrier}};
  std::vector<Target> targets;
  uint32_t blocks = at<uint16_t>(warp, maskOperand)[lane];
  auto inBlock = [](uint64_t address, uint64_t rank) {
    return (address & ~(0xffull << kClusterRankShift)) | rank << kClusterRankShift;
  };
  for (; blocks; blocks &= blocks - 1) {
    uint64_t rank = static_cast<uint64_t>(__builtin_ctz(blocks));
    targets.push_back({inBlock(shared, rank), inBlock(mbarrier, rank)});
  }
  return targets;
}

uint64_t *mbarrierAt(Warp &warp, const Decoded &i, uint32_t lane, uint64_t address) {
  if (address - kSharedWindow >= kWindowBytes) {
    raiseFault(warp, i, lane, CUDA_ERROR_ILLEGAL_ADDRESS,
               "the mbarrier of an asynchronous copy is not in shared memory");
    return nullptr;
  }
  return reinterpret_cast<uint64_t *>(
      rangeAt(warp, i, lane, address, {kMbarrierBytes, kMbarrierBytes, true, "the mbarrier of an asynchronous copy"}));
}

bool bulkCopyLane(Warp &warp, const Decoded &i, uint32_t lane) {
  const uint32_t *o = vectorOperands(warp, i);
  uint64_t destination = at<uint64_t>(warp, o[0])[lane], source = at<uint64_t>(warp, o[1])[lane];
  uint32_t bytes = at<uint32_t>(warp, o[2])[lane];
  if (bytes % 16) {
    raiseFault(warp, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "a bulk copy of " + std::to_string(bytes) + " bytes, which is not a multiple of 16");
    return false;
  }
  if (!bytes)
    return true;
  const uint8_t *from = rangeAt(warp, i, lane, source, {bytes, 16, false, "the source of a bulk copy"});
  if (!from)
    return false;
  uint64_t mbarrier = o[3] == kNoOperand ? 0 : at<uint64_t>(warp, o[3])[lane];
  for (const Target &target : targetsOf(warp, destination, mbarrier, o[4], lane)) {
    CopyPlan plan;
    plan.op = operationOf(i.imm);
    plan.type = typeOf(i.imm);
    uint8_t *to = rangeAt(warp, i, lane, target.shared, {bytes, 16, true, "the destination of a bulk copy"});
    if (!to)
      return false;
    plan.pieces.push_back({to, from, bytes});
    if (target.mbarrier) {
      plan.mbarrier = mbarrierAt(warp, i, lane, target.mbarrier);
      plan.mbarrierBytes = bytes;
      if (!plan.mbarrier)
        return false;
    }
    if (!submit(warp, i, lane, std::move(plan)))
      return false;
  }
  return true;
}

bool readMap(Warp &warp, const Decoded &i, uint32_t lane, uint64_t address, TensorMap &map) {
  const uint8_t *bytes =
      rangeAt(warp, i, lane, address, {kTensorMapBytes, kTensorMapAlignment, false, "the tensor map"});
  if (!bytes)
    return false;
  memcpy(&map, bytes, sizeof map);
  if (map.mark == TensorMap::kMark && map.rank >= 1 && map.rank <= kTensorDimensions && map.swizzle <= 3)
    return true;
  raiseFault(warp, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
             "the 128 bytes given as a tensor map are none that cuTensorMapEncodeTiled made");
  return false;
}

/// What a reduction of a tensor's elements may be (PTX ISA, "cp.reduce.async.bulk.tensor").
bool isReduction(ElementOp op, TensorElement type) {
  bool isHalf = type == TensorElement::F16 || type == TensorElement::BF16;
  bool is32 = type == TensorElement::U32 || type == TensorElement::S32;
  bool is64 = type == TensorElement::U64 || type == TensorElement::S64;
  switch (op) {
  case ElementOp::Add:
    return is32 || isHalf || type == TensorElement::U64 || type == TensorElement::F32 ||
           type == TensorElement::F32Ftz || type == TensorElement::F64;
  case ElementOp::Min:
  case ElementOp::Max:
    return is32 || is64 || isHalf;
  case ElementOp::Inc:
  case ElementOp::Dec:
    return type == TensorElement::U32;
  case ElementOp::And:
  case ElementOp::Or:
  case ElementOp::Xor:
    return is32 || is64;
  default:
    return op == ElementOp::Copy;
  }
}

/// What a launch declares read-only is no target of a map either.
bool mayWrite(Warp &warp, const Decoded &i, uint32_t lane, const CopyPlan &plan) {
  if (warp.executor->launch->readOnly.empty())
    return true;
  const uint64_t bias = warp.executor->memory->hostBias();
  return std::all_of(plan.pieces.begin(), plan.pieces.end(), [&](const CopyPiece &piece) {
    return rangeAt(warp, i, lane, reinterpret_cast<uint64_t>(piece.to) - bias,
                   {piece.bytes, 1, true, "the tensor of a tensor copy"}) != nullptr;
  });
}

bool tensorCopyLane(Warp &warp, const Decoded &i, uint32_t lane) {
  const uint32_t *o = vectorOperands(warp, i);
  TensorMap map;
  if (!readMap(warp, i, lane, at<uint64_t>(warp, o[0])[lane], map))
    return false;
  auto refuse = [&](int code, const std::string &why) {
    raiseFault(warp, i, lane, code, why);
    return false;
  };
  if (map.rank != i.flag)
    return refuse(CUDA_ERROR_ILLEGAL_INSTRUCTION, "the instruction names " + std::to_string(i.flag) +
                                                      " coordinates, the tensor map has " + std::to_string(map.rank) +
                                                      " dimensions");
  if (const std::string wrong = checkTensorMap(map); !wrong.empty())
    return refuse(CUDA_ERROR_ILLEGAL_INSTRUCTION, "the tensor map cannot be used: " + wrong);
  if (!isReduction(operationOf(i.imm), map.type))
    return refuse(CUDA_ERROR_ILLEGAL_INSTRUCTION, "the tensor map's elements do not know this reduction");
  if (map.interleave)
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulator does not support interleaved tensor maps");
  int32_t coordinates[kTensorDimensions] = {};
  for (uint32_t d = 0; d < map.rank; ++d)
    coordinates[d] = at<int32_t>(warp, o[4 + d])[lane];
  bool isLoad = o[2] != kNoOperand;
  uint64_t shared = at<uint64_t>(warp, o[1])[lane], mbarrier = isLoad ? at<uint64_t>(warp, o[2])[lane] : 0;
  const uint32_t element = tensorElementBytes(map.type), row = boxExtent(map, 0) * element;
  const uint64_t bytes = boxBytes(map);
  const uint32_t pitch = map.swizzle ? 16u << map.swizzle : row;
  if (int64_t(coordinates[0]) * element % 16)
    return refuse(CUDA_ERROR_ILLEGAL_INSTRUCTION, "along a row the box does not begin at a multiple of 16 bytes");
  // A box may reach out of the tensor on every side when it is loaded, when it is written not at its first corner (CUDA
  // programming guide, "Tensor memory access"; an H200 answers 715).
  for (uint32_t d = 0; !isLoad && d < map.rank; ++d)
    if (coordinates[d] < 0)
      return refuse(CUDA_ERROR_ILLEGAL_INSTRUCTION,
                    "a box that is written to a tensor begins at " + std::to_string(coordinates[d]) + " in dimension " +
                        std::to_string(d) + ": only boxes that are loaded may begin at negative coordinates");
  for (const Target &target : targetsOf(warp, shared, mbarrier, o[3], lane)) {
    CopyPlan plan;
    plan.op = operationOf(i.imm);
    uint8_t *box =
        rangeAt(warp, i, lane, target.shared, {bytes / row * pitch, 128, isLoad, "the box of a tensor copy"});
    uint64_t bad = 0;
    if (!box)
      return false;
    auto lock = exclusively(*warp.executor); // to look up rows; they are copied without it
    if (!planTensorCopy(map, {coordinates, box, target.shared, isLoad}, *warp.executor->memory, plan, bad)) {
      rangeAt(warp, i, lane, bad, {1, 1, !isLoad, "the tensor of a tensor copy"});
      return refuse(CUDA_ERROR_ILLEGAL_ADDRESS, "a row of the tensor leaves its allocation");
    }
    if (lock)
      lock.unlock();
    if (!isLoad && !mayWrite(warp, i, lane, plan))
      return false;
    if (isLoad) {
      plan.mbarrier = mbarrierAt(warp, i, lane, target.mbarrier);
      plan.mbarrierBytes = static_cast<uint32_t>(bytes);
      if (!plan.mbarrier)
        return false;
    }
    if (!submit(warp, i, lane, std::move(plan)))
      return false;
  }
  return true;
}

bool storeAsyncLane(Warp &warp, const Decoded &i, uint32_t lane) {
  const uint32_t *o = vectorOperands(warp, i);
  ElementType type = typeOf(i.imm);
  uint32_t size = elementSize(type), bytes = size * i.flag;
  uint8_t *to = rangeAt(warp, i, lane, at<uint64_t>(warp, o[0])[lane],
                        {bytes, bytes, true, "the destination of an asynchronous store"});
  if (!to)
    return false;
  CopyPlan plan;
  plan.op = operationOf(i.imm);
  plan.type = type;
  plan.mbarrier = mbarrierAt(warp, i, lane, at<uint64_t>(warp, o[1])[lane]);
  plan.mbarrierBytes = bytes;
  if (!plan.mbarrier)
    return false;
  // The values are in registers: they are read now.
  for (uint32_t k = 0; k < i.flag; ++k) {
    const uint8_t *value = at<uint8_t>(warp, o[2 + k]) + lane * size;
    plan.buffer.insert(plan.buffer.end(), value, value + size);
  }
  plan.isRead = true;
  plan.pieces.push_back({to, to, bytes});
  return submit(warp, i, lane, std::move(plan));
}

template <bool (*Lane)(Warp &, const Decoded &, uint32_t)> void eachLane(Warp &warp, const Decoded &i, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    if (!Lane(warp, i, static_cast<uint32_t>(__builtin_ctz(rest))))
      return;
}

void commitBulk(Warp &warp, const Decoded &, uint32_t mask) {
  commitBulkGroup(warp, mask);
}
void waitBulk(Warp &warp, const Decoded &i, uint32_t mask) {
  waitBulkGroup(warp, mask, static_cast<uint32_t>(i.imm), i.flag != 0);
}

/// The element types of tensormap.replace are numbered otherwise than the driver's.
constexpr TensorElement kReplaceTypes[] = {
    TensorElement::U8,   TensorElement::U16,  TensorElement::U32,    TensorElement::S32,    TensorElement::U64,
    TensorElement::S64,  TensorElement::F16,  TensorElement::F32,    TensorElement::F32Ftz, TensorElement::F64,
    TensorElement::BF16, TensorElement::TF32, TensorElement::TF32Ftz};

bool replaceField(TensorMap &map, TensorField field, uint32_t ordinal, uint64_t value) {
  switch (field) {
  case TensorField::Address:
    map.address = value;
    return value % 16 == 0;
  case TensorField::Rank: // one less
    map.rank = static_cast<uint8_t>(value + 1);
    return value < kTensorDimensions;
  case TensorField::Box:
    map.box[ordinal] = static_cast<uint16_t>(value);
    return value >= 1 && value <= 256;
  case TensorField::Size:
    map.last[ordinal] = static_cast<uint32_t>(value - 1);
    return value != 0;
  case TensorField::Stride:
    map.stride[ordinal] = value;
    return value % 16 == 0 && ordinal + 1 < kTensorDimensions;
  case TensorField::Step:
    map.step[ordinal] = static_cast<uint8_t>(value);
    return value >= 1 && value <= 8;
  case TensorField::Type:
    map.type = kReplaceTypes[value < std::size(kReplaceTypes) ? value : 0];
    return value < std::size(kReplaceTypes);
  case TensorField::Interleave:
    map.interleave = static_cast<uint8_t>(value);
    return value <= 2;
  case TensorField::Swizzle:
    map.swizzle = static_cast<uint8_t>(value);
    return value <= 3;
  case TensorField::Fill:
    map.fillsNan = static_cast<uint8_t>(value);
    return value <= 1;
  }
  return false;
}

bool replaceLane(Warp &warp, const Decoded &i, uint32_t lane) {
  uint64_t address = at<uint64_t>(warp, i.a)[lane], value = at<uint64_t>(warp, i.b)[lane];
  TensorMap map;
  if (!readMap(warp, i, lane, address, map))
    return false;
  uint8_t *to = rangeAt(warp, i, lane, address, {kTensorMapBytes, kTensorMapAlignment, true, "the tensor map"});
  if (!to)
    return false;
  if (!replaceField(map, static_cast<TensorField>(i.flag), static_cast<uint32_t>(i.imm), value)) {
    raiseFault(warp, i, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
               "a tensor map cannot hold the value " + std::to_string(value) + " there");
    return false;
  }
  memcpy(to, &map, sizeof map);
  return true;
}

void copyMap(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t lane = static_cast<uint32_t>(__builtin_ctz(mask)); // the whole warp copies one map
  const uint8_t *from = rangeAt(warp, i, lane, at<uint64_t>(warp, i.b)[lane],
                                {kTensorMapBytes, 128, false, "the source of tensormap.cp_fenceproxy"});
  uint8_t *to = from ? rangeAt(warp, i, lane, at<uint64_t>(warp, i.a)[lane],
                               {kTensorMapBytes, 128, true, "the destination of tensormap.cp_fenceproxy"})
                     : nullptr;
  if (to)
    memmove(to, from, kTensorMapBytes);
}

bool discardLane(Warp &warp, const Decoded &i, uint32_t lane) {
  uint8_t *at128 = rangeAt(warp, i, lane, at<uint64_t>(warp, i.a)[lane], {128, 128, true, "the line of discard.L2"});
  if (at128)
    memset(at128, kPoison, 128);
  return at128 != nullptr;
}

} // namespace

int64_t packReduction(ElementOp op, ElementType type) {
  return static_cast<int64_t>(op) | static_cast<int64_t>(type) << 8;
}
Handler bulkCopyHandler() {
  return &eachLane<bulkCopyLane>;
}
Handler tensorCopyHandler() {
  return &eachLane<tensorCopyLane>;
}
Handler storeAsyncHandler() {
  return &eachLane<storeAsyncLane>;
}
Handler commitBulkHandler() {
  return &commitBulk;
}
Handler waitBulkHandler() {
  return &waitBulk;
}
Handler replaceFieldHandler() {
  return &eachLane<replaceLane>;
}
Handler copyMapHandler() {
  return &copyMap;
}
Handler discardHandler() {
  return &eachLane<discardLane>;
}

} // namespace tenon::emulator
