// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/check/race_detector.h"

#include <algorithm>

namespace tenon::emulator {
namespace {

constexpr uint32_t kMostInstructions = 1u << 26;

bool ordered(const BlockClocks &block, uint32_t thread, const AccessRecord &before) {
  uint32_t index = before.thread - block.first;
  const Knowledge &known = *block.threads[thread].known;
  if (index < block.stride)
    return index == thread || known.atHome(index) >= before.clock;
  return known.of(before.thread / block.stride, before.thread % block.stride) >= before.clock;
}

/// Whether a copy that `thread` issues sees the write of a thread of its block: somebody on the way made a fence.
bool fenced(const BlockClocks &block, uint32_t thread, const AccessRecord &write) {
  uint32_t writer = write.thread - block.first;
  if (write.clock == 0 || writer >= block.count()) // another copy's, or (not followed so far) another block's
    return true;
  auto by = [&](uint32_t who) {
    const ThreadClock &other = block.threads[who];
    for (const ThreadClock::ProxyFence &fence : other.proxyFences)
      if ((who == writer ? fence.clock : fence.seen->atHome(writer)) >= write.clock &&
          (who == thread || block.threads[thread].known->atHome(who) >= fence.clock))
        return true;
    return other.hadMoreFences;
  };
  if (by(writer) || by(thread))
    return true;
  for (uint32_t who = 0; who < block.count(); ++who)
    if (!block.threads[who].proxyFences.empty() && by(who))
      return true;
  return false;
}

bool conflicts(const BlockClocks &block, uint32_t thread, const AccessRecord &before, const AccessRecord &now) {
  if (before.clock == 0 || !(before.bytes & now.bytes) || (before.strong && now.strong))
    return false;
  return before.inFlight || !ordered(block, thread, before);
}

/// A read of a lane that has exchanged values with `thread` since.
bool isReadBefore(const BlockClocks &block, uint32_t thread, const AccessRecord &read) {
  constexpr uint32_t kWarp = 32;
  const uint32_t reader = read.thread - block.first;
  if (reader >= block.count() || reader / kWarp != thread / kWarp)
    return false;
  const ThreadClock &lane = block.threads[reader];
  return read.clock <= lane.exchangedAt && (lane.exchangedWith >> thread % kWarp & 1);
}

/// Keeps the two reads that a later write has most reason to fear.
void remember(const BlockClocks &block, uint32_t thread, AccessRecord (&reads)[2], const AccessRecord &now) {
  AccessRecord *slot = nullptr;
  for (AccessRecord &read : reads) // the thread's own, or one that this read is ordered after
    if (!slot && (read.clock == 0 ||
                  ((read.bytes & ~now.bytes) == 0 && (read.strong || !now.strong) && ordered(block, thread, read))))
      slot = &read;
  if (!slot && now.strong) // a weak read races with more
    return;
  *(slot ? slot : &reads[1]) = now;
  if (slot == &reads[0] && reads[1].clock && (reads[1].bytes & ~now.bytes) == 0 && (reads[1].strong || !now.strong) &&
      ordered(block, thread, reads[1]))
    reads[1] = {};
}

} // namespace

void RaceDetector::start(BlockClocks &block, uint64_t linear, uint32_t threads, uint32_t sharedBytes) {
  block.linear = linear;
  block.stride = strideOf(threads);
  block.first = static_cast<uint32_t>(linear * block.stride);
  block.mbarrierChannels = 0;
  ThreadClock first;
  first.known = std::make_shared<Knowledge>(linear, threads);
  block.threads.assign(threads, first);
  block.cells.assign(sharedBytes / 4 + 1, {});
  for (PhaseClock &barrier : block.barriers)
    barrier = {};
  block.locations.clear();
  block.mbarriers.clear();
}

AccessCell &RaceDetector::cellOf(BlockClocks *owner, uint64_t address) {
  if (owner)
    return owner->cells[address / 4];
  uint64_t page = address / kPageBytes;
  if (page != lastPage_ || !lastCells_) {
    std::unique_ptr<AccessCell[]> &cells = pages_[page];
    if (!cells)
      cells = std::make_unique<AccessCell[]>(kPageBytes / 4);
    lastPage_ = page;
    lastCells_ = cells.get();
  }
  return lastCells_[address % kPageBytes / 4];
}

std::optional<RaceDetector::Conflict> RaceDetector::access(BlockClocks &block, uint32_t thread, BlockClocks *owner,
                                                           const Access &access, bool *metSameValue) {
  std::optional<Conflict> found;
  ThreadClock &me = block.threads[thread];
  if (!access.isWrite && !access.order.strong && !access.channel)
    me.plainReads[me.nextPlainRead++ % me.plainReads.size()] = {owner, access.address, access.instruction, true};
  if (access.order.compareAndSwap)
    for (const ThreadClock::PlainRead &read : me.plainReads)
      if (read.isRead && read.owner == owner && read.address == access.address)
        feeding_.insert(read.instruction);
  if (access.order.strong && !access.channel)
    synchronise(block, thread, owner, access);
  AccessRecord now;
  now.thread = access.channel ? access.channel.number : block.first + thread;
  now.clock = access.channel ? access.channel.clock : me.clock;
  now.strong = access.order.strong;
  now.inFlight = access.order.asynchronous && access.isWrite && !access.channel;
  now.instruction = access.instruction % kMostInstructions;
  uint64_t end = access.address + access.bytes;
  for (uint64_t word = access.address & ~uint64_t(3); word < end; word += 4) {
    uint64_t from = std::max(word, access.address) - word, to = std::min(word + 4, end) - word;
    now.bytes = ((1u << to) - 1) & ~((1u << from) - 1);
    AccessCell &cell = cellOf(owner, word);
    for (const AccessRecord *before : {&cell.write, &cell.strongWrite}) {
      if (!found && conflicts(block, thread, *before, now)) {
        const bool isByThread = (before->thread - block.first) % block.stride < block.count();
        if (access.sameValue && !before->strong && !before->inFlight && isByThread) {
          if (metSameValue)
            *metSameValue = true;
        } else {
          found = Conflict{*before, true};
        }
      }
      if (!found && access.channel && !access.isWrite && owner && (before->bytes & now.bytes) &&
          !fenced(block, thread, *before))
        found = Conflict{*before, true, true};
    }
    if (!access.isWrite) {
      remember(block, thread, cell.reads, now);
      continue;
    }
    for (AccessRecord &read : cell.reads)
      if (!found && conflicts(block, thread, read, now) && !isReadBefore(block, thread, read))
        found = Conflict{read, false};
    if (now.strong) {
      cell.strongWrite = now;
      continue;
    }
    cell.write = now;
    // Who is ordered after this write is ordered after what was before it.
    for (AccessRecord *before : {&cell.strongWrite, &cell.reads[0], &cell.reads[1]})
      if ((before->bytes & ~now.bytes) == 0)
        *before = {};
  }
  if (access.order.release) // what follows is not released with it
    ++me.clock;
  return found;
}

/// What the strong access reads from the location is acquired, what the thread released is left there.
void RaceDetector::synchronise(BlockClocks &block, uint32_t thread, BlockClocks *owner, const Access &access) {
  ThreadClock &me = block.threads[thread];
  const MemoryOrder &order = access.order;
  auto find = [&](bool make) -> SyncLocation * {
    if (owner) {
      auto at = owner->locations.find(static_cast<uint32_t>(access.address));
      return at != owner->locations.end() ? &at->second
             : make                       ? &owner->locations[static_cast<uint32_t>(access.address)]
                                          : nullptr;
    }
    auto at = locations_.find(access.address);
    return at != locations_.end() ? &at->second : make ? &locations_[access.address] : nullptr;
  };
  bool releases = access.isWrite && (order.release || me.released || me.releasedInBlock);
  SyncLocation *location = find(releases);
  if (!location)
    return;
  if (!access.isWrite || order.readModifyWrite) {
    KnowledgePtr seen = location->wide.share();
    if (location->narrowBlock == block.linear)
      seen = joined(seen, location->narrow.share());
    KnowledgePtr &to = order.acquire ? me.known : me.acquired;
    to = joined(to, seen);
  }
  if (!access.isWrite)
    return;
  if (!order.readModifyWrite) { // another value: what the location said before is gone
    location->wide.clear();
    location->narrow.clear();
  }
  if (location->narrowBlock != block.linear) {
    location->narrow.clear();
    location->narrowBlock = block.linear;
  }
  if (order.release)
    (order.wide ? location->wide : location->narrow).add(me.known, block.linear, thread, me.clock);
  if (me.released)
    location->wide.add(me.released, block.linear, thread, me.releasedAt);
  if (me.releasedInBlock)
    location->narrow.add(me.releasedInBlock, block.linear, thread, me.releasedInBlockAt);
}

void RaceDetector::arrived(BlockClocks &block, uint32_t thread, BlockClocks &owner, uint32_t offset, uint32_t bytes) {
  for (uint32_t word = offset / 4; word < (offset + bytes + 3) / 4; ++word) {
    AccessRecord &write = owner.cells[word].write;
    if (write.inFlight && write.thread == block.first + thread) {
      write.inFlight = 0;
      write.clock = block.threads[thread].clock;
    }
  }
}

void RaceDetector::fence(ThreadClock &me, const MemoryOrder &order) {
  if (order.acquire) {
    me.known = joined(me.known, me.acquired);
    me.acquired.reset();
  }
  if (!order.release)
    return;
  me.releasedInBlock = me.known;
  me.releasedInBlockAt = me.clock;
  if (order.wide) {
    me.released = me.known;
    me.releasedAt = me.clock;
  }
  ++me.clock;
}

void RaceDetector::arrive(BlockClocks &block, uint32_t thread, PhaseClock &barrier) {
  ThreadClock &me = block.threads[thread];
  if (me.acquired) { // stricter than the model would be: a flag read before a barrier is seen behind it
    me.known = joined(me.known, me.acquired);
    me.acquired.reset();
  }
  barrier.arriving.add(me.known, block.linear, thread, me.clock);
  ++me.clock;
}

void RaceDetector::complete(PhaseClock &barrier) {
  barrier.passed = barrier.arriving.take();
}

RaceDetector::Channel RaceDetector::issue(BlockClocks &block, uint32_t thread, BlockClocks &owner, PhaseClock &phase) {
  if (!phase.channel) {
    if (owner.mbarrierChannels == kMbarrierChannels)
      return {};
    phase.channel = 3 * owner.count() + owner.mbarrierChannels++;
  }
  arrive(block, thread, phase);
  return {owner.first + phase.channel, phase.phases + 1};
}
void RaceDetector::completePhase(const BlockClocks &owner, PhaseClock &phase) {
  complete(phase);
  ++phase.phases;
  if (!phase.channel)
    return;
  auto passed = phase.passed ? std::make_shared<Knowledge>(*phase.passed)
                             : std::make_shared<Knowledge>(owner.linear, owner.count());
  passed->note(owner.linear, phase.channel, phase.phases);
  phase.passed = std::move(passed);
}
RaceDetector::Channel RaceDetector::groupRead(const BlockClocks &block, uint32_t thread) {
  return {block.first + block.readChannel(thread), block.threads[thread].bulkGroups + 1};
}
RaceDetector::Channel RaceDetector::groupDone(const BlockClocks &block, uint32_t thread) {
  return {block.first + block.doneChannel(thread), block.threads[thread].bulkGroups + 1};
}
void RaceDetector::waitGroup(BlockClocks &block, uint32_t thread, uint32_t keep, bool readOnly) {
  ThreadClock &me = block.threads[thread];
  if (me.bulkGroups <= keep)
    return;
  auto known = std::make_shared<Knowledge>(*me.known);
  known->note(block.linear, block.readChannel(thread), me.bulkGroups - keep);
  if (!readOnly)
    known->note(block.linear, block.doneChannel(thread), me.bulkGroups - keep);
  me.known = std::move(known);
}
void RaceDetector::proxyFence(ThreadClock &me) {
  constexpr size_t kMostFences = 16;
  if (me.proxyFences.size() == kMostFences) {
    me.proxyFences.erase(me.proxyFences.begin());
    me.hadMoreFences = true; // what is forgotten is forgiven
  }
  me.proxyFences.push_back({me.clock, me.known});
  ++me.clock;
}

void RaceDetector::leave(BlockClocks &block, uint32_t thread, const PhaseClock &barrier) {
  if (barrier.passed && barrier.passed->block() == block.linear)
    block.threads[thread].known = barrier.passed; // which holds what the thread knew when it arrived
  else
    learn(block, thread, barrier);
}
void RaceDetector::learn(BlockClocks &block, uint32_t thread, const PhaseClock &barrier) {
  ThreadClock &me = block.threads[thread];
  me.known = joined(me.known, barrier.passed);
}

void RaceDetector::passOn(BlockClocks &block, uint32_t first, uint32_t mask) {
  const uint32_t one = first + static_cast<uint32_t>(__builtin_ctz(mask));
  bool same = true, old = true;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    ThreadClock &lane = block.threads[first + static_cast<uint32_t>(__builtin_ctz(rest))];
    same &= lane.known == block.threads[one].known;
    old &= lane.known == lane.passedOn;
    lane.exchangedAt = lane.clock++;
    lane.exchangedWith = mask;
  }
  if (same || old)
    return;
  constexpr uint32_t kWarp = 32;
  Knowledge all(*block.threads[one].known);
  KnowledgePtr last = block.threads[one].known;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    if (const KnowledgePtr &known = block.threads[first + static_cast<uint32_t>(__builtin_ctz(rest))].known;
        known != last) {
      all.join(*known);
      last = known;
    }
  // Lanes that knew the same know the same behind it.
  KnowledgePtr before, after;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    ThreadClock &lane = block.threads[first + static_cast<uint32_t>(__builtin_ctz(rest))];
    if (lane.known != before) {
      auto mine = std::make_shared<Knowledge>(all);
      mine->copyHome(*lane.known, first, kWarp);
      before = lane.known;
      after = std::move(mine);
    }
    lane.known = lane.passedOn = after;
  }
}

void RaceDetector::meet(BlockClocks &block, uint32_t first, uint32_t mask) {
  PhaseClock here;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    arrive(block, first + static_cast<uint32_t>(__builtin_ctz(rest)), here);
  complete(here);
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    leave(block, first + static_cast<uint32_t>(__builtin_ctz(rest)), here);
}

} // namespace tenon::emulator
