// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two ways of doing the same, timed in turns: every round runs every side of every comparison once, in an order
// shuffled anew, so that clocks, caches and neighbours treat all alike. Reported are medians over the rounds.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tenon::benchmarks {

struct Comparison {
  std::string name;
  std::string unit;                      // of one sample: "ns per kernel"
  std::string directWay;                 // what the direct side does
  std::function<double()> direct, tenon; // each returns one sample
  enum class Goal { None, Ratio, Difference } goal = Goal::None;
  double limit = 0; // tenon / direct, or tenon - direct in the unit
  std::vector<double> directSamples, tenonSamples;

  double directMedian() const;
  double tenonMedian() const;
  bool isMet() const;
  /// "<= 1.05 x", "<= +1500", "".
  std::string goalText() const;
};

double median(std::vector<double> samples);

/// Fills the samples of all comparisons; the first `warmups` rounds are not kept.
void runRounds(std::vector<Comparison> &comparisons, int rounds, int warmups);

/// Nanoseconds of `body`, divided by `count`.
double nanosecondsPer(int count, const std::function<void()> &body);

std::string toCsv(const std::vector<Comparison> &comparisons);
std::string toMarkdown(const std::vector<Comparison> &comparisons);

} // namespace tenon::benchmarks
