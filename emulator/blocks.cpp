// Blocks of the scheduler: their memory (pooled), admission, special registers, turns. Barriers are in barriers.cpp.
#include "emulator/async.h"
#include "emulator/check.h"
#include "emulator/memory.h"
#include "emulator/scheduler.h"
#include "emulator/shuffle.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>
#include <sys/mman.h>
#include <thread>

namespace tenon::emulator {
namespace {

template <typename T> T *at(Warp &warp, uint32_t operand) {
  return reinterpret_cast<T *>(warp.bases[operand >> kBaseShift] + (operand & kOffsetMask));
}
uint64_t roundUp(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}
uint8_t *mapMemory(uint64_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<uint8_t *>(p);
}

/// Values that only depend on the launch and on the thread's place in the block, or (false) on the block.
bool changesWithBlock(Special special) {
  switch (special) {
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
  case Special::SmId:
  case Special::ClusterIdX:
  case Special::ClusterIdY:
  case Special::ClusterIdZ:
  case Special::ClusterCtaidX:
  case Special::ClusterCtaidY:
  case Special::ClusterCtaidZ:
  case Special::ClusterCtarank:
  case Special::SharedBase:
    return true;
  default:
    return false;
  }
}

uint32_t specialValue(Special special, const Launch &launch, const Block &block, uint32_t warp, uint32_t lane) {
  const Dim3 &shape = launch.block, &grid = launch.grid, &cluster = launch.cluster, &id = block.id;
  uint32_t thread = warp * kLanes + lane, warps = (block.threads + kLanes - 1) / kLanes;
  uint32_t shared = launch.program->dynamicSharedStart - kSharedStart + launch.dynamicShared;
  switch (special) {
  case Special::TidX:
    return thread % shape.x;
  case Special::TidY:
    return thread / shape.x % shape.y;
  case Special::TidZ:
    return thread / shape.x / shape.y;
  case Special::NtidX:
    return shape.x;
  case Special::NtidY:
    return shape.y;
  case Special::NtidZ:
    return shape.z;
  case Special::CtaidX:
    return id.x;
  case Special::CtaidY:
    return id.y;
  case Special::CtaidZ:
    return id.z;
  case Special::NctaidX:
    return grid.x;
  case Special::NctaidY:
    return grid.y;
  case Special::NctaidZ:
    return grid.z;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp;
  case Special::NwarpId:
    return warps;
  case Special::SmId:
    return 0;
  case Special::NsmId:
    return 1;
  case Special::GridId:
    return 1;
  case Special::LanemaskEq:
    return 1u << lane;
  case Special::LanemaskLe:
    return lane == 31 ? kAllLanes : (2u << lane) - 1;
  case Special::LanemaskLt:
    return (1u << lane) - 1;
  case Special::LanemaskGe:
    return ~((1u << lane) - 1);
  case Special::LanemaskGt:
    return lane == 31 ? 0 : ~((2u << lane) - 1);
  case Special::ClusterIdX:
    return id.x / cluster.x;
  case Special::ClusterIdY:
    return id.y / cluster.y;
  case Special::ClusterIdZ:
    return id.z / cluster.z;
  case Special::NclusterIdX:
    return grid.x / cluster.x;
  case Special::NclusterIdY:
    return grid.y / cluster.y;
  case Special::NclusterIdZ:
    return grid.z / cluster.z;
  case Special::ClusterCtaidX:
    return id.x % cluster.x;
  case Special::ClusterCtaidY:
    return id.y % cluster.y;
  case Special::ClusterCtaidZ:
    return id.z % cluster.z;
  case Special::ClusterNctaidX:
    return cluster.x;
  case Special::ClusterNctaidY:
    return cluster.y;
  case Special::ClusterNctaidZ:
    return cluster.z;
  case Special::ClusterCtarank:
    return (id.z % cluster.z * cluster.y + id.y % cluster.y) * cluster.x + id.x % cluster.x;
  case Special::ClusterNctarank:
    return static_cast<uint32_t>(cluster.count());
  case Special::IsExplicitCluster:
    return cluster.count() > 1 ? kAllLanes : 0; // a predicate: the mask of the lanes
  case Special::DynamicSmemSize:
    return launch.dynamicShared;
  case Special::TotalSmemSize:
  case Special::AggrSmemSize:
    return shared;
  case Special::EnvReg1:
    return static_cast<uint32_t>(launch.gridWorkspace >> 32);
  case Special::EnvReg2:
    return static_cast<uint32_t>(launch.gridWorkspace);
  case Special::SharedBase:
    return block.warps[0].sharedBegin & ~kRankOffsetMask;
  case Special::EnvRegOther:
  case Special::Count:
    return 0;
  }
  return 0;
}

} // namespace

Scheduler::Scheduler(const Launch &launch, Memory &memory, DeviceServices &services, Grid &grid, bool isShared)
    : launch_(launch), services_(services), grid_(grid) {
  executor_.shared = isShared ? &grid : nullptr;
  executor_.launch = &launch;
  executor_.memory = &memory;
  executor_.hostBias = memory.hostBias();
  if (launch.checks.shadowed())
    checker_ = std::make_unique<Checker>(launch, executor_);
  executor_.checker = checker_.get();
  executor_.ranges.resize(launch.program->checkedInstructions);
  // The pool of constants has to be aligned like registers are.
  executor_.constants.resize(launch.program->constants.size() + 64);
  uint8_t *aligned = reinterpret_cast<uint8_t *>(roundUp(reinterpret_cast<uint64_t>(executor_.constants.data()), 64));
  if (!launch.program->constants.empty())
    memcpy(aligned, launch.program->constants.data(), launch.program->constants.size());
  for (const Program::ParameterConstant &parameter : launch.program->parameterConstants)
    for (uint32_t l = 0; l < kLanes; ++l)
      memcpy(aligned + parameter.at + l * parameter.bytes, launch.parameters + parameter.offset, parameter.bytes);
}

Scheduler::~Scheduler() {
  for (auto *clusters : {&resident_, &pool_})
    for (auto &cluster : *clusters)
      for (auto &block : cluster->blocks)
        destroyBlock(*block);
  for (auto &[code, frames] : framePool_)
    for (Frame *frame : frames) {
      std::free(frame->registers);
      delete frame;
    }
}

void Scheduler::destroyBlock(Block &block) {
  for (Warp &warp : block.warps) // frames of a kernel that was stopped
    for (Group &group : warp.groups)
      for (Frame *frame = group.frame; frame && frame->parent;) {
        Frame *parent = frame->parent;
        frame->lanes &= ~group.mask;
        if (!frame->lanes) {
          std::free(frame->registers);
          delete frame;
        }
        frame = parent;
      }
  if (block.registerMemory)
    munmap(block.registerMemory, block.registerBytes);
  if (block.sharedMemory)
    munmap(block.sharedMemory, block.sharedBytes);
  if (block.localMemory)
    munmap(block.localMemory, block.localBytes);
}

std::unique_ptr<Block> Scheduler::makeBlock() {
  const Program &program = *launch_.program;
  auto block = std::make_unique<Block>();
  block->threads = static_cast<uint32_t>(launch_.block.count());
  uint32_t warps = (block->threads + kLanes - 1) / kLanes;
  uint64_t perWarp = roundUp(program.functions[0]->registerBytes + 1, 64);
  uint64_t localStride = roundUp(kLocalStart + program.localBytesPerThread, 16);
  uint32_t sharedEnd = program.dynamicSharedStart + launch_.dynamicShared;
  block->registerBytes = roundUp(perWarp * warps, 4096);
  block->sharedBytes = roundUp(sharedEnd + 16, 4096);
  block->localBytes = roundUp(localStride * kLanes * warps, 4096);
  block->registerMemory = mapMemory(block->registerBytes);
  block->sharedMemory = mapMemory(block->sharedBytes);
  block->localMemory = mapMemory(block->localBytes);
  if (!block->registerMemory || !block->sharedMemory || !block->localMemory)
    return nullptr;
  block->warps.resize(warps);
  uint8_t *constants = reinterpret_cast<uint8_t *>(roundUp(reinterpret_cast<uint64_t>(executor_.constants.data()), 64));
  for (uint32_t w = 0; w < warps; ++w) {
    Warp &warp = block->warps[w];
    warp.block = block.get();
    warp.executor = &executor_;
    warp.index = w;
    warp.local = block->localMemory + localStride * kLanes * w;
    warp.localStride = static_cast<uint32_t>(localStride);
    warp.entryFrame.code = program.functions[0].get();
    warp.entryFrame.registers = block->registerMemory + perWarp * w;
    warp.entryFrame.localBase = kLocalStart;
    warp.specials.resize(kSpecialStride * static_cast<size_t>(Special::Count) + 64);
    warp.bases[kConstantBase] = constants;
    warp.bases[kSpecialBase] =
        reinterpret_cast<uint8_t *>(roundUp(reinterpret_cast<uint64_t>(warp.specials.data()), 64));
    warp.sharedBegin = kSharedStart;
    for (Special special : program.specials)
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
    uint32_t base = launch_.program->usesClusters ? block.rank << kClusterRankShift : 0;
    for (Warp &warp : block.warps) {
      warp.shared = block.sharedMemory - base;
      warp.sharedBegin = base + kSharedStart;
      warp.sharedEnd = base + launch_.program->dynamicSharedStart + launch_.dynamicShared;
    }
  }
  return cluster;
}

/// Clusters are numbered like blocks are, x fastest; so are the blocks of one.
void Scheduler::startCluster(Cluster &cluster, uint64_t linear) {
  const Dim3 &shape = launch_.cluster;
  linear = shuffled(linear, launch_.grid.count() / shape.count(), shuffle_);
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
  for (BarrierState &barrier : block.barriers)
    barrier = {};
  if (checker_)
    checker_->startBlock(block);
  const uint32_t registerBytes = launch_.program->functions[0]->registerBytes;
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
    for (Special special : launch_.program->specials)
      if (changesWithBlock(special)) {
        uint32_t value = specialValue(special, launch_, block, 0, 0);
        uint32_t *to = at<uint32_t>(warp, kSpecialBase << kBaseShift | kSpecialStride * static_cast<uint32_t>(special));
        std::fill(to, to + kLanes, value);
      }
  }
}

