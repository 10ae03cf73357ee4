#include "emulator/checker.h"

#include "abi/text.h"
#include "emulator/check.h"
#include "emulator/cluster.h"
#include "emulator/initialised_map.h"
#include "emulator/memory.h"
#include "emulator/program.h"

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

Checker::Checker(const Launch &launch, Executor &executor) : launch_(launch), executor_(executor) {
  for (const auto &code : launch.program->functions) {
    codes_.push_back({code.get(), static_cast<uint32_t>(orders_.size())});
    for (const ptx::Instruction &instruction : code->function->instructions)
      orders_.push_back(memoryOrderOf(instruction));
    orders_.emplace_back(); // falling off the end
  }
}

void Checker::startBlock(Block &block) {
  std::unique_ptr<BlockShadow> &shadow = shadows_[&block];
  if (!shadow)
    shadow = std::make_unique<BlockShadow>();
  block.shadow = shadow.get();
  const Program &program = *launch_.program;
  uint32_t end = program.dynamicSharedStart + launch_.dynamicShared;
  RaceDetector::start(shadow->clocks, block.linear, block.threads, end);
  shadow->shared.assign(end, BlockShadow::ByteState::Outside);
  auto open = [&](uint32_t from, uint32_t to) {
    std::fill(shadow->shared.begin() + from, shadow->shared.begin() + to, BlockShadow::ByteState::Unset);
  };
  for (const SharedVariable &variable : program.sharedVariables)
    open(variable.offset, variable.offset + variable.bytes);
  open(program.dynamicSharedStart, end);
}

uint32_t Checker::number(const Warp &warp, const Decoded &instruction) {
  if (!last_ || last_->code != warp.frame->code)
    for (const Code &code : codes_)
      if (code.code == warp.frame->code)
        last_ = &code;
  return last_->first + instruction.instruction;
}

std::string Checker::place(uint32_t number) const {
  for (auto it = codes_.rbegin(); it != codes_.rend(); ++it)
    if (number >= it->first)
      return placeName(*it->code, number - it->first);
  return {};
}

std::string Checker::nameOfThread(uint32_t thread) const {
  uint32_t perBlock = static_cast<uint32_t>(launch_.block.count()), inside = thread % perBlock;
  uint64_t block = thread / perBlock;
  auto triple = [](uint64_t index, const Dim3 &shape) {
    return "(" + std::to_string(index % shape.x) + "," + std::to_string(index / shape.x % shape.y) + "," +
           std::to_string(index / shape.x / shape.y) + ")";
  };
  return "thread " + triple(inside, launch_.block) + " of block " + triple(block, launch_.grid);
}

std::string Checker::whereInShared(uint64_t offset) const {
  const Program &program = *launch_.program;
  const SharedVariable *before = nullptr;
  for (const SharedVariable &variable : program.sharedVariables)
    if (variable.offset <= offset && (!before || variable.offset > before->offset))
      before = &variable;
  if (offset >= program.dynamicSharedStart)
    return bytesOf(offset - program.dynamicSharedStart) + " into dynamic shared memory";
  if (!before)
    return "before the first shared variable";
  uint64_t inside = offset - before->offset;
  std::string name = "shared variable '" + before->name + "' of " + bytesOf(before->bytes);
  return inside < before->bytes ? bytesOf(inside) + " into " + name
                                : bytesOf(inside - before->bytes) + " past the end of " + name;
}

