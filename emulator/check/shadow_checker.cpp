// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/shadow_checker.h"

#include "emulator/machine/cluster.h"
#include "emulator/machine/copy_plan.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/memory/initialised_map.h"
#include "emulator/memory/memory.h"
#include "support/number.h"

#include <algorithm>
#include <cuda.h>

namespace tenon::emulator {
namespace {

constexpr size_t kMostFound = 8;
constexpr uint64_t kInstructionsAfterRace = 1u << 20; // a race may keep a kernel from ending

std::string bytesOf(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

} // namespace

ShadowChecker::ShadowChecker(const Launch &launch, Executor &executor) : launch_(launch), executor_(executor) {
  for (const auto &code : launch.kernel->functions) {
    codes_.push_back({code.get(), static_cast<uint32_t>(orders_.size())});
    for (const ptx::Instruction &instruction : code->function->instructions)
      orders_.push_back(memoryOrderOf(instruction));
    orders_.emplace_back(); // falling off the end
  }
}

void ShadowChecker::startBlock(Block &block) {
  std::unique_ptr<BlockShadow> &shadow = shadows_[&block];
  if (!shadow)
    shadow = std::make_unique<BlockShadow>();
  block.shadow = shadow.get();
  const DecodedKernel &kernel = *launch_.kernel;
  uint32_t end = kernel.dynamicSharedStart + launch_.dynamicShared;
  RaceDetector::start(shadow->clocks, block.linear, block.threads, end);
  shadow->shared.assign(end, BlockShadow::ByteState::Outside);
  auto open = [&](uint32_t from, uint32_t to) {
    std::fill(shadow->shared.begin() + from, shadow->shared.begin() + to, BlockShadow::ByteState::Unset);
  };
  for (const SharedVariable &variable : kernel.sharedVariables)
    open(variable.offset, variable.offset + variable.bytes);
  open(kernel.dynamicSharedStart, end);
}

uint32_t ShadowChecker::number(const Warp &warp, const Decoded &instruction) {
  if (!last_ || last_->code != warp.frame->code)
    for (const Code &code : codes_)
      if (code.code == warp.frame->code)
        last_ = &code;
  return last_->first + instruction.instruction;
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
  if (!before)
    return "before the first shared variable";
  uint64_t inside = offset - before->offset;
  std::string name = "shared variable '" + before->name + "' of " + bytesOf(before->bytes);
  return inside < before->bytes ? bytesOf(inside) + " into " + name
                                : bytesOf(inside - before->bytes) + " past the end of " + name;
}

bool ShadowChecker::access(Warp &warp, const Decoded &instruction, uint32_t lane, Block *owner, uint64_t address,
                           uint32_t bytes, bool isWrite) {
  RaceDetector::Access access;
  access.instruction = number(warp, instruction);
  access.order = orders_[access.instruction];
  access.address = address;
  access.bytes = bytes;
  access.isWrite = isWrite;
  if (!checkBytes(warp, instruction, lane, owner, address, bytes, isWrite, access.order))
    return false;
  return remember(warp, lane, owner ? &owner->shadow->clocks : nullptr, access);
}

/// False: enough races were found, the launch ends.
bool ShadowChecker::remember(Warp &warp, uint32_t lane, BlockClocks *owner, const RaceDetector::Access &access) {
  if (!launch_.checks.races)
    return true;
  auto conflict = races_.access(warp.block->shadow->clocks, warp.index * kLanes + lane, owner, access);
  if (conflict)
    reportRace(warp, lane, owner != nullptr, access, *conflict);
  if (!found_.empty() &&
      (found_.size() >= kMostFound || executor_.instructions - firstFoundAt_ > kInstructionsAfterRace) &&
      !executor_.failed()) {
    conclude(executor_.fault);
    return false;
  }
  return true;
}

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
      if (reads && launch_.checks.uninitialised && states[at] == BlockShadow::ByteState::Unset)
        return fail(CUDA_ERROR_LAUNCH_FAILED, "[uninitialised]",
                    "nothing has written the byte " + whereInShared(at) + " yet: is a barrier missing?");
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
  if (reads)
    if (uint64_t unset = map->firstUnset(offset, bytes); unset < offset + bytes)
      return fail(CUDA_ERROR_LAUNCH_FAILED, "[uninitialised]",
                  "nothing has written the byte " + holder->describe(holder->deviceBase() + unset));
  if (sets)
    map->set(offset, bytes, true);
  return true;
}

void ShadowChecker::reportRace(Warp &warp, uint32_t lane, bool isShared, const RaceDetector::Access &access,
                               const RaceDetector::Conflict &conflict) {
  const AccessRecord &other = conflict.other;
  if (found_.size() >= kMostFound || !seen_.insert({access.instruction, other.instruction}).second)
    return;
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
  std::string text = "kernel '" + launch_.kernel->name + "': [races] " + (isShared ? "shared " : "global ") +
                     (access.order.asynchronous && !access.channel ? "asynchronous " : "") +
                     (access.isWrite ? "write" : "read") + " of " + bytesOf(access.bytes) + " at " +
                     hexText(access.address) + " (" + where + ") by " + (access.channel ? "a bulk copy of " : "") +
                     nameOfThread(me) + "\n  at " + place(access.instruction) + "\n  is not ordered after the " +
                     (other.inFlight ? "asynchronous " : "") + (conflict.otherWrites ? "write" : "read") + " by " +
                     nameOfThread(other.thread) + "\n  at " + place(other.instruction) + "\n  " + missing;
  if (found_.empty())
    firstFoundAt_ = executor_.instructions;
  found_.push_back(std::move(text));
}

void ShadowChecker::copyArrived(Warp &warp, uint32_t lane, Block &owner, uint32_t offset, uint32_t bytes) {
  std::fill_n(owner.shadow->shared.begin() + offset, bytes, BlockShadow::ByteState::Set);
  RaceDetector::arrived(warp.block->shadow->clocks, warp.index * kLanes + lane, owner.shadow->clocks, offset, bytes);
}

void ShadowChecker::fence(Warp &warp, const Decoded &instruction, uint32_t mask) {
  const MemoryOrder &order = orders_[number(warp, instruction)];
  for (uint32_t rest = mask; order.isFence && rest; rest &= rest - 1)
    RaceDetector::fence(
        warp.block->shadow->clocks.threads[warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest))], order);
}

