// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/async/copy_async.h"

#include "emulator/async/async.h"
#include "emulator/check/lane_addresses.h"
#include "emulator/check/shadow_checker.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/lanes.h"

#include <algorithm>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

/// Host addresses of both sides of cp.async by the quick checks of lane_addresses.h. False: the slow ones have to look.
template <uint32_t Bytes>
bool findCopyLanes(Warp &warp, const Decoded &i, uint32_t mask, int64_t (&shared)[kLanes], int64_t (&global)[kLanes]) {
  Decoded to = i, from = i;
  to.imm = static_cast<int32_t>(i.imm);
  from.a = i.e;
  from.imm = i.imm >> 32;
  from.addressMode = AddressMode::Register64;
  TENON_LEVEL::LaneAddresses inShared, inGlobal;
  if (!TENON_LEVEL::findLanes<MemorySpace::Shared, Bytes>(warp, to, mask, inShared) ||
      !TENON_LEVEL::findLanes<MemorySpace::Global, Bytes>(warp, from, mask, inGlobal))
    return false;
  for (uint32_t l = 0; l < kLanes; ++l) {
    shared[l] = reinterpret_cast<int64_t>(inShared.lane(l));
    global[l] = reinterpret_cast<int64_t>(inGlobal.lane(l));
  }
  return true;
}

/// Host addresses of lanes that read the first `size` of the bytes they copy, piece by piece: what is not read may lie
/// outside of any allocation. The address is a multiple of all `bytes` even so.
uint32_t findParts(Warp &warp, const Decoded &i, uint32_t mask, uint32_t size, uint32_t bytes,
                   int64_t (&global)[kLanes]) {
  int64_t found[kLanes];
  std::copy(std::begin(global), std::end(global), found);
  uint32_t misaligned = 0, good = mask;
  for (uint32_t l = 0; l < kLanes; ++l)
    misaligned |= (mask >> l & 1) && (global[l] & (bytes - 1)) != 0 ? 1u << l : 0;
  if (size >= bytes || misaligned) { // which is refused
    good = resolveSlowly(warp, i, size >= bytes ? mask : misaligned, MemorySpace::Global, bytes, false, found);
  } else {
    uint32_t begin = 0;
    for (uint32_t piece = bytes / 2; piece != 0; piece /= 2) {
      if (!(size & piece))
        continue;
      int64_t addresses[kLanes];
      for (uint32_t l = 0; l < kLanes; ++l)
        addresses[l] = global[l] + begin;
      if (good)
        good &= resolveSlowly(warp, i, good, MemorySpace::Global, piece, false, addresses);
      if (begin == 0)
        std::copy(std::begin(addresses), std::end(addresses), found);
      begin += piece;
    }
  }
  for (uint32_t rest = mask & good; rest; rest &= rest - 1)
    global[__builtin_ctz(rest)] = found[__builtin_ctz(rest)];
  return good;
}

/// The same for every case, with a report where one is due. Returns the lanes that may copy. sizes: null, or what each
/// lane reads of its bytes.
uint32_t findCopyLanesSlowly(Warp &warp, const Decoded &i, uint32_t mask, const uint32_t *sizes,
                             int64_t (&shared)[kLanes], int64_t (&global)[kLanes]) {
  uint32_t bytes = i.flag;
  for (uint32_t l = 0; l < kLanes; ++l) {
    bool wide = i.addressMode == AddressMode::Register64;
    shared[l] = static_cast<uint32_t>((wide ? at<uint64_t>(warp, i.a)[l] : at<uint32_t>(warp, i.a)[l]) +
                                      static_cast<uint64_t>(i.imm));
    global[l] = static_cast<int64_t>(at<uint64_t>(warp, i.e)[l] + static_cast<uint64_t>(i.imm >> 32));
  }
  uint32_t good = resolveSlowly(warp, i, mask, MemorySpace::Shared, bytes, true, shared);
  uint32_t left = good;
  while (left) { // lanes that read as many bytes
    const uint32_t first = static_cast<uint32_t>(__builtin_ctz(left));
    const uint32_t size = sizes ? std::min(sizes[first], bytes) : bytes;
    uint32_t alike = 0;
    for (uint32_t l = first; l < kLanes; ++l)
      if ((left >> l & 1) && (!sizes || std::min(sizes[l], bytes) == size))
        alike |= 1u << l;
    left &= ~alike;
    if (size != 0)
      good &= ~alike | findParts(warp, i, alike, size, bytes, global);
  }
  return good;
}

/// memcpy of what is nearly always 16 bytes.
void copyBytes(void *to, const void *from, uint32_t bytes) {
  if (bytes == 16)
    memcpy(to, from, 16);
  else
    memcpy(to, from, bytes);
}