bool Checker::access(Warp &warp, const Decoded &instruction, uint32_t lane, Block *owner, uint64_t address,
                     uint32_t bytes, bool isWrite) {
  RaceDetector::Access access;
  access.instruction = number(warp, instruction);
  access.order = orders_[access.instruction];
  access.address = address;
  access.bytes = bytes;
  access.isWrite = isWrite;
  if (!checkBytes(warp, instruction, lane, owner, address, bytes, isWrite, access.order))
    return false;
  if (!launch_.checks.races)
    return true;
  auto conflict = races_.access(warp.block->shadow->clocks, warp.index * kLanes + lane,
                                owner ? &owner->shadow->clocks : nullptr, access);
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

bool Checker::checkBytes(Warp &warp, const Decoded &instruction, uint32_t lane, Block *owner, uint64_t address,
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

void Checker::reportRace(Warp &warp, uint32_t lane, bool isShared, const RaceDetector::Access &access,
                         const RaceDetector::Conflict &conflict) {
  const AccessRecord &other = conflict.other;
  if (found_.size() >= kMostFound || !seen_.insert({access.instruction, other.instruction}).second)
    return;
  uint32_t perBlock = static_cast<uint32_t>(launch_.block.count());
  uint32_t me = warp.block->shadow->clocks.first + warp.index * kLanes + lane;
  std::string missing;
  if (other.inFlight)
    missing = "a wait for the asynchronous copy (cp.async.wait_group, wait_all or an mbarrier) is missing before it";
  else if (other.thread / perBlock != me / perBlock)
    missing =
        "blocks of a launch run in any order: a fence and an atomic or volatile flag on both sides is missing, or "
        "another launch";
  else if (other.thread % perBlock / kLanes == me % perBlock / kLanes)
    missing = "a __syncwarp or a barrier is missing between them: the lanes of a warp are not in step";
  else
    missing = "a bar.sync (__syncthreads) or another barrier of both threads is missing between them";
  std::string where = isShared ? whereInShared(access.address) : executor_.memory->describe(access.address);
  std::string text = "kernel '" + launch_.program->name + "': [races] " + (isShared ? "shared " : "global ") +
                     (access.order.asynchronous ? "asynchronous " : "") + (access.isWrite ? "write" : "read") + " of " +
                     bytesOf(access.bytes) + " at " + hexText(access.address) + " (" + where + ") by " +
                     nameOfThread(me) + "\n  at " + place(access.instruction) + "\n  is not ordered after the " +
                     (other.inFlight ? "asynchronous " : "") + (conflict.otherWrites ? "write" : "read") + " by " +
                     nameOfThread(other.thread) + "\n  at " + place(other.instruction) + "\n  " + missing;
  if (found_.empty())
    firstFoundAt_ = executor_.instructions;
  found_.push_back(std::move(text));
}

void Checker::copyArrived(Warp &warp, uint32_t lane, Block &owner, uint32_t offset, uint32_t bytes) {
  std::fill_n(owner.shadow->shared.begin() + offset, bytes, BlockShadow::ByteState::Set);
  RaceDetector::arrived(warp.block->shadow->clocks, warp.index * kLanes + lane, owner.shadow->clocks, offset, bytes);
}

void Checker::fence(Warp &warp, const Decoded &instruction, uint32_t mask) {
  const MemoryOrder &order = orders_[number(warp, instruction)];
  for (uint32_t rest = mask; order.isFence && rest; rest &= rest - 1)
    RaceDetector::fence(
        warp.block->shadow->clocks.threads[warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest))], order);
}

void Checker::meet(Warp &warp, uint32_t mask) {
  RaceDetector::meet(warp.block->shadow->clocks, warp.index * kLanes, mask & warp.live);
}

void Checker::arriveAtBarrier(Warp &warp, uint32_t mask, uint32_t barrier) {
  BlockClocks &block = warp.block->shadow->clocks;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::arrive(block, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                         block.barriers[barrier]);
}
void Checker::completeBarrier(Block &block, uint32_t barrier) {
  RaceDetector::complete(block.shadow->clocks.barriers[barrier]);
}
void Checker::leaveBarrier(Warp &warp, uint32_t mask, uint32_t barrier) {
  BlockClocks &block = warp.block->shadow->clocks;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::leave(block, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                        block.barriers[barrier]);
}

void Checker::arriveAtCluster(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::arrive(warp.block->shadow->clocks, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                         clusters_[warp.block->cluster]);
}
void Checker::completeCluster(const Cluster &cluster) {
  RaceDetector::complete(clusters_[&cluster]);
}
void Checker::leaveCluster(Warp &warp, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    RaceDetector::leave(warp.block->shadow->clocks, warp.index * kLanes + static_cast<uint32_t>(__builtin_ctz(rest)),
                        clusters_[warp.block->cluster]);
}

void Checker::bytesWritten(const uint8_t *host, uint32_t bytes) {
  for (auto &[block, shadow] : shadows_)
    if (host >= block->sharedMemory && host < block->sharedMemory + shadow->shared.size()) {
      size_t at = static_cast<size_t>(host - block->sharedMemory);
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

PhaseClock *Checker::mbarrierAt(const void *object) {
  const uint8_t *at = static_cast<const uint8_t *>(object);
  for (auto &[block, shadow] : shadows_)
    if (at >= block->sharedMemory && at < block->sharedMemory + shadow->shared.size())
      return &shadow->clocks.mbarriers[static_cast<uint32_t>(at - block->sharedMemory)];
  return nullptr;
}
void Checker::arriveAtMbarrier(Warp &warp, uint32_t lane, const void *object, bool completes) {
  PhaseClock *barrier = mbarrierAt(object);
  if (!barrier)
    return;
  RaceDetector::arrive(warp.block->shadow->clocks, warp.index * kLanes + lane, *barrier);
  if (completes)
    RaceDetector::complete(*barrier);
}
void Checker::completeMbarrier(const void *object) {
  if (PhaseClock *barrier = mbarrierAt(object))
    RaceDetector::complete(*barrier);
}
void Checker::passMbarrier(Warp &warp, uint32_t lane, const void *object) {
  if (PhaseClock *barrier = mbarrierAt(object))
    RaceDetector::learn(warp.block->shadow->clocks, warp.index * kLanes + lane, *barrier);
}

void Checker::conclude(Fault &fault) {
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

namespace {
void fence(Warp &warp, const Decoded &i, uint32_t mask) {
  if (Checker *checker = warp.executor->checker)
    checker->fence(warp, i, mask);
}
void meet(Warp &warp, const Decoded &, uint32_t mask) {
  if (Checker *checker = warp.executor->checker)
    checker->meet(warp, mask);
}
} // namespace
Handler fenceHandler() {
  return &fence;
}
Handler meetHandler() {
  return &meet;
}

} // namespace tenon::emulator
