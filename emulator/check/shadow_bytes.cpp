// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes of the shadow: what was set, what was read before anybody set it.
#include "emulator/check/shadow_checker.h"

#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/memory/initialised_map.h"
#include "emulator/memory/memory.h"
#include "support/number.h"
#include "support/text/demangle.h"

#include <algorithm>
#include <cuda.h>

namespace tenon::emulator {

bool ShadowChecker::checkBytes(Warp &warp, const Decoded &instruction, uint32_t lane, Block *owner, uint64_t address,
                               uint32_t bytes, bool isWrite, const MemoryOrder &order) {
  bool reads = !isWrite || order.readModifyWrite, sets = isWrite && !order.asynchronous;
  auto fail = [&](int code, const char *check, const std::string &what) {
    raiseFault(warp, instruction, lane, code,
               std::string(check) + (owner ? " shared " : " global ") + (isWrite ? "write" : "read") + " of " +
                   bytesOf(bytes) + " at " + hexText(address) + ": " + what);
    return false;
  };
  if (owner) {
    std::vector<BlockShadow::ByteState> &states = owner->shadow->shared;
    for (uint64_t at = address; at < address + bytes; ++at) {
      if (states[at] == BlockShadow::ByteState::Outside)
        return fail(CUDA_ERROR_ILLEGAL_ADDRESS, "out-of-bounds", whereInShared(at));
      const bool isUnset =
          states[at] == BlockShadow::ByteState::Unset || states[at] == BlockShadow::ByteState::ReadUnset;
      if (reads && sets && isUnset && launch_.checks.uninitialised)
        return fail(CUDA_ERROR_LAUNCH_FAILED, "[uninitialised]",
                    "nothing has written the byte " + whereInShared(at) + " yet: is a barrier missing?");
      const uint32_t thread = warp.block->shadow->clocks.first + warp.index * kLanes + lane;
      if (reads && states[at] == BlockShadow::ByteState::Unset && launch_.checks.uninitialised) {
        states[at] = BlockShadow::ByteState::ReadUnset;
        owner->shadow->earlyReads[static_cast<uint32_t>(at)] = {thread, number(warp, instruction),
                                                                owner->shadow->phase};
      }
      if (sets && states[at] == BlockShadow::ByteState::ReadUnset &&
          !writeAfterRead(*owner->shadow, static_cast<uint32_t>(at),
                          nameOfThread(thread) + "\n  at " + place(number(warp, instruction))))
        return false;
      if (sets)
        states[at] = BlockShadow::ByteState::Set;
    }
    return true;
  }
  const Memory *holder = executor_.memory->holder(address);
  InitialisedMap *map = holder ? holder->initialised() : nullptr;
  if (!map) // nothing is tracked, or the program's own memory
    return true;
  uint64_t offset = address - holder->deviceBase();
  if (reads && launch_.checks.uninitialised)
    if (uint64_t unset = map->firstUnset(offset, bytes); unset < offset + bytes)
      return fail(CUDA_ERROR_LAUNCH_FAILED, "[uninitialised]",
                  "nothing has written the byte " + holder->describe(holder->deviceBase() + unset));
  if (sets)
    map->set(offset, bytes, true);
  return true;
}

bool ShadowChecker::writeAfterRead(const BlockShadow &shadow, uint32_t offset, const std::string &writer) {
  auto read = shadow.earlyReads.find(offset);
  if (read == shadow.earlyReads.end() || read->second.phase != shadow.phase || executor_.failed())
    return true;
  executor_.fault = {CUDA_ERROR_LAUNCH_FAILED,
                     "kernel '" + readableName(launch_.kernel->name) + "', " + nameOfThread(read->second.thread) +
                         ": [uninitialised] shared read: nothing had written the byte " + whereInShared(offset) +
                         " yet: is a barrier missing?\n  at " + place(read->second.instruction) +
                         "\n  it was written later by " + writer};
  return false;
}

/// What was read and never written, once for each instruction.
void ShadowChecker::noteEarlyReads(BlockShadow &shadow) {
  for (const auto &[offset, read] : shadow.earlyReads)
    if (shadow.shared[offset] == BlockShadow::ByteState::ReadUnset && early_.insert(read.instruction).second)
      notes_.push_back("kernel '" + readableName(launch_.kernel->name) +
                       "': [uninitialised] shared memory is read that nothing writes, which is no mistake where the "
                       "value is not used\n  at " +
                       place(read.instruction));
  shadow.earlyReads.clear();
}

void ShadowChecker::copyArrived(Warp &warp, uint32_t lane, Block &owner, uint32_t offset, uint32_t bytes) {
  for (uint32_t at = offset; at < offset + bytes && !owner.shadow->earlyReads.empty(); ++at)
    if (owner.shadow->shared[at] == BlockShadow::ByteState::ReadUnset)
      writeAfterRead(*owner.shadow, at,
                     "an asynchronous copy of " +
                         nameOfThread(warp.block->shadow->clocks.first + warp.index * kLanes + lane));
  std::fill_n(owner.shadow->shared.begin() + offset, bytes, BlockShadow::ByteState::Set);
  RaceDetector::arrived(warp.block->shadow->clocks, warp.index * kLanes + lane, owner.shadow->clocks, offset, bytes);
}

BlockShadow *ShadowChecker::sharedAt(const void *host, uint32_t &offset) {
  const uint8_t *at = static_cast<const uint8_t *>(host);
  for (auto &[block, shadow] : shadows_)
    if (at >= block->sharedMemory && at < block->sharedMemory + shadow->shared.size()) {
      offset = static_cast<uint32_t>(at - block->sharedMemory);
      return shadow.get();
    }
  return nullptr;
}

void ShadowChecker::bytesWritten(const uint8_t *host, uint32_t bytes) {
  uint32_t at;
  if (BlockShadow *shadow = sharedAt(host, at)) {
    const size_t end = std::min<size_t>(at + size_t(bytes), shadow->shared.size());
    for (size_t k = at; k < end; ++k) {
      BlockShadow::ByteState &state = shadow->shared[k];
      if (state == BlockShadow::ByteState::ReadUnset)
        writeAfterRead(*shadow, static_cast<uint32_t>(k), "a bulk copy");
      if (state != BlockShadow::ByteState::Outside)
        state = BlockShadow::ByteState::Set;
    }
    return;
  }
  uint64_t address = reinterpret_cast<uint64_t>(host) - executor_.hostBias;
  const Memory *holder = executor_.memory->holder(address);
  if (InitialisedMap *map = holder ? holder->initialised() : nullptr)
    map->set(address - holder->deviceBase(), bytes, true);
}

} // namespace tenon::emulator
