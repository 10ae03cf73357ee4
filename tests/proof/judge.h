// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Does a run refute what the linker proved? A kernel is linked as a library call and run on the emulator, both in this
// process, with each binding in memory of its own, somewhere in the address space.
//
// "Proved read-only" says that a kernel cannot aim at a binding. An access far out of another binding's bounds may hit
// it by chance; so buffers lie terabytes apart, each with some kilobytes around the pointer that nobody else owns, and
// a hit counts when it happens again at other places. Half of the places are near each other (within 4 GiB), so that
// code which puts one pointer's low half onto another's high half has its chance.
#pragma once

#include "tests/proof/generator.h"

#include <memory>

namespace tenon::proof {

enum class Verdict : uint8_t { Unknown, ProvedReadOnly, Written, Unused };
std::string_view verdictText(Verdict verdict);

struct Outcome {
  enum class State : uint8_t { NotLinked, NotRun, Ran } state = State::Ran;
  std::string problem;           // of a kernel that does not link or does not run at all
  std::vector<Verdict> verdicts; // [bindings]
  uint32_t written = 0;          // bindings that some run wrote, a mask; of those that are not proved
  bool ended = false;            // the first run ran to its end
  std::string fault;             // else why not
  // The binding that was written although it is proved or unused, or -1; by what; how many of 16 more runs did it
  // again.
  int refuted = -1;
  std::string by;
  uint32_t again = 0;

  /// Hit again at another place: no coincidence.
  bool isFailure() const { return refuted >= 0 && again >= 2; }
};

/// One thread's linker and emulator.
class Judge {
public:
  Judge();
  ~Judge();
  Judge(const Judge &) = delete;
  Judge &operator=(const Judge &) = delete;

  /// Same text and seed, same outcome, but for where buffers lie when a place is taken.
  Outcome judge(const std::string &ptx, uint32_t bindings, uint32_t constants, uint64_t seed, MapShape maps = {});
  /// As judge(), against what the caller claims instead of what the linker proves. claimed: [bindings]
  Outcome refute(const std::string &ptx, std::vector<Verdict> claimed, uint32_t constants, uint64_t seed,
                 MapShape maps = {});

private:
  struct Machine;
  std::unique_ptr<Machine> machine_;
};

} // namespace tenon::proof
