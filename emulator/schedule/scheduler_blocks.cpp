// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of the scheduler: their memory (pooled), admission, turns. Barriers are in scheduler_barriers.cpp.
#include "emulator/async/async.h"
#include "emulator/machine/lanes.h"
#include "emulator/machine/run_control.h"
#include "emulator/memory/memory.h"
#include "emulator/schedule/permutation.h"
#include "emulator/schedule/scheduler.h"
#include "emulator/schedule/special_registers.h"
#include "support/align.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>
#include <thread>
#include <utility>

namespace tenon::emulator {
namespace {

using TENON_LEVEL::at;

} // namespace

Scheduler::Scheduler(const Launch &launch, Memory &memory, DeviceServices &services, Grid &grid, bool isShared)
    : launch_(launch), memory_(BlockMemory::ofThread()), services_(services), grid_(grid) {
  executor_.shared = isShared ? &grid : nullptr;
  executor_.launch = &launch;
  executor_.memory = &memory;
  executor_.hostBias = memory.hostBias();
  if (launch.checks.shadowed())
    checker_ = std::make_unique<ShadowChecker>(launch, executor_);
  executor_.checker = checker_.get();
  executor_.ranges.resize(launch.kernel->checkedInstructions);
  // The pool of constants has to be aligned like registers are.
  executor_.constants.resize(launch.kernel->constants.size() + 64);
  uint8_t *aligned = reinterpret_cast<uint8_t *>(alignUp(reinterpret_cast<uint64_t>(executor_.constants.data()), 64));
  if (!launch.kernel->constants.empty())
    memcpy(aligned, launch.kernel->constants.data(), launch.kernel->constants.size());
  for (const DecodedKernel::ParameterConstant &parameter : launch.kernel->parameterConstants)
    for (uint32_t l = 0; l < kLanes; ++l)
      memcpy(aligned + parameter.at + l * parameter.bytes, launch.parameters + parameter.offset, parameter.bytes);
}

Scheduler::~Scheduler() {
  for (auto *clusters : {&resident_, &pool_})
    for (auto &cluster : *clusters)
      for (auto &block : cluster->blocks)
        destroyBlock(*block);
}

void Scheduler::destroyBlock(Block &block) {
  for (Warp &warp : block.warps)
    FramePool::destroyFrames(warp);
  memory_.give(block.registerMemory, block.registerBytes);
  memory_.give(block.sharedMemory, block.sharedBytes);
  memory_.give(block.localMemory, block.localBytes);
}

std::unique_ptr<Block> Scheduler::makeBlock() {
  const DecodedKernel &kernel = *launch_.kernel;
  auto block = std::make_unique<Block>();
  block->threads = static_cast<uint32_t>(launch_.block.count());
  uint32_t warps = (block->threads + kLanes - 1) / kLanes;
  // The registers of a warp and, behind them, its special registers.
  uint64_t registers = alignUp(uint64_t(kernel.functions[0]->registerBytes) + 1, 64);
  uint64_t perWarp = registers + alignUp(kSpecialStride * static_cast<uint64_t>(Special::Count), 64);
  uint64_t localStride = alignUp(uint64_t(kLocalStart + kernel.localBytesPerThread), 16);
  uint32_t sharedEnd = kernel.dynamicSharedStart + launch_.dynamicShared;
  block->registerBytes = perWarp * warps;
  block->sharedBytes = sharedEnd + 16;
  block->localBytes = localStride * kLanes * warps;
  block->registerMemory = memory_.take(block->registerBytes);
  block->sharedMemory = memory_.take(block->sharedBytes);
  block->localMemory = memory_.take(block->localBytes);
  if (!block->registerMemory || !block->sharedMemory || !block->localMemory) {
    destroyBlock(*block);
    return nullptr;
  }
  // A launch must not find what an earlier one left: an mbarrier that was never initialised would look as if it were.
  memset(block->sharedMemory, 0, block->sharedBytes);
  block->warps.resize(warps);
  uint8_t *constants = reinterpret_cast<uint8_t *>(alignUp(reinterpret_cast<uint64_t>(executor_.constants.data()), 64));
  for (uint32_t w = 0; w < warps; ++w) {
    Warp &warp = block->warps[w];
    warp.block = block.get();
    warp.executor = &executor_;
    warp.index = w;
    warp.local = block->localMemory + localStride * kLanes * w;
    warp.localStride = static_cast<uint32_t>(localStride);
    warp.entryFrame.code = kernel.functions[0].get();
    warp.entryFrame.registers = block->registerMemory + perWarp * w;
    warp.entryFrame.localBase = kLocalStart;
    warp.bases[kConstantBase] = constants;
    warp.bases[kSpecialBase] = warp.entryFrame.registers + registers;
    warp.sharedBegin = kSharedStart;
    for (Special special : kernel.specials)
      for (uint32_t lane = 0; lane < kLanes; ++lane)
        at<uint32_t>(warp, kSpecialBase << kBaseShift | kSpecialStride * static_cast<uint32_t>(special))[lane] =
            specialValue(special, launch_, *block, w, lane);
  }
  return block;
}

std::unique_ptr<Cluster> Scheduler::makeCluster() {
  auto cluster = std::make_unique<Cluster>();
  for (uint64_t rank = 0; rank < launch_.cluster.count(); ++rank) {
    cluster->blocks.push_back(makeBlock());
    if (!cluster->blocks.back()) {
      cluster->blocks.pop_back();
      for (auto &block : cluster->blocks)
        destroyBlock(*block);
      return nullptr;
    }
    Block &block = *cluster->blocks.back();
    block.cluster = cluster.get();
    block.rank = static_cast<uint32_t>(rank);
    uint32_t base = launch_.kernel->usesClusters ? block.rank << kClusterRankShift : 0;
    for (Warp &warp : block.warps) {
      warp.shared = block.sharedMemory - base;
      warp.sharedBegin = base + kSharedStart;
      warp.sharedEnd = base + launch_.kernel->dynamicSharedStart + launch_.dynamicShared;
    }
  }
  return cluster;
}

/// Clusters are numbered like blocks are, x fastest; so are the blocks of one.
void Scheduler::startCluster(Cluster &cluster, uint64_t linear) {
  const Dim3 &shape = launch_.cluster;
  linear = permuted(linear, launch_.grid.count() / shape.count(), orderSeed_);
  uint64_t across = launch_.grid.x / shape.x, down = launch_.grid.y / shape.y;
  Dim3 first{static_cast<uint32_t>(linear % across) * shape.x, static_cast<uint32_t>(linear / across % down) * shape.y,
             static_cast<uint32_t>(linear / across / down) * shape.z};
  cluster.linear = linear;
  for (auto &block : cluster.blocks) {
    uint32_t rank = block->rank;
    startBlock(*block,
               {first.x + rank % shape.x, first.y + rank / shape.x % shape.y, first.z + rank / shape.x / shape.y});
  }
}

void Scheduler::startBlock(Block &block, const Dim3 &id) {
  const Dim3 &grid = launch_.grid;
  block.id = id;
  block.linear = (static_cast<uint64_t>(id.z) * grid.y + id.y) * grid.x + id.x;
  block.exited = 0;
  block.spun = block.yielded = block.finished = false;
  block.departures.clear();
  for (uint32_t rest = usedBarriers_; rest; rest &= rest - 1)
    block.barriers[__builtin_ctz(rest)] = {};
  if (launch_.kernel->usesReservedShared)
    memset(block.sharedMemory, 0, kReservedSharedBytes);
  if (checker_)
    checker_->startBlock(block);
  const uint32_t registerBytes = launch_.kernel->functions[0]->registerBytes;
  for (Warp &warp : block.warps) {
    uint32_t threads = std::min(kLanes, block.threads - warp.index * kLanes);
    warp.live = threads == kLanes ? kAllLanes : (1u << threads) - 1;
    warp.clock = 0;
    warp.clusterArrived = warp.clusterPending = 0;
    warp.yields = false;
    warp.entryFrame.lanes = warp.live;
    warp.openCopies.clear();
    warp.committedCopies.clear();
    warp.async.reset();
    Group group;
    group.mask = warp.live;
    group.frame = &warp.entryFrame;
    warp.groups.assign(1, group);
    memset(warp.entryFrame.registers, 0, registerBytes);
    for (Special special : launch_.kernel->specials)
      if (changesWithBlock(special)) {
        uint32_t value = specialValue(special, launch_, block, 0, 0);
        uint32_t *to = at<uint32_t>(warp, kSpecialBase << kBaseShift | kSpecialStride * static_cast<uint32_t>(special));
        std::fill(to, to + kLanes, value);
      }
  }
}

/// Clusters to admit, from the grid when there are none left. False: there are no more.
bool Scheduler::takeClusters() {
  if (nextCluster_ != lastCluster_)
    return true;
  if (finished_)
    grid_.finish(std::exchange(finished_, 0));
  return grid_.take(nextCluster_, lastCluster_);
}

bool Scheduler::admit() {
  if (!takeClusters())
    return false;
  uint64_t linear = nextCluster_++;
  std::unique_ptr<Cluster> cluster;
  if (!pool_.empty()) {
    cluster = std::move(pool_.back());
    pool_.pop_back();
  } else {
    cluster = makeCluster();
  }
  if (!cluster) {
    executor_.fault = {CUDA_ERROR_OUT_OF_MEMORY,
                       "no memory for another resident block of '" + launch_.kernel->name + "'"};
    return false;
  }
  startCluster(*cluster, linear);
  resident_.push_back(std::move(cluster));
  return true;
}

/// Now and then, whether the launch is to end: a loop around a barrier goes on for ever and spends no fuel of any turn.
bool Scheduler::seesStop() {
  constexpr uint32_t kBarriersBetweenLooks = 64; // at the clock
  return ++barriers_ % kBarriersBetweenLooks == 0 && isStopped();
}

/// Warps take turns until the block is done, or goes on only when others did something.
Scheduler::Turn Scheduler::runBlock(Block &block, bool &progress) {
  for (;;) {
    bool moved = false, spun = false, yielded = false;
    for (size_t turn = 0; turn < block.warps.size(); ++turn) {
      Warp &warp = block.warps[permuted(turn, block.warps.size(), orderSeed_ ? orderSeed_ + block.linear : 0)];
      block.spun = block.yielded = false;
      uint64_t before = block.cluster->events;
      if (!warp.groups.empty() && runWarp(warp)) {
        spun |= block.spun;
        yielded |= block.yielded;
        moved |= !block.yielded || block.cluster->events != before;
      }
      if (executor_.failed() || ((block.spun || block.yielded) && isStopped()))
        return Turn::Stuck;
    }
    bool released = releaseBarriers(block);
    progress |= moved || released;
    if (block.exited == block.threads) {
      finishAsync(block);
      block.finished = true;
      return Turn::Finished;
    }
    if (executor_.failed())
      return Turn::Stuck;
    if (spun || (released && seesStop()))
      return Turn::Spun;
    if (!moved && !released)
      return yielded ? Turn::Yielded : Turn::Stuck;
  }
}

bool Scheduler::runCluster(Cluster &cluster) {
  waiting_ = false;
  for (;;) {
    bool finished = true, progress = false, spun = false, yielded = false;
    for (auto &block : cluster.blocks) {
      if (block->finished)
        continue;
      Turn turn = runBlock(*block, progress);
      if (executor_.failed())
        return false;
      finished &= turn == Turn::Finished;
      spun |= turn == Turn::Spun;
      yielded |= turn == Turn::Yielded;
    }
    bool released = releaseCluster(cluster);
    if (finished)
      return true;
    if (spun || (released && seesStop()))
      return false;
    if (yielded && !progress && !released) {
      waiting_ = true;
      return false;
    }
    if (!progress && !released) {
      reportDeadlock(cluster);
      return false;
    }
  }
}

/// Waiting for an mbarrier is asking again and again: a deadlock of threads that do is not seen otherwise.
bool Scheduler::waitsForEver(bool waited) {
  constexpr uint32_t kMostPasses = 100000;
  waitingPasses_ = waited && nextCluster_ == lastCluster_ && grid_.exhausted() ? waitingPasses_ + 1 : 0;
  if (waitingPasses_ <= kMostPasses)
    return false;
  reportDeadlock(*resident_.front());
  return true;
}

/// What other workers did since the last time.
void Scheduler::seeOthers() {
  if (!executor_.shared || rangeEpoch_ == grid_.rangeEpoch())
    return;
  rangeEpoch_ = grid_.rangeEpoch();
  std::fill(executor_.ranges.begin(), executor_.ranges.end(), CheckedRange());
}

Fault Scheduler::run() {
  constexpr uint32_t kBlocksBetweenLooks = 64; // at the clock
  uint64_t doneByAll = 0;
  uint32_t looks = 0;
  if (launch_.control && launch_.control->timeoutSeconds > 0)
    deadline_ = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                       std::chrono::duration<double>(launch_.control->timeoutSeconds));
  while (!grid_.stopped() && (!resident_.empty() || admit())) {
    bool finished = false, waited = true;
    for (size_t k = 0; k < resident_.size() && !executor_.failed();) {
      seeOthers();
      if (runCluster(*resident_[k])) {
        finished = true;
        ++finished_;
        pool_.push_back(std::move(resident_[k]));
        resident_.erase(resident_.begin() + static_cast<ptrdiff_t>(k));
      } else {
        waited &= waiting_;
        ++k;
      }
    }
    if (executor_.failed() || waitsForEver(waited && !finished))
      break;
    spinning_ = !finished;
    if ((!finished || ++looks % kBlocksBetweenLooks == 0) && isStopped())
      break;
    if (finished)
      continue;
    // What these blocks wait for is done by blocks that other workers run, or by blocks that nobody runs yet.
    uint64_t done = grid_.finished();
    if (executor_.shared && done != doneByAll) {
      doneByAll = done;
      std::this_thread::yield();
    } else {
      admit();
    }
  }
  if (checker_)
    checker_->conclude(executor_.fault);
  if (executor_.failed())
    grid_.stop();
  return executor_.fault;
}

} // namespace tenon::emulator
