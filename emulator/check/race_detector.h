// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races: two threads touch the same bytes, at least one writes, not both with strong accesses, and nothing orders the
// one before the other. What orders: the thread's own program, bar and barrier (by who takes part), __syncwarp
// (bar.warp.sync), mbarriers (arrive before wait), barriers of a cluster, and a fence before a strong write that a
// strong read before a fence has seen. shfl, vote and the like order nothing, as their documentation says.
//
// Bulk and tensor copies run beside the threads. What one reads and writes has to be ordered after what came before, as
// the thread that issues it knows, and it is done for those who waited: for the phase of the mbarrier that it reports
// to, or for the thread's bulk group. So each mbarrier is a *channel* with a clock of its own, its phases, and each
// thread has two, its groups read and its groups done; channels are numbered behind the threads of the block, and what
// waits make known of them travels like what threads know of each other. Copies go another way to shared memory than
// threads (the asynchronous proxy): what threads wrote there a copy sees behind a fence.proxy.async, of any thread that
// stands between them.
//
// Three things that the memory model calls races and correct programs do are told apart:
// - Threads write the same value to one place (a flag): no report, `metSameValue`.
// - A plain read whose value goes into an atom.cas of the same place, as in the programming guide's atomicAdd of
// doubles:
//   when it was stale the cas fails. The loads that feed one are learned as the kernel runs (`feedsCompareAndSwap`).
// - One lane acquires what other warps did and tells the others by shfl, vote or match, as cooperative groups and CUB
// do:
//   behind that instruction the others know it too, of other warps alone (`passOn`). What a lane read before it is
//   read, so that another of these lanes may write there behind it.
//
// For every four bytes that were touched a cell keeps the last weak write, the last strong one, and two reads that are
// not ordered with each other. So no report is wrong; a race with a third concurrent reader alone can be missed.
#pragma once

