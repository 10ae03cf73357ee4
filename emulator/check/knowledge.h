// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a thread knows of the others: a vector clock. Every thread counts its own releases (arrivals at barriers,
// fences); an access that another thread made at its clock c is ordered before mine when what I know of that thread is
// at least c.
//
// A launch has too many threads to give each a full vector. It does not have to: threads of a block share one vector
// after a barrier, and blocks know little of each other. So a vector is immutable and shared, dense for the thread's
// own block and sparse for others. The channels of bulk copies (race_detector.h) have clocks too; they are numbered
// after the threads, and a vector grows when it first contains one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::emulator {

class Knowledge {
public:
  Knowledge(uint64_t block, uint32_t threads) : block_(block), home_(threads) {}

  uint64_t block() const { return block_; }
  /// The clock of a thread of the own block, up to which its past is known.
  uint32_t atHome(uint32_t thread) const { return thread < home_.size() ? home_[thread] : 0; }
  uint32_t of(uint64_t block, uint32_t thread) const;
  /// Everything that `other` knows, too.
  void join(const Knowledge &other);
  void note(uint64_t block, uint32_t thread, uint32_t clock);
  /// Of `count` threads of the own block from `first` on it is known what `other` knows, not more.
  void copyHome(const Knowledge &other, uint32_t first, uint32_t count);

private:
  using Clocks = std::shared_ptr<const std::vector<uint32_t>>;
  struct Remote {
    uint64_t block;
    Clocks clocks;
  };
  void joinBlock(uint64_t block, const Clocks &clocks);
  std::vector<Remote>::iterator find(uint64_t block);

  uint64_t block_;
  std::vector<uint32_t> home_; // [threads of the block]
  std::vector<Remote> others_; // by block
};
using KnowledgePtr = std::shared_ptr<const Knowledge>;

/// Knowledge that threads contribute to one after the other: at a barrier, in a location that atomics write.
class Gathering {
public:
  bool empty() const { return !value_; }
  /// All that `base` knows, and that `thread` of `block` is at `clock`.
  void add(const KnowledgePtr &base, uint64_t block, uint32_t thread, uint32_t clock);
  /// What was gathered; it does not change any more.
  KnowledgePtr share() const { return value_; }
  KnowledgePtr take();
  void clear() { take(); }

private:
  std::shared_ptr<Knowledge> value_;
  KnowledgePtr last_; // what was joined last: most threads share it
};

/// `a` and `b` together; either may be null.
KnowledgePtr joined(const KnowledgePtr &a, const KnowledgePtr &b);

} // namespace tenon::emulator
