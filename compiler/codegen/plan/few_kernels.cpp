// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/plan/few_kernels.h"

#include <cmath>

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// A kernel is worth what it gains, added up over the sizes: in parts of their least times, for sizes that grow by e.
constexpr double kLeastGain = 0.15;
// Sizes that are powers of two count so often.
constexpr double kOfPower = 2;
// Of neighbours, one kernel is left for another where it is so much slower: what is known of times is not exact, and
// each border is a comparison of the program.
constexpr double kLeastSlower = 0.05;

class Choice {
public:
  explicit Choice(const KernelTimes &of) : of_(of) {
    const std::vector<int64_t> &sizes = of.sizes;
    for (size_t size = 0; size < sizes.size(); ++size) {
      double least = HUGE_VAL;
      for (const std::vector<double> &times : of.times)
        least = std::min(least, times[size]);
      const double before = size == 0 ? double(sizes[size]) / 2 : double(sizes[size - 1]),
                   times = llvm::isPowerOf2_64(uint64_t(sizes[size])) ? kOfPower : 1,
                   weight = times * std::log(double(sizes[size]) / std::max(before, 0.5));
      weights_.push_back(weight / least);
    }
  }

  /// Adds the kernel that gains most, as long as one gains enough; then another one for each that was added.
  std::vector<size_t> few(size_t most) const {
    std::vector<size_t> few;
    double taken = HUGE_VAL;
    while (few.size() < std::min(most, of_.times.size())) {
      few.push_back(0);
      const double least = exchange(few, few.size() - 1, HUGE_VAL);
      if (taken - least < kLeastGain) {
        few.pop_back();
        break;
      }
      taken = least;
      for (size_t place = 0; place + 1 < few.size(); ++place)
        taken = exchange(few, place, taken);
    }
    return few;
  }

  size_t fastest(ArrayRef<size_t> few, size_t size) const {
    return *llvm::min_element(few, [&](size_t a, size_t b) { return of_.times[a][size] < of_.times[b][size]; });
  }

private:
  /// Puts the kernel there that is best beside the others, if all take less time then.
  double exchange(std::vector<size_t> &few, size_t place, double taken) const {
    size_t best = few[place];
    for (size_t kernel = 0; kernel < of_.times.size(); ++kernel) {
      few[place] = kernel;
      if (const double with = timeOf(few); with < taken)
        best = kernel, taken = with;
    }
    few[place] = best;
    return taken;
  }

  double timeOf(ArrayRef<size_t> few) const {
    double all = 0;
    for (size_t size = 0; size < weights_.size(); ++size)
      all += weights_[size] * of_.times[fastest(few, size)][size];
    return all;
  }

  const KernelTimes &of_;
  std::vector<double> weights_; // [sizes] in parts of the least time
};

} // namespace

std::vector<FewKernel> fewKernelsOf(const KernelTimes &times, size_t most) {
  const Choice choice(times);
  const std::vector<size_t> few = choice.few(most);
  const size_t count = times.sizes.size();
  // From the largest size on, whose kernel has all that are larger: what is fastest there is known best.
  std::vector<size_t> running(count);
  for (size_t size = count; size-- > 0;) {
    const size_t fastest = choice.fastest(few, size);
    const size_t kept = size + 1 == count ? fastest : running[size + 1];
    const bool isFastEnough = times.times[kept][size] <= (1 + kLeastSlower) * times.times[fastest][size];
    running[size] = isFastEnough ? kept : fastest;
  }
  std::vector<FewKernel> found;
  for (size_t kernel : few) {
    FewKernel each{kernel, std::vector<bool>(count)};
    for (size_t size = 0; size < count; ++size)
      each.runs[size] = running[size] == kernel;
    if (llvm::is_contained(each.runs, true))
      found.push_back(std::move(each));
  }
  // In the order of the sizes.
  llvm::sort(found, [](const FewKernel &a, const FewKernel &b) { return a.runs > b.runs; });
  return found;
}

Guard guardedBySize(Guard guard, ArrayRef<int64_t> sizes, const std::vector<bool> &runs) {
  guard.above = 0;
  guard.most = 0;
  guard.orEmpty = runs.front();
  bool hasRun = false;
  for (size_t size = 0; size < sizes.size(); ++size) {
    const int64_t before = size == 0 ? 0 : sizes[size - 1];
    if (!runs[size])
      continue;
    if (!hasRun)
      guard.above = before;
    else if (*guard.most != before)
      guard.gaps.emplace_back(*guard.most, before);
    hasRun = true;
    guard.most = sizes[size];
  }
  if (runs.back())
    guard.most.reset();
  return guard;
}

} // namespace tenon::compiler::codegen
