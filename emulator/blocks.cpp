// Blocks of the scheduler: their memory (pooled), admission, special registers, barriers, deadlock reports.
#include "emulator/check.h"
#include "emulator/memory.h"
#include "emulator/scheduler.h"

#include <algorithm>
#include <cstring>
#include <cuda.h>
#include <sys/mman.h>

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
  case Special::EnvRegOther:
  case Special::Count:
    return 0;
  }
  return 0;
}

} // namespace

Scheduler::Scheduler(const Launch &launch, Memory &memory, DeviceServices &services)
    : launch_(launch), services_(services) {
  executor_.launch = &launch;
  executor_.memory = &memory;
  executor_.hostBias = memory.hostBias();
  executor_.ranges.resize(launch.program->checkedInstructions);
  // The pool of constants has to be aligned like registers are.
  executor_.constants.resize(launch.program->constants.size() + 64);
  uint8_t *aligned = reinterpret_cast<uint8_t *>(roundUp(reinterpret_cast<uint64_t>(executor_.constants.data()), 64));
  if (!launch.program->constants.empty())
    memcpy(aligned, launch.program->constants.data(), launch.program->constants.size());
}

Scheduler::~Scheduler() {
  for (auto &block : resident_)
    destroyBlock(*block);
  for (auto &block : pool_)
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
    warp.shared = block->sharedMemory;
    warp.sharedEnd = sharedEnd;
    warp.local = block->localMemory + localStride * kLanes * w;
    warp.localStride = static_cast<uint32_t>(localStride);
    warp.entryFrame.code = program.functions[0].get();
    warp.entryFrame.registers = block->registerMemory + perWarp * w;
    warp.entryFrame.localBase = kLocalStart;
    warp.specials.resize(kSpecialStride * static_cast<size_t>(Special::Count) + 64);
    warp.bases[kConstantBase] = constants;
    warp.bases[kSpecialBase] =
        reinterpret_cast<uint8_t *>(roundUp(reinterpret_cast<uint64_t>(warp.specials.data()), 64));
    for (Special special : program.specials)
      for (uint32_t lane = 0; lane < kLanes; ++lane)
        at<uint32_t>(warp, kSpecialBase << kBaseShift | kSpecialStride * static_cast<uint32_t>(special))[lane] =
            specialValue(special, launch_, *block, w, lane);
  }
  return block;
}

