// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks that need shadow memory (check_options.h: uninitialised, races): what every byte was last, beside what it
// is. Off, none of this exists: handlers of the checked kind (handlers/checked_memory_ops.h) are chosen when a kernel
// is decoded, and the scheduler asks one pointer.
//
// A read of global memory that nothing wrote stops the kernel. In shared memory correct programs read beyond what they
// filled and leave the value (CUB's merges): such a read is a mistake when somebody writes the byte before the next
// barrier, the reader itself or one who came too late; else it is a note. Races are collected while it goes on, each
// pair of instructions once, and make the launch fail at its end.
#pragma once

#include "emulator/check/race_detector.h"
#include "emulator/machine/copy_plan.h"
#include "emulator/machine/handlers.h"
#include "emulator/machine/machine.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tenon::emulator {

/// Of one resident block. Shared memory has gaps between variables that belong to none of them.
struct BlockShadow {
  /// ReadUnset: nothing has written it, and it was read.
  enum class ByteState : uint8_t { Unset, ReadUnset, Set, Outside };
  struct EarlyRead {
    uint32_t thread, instruction;
    uint32_t phase; // of the block
  };
  BlockClocks clocks;
  std::vector<ByteState> shared;            // by offset
  std::map<uint32_t, EarlyRead> earlyReads; // by offset
  uint32_t phase = 0;                       // barriers passed, of the block and of its warps
};

class ShadowChecker {
public:
  ShadowChecker(const Launch &launch, Executor &executor);

  void startBlock(Block &block);
  /// One lane's access of `bytes` at `address` (global, or an offset in the shared memory of `owner`; null: global),
  /// within bounds. False: a fault was raised.
  /// value: what a plain store writes; null: something else, or nothing.
  bool access(Warp &warp, const Decoded &instruction, uint32_t lane, Block *owner, uint64_t address, uint32_t bytes,
              bool isWrite, const uint8_t *value = nullptr);
  /// The bytes of an asynchronous copy have come to shared memory.
  void copyArrived(Warp &warp, uint32_t lane, Block &owner, uint32_t offset, uint32_t bytes);

  /// A bulk copy wrote there, shared or global memory.
  void bytesWritten(const uint8_t *host, uint32_t bytes);
  /// A bulk copy was issued: what it reads and writes goes on beside the thread. False: a fault was raised.
  bool copyIssued(Warp &warp, const Decoded &instruction, uint32_t lane, const CopyPlan &plan);
  void commitBulkGroup(Warp &warp, uint32_t mask);
  void waitBulkGroup(Warp &warp, uint32_t mask, uint32_t keep, bool readOnly);
  void proxyFence(Warp &warp, uint32_t mask);

  // What orders threads.
  void fence(Warp &warp, const Decoded &instruction, uint32_t mask);
  void meet(Warp &warp, uint32_t mask);
  /// A shfl, vote or match of these lanes.
  void passOn(Warp &warp, uint32_t mask);
  void arriveAtBarrier(Warp &warp, uint32_t mask, uint32_t barrier);
  void completeBarrier(Block &block, uint32_t barrier);
  void leaveBarrier(Warp &warp, uint32_t mask, uint32_t barrier);
  void arriveAtCluster(Warp &warp, uint32_t mask);
  void completeCluster(const Cluster &cluster);
  void leaveCluster(Warp &warp, uint32_t mask);
  void arriveAtMbarrier(Warp &warp, uint32_t lane, const void *object, bool completes);
  /// The last awaited bytes completed the phase.
  void completeMbarrier(const void *object);
  void passMbarrier(Warp &warp, uint32_t lane, const void *object);

  /// What was found, added to the fault that the launch ends with.
  void conclude(Fault &fault);
  /// What is no mistake and yet worth knowing, a line each.
  const std::vector<std::string> &notes() const { return notes_; }

private:
  static constexpr size_t kMostFound = 8;

  struct Code {
    const FunctionCode *code;
    uint32_t first; // its instructions, counted through the program
  };
  uint32_t number(const Warp &warp, const Decoded &instruction);
  std::string place(uint32_t number) const;
  std::string nameOfThread(uint32_t thread) const;
  std::string whereInShared(uint64_t offset) const;
  static std::string bytesOf(uint64_t count); // "1 byte", "4 bytes"
  bool checkBytes(Warp &warp, const Decoded &instruction, uint32_t lane, Block *owner, uint64_t address, uint32_t bytes,
                  bool isWrite, const MemoryOrder &order);
  /// A byte that was read before it is written now: by `writer`, for a report. False: that is a fault.
  bool writeAfterRead(const BlockShadow &shadow, uint32_t offset, const std::string &writer);
  void noteEarlyReads(BlockShadow &shadow);
  void reportRace(Warp &warp, uint32_t lane, bool isShared, const RaceDetector::Access &access,
                  const RaceDetector::Conflict &conflict);
  /// The resident block in whose shared memory a host address lies, and the offset there; null: none.
  BlockShadow *sharedAt(const void *host, uint32_t &offset);
  PhaseClock *mbarrierAt(const void *object, BlockShadow **owner = nullptr);
  bool remember(Warp &warp, uint32_t lane, BlockClocks *owner, const RaceDetector::Access &access);

  const Launch &launch_;
  Executor &executor_;
  RaceDetector races_;
  std::vector<Code> codes_;
  std::vector<MemoryOrder> orders_; // by number of the instruction
  const Code *last_ = nullptr;
  std::map<Block *, std::unique_ptr<BlockShadow>> shadows_;
  std::map<const Cluster *, PhaseClock> clusters_;
  struct Race {
    std::string text;
    uint64_t count = 1;
    uint32_t plainRead = 0; // 1 + the instruction of a plain read that met an atomic: no race if it feeds a cas
  };
  bool hasEnough() const;

  std::map<std::pair<uint32_t, uint32_t>, size_t> seen_; // pairs of instructions; the place in races_
  std::vector<Race> found_;
  std::set<uint32_t> sameValues_; // instructions that write what is there
  std::set<uint32_t> early_;      // instructions that read what nothing wrote
  std::vector<std::string> notes_;
  /// The copy that a lane issued last, to know the same one of another lane.
  struct IssuedCopy {
    const Warp *warp = nullptr;
    uint32_t instruction = 0;
    uint64_t at = 0; // instructions executed
    std::vector<CopyPiece> pieces;
  };
  bool isRepeated(const Warp &warp, uint32_t instruction, const CopyPlan &plan);

  IssuedCopy lastCopy_;
  bool foundCertain_ = false;
  uint64_t firstFoundAt_ = 0; // the first certain race, in instructions
};

} // namespace tenon::emulator
