// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What many judged kernels came to: failures one by one, and a table with a row for each way of laundering.
#pragma once

#include "tests/proof/judge.h"

#include <map>

namespace tenon::proof {

struct Failure {
  Case kernel;
  Outcome outcome;
  /// "seed 17 (marked): binding 0 is proved_read_only and was written ..."
  std::string text() const;
};

class Report {
public:
  void add(const Case &kernel, const Outcome &outcome);
  void merge(const Report &other);

  uint64_t kernels() const { return total_.kernels; }
  uint64_t refuted() const { return failures_.size(); }
  uint64_t unusable() const { return total_.notLinked + total_.notRun; }
  /// In the order of their seeds, whoever found them.
  std::vector<Failure> failures() const;
  std::string table() const;

private:
  struct Row {
    uint64_t kernels = 0, notLinked = 0, notRun = 0;
    uint64_t ended = 0;  // the first run ran to its end
    uint64_t wrote = 0;  // some run wrote a binding
    uint64_t proved = 0; // some binding is proved or unused
    uint64_t chance = 0; // a proved binding was hit, and never again
    uint64_t refuted = 0;
    uint64_t inVain = 0; // a run to the end wrote nothing behind a binding that is unknown
    void merge(const Row &other);
  };
  Row total_;
  std::map<std::string, Row, std::less<>> rows_;
  std::vector<Failure> failures_;
  std::map<std::string, std::string> problems_; // of a kernel that cannot be judged, by way: the first
};

/// A smaller text that still fails: lines are dropped, from large pieces to single ones. Every attempt runs in a
/// process of its own, since what is left may loop for ever.
Case minimised(const Failure &failure);

} // namespace tenon::proof
