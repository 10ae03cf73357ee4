// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What was found, in words: places, threads, races with what is missing between their two accesses.
#include "emulator/check/shadow_checker.h"

#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/memory/memory.h"
#include "support/number.h"
#include "support/text/demangle.h"

#include <algorithm>
#include <cuda.h>

namespace tenon::emulator {

std::string ShadowChecker::bytesOf(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string ShadowChecker::place(uint32_t number) const {
  for (auto it = codes_.rbegin(); it != codes_.rend(); ++it)
    if (number >= it->first)
      return placeName(*it->code, number - it->first);
  return {};
}

std::string ShadowChecker::nameOfThread(uint32_t thread) const {
  uint32_t threads = static_cast<uint32_t>(launch_.block.count()), stride = RaceDetector::strideOf(threads);
  uint32_t inside = thread % stride;
  uint64_t block = thread / stride;
  auto triple = [](uint64_t index, const Dim3 &shape) {
    return "(" + std::to_string(index % shape.x) + "," + std::to_string(index / shape.x % shape.y) + "," +
           std::to_string(index / shape.x / shape.y) + ")";
  };
  if (inside >= 3 * threads) // channels, as the race detector numbers them
    return "a bulk copy that reports to an mbarrier of block " + triple(block, launch_.grid);
  std::string copy = inside >= threads ? "a bulk copy of " : "";
  if (inside >= threads)
    inside = (inside - threads) / 2;
  return copy + "thread " + triple(inside, launch_.block) + " of block " + triple(block, launch_.grid);
}

std::string ShadowChecker::whereInShared(uint64_t offset) const {
  const DecodedKernel &kernel = *launch_.kernel;
  const SharedVariable *before = nullptr;
  for (const SharedVariable &variable : kernel.sharedVariables)
    if (variable.offset <= offset && (!before || variable.offset > before->offset))
      before = &variable;
  if (offset >= kernel.dynamicSharedStart)
    return bytesOf(offset - kernel.dynamicSharedStart) + " into dynamic shared memory";
  if (offset < kSharedStart)
    return "in what the device reserves of the block's shared memory";
  if (!before)
    return "before the first shared variable";
  uint64_t inside = offset - before->offset;
  std::string name = "shared variable '" + readableName(before->name) + "' of " + bytesOf(before->bytes);
  return inside < before->bytes ? bytesOf(inside) + " into " + name
                                : bytesOf(inside - before->bytes) + " past the end of " + name;
}

void ShadowChecker::reportRace(Warp &warp, uint32_t lane, bool isShared, const RaceDetector::Access &access,
                               const RaceDetector::Conflict &conflict) {
  const AccessRecord &other = conflict.other;
  if (auto [seen, isNew] = seen_.try_emplace({access.instruction, other.instruction}, found_.size()); !isNew) {
    ++found_[seen->second].count;
    return;
  }
  const uint32_t threads = static_cast<uint32_t>(launch_.block.count()), perBlock = RaceDetector::strideOf(threads);
  uint32_t me = warp.block->shadow->clocks.first + warp.index * kLanes + lane;
  const uint32_t inside = other.thread % perBlock;
  std::string missing;
  if (other.inFlight)
    missing = "a wait for the asynchronous copy (cp.async.wait_group, wait_all or an mbarrier) is missing before it";
  else if (conflict.unfenced)
    missing = "threads and bulk copies go to shared memory by different ways (proxies): a fence.proxy.async is missing "
              "between them, mostly behind the write and before the barrier";
  else if (inside >= 3 * threads)
    missing = "a wait for the phase of the mbarrier that the copy reports to is missing before it";
  else if (inside >= threads)
    missing = std::string("a wait of the thread that issued the copy (cp.async.bulk.wait_group") +
              ((inside - threads) % 2 == 0 ? " or its .read" : "") + ") is missing before it, or a barrier behind that";
  else if (other.thread / perBlock != me / perBlock)
    missing =
        "blocks of a launch run in any order: a fence and an atomic or volatile flag on both sides is missing, or "
        "another launch";
  else if (other.thread % perBlock / kLanes == me % perBlock / kLanes)
    missing = "a __syncwarp or a barrier is missing between them: the lanes of a warp are not in step";
  else
    missing = "a bar.sync (__syncthreads) or another barrier of both threads is missing between them";
  std::string where = isShared ? whereInShared(access.address) : executor_.memory->describe(access.address);
  std::string text = "kernel '" + readableName(launch_.kernel->name) + "': [races] " +
                     (isShared ? "shared " : "global ") +
                     (access.order.asynchronous && !access.channel ? "asynchronous " : "") +
                     (access.isWrite ? "write" : "read") + " of " + bytesOf(access.bytes) + " at " +
                     hexText(access.address) + " (" + where + ") by " + (access.channel ? "a bulk copy of " : "") +
                     nameOfThread(me) + "\n  at " + place(access.instruction) + "\n  is not ordered after the " +
                     (other.inFlight ? "asynchronous " : "") + (conflict.otherWrites ? "write" : "read") + " by " +
                     nameOfThread(other.thread) + "\n  at " + place(other.instruction) + "\n  " + missing;
  Race race{std::move(text)};
  if (!access.isWrite && !access.order.strong && other.strong)
    race.plainRead = 1 + access.instruction;
  else if (access.isWrite && access.order.strong && !conflict.otherWrites && !other.strong)
    race.plainRead = 1 + other.instruction;
  if (!race.plainRead && !foundCertain_) {
    foundCertain_ = true;
    firstFoundAt_ = executor_.instructions;
  }
  found_.push_back(std::move(race));
}

void ShadowChecker::conclude(Fault &fault) {
  for (auto &[block, shadow] : shadows_)
    noteEarlyReads(*shadow);
  std::erase_if(found_,
                [&](const Race &race) { return race.plainRead && races_.feedsCompareAndSwap(race.plainRead - 1); });
  seen_.clear();
  if (found_.empty())
    return;
  std::string text;
  for (size_t k = 0; k < found_.size() && k < kMostFound; ++k) {
    text += (text.empty() ? "" : "\n") + found_[k].text;
    if (found_[k].count > 1)
      text += "\n  and " + std::to_string(found_[k].count - 1) + " times more between these two instructions";
  }
  if (found_.size() > kMostFound)
    text += "\nand " + std::to_string(found_.size() - kMostFound) + " other pairs of instructions";
  if (fault.code)
    text += "\n" + fault.message;
  fault = {fault.code ? fault.code : static_cast<int>(CUDA_ERROR_LAUNCH_FAILED), text};
  found_.clear();
}

} // namespace tenon::emulator