void ShadowChecker::meet(Warp &warp, uint32_t mask) {
  RaceDetector::meet(warp.block->shadow->clocks, warp.index * kLanes, mask & warp.live);
}

void ShadowChecker::arriveAtBarrier(Warp &warp, uint32_t mask, uint32_t barrier) {
  BlockClocks &block = warp.block->shadow->clocks;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::arrive(block, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                         block.barriers[barrier]);
}
void ShadowChecker::completeBarrier(Block &block, uint32_t barrier) {
  RaceDetector::complete(block.shadow->clocks.barriers[barrier]);
}
void ShadowChecker::leaveBarrier(Warp &warp, uint32_t mask, uint32_t barrier) {
  BlockClocks &block = warp.block->shadow->clocks;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::leave(block, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                        block.barriers[barrier]);
}

void ShadowChecker::arriveAtCluster(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::arrive(warp.block->shadow->clocks, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                         clusters_[warp.block->cluster]);
}
void ShadowChecker::completeCluster(const Cluster &cluster) {
  RaceDetector::complete(clusters_[&cluster]);
}
void ShadowChecker::leaveCluster(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::leave(warp.block->shadow->clocks, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                        clusters_[warp.block->cluster]);
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
    auto begin = shadow->shared.begin() + static_cast<ptrdiff_t>(at);
    std::replace(begin, begin + static_cast<ptrdiff_t>(std::min<size_t>(bytes, shadow->shared.size() - at)),
                 BlockShadow::ByteState::Unset, BlockShadow::ByteState::Set);
    return;
  }
  uint64_t address = reinterpret_cast<uint64_t>(host) - executor_.hostBias;
  const Memory *holder = executor_.memory->holder(address);
  if (InitialisedMap *map = holder ? holder->initialised() : nullptr)
    map->set(address - holder->deviceBase(), bytes, true);
}