void copyAsync(Warp &warp, const Decoded &i, uint32_t mask) {
  uint32_t bytes = i.flag;
  int64_t shared[kLanes], global[kLanes];
  const CheckOptions &checks = warp.executor->launch->checks;
  const uint32_t *sizes = i.c == kNoOperand ? nullptr : at<uint32_t>(warp, i.c);
  uint32_t good = mask;
  bool readsAll = true; // what is not read need not exist
  for (uint32_t l = 0; sizes && l < kLanes; ++l)
    readsAll &= sizes[l] >= bytes;
  // Shadow memory wants to see every access.
  if (!readsAll || checks.shadowed() ||
      !(bytes == 16  ? findCopyLanes<16>(warp, i, mask, shared, global)
        : bytes == 8 ? findCopyLanes<8>(warp, i, mask, shared, global)
                     : findCopyLanes<4>(warp, i, mask, shared, global)))
    good = findCopyLanesSlowly(warp, i, mask, sizes, shared, global);
  std::vector<PendingCopy> &open = warp.openCopies;
  size_t at = open.size();
  open.resize(at + static_cast<size_t>(__builtin_popcount(good)));
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
    PendingCopy &copy = open[at++];
    copy.lane = l;
    copy.bytes = bytes;
    copy.shared = static_cast<uint32_t>(shared[l] - reinterpret_cast<int64_t>(warp.shared));
    uint32_t have = sizes ? std::min(sizes[l], bytes) : bytes;
    if (have)
      copyBytes(copy.data, reinterpret_cast<const void *>(global[l]), have);
    if (checks.async)
      memset(reinterpret_cast<void *>(shared[l]), kPoison, bytes);
  }
}

/// What the lanes of `mask` have in `copies` arrives; the others' stays.
void finishCopies(Warp &warp, std::vector<PendingCopy> &copies, uint32_t mask) {
  ShadowChecker *checker = warp.executor->checker;
  size_t kept = 0;
  for (size_t k = 0; k < copies.size(); ++k) {
    const PendingCopy &copy = copies[k];
    if (!(mask >> copy.lane & 1)) {
      copies[kept++] = copy;
      continue;
    }
    copyBytes(warp.shared + copy.shared, copy.data, copy.bytes);
    if (checker)
      checker->copyArrived(warp, copy.lane, *warp.block, copy.shared & kRankOffsetMask, copy.bytes);
  }
  copies.resize(kept);
}
// Groups are counted per thread; lanes that commit together share one entry, so a lane that commits alone makes an
// entry in which the others have nothing. Waiting for "all but n" therefore counts entries that hold copies of the
// lane's.
void commitGroup(Warp &warp, const Decoded &, uint32_t mask) {
  std::vector<PendingCopy> mine = std::move(warp.openCopies);
  warp.openCopies.clear();
  auto isMine = [&](const PendingCopy &copy) { return (mask >> copy.lane & 1) != 0; };
  if (!std::all_of(mine.begin(), mine.end(), isMine)) {
    std::vector<PendingCopy> all = std::move(mine);
    mine.clear();
    for (const PendingCopy &copy : all)
      (isMine(copy) ? mine : warp.openCopies).push_back(copy);
  }
  warp.committedCopies.push_back(std::move(mine));
}
void waitGroup(Warp &warp, const Decoded &i, uint32_t mask) {
  bool all = i.imm < 0;
  size_t keep = all ? 0 : static_cast<size_t>(i.imm);
  size_t count = warp.committedCopies.size();
  for (size_t k = 0; k + keep < count; ++k)
    finishCopies(warp, warp.committedCopies[k], mask);
  while (!warp.committedCopies.empty() && warp.committedCopies.front().empty() && warp.committedCopies.size() > keep) {
    if (warp.openCopies.capacity() == 0) // its memory serves the next group
      warp.openCopies = std::move(warp.committedCopies.front());
    warp.committedCopies.erase(warp.committedCopies.begin());
  }
  if (all)
    finishCopies(warp, warp.openCopies, mask);
}

} // namespace

void finishAllCopies(Warp &warp, uint32_t mask) {
  for (std::vector<PendingCopy> &group : warp.committedCopies)
    finishCopies(warp, group, mask);
  finishCopies(warp, warp.openCopies, mask);
}

Handler copyAsyncHandler() {
  return &copyAsync;
}
Handler commitGroupHandler() {
  return &commitGroup;
}
Handler waitGroupHandler() {
  return &waitGroup;
}

} // namespace tenon::emulator
