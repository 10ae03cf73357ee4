// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/handlers/warp_ops.h"

#include "emulator/machine/lanes.h"

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;
using TENON_LEVEL::write;
using TENON_LEVEL::writeMask;

template <VoteMode Mode> void vote(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t votes = *at<uint32_t>(warp, i.a);
  if (i.flag & kThirdNegated)
    votes = ~votes;
  votes &= mask;
  if (Mode == VoteMode::Ballot) {
    uint32_t *d = at<uint32_t>(warp, i.d);
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = (mask >> l & 1) ? votes : d[l];
    return;
  }
  bool holds = Mode == VoteMode::All ? votes == mask : Mode == VoteMode::Any ? votes != 0 : votes == 0 || votes == mask;
  writeMask(warp, i.d, holds ? kAllLanes : 0, mask);
}

template <typename T> void matchAny(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  uint32_t result[kLanes] = {};
  for (uint32_t l = 0; l < kLanes; ++l)
    for (uint32_t k = 0; k < kLanes; ++k)
      result[l] |= static_cast<uint32_t>((mask >> k & 1) && a[k] == a[l]) << k;
  write(at<uint32_t>(warp, i.d), result, mask);
}
template <typename T> void matchAll(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  T first = a[__builtin_ctz(mask)];
  bool same = true;
  for (uint32_t l = 0; l < kLanes; ++l)
    same &= !(mask >> l & 1) || a[l] == first;
  uint32_t result[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l)
    result[l] = same ? mask : 0;
  if (i.d != kNoOperand)
    write(at<uint32_t>(warp, i.d), result, mask);
  if (i.c != kNoOperand)
    writeMask(warp, i.c, same ? kAllLanes : 0, mask);
}

template <ReduceOp Op, typename T> void redux(Warp &warp, const Decoded &i, uint32_t mask) {
  const T *a = at<T>(warp, i.a);
  T value = a[__builtin_ctz(mask)];
  for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
    T next = a[__builtin_ctz(rest)];
    switch (Op) {
    case ReduceOp::Add:
      value = static_cast<T>(static_cast<uint32_t>(value) + static_cast<uint32_t>(next));
      break;
    case ReduceOp::Min:
      value = next < value ? next : value;
      break;
    case ReduceOp::Max:
      value = next > value ? next : value;
      break;
    case ReduceOp::And:
      value = value & next;
      break;
    case ReduceOp::Or:
      value = value | next;
      break;
    case ReduceOp::Xor:
      value = value ^ next;
      break;
    }
  }
  T *d = at<T>(warp, i.d);
  for (uint32_t l = 0; l < kLanes; ++l)
    d[l] = (mask >> l & 1) ? value : d[l];
}

void activeMask(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t *d = at<uint32_t>(warp, i.d);
  for (uint32_t l = 0; l < kLanes; ++l)
    d[l] = (mask >> l & 1) ? mask : d[l];
}

void elect(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t leader = static_cast<uint32_t>(__builtin_ctz(mask));
  if (i.d != kNoOperand) {
    uint32_t *d = at<uint32_t>(warp, i.d);
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = (mask >> l & 1) ? leader : d[l];
  }
  writeMask(warp, i.c, 1u << leader, mask);
}

} // namespace

Handler voteHandler(VoteMode mode) {
  switch (mode) {
  case VoteMode::All:
    return &vote<VoteMode::All>;
  case VoteMode::Any:
    return &vote<VoteMode::Any>;
  case VoteMode::Uniform:
    return &vote<VoteMode::Uniform>;
  case VoteMode::Ballot:
    return &vote<VoteMode::Ballot>;
  }
  return nullptr;
}
Handler matchHandler(bool all, uint32_t bytes) {
  if (bytes == 8)
    return all ? &matchAll<uint64_t> : &matchAny<uint64_t>;
  return all ? &matchAll<uint32_t> : &matchAny<uint32_t>;
}
Handler reduxHandler(ReduceOp op, bool isSigned) {
  switch (op) {
  case ReduceOp::Add:
    return &redux<ReduceOp::Add, uint32_t>;
  case ReduceOp::Min:
    return isSigned ? &redux<ReduceOp::Min, int32_t> : &redux<ReduceOp::Min, uint32_t>;
  case ReduceOp::Max:
    return isSigned ? &redux<ReduceOp::Max, int32_t> : &redux<ReduceOp::Max, uint32_t>;
  case ReduceOp::And:
    return &redux<ReduceOp::And, uint32_t>;
  case ReduceOp::Or:
    return &redux<ReduceOp::Or, uint32_t>;
  case ReduceOp::Xor:
    return &redux<ReduceOp::Xor, uint32_t>;
  }
  return nullptr;
}
Handler activeMaskHandler() {
  return &activeMask;
}
Handler electHandler() {
  return &elect;
}

} // namespace tenon::emulator