#include "emulator/check/knowledge.h"
#include "emulator/check/memory_order.h"

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tenon::emulator {

/// An access as a cell remembers it.
struct AccessRecord {
  uint32_t thread = 0; // or channel, counted through the grid
  uint32_t clock = 0;  // of the thread; 0: no access
  uint32_t bytes : 4 = 0;
  uint32_t strong : 1 = 0;
  uint32_t inFlight : 1 = 0; // an asynchronous copy that was not waited for
  uint32_t instruction : 26 = 0;
};
/// A strong write does not replace a weak one: the next strong write races with the weak one alone.
struct AccessCell {
  AccessRecord write, strongWrite, reads[2];
};

/// One thread's place in the order of the launch.
struct ThreadClock {
  KnowledgePtr known;
  uint32_t clock = 1;
  // What strong writes make visible since the last fence, to the block and beyond.
  KnowledgePtr releasedInBlock, released;
  uint32_t releasedInBlockAt = 0, releasedAt = 0;
  KnowledgePtr acquired; // what strong reads saw; a fence or a barrier makes it known
  /// fence.proxy.async: what was known, and at which clock.
  struct ProxyFence {
    uint32_t clock;
    KnowledgePtr seen;
  };
  std::vector<ProxyFence> proxyFences; // the last ones
  bool hadMoreFences = false;
  uint32_t bulkGroups = 0;                     // committed
  KnowledgePtr passedOn;                       // what passOn() left here
  uint32_t exchangedAt = 0, exchangedWith = 0; // the last passOn(): the clock, the lanes
  /// The last plain reads, which a compare-and-swap may follow.
  struct PlainRead {
    const void *owner; // whose shared memory; null: global
    uint64_t address;
    uint32_t instruction;
    bool isRead;
  };
  std::array<PlainRead, 4> plainReads = {};
  uint32_t nextPlainRead = 0;
};

/// A location that strong accesses use to order others.
struct SyncLocation {
  Gathering wide, narrow;
  uint64_t narrowBlock = 0;
};

/// A barrier that is passed in phases: mbarriers, the barriers of a block and of a cluster.
struct PhaseClock {
  Gathering arriving;
  KnowledgePtr passed;
  uint32_t channel = 0, phases = 0; // of copies that report here; 0: none yet
};

/// The detector's view of one block.
struct BlockClocks {
  uint64_t linear = 0;
  uint32_t first = 0;  // thread, counted through the grid
  uint32_t stride = 1; // threads and channels of a block
  uint32_t mbarrierChannels = 0;
  uint32_t readChannel(uint32_t thread) const { return count() + 2 * thread; }
  uint32_t doneChannel(uint32_t thread) const { return count() + 2 * thread + 1; }
  uint32_t count() const { return static_cast<uint32_t>(threads.size()); }
  std::vector<ThreadClock> threads;
  std::vector<AccessCell> cells; // of shared memory, per four bytes
  PhaseClock barriers[16];
  std::unordered_map<uint32_t, SyncLocation> locations; // by shared offset
  std::unordered_map<uint32_t, PhaseClock> mbarriers;   // by shared offset
};

class RaceDetector {
public:
  static constexpr uint32_t kMbarrierChannels = 256;
  /// What is numbered in a block of so many threads: they, two channels of each, and those of its mbarriers.
  static constexpr uint32_t strideOf(uint32_t threads) { return 3 * threads + kMbarrierChannels; }
  /// Of a bulk copy: the channel, counted through the grid, and its clock when the copy is done.
  struct Channel {
    uint32_t number = 0, clock = 0;
    explicit operator bool() const { return clock != 0; }
  };
  struct Access {
    uint64_t address = 0; // global, or an offset in the shared memory of `owner`
    uint32_t bytes = 0;
    bool isWrite = false;
    MemoryOrder order;
    uint32_t instruction = 0; // any number below 2^26
    Channel channel = {};     // whose clock it has; none: the thread's own
    bool sameValue = false;   // a plain write of what is there already
  };
  struct Conflict {
    AccessRecord other;
    bool otherWrites = false;
    bool unfenced = false; // ordered, but a copy does not see it
  };

  /// owner: whose shared memory it is, null for global memory. The conflict is with what came before; the access is
  /// remembered in any case. metSameValue: a write of another thread that only its value makes harmless.
  std::optional<Conflict> access(BlockClocks &block, uint32_t thread, BlockClocks *owner, const Access &access,
                                 bool *metSameValue = nullptr);
  /// Whether some thread read by this instruction, plainly, what it then compared and swapped.
  bool feedsCompareAndSwap(uint32_t instruction) const { return feeding_.count(instruction) != 0; }
  /// The bytes of an asynchronous copy are there.
  static void arrived(BlockClocks &block, uint32_t thread, BlockClocks &owner, uint32_t offset, uint32_t bytes);

  static void start(BlockClocks &block, uint64_t linear, uint32_t threads, uint32_t sharedBytes);
  static void fence(ThreadClock &me, const MemoryOrder &order);
  static void arrive(BlockClocks &block, uint32_t thread, PhaseClock &barrier);
  /// A copy that will report to the mbarrier `phase` of `owner`: who sees the phase complete is behind what the thread
  /// knew. None: the block has too many mbarriers.
  static Channel issue(BlockClocks &block, uint32_t thread, BlockClocks &owner, PhaseClock &phase);
  /// The open bulk group of the thread, as others write over what it reads, and as they touch what it writes.
  static Channel groupRead(const BlockClocks &block, uint32_t thread);
  static Channel groupDone(const BlockClocks &block, uint32_t thread);
  static void commitGroup(BlockClocks &block, uint32_t thread) { ++block.threads[thread].bulkGroups; }
  static void waitGroup(BlockClocks &block, uint32_t thread, uint32_t keep, bool readOnly);
  static void proxyFence(ThreadClock &me);
  /// A phase of an mbarrier of `owner` is complete, and with it its copies.
  static void completePhase(const BlockClocks &owner, PhaseClock &phase);
  /// The phase is complete. Who arrived and waited leaves; who only asks, as of an mbarrier, learns.
  static void complete(PhaseClock &barrier);
  static void leave(BlockClocks &block, uint32_t thread, const PhaseClock &barrier);
  static void learn(BlockClocks &block, uint32_t thread, const PhaseClock &barrier);
  /// The threads of `mask`, counted from `first`, meet.
  static void meet(BlockClocks &block, uint32_t first, uint32_t mask);
  /// The lanes of `mask` of the warp from `first` on exchange values: each knows of other warps what all of them do.
  static void passOn(BlockClocks &block, uint32_t first, uint32_t mask);

private:
  static constexpr uint32_t kPageBytes = 4096;
  AccessCell &cellOf(BlockClocks *owner, uint64_t address);
  void synchronise(BlockClocks &block, uint32_t thread, BlockClocks *owner, const Access &access);

  std::unordered_map<uint64_t, std::unique_ptr<AccessCell[]>> pages_; // of global memory
  uint64_t lastPage_ = 0;
  AccessCell *lastCells_ = nullptr;
  std::unordered_map<uint64_t, SyncLocation> locations_; // by global address
  std::unordered_set<uint32_t> feeding_;                 // instructions, see feedsCompareAndSwap
};

} // namespace tenon::emulator
