// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

namespace tenon::benchmarks {

double median(std::vector<double> samples) {
  if (samples.empty())
    return 0;
  const size_t middle = samples.size() / 2;
  std::nth_element(samples.begin(), samples.begin() + static_cast<long>(middle), samples.end());
  return samples[middle];
}

double Comparison::directMedian() const {
  return median(directSamples);
}
double Comparison::tenonMedian() const {
  return median(tenonSamples);
}

bool Comparison::isMet() const {
  switch (goal) {
  case Goal::None:
    return true;
  case Goal::Ratio:
    return tenonMedian() <= limit * directMedian();
  case Goal::Difference:
    return tenonMedian() - directMedian() <= limit;
  }
  return false;
}

std::string Comparison::goalText() const {
  char text[64] = "";
  if (goal == Goal::Ratio)
    std::snprintf(text, sizeof(text), "<= %.2f x", limit);
  if (goal == Goal::Difference)
    std::snprintf(text, sizeof(text), "<= +%.0f", limit);
  return text;
}

void runRounds(std::vector<Comparison> &comparisons, int rounds, int warmups) {
  std::mt19937 random(20261121);
  std::vector<size_t> order(2 * comparisons.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  for (int round = -warmups; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (size_t side : order) {
      Comparison &comparison = comparisons[side / 2];
      const double sample = side % 2 ? comparison.tenon() : comparison.direct();
      if (round >= 0)
        (side % 2 ? comparison.tenonSamples : comparison.directSamples).push_back(sample);
    }
  }
}

double nanosecondsPer(int count, const std::function<void()> &body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / count;
}

std::string toCsv(const std::vector<Comparison> &comparisons) {
  std::string out = "name,unit,direct,tenon,ratio,difference,goal,met,rounds\n";
  char line[512];
  for (const Comparison &c : comparisons) {
    std::snprintf(line, sizeof(line), "\"%s\",%s,%.1f,%.1f,%.3f,%.1f,%s,%s,%zu\n", c.name.c_str(), c.unit.c_str(),
                  c.directMedian(), c.tenonMedian(), c.tenonMedian() / c.directMedian(),
                  c.tenonMedian() - c.directMedian(), c.goalText().c_str(),
                  c.goal == Comparison::Goal::None ? "-"
                  : c.isMet()                      ? "yes"
                                                   : "no",
                  c.directSamples.size());
    out += line;
  }
  return out;
}

std::string toMarkdown(const std::vector<Comparison> &comparisons) {
  std::string out =
      "| what | unit | directly | Tenon | ratio | difference | goal | met |\n|---|---|---|---|---|---|---|---|\n";
  char line[640];
  for (const Comparison &c : comparisons) {
    std::snprintf(line, sizeof(line), "| %s | %s | %.1f (%s) | %.1f | %.3f | %+.1f | %s | %s |\n", c.name.c_str(),
                  c.unit.c_str(), c.directMedian(), c.directWay.c_str(), c.tenonMedian(),
                  c.tenonMedian() / c.directMedian(), c.tenonMedian() - c.directMedian(), c.goalText().c_str(),
                  c.goal == Comparison::Goal::None ? "-"
                  : c.isMet()                      ? "yes"
                                                   : "**no**");
    out += line;
  }
  return out;
}

} // namespace tenon::benchmarks
