// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/shadow_checker.h"

#include "emulator/machine/cluster.h"
#include "emulator/machine/copy_plan.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/fault.h"
#include "emulator/memory/initialised_map.h"
#include "emulator/memory/memory.h"
#include "support/number.h"
#include "support/text/demangle.h"

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
  noteEarlyReads(*shadow);
  shadow->phase = 0;
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
  if (kernel.usesReservedShared) // zeros
    std::fill_n(shadow->shared.begin(), kReservedSharedBytes, BlockShadow::ByteState::Set);
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
  if (offset < kSharedStart)
    return "in what the device reserves of the block's shared memory";
  if (!before)
    return "before the first shared variable";
  uint64_t inside = offset - before->offset;
  std::string name = "shared variable '" + readableName(before->name) + "' of " + bytesOf(before->bytes);
  return inside < before->bytes ? bytesOf(inside) + " into " + name
                                : bytesOf(inside - before->bytes) + " past the end of " + name;
}

bool ShadowChecker::access(Warp &warp, const Decoded &instruction, uint32_t lane, Block *owner, uint64_t address,
                           uint32_t bytes, bool isWrite, const uint8_t *value) {
  RaceDetector::Access access;
  access.instruction = number(warp, instruction);
  access.order = orders_[access.instruction];
  access.address = address;
  access.bytes = bytes;
  access.isWrite = isWrite;
  if (value && !access.order.strong) {
    const uint8_t *there =
        owner ? owner->sharedMemory + address : reinterpret_cast<const uint8_t *>(address + executor_.hostBias);
    access.sameValue = std::equal(value, value + bytes, there);
  }
  if (!checkBytes(warp, instruction, lane, owner, address, bytes, isWrite, access.order))
    return false;
  return remember(warp, lane, owner ? &owner->shadow->clocks : nullptr, access);
}

/// False: enough races were found, the launch ends.
bool ShadowChecker::remember(Warp &warp, uint32_t lane, BlockClocks *owner, const RaceDetector::Access &access) {
  if (!launch_.checks.races)
    return true;
  bool metSameValue = false;
  auto conflict = races_.access(warp.block->shadow->clocks, warp.index * kLanes + lane, owner, access, &metSameValue);
  if (metSameValue && sameValues_.insert(access.instruction).second)
    notes_.push_back("kernel '" + readableName(launch_.kernel->name) +
                     "': [races] threads write the same value to one place, which is no mistake\n  at " +
                     place(access.instruction));
  if (conflict)
    reportRace(warp, lane, owner != nullptr, access, *conflict);
  if (hasEnough() && !executor_.failed()) {
    std::erase_if(found_, [](const Race &race) { return race.plainRead; }); // not yet known to be one
    conclude(executor_.fault);
    if (executor_.failed())
      return false;
  }
  return true;
}

/// Of races that are certain; a plain read that meets an atomic may still turn out to be none.
bool ShadowChecker::hasEnough() const {
  if (!foundCertain_)
    return false;
  const auto certain = std::count_if(found_.begin(), found_.end(), [](const Race &race) { return !race.plainRead; });
  return certain >= static_cast<ptrdiff_t>(kMostFound) ||
         executor_.instructions - firstFoundAt_ > kInstructionsAfterRace;
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
  if (reads)
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

void ShadowChecker::copyArrived(Warp &warp, uint32_t lane, Block &owner, uint32_t offset, uint32_t bytes) {
  for (uint32_t at = offset; at < offset + bytes && !owner.shadow->earlyReads.empty(); ++at)
    if (owner.shadow->shared[at] == BlockShadow::ByteState::ReadUnset)
      writeAfterRead(*owner.shadow, at,
                     "an asynchronous copy of " +
                         nameOfThread(warp.block->shadow->clocks.first + warp.index * kLanes + lane));
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
  ++warp.block->shadow->phase;
  RaceDetector::meet(warp.block->shadow->clocks, warp.index * kLanes, mask & warp.live);
}

void ShadowChecker::passOn(Warp &warp, uint32_t mask) {
  if (launch_.checks.races)
    RaceDetector::passOn(warp.block->shadow->clocks, warp.index * kLanes, mask & warp.live);
}

void ShadowChecker::arriveAtBarrier(Warp &warp, uint32_t mask, uint32_t barrier) {
  BlockClocks &block = warp.block->shadow->clocks;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::arrive(block, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                         block.barriers[barrier]);
}
void ShadowChecker::completeBarrier(Block &block, uint32_t barrier) {
  ++block.shadow->phase;
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

/// Lanes of one instruction that issue the very same copy, as CUTLASS's epilogues do: a device issues one for the warp.
bool ShadowChecker::isRepeated(const Warp &warp, uint32_t instruction, const CopyPlan &plan) {
  if (plan.mbarrier || plan.op != ElementOp::Copy)
    return false;
  auto same = [](const CopyPiece &a, const CopyPiece &b) {
    return a.from == b.from && a.to == b.to && a.bytes == b.bytes;
  };
  const bool isSame =
      lastCopy_.warp == &warp && lastCopy_.instruction == instruction && lastCopy_.at == executor_.instructions &&
      std::equal(plan.pieces.begin(), plan.pieces.end(), lastCopy_.pieces.begin(), lastCopy_.pieces.end(), same);
  if (!isSame)
    lastCopy_ = {&warp, instruction, executor_.instructions, plan.pieces};
  return isSame;
}

bool ShadowChecker::copyIssued(Warp &warp, const Decoded &instruction, uint32_t lane, const CopyPlan &plan) {
  if (!launch_.checks.races)
    return true;
  BlockClocks &block = warp.block->shadow->clocks;
  const uint32_t thread = warp.index * kLanes + lane;
  RaceDetector::Access access;
  access.instruction = number(warp, instruction);
  if (isRepeated(warp, access.instruction, plan))
    return true;
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