void Scheduler::startBlock(Block &block, uint64_t linear) {
  const Dim3 &grid = launch_.grid;
  block.linear = linear;
  block.id = {static_cast<uint32_t>(linear % grid.x), static_cast<uint32_t>(linear / grid.x % grid.y),
              static_cast<uint32_t>(linear / grid.x / grid.y)};
  block.exited = 0;
  block.spun = false;
  for (BarrierState &barrier : block.barriers)
    barrier = {};
  const uint32_t registerBytes = launch_.program->functions[0]->registerBytes;
  for (Warp &warp : block.warps) {
    uint32_t threads = std::min(kLanes, block.threads - warp.index * kLanes);
    warp.live = threads == kLanes ? kAllLanes : (1u << threads) - 1;
    warp.clock = 0;
    warp.entryFrame.lanes = warp.live;
    warp.openCopies.clear();
    warp.committedCopies.clear();
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

void Scheduler::admit() {
  std::unique_ptr<Block> block;
  if (!pool_.empty()) {
    block = std::move(pool_.back());
    pool_.pop_back();
  } else {
    block = makeBlock();
  }
  if (!block) {
    executor_.fault = {CUDA_ERROR_OUT_OF_MEMORY,
                       "no memory for another resident block of '" + launch_.program->name + "'"};
    return;
  }
  startBlock(*block, nextBlock_++);
  resident_.push_back(std::move(block));
}

bool Scheduler::runBlock(Block &block) {
  for (;;) {
    bool progress = false;
    block.spun = false;
    bool spun = false;
    for (Warp &warp : block.warps) {
      if (!warp.groups.empty())
        progress |= runWarp(warp);
      spun |= block.spun;
      block.spun = false;
      if (executor_.failed())
        return false;
    }
    bool released = releaseBarriers(block);
    if (block.exited == block.threads)
      return true;
    if (executor_.failed())
      return false;
    if (!progress && !released) {
      reportDeadlock(block);
      return false;
    }
    if (spun)
      return false;
  }
}

Fault Scheduler::run() {
  uint64_t total = launch_.grid.count();
  while (nextBlock_ < total || !resident_.empty()) {
    if (resident_.empty())
      admit();
    bool finished = false;
    for (size_t k = 0; k < resident_.size() && !executor_.failed();) {
      if (runBlock(*resident_[k])) {
        finished = true;
        pool_.push_back(std::move(resident_[k]));
        resident_.erase(resident_.begin() + static_cast<ptrdiff_t>(k));
      } else {
        ++k;
      }
    }
    if (executor_.failed())
      break;
    spinning_ = !finished;
    if (!finished && nextBlock_ < total)
      admit();
  }
  return executor_.fault;
}

/// bar.sync, bar.arrive, bar.red: `a` the barrier, `b` the thread count (optional), `c` the predicate of bar.red.
bool Scheduler::arrive(GroupRun &run, const Decoded &i, uint32_t active) {
  if (!active) {
    ++run.pc;
    return true;
  }
  Warp &warp = run.warp;
  uint32_t first = static_cast<uint32_t>(__builtin_ctz(active));
  uint32_t id = at<uint32_t>(warp, i.a)[first], needed = i.b == kNoOperand ? 0 : at<uint32_t>(warp, i.b)[first];
  if (id >= 16 || needed % kLanes != 0) {
    raiseFault(warp, i, first, CUDA_ERROR_ILLEGAL_INSTRUCTION,
               id >= 16
                   ? "barrier " + std::to_string(id) + " does not exist, there are 0 to 15"
                   : "a barrier for " + std::to_string(needed) + " threads, which is not a multiple of the warp size");
    return false;
  }
  BarrierState &barrier = warp.block->barriers[id];
  barrier.arrived += static_cast<uint32_t>(__builtin_popcount(active));
  barrier.needed = std::max(barrier.needed, needed);
  BarrierKind kind = static_cast<BarrierKind>(i.flag & 0xf);
  if (kind >= BarrierKind::Popc) {
    uint32_t votes = *at<uint32_t>(warp, i.c);
    if (i.flag & kThirdNegated)
      votes = ~votes;
    barrier.trueVotes += static_cast<uint32_t>(__builtin_popcount(votes & active));
  }
  if (kind == BarrierKind::Arrive) {
    ++run.pc;
    return true;
  }
  if (uint32_t rest = run.mask & ~active)
    run.split(rest, run.pc + 1, run.frame);
  run.mask = active;
  run.save();
  run.group().state = Group::State::Barrier;
  run.group().barrier = static_cast<uint8_t>(id);
  return false;
}

void Scheduler::completeBarrier(Warp &warp, Group &group, const BarrierState &state) {
  enterFrame(warp, group.frame);
  const Decoded &i = group.frame->code->code[group.pc];
  switch (static_cast<BarrierKind>(i.flag & 0xf)) {
  case BarrierKind::Sync:
  case BarrierKind::Arrive:
    break;
  case BarrierKind::Popc: {
    uint32_t *d = at<uint32_t>(warp, i.d);
    for (uint32_t l = 0; l < kLanes; ++l)
      d[l] = (group.mask >> l & 1) ? state.trueVotes : d[l];
    break;
  }
  case BarrierKind::And:
  case BarrierKind::Or: {
    bool holds = (i.flag & 0xf) == static_cast<uint8_t>(BarrierKind::And) ? state.trueVotes == state.arrived
                                                                          : state.trueVotes != 0;
    uint32_t *d = at<uint32_t>(warp, i.d);
    *d = holds ? *d | group.mask : *d & ~group.mask;
    break;
  }
  }
  group.state = Group::State::Run;
  ++group.pc;
}

bool Scheduler::releaseBarriers(Block &block) {
  bool released = false;
  for (uint8_t id = 0; id < 16; ++id) {
    BarrierState &barrier = block.barriers[id];
    uint32_t needed = barrier.needed ? barrier.needed : block.threads - block.exited;
    if (barrier.arrived == 0 || barrier.arrived < needed)
      continue;
    BarrierState state = barrier;
    barrier = {};
    for (Warp &warp : block.warps)
      for (Group &group : warp.groups)
        if (group.state == Group::State::Barrier && group.barrier == id)
          completeBarrier(warp, group, state);
    released = true;
  }
  return released;
}

void Scheduler::reportDeadlock(Block &block) {
  std::string text = "kernel '" + launch_.program->name + "': deadlock in block (" + std::to_string(block.id.x) + "," +
                     std::to_string(block.id.y) + "," + std::to_string(block.id.z) + "): no thread can go on";
  // One line per place, with how many threads stand there.
  std::map<std::string, uint32_t> places;
  for (Warp &warp : block.warps)
    for (Group &group : warp.groups)
      places[placeName(*group.frame->code, group.frame->code->code[group.pc].instruction)] +=
          static_cast<uint32_t>(__builtin_popcount(group.mask));
  for (auto &[place, threads] : places)
    text += "\n  " + std::to_string(threads) + (threads == 1 ? " thread waits at " : " threads wait at ") + place;
  text += "\n  " + std::to_string(block.exited) + " of " + std::to_string(block.threads) + " threads have exited";
  executor_.fault = {CUDA_ERROR_LAUNCH_TIMEOUT, text};
}

} // namespace tenon::emulator
