// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a launch: which block, which warp, which group of lanes goes next.
//
// Lanes of a warp that stand at the same place form a group. The group with the lowest (age, deepest frame, pc) runs
// until it diverges, blocks, or meets another group's pc, where the two merge. So divergent code reconverges without
// any analysis of its control flow. A group that branches backward 64 times while another could run is rotated behind
// it (intra-warp spin locks progress); after 4096 the next warp runs; and when no block finished in a pass, another one
// is admitted (blocks that wait for later blocks progress). Blocks otherwise run one after the other, in order: the
// same input gives the same bytes.
//
// What is admitted is a cluster (cluster.h), of one block unless the launch says otherwise: its blocks take turns until
// all of them are done. A warp whose wait for an mbarrier failed lets the others run first.
//
// A barrier counts threads, not warps, so divergent arrivals are legal (sm_70 rules); a `.sync` warp instruction waits
// for (member mask & live lanes). When nothing can run, that is a deadlock, which is reported with the place of every
// thread. It is also one when all live threads have done nothing but ask mbarriers for 100,000 passes.
#pragma once

#include "emulator/check/shadow_checker.h"
#include "emulator/handlers/builtins.h"
#include "emulator/machine/cluster.h"
#include "emulator/machine/decoded_kernel.h"
#include "emulator/machine/grid.h"
#include "emulator/machine/machine.h"
#include "emulator/schedule/block_memory.h"
#include "emulator/schedule/frame_pool.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::emulator {

class Scheduler {
public:
  /// Takes clusters from `grid`; isShared: others take from it too.
  Scheduler(const Launch &launch, Memory &memory, DeviceServices &services, Grid &grid, bool isShared);
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  /// Blocks and warps go in an order by this seed; 0: as they are numbered. Before run().
  void setOrderSeed(uint64_t seed) { orderSeed_ = seed; }
  /// Runs to the end. Returns the fault that stopped it; code 0: none.
  Fault run();
  /// Warp instructions executed.
  uint64_t instructions() const { return executor_.instructions; }
  uint64_t threadInstructions() const { return executor_.threadInstructions; }
  /// What is no mistake and yet worth knowing.
  std::vector<std::string> notes() const { return checker_ ? checker_->notes() : std::vector<std::string>(); }

private:
  /// In Group::from: the branch was taken; else control fell through it.
  static constexpr uint32_t kTaken = 1u << 31;
  /// The group that runs. `index` stays valid while groups are only appended.
  struct GroupRun {
    Warp &warp;
    size_t index;
    uint32_t mask, pc;
    Frame *frame;
    uint32_t &fuel, &turns;
    uint32_t from; // Group::from

    Group &group() const { return warp.groups[index]; }
    void save() const {
      Group &g = group();
      g.mask = mask;
      g.pc = pc;
      g.frame = frame;
      g.from = from;
    }
    /// The lanes leave this group and stand elsewhere.
    void split(uint32_t lanes, uint32_t to, Frame *in) const {
      Group other = group();
      other.mask = lanes;
      other.pc = to;
      other.frame = in;
      other.state = Group::State::Run;
      other.from = (pc + 1) | (to == pc + 1 ? 0 : kTaken);
      warp.groups.push_back(other);
    }
  };
  /// How a block's turn ended.
  enum class Turn : uint8_t { Finished, Spun, Yielded, Stuck };
  std::unique_ptr<Block> makeBlock();
  std::unique_ptr<Cluster> makeCluster();
  bool takeClusters();
  bool admit(); // false: there are no more, or no memory
  void seeOthers();
  void startBlock(Block &block, const Dim3 &id);
  void startCluster(Cluster &cluster, uint64_t linear);
  void destroyBlock(Block &block);
  Turn runBlock(Block &block, bool &progress);
  bool seesStop();
  bool runCluster(Cluster &cluster); // true: finished
  bool runWarp(Warp &warp);
  void runGroup(Warp &warp, size_t index, uint32_t stop, uint32_t &fuel, uint32_t &turns);
  void execute(Warp &warp, const Decoded *i, const Decoded *end, uint32_t mask);
  static void mergeGroups(Warp &warp);
  static size_t pickGroup(const Warp &warp);
  static uint32_t nextMeeting(const Warp &warp, size_t index);
  void enterFrame(Warp &warp, Frame *frame);

  // Each returns true when the group goes on at run.pc with run.mask, false when another has to be picked.
  bool branch(GroupRun &run, const Decoded &i, uint32_t active);
  bool branchIndexed(GroupRun &run, const Decoded &i, uint32_t active);
  bool call(GroupRun &run, const Decoded &i, uint32_t active);
  bool leave(GroupRun &run, const Decoded &i, uint32_t active);
  bool exit(GroupRun &run, const Decoded &i, uint32_t active);
  bool arrive(GroupRun &run, const Decoded &i, uint32_t active);
  bool waitCluster(GroupRun &run, const Decoded &i, uint32_t active);
  bool synchronise(GroupRun &run, const Decoded &i, uint32_t active);
  bool jump(GroupRun &run, uint32_t target);

  bool releaseBarriers(Block &block);
  bool releaseBarrier(Block &block, uint8_t id);
  void completeBarrier(Warp &warp, Group &group, const BarrierState &state);
  bool releaseCluster(Cluster &cluster);
  void reportDeadlock(const Cluster &cluster);
  bool waitsForEver(bool waited);

  // The check of barriers (scheduler_barrier_check.cpp). False: a fault was raised.
  bool checkArrival(GroupRun &run, const Decoded &i, uint32_t active, uint32_t id, uint32_t needed);
  bool checkRelease(Block &block, uint8_t id, const BarrierState &state);
  void noteDeparture(const GroupRun &run, uint32_t active);
  bool leadsTo(const FunctionCode &code, uint32_t from, uint32_t to);

  // Limits from outside (scheduler_stop.cpp).
  bool isStopped(); // true: the launch ends here
  void reportStop(const std::string &why);

  const Launch &launch_;
  BlockMemory &memory_;
  DeviceServices &services_;
  Executor executor_;
  std::unique_ptr<ShadowChecker> checker_; // null: no shadow memory
  std::vector<std::unique_ptr<Cluster>> resident_, pool_;
  FramePool frames_;
  Grid &grid_;
  uint64_t nextCluster_ = 0, lastCluster_ = 0; // taken from the grid, not yet admitted
  uint64_t finished_ = 0;                      // since the grid was told
  uint64_t rangeEpoch_ = 0;                    // of the grid, when `ranges` was last cleared
  uint64_t orderSeed_ = 0;
  bool waiting_ = false;       // the last cluster that ran did nothing but ask mbarriers
  uint32_t waitingPasses_ = 0; // in a row, in which all did
  uint32_t barriers_ = 0;      // that were released
  uint32_t usedBarriers_ = 0;  // of blocks, by id: others need not be looked at
  bool spinning_ = false;      // the last pass finished no block: shorter turns
  std::chrono::steady_clock::time_point deadline_;
  std::map<std::pair<const FunctionCode *, uint32_t>, std::vector<bool>> reached_; // of leadsTo()
};

} // namespace tenon::emulator