bool Scheduler::admit() {
  uint64_t linear;
  if (!grid_.take(linear))
    return false;
  std::unique_ptr<Cluster> cluster;
  if (!pool_.empty()) {
    cluster = std::move(pool_.back());
    pool_.pop_back();
  } else {
    cluster = makeCluster();
  }
  if (!cluster) {
    executor_.fault = {CUDA_ERROR_OUT_OF_MEMORY,
                       "no memory for another resident block of '" + launch_.program->name + "'"};
    return false;
  }
  startCluster(*cluster, linear);
  resident_.push_back(std::move(cluster));
  return true;
}

/// Warps take turns until the block is done, or goes on only when others did something.
Scheduler::Turn Scheduler::runBlock(Block &block, bool &progress) {
  for (;;) {
    bool moved = false, spun = false, yielded = false;
    for (size_t turn = 0; turn < block.warps.size(); ++turn) {
      Warp &warp = block.warps[shuffled(turn, block.warps.size(), shuffle_ ? shuffle_ + block.linear : 0)];
      block.spun = block.yielded = false;
      uint64_t before = block.cluster->events;
      if (!warp.groups.empty() && runWarp(warp)) {
        spun |= block.spun;
        yielded |= block.yielded;
        moved |= !block.yielded || block.cluster->events != before;
      }
      if (executor_.failed())
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
    if (spun)
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
    if (spun)
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
  waitingPasses_ = waited && grid_.exhausted() ? waitingPasses_ + 1 : 0;
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
  uint64_t doneByAll = 0;
  while (!grid_.stopped() && (!resident_.empty() || admit())) {
    bool finished = false, waited = true;
    for (size_t k = 0; k < resident_.size() && !executor_.failed();) {
      seeOthers();
      if (runCluster(*resident_[k])) {
        finished = true;
        grid_.finish();
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