bool ShadowChecker::copyIssued(Warp &warp, const Decoded &instruction, uint32_t lane, const CopyPlan &plan) {
  if (!launch_.checks.races)
    return true;
  BlockClocks &block = warp.block->shadow->clocks;
  const uint32_t thread = warp.index * kLanes + lane;
  RaceDetector::Access access;
  access.instruction = number(warp, instruction);
  RaceDetector::Channel read, done;
  BlockShadow *reporting = nullptr;
  if (PhaseClock *phase = plan.mbarrier ? mbarrierAt(plan.mbarrier, &reporting) : nullptr) {
    read = done = RaceDetector::issue(block, thread, reporting->clocks, *phase);
    if (!done)
      return true;
  } else {
    read = RaceDetector::groupRead(block, thread);
    done = RaceDetector::groupDone(block, thread);
  }
  auto touch = [&](const uint8_t *host, uint32_t bytes, bool isWrite) {
    uint32_t offset = 0;
    BlockShadow *owner = sharedAt(host, offset);
    access.address = owner ? offset : reinterpret_cast<uint64_t>(host) - executor_.hostBias;
    access.bytes = bytes;
    access.isWrite = isWrite;
    access.channel = isWrite ? done : read;
    access.order = {};
    // Each element of a reduction is added by itself, as atomics do it.
    access.order.strong = access.order.wide = isWrite && plan.op >= ElementOp::Add && plan.op <= ElementOp::Xor;
    return remember(warp, lane, owner ? &owner->clocks : nullptr, access);
  };
  for (const CopyPiece &piece : plan.pieces)
    if ((piece.from && !plan.isRead && !touch(piece.from, piece.bytes, false)) || !touch(piece.to, piece.bytes, true))
      return false;
  return true;
}

void ShadowChecker::commitBulkGroup(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::commitGroup(warp.block->shadow->clocks,
                              warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)));
}
void ShadowChecker::waitBulkGroup(Warp &warp, uint32_t mask, uint32_t keep, bool readOnly) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::waitGroup(warp.block->shadow->clocks,
                            warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)), keep, readOnly);
}
void ShadowChecker::proxyFence(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::proxyFence(
        warp.block->shadow->clocks.threads[warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest))]);
}

PhaseClock *ShadowChecker::mbarrierAt(const void *object, BlockShadow **owner) {
  uint32_t offset;
  BlockShadow *shadow = sharedAt(object, offset);
  if (owner)
    *owner = shadow;
  return shadow ? &shadow->clocks.mbarriers[offset] : nullptr;
}
void ShadowChecker::arriveAtMbarrier(Warp &warp, uint32_t lane, const void *object, bool completes) {
  BlockShadow *owner;
  PhaseClock *barrier = mbarrierAt(object, &owner);
  if (!barrier)
    return;
  RaceDetector::arrive(warp.block->shadow->clocks, warp.index * kLanes + lane, *barrier);
  if (completes)
    RaceDetector::completePhase(owner->clocks, *barrier);
}
void ShadowChecker::completeMbarrier(const void *object) {
  BlockShadow *owner;
  if (PhaseClock *barrier = mbarrierAt(object, &owner))
    RaceDetector::completePhase(owner->clocks, *barrier);
}
void ShadowChecker::passMbarrier(Warp &warp, uint32_t lane, const void *object) {
  if (PhaseClock *barrier = mbarrierAt(object))
    RaceDetector::learn(warp.block->shadow->clocks, warp.index * kLanes + lane, *barrier);
}

void ShadowChecker::conclude(Fault &fault) {
  if (found_.empty())
    return;
  std::string text;
  for (const std::string &race : found_)
    text += (text.empty() ? "" : "\n") + race;
  if (fault.code)
    text += "\n" + fault.message;
  fault = {fault.code ? fault.code : static_cast<int>(CUDA_ERROR_LAUNCH_FAILED), text};
  found_.clear();
}

} // namespace tenon::emulator
