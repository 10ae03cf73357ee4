// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/proof/report.h"

#include <algorithm>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace tenon::proof {

std::string Failure::text() const {
  const auto binding = static_cast<size_t>(outcome.refuted);
  return concat("seed ", kernel.seed, " (", kernel.ways, "): binding ", binding, " is ",
                verdictText(outcome.verdicts[binding]), " and was written, in ", outcome.again,
                " of 16 more runs at other places too:\n", outcome.by);
}

void Report::Row::merge(const Row &other) {
  kernels += other.kernels;
  notLinked += other.notLinked;
  notRun += other.notRun;
  ended += other.ended;
  wrote += other.wrote;
  proved += other.proved;
  chance += other.chance;
  refuted += other.refuted;
  inVain += other.inVain;
}

static std::set<std::string> wordsOf(const std::string &text) {
  std::set<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    words.insert(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

void Report::add(const Case &kernel, const Outcome &outcome) {
  Row row = {.kernels = 1};
  row.notLinked = outcome.state == Outcome::State::NotLinked;
  row.notRun = outcome.state == Outcome::State::NotRun;
  const std::set<std::string> words = wordsOf(kernel.ways);
  if (outcome.state != Outcome::State::Ran) {
    if (words.size() == 1 || problems_.empty())
      problems_.emplace(*words.begin(), concat("seed ", kernel.seed, ": ", outcome.problem));
  } else {
    row.ended = outcome.ended;
    row.wrote = outcome.written != 0 || outcome.refuted >= 0;
    row.refuted = outcome.isFailure();
    row.chance = outcome.refuted >= 0 && !outcome.isFailure();
    for (size_t i = 0; i < outcome.verdicts.size(); ++i) {
      row.proved |= outcome.verdicts[i] == Verdict::ProvedReadOnly || outcome.verdicts[i] == Verdict::Unused;
      row.inVain |= outcome.ended && outcome.verdicts[i] == Verdict::Unknown && !(outcome.written >> i & 1);
    }
  }
  total_.merge(row);
  for (const std::string &word : words)
    rows_[word].merge(row);
  if (outcome.isFailure())
    failures_.push_back({kernel, outcome});
}

void Report::merge(const Report &other) {
  total_.merge(other.total_);
  for (const auto &[name, row] : other.rows_)
    rows_[name].merge(row);
  failures_.insert(failures_.end(), other.failures_.begin(), other.failures_.end());
  problems_.insert(other.problems_.begin(), other.problems_.end());
}

std::vector<Failure> Report::failures() const {
  std::vector<Failure> sorted = failures_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Failure &a, const Failure &b) { return a.kernel.seed < b.kernel.seed; });
  return sorted;
}

std::string Report::table() const {
  auto cell = [](uint64_t value) {
    std::string text = std::to_string(value);
    return std::string(text.size() < 10 ? 10 - text.size() : 1, ' ') + text;
  };
  auto line = [&](const std::string &name, const Row &row) {
    return concat(name, std::string(name.size() < 26 ? 26 - name.size() : 1, ' '), cell(row.kernels), cell(row.ended),
                  cell(row.wrote), cell(row.proved), cell(row.refuted), cell(row.chance), cell(row.inVain),
                  cell(row.notLinked + row.notRun), "\n");
  };
  std::string text =
      "way                          kernels     ended     wrote    proved   REFUTED    chance   in vain  unusable\n";
  for (const auto &[name, row] : rows_)
    text += line(name, row);
  text += line("all", total_);
  for (const auto &[name, problem] : problems_)
    text += concat("unusable, ", name, ": ", problem, "\n");
  return text;
}

/// The judgement in a process of its own, for at most two seconds.
static bool stillFails(const std::string &ptx, const Failure &failure) {
  const pid_t child = fork();
  if (child < 0)
    return false;
  if (child == 0) {
    alarm(2);
    Judge judge;
    const Outcome outcome =
        judge.judge(ptx, failure.kernel.bindings, failure.kernel.constants, failure.kernel.seed, failure.kernel.maps);
    _exit(outcome.isFailure() && outcome.refuted == failure.outcome.refuted ? 42 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 42;
}

Case minimised(const Failure &failure) {
  std::vector<std::string> lines;
  const std::string &ptx = failure.kernel.ptx;
  for (size_t begin = 0; begin < ptx.size();) {
    const size_t end = std::min(ptx.find('\n', begin), ptx.size());
    lines.push_back(ptx.substr(begin, end - begin));
    begin = end + 1;
  }
  auto joined = [](const std::vector<std::string> &all) {
    std::string text;
    for (const std::string &each : all)
      text += each + "\n";
    return text;
  };
  for (size_t piece = std::max<size_t>(1, lines.size() / 2); piece != 0; piece /= 2) {
    for (size_t at = 0; at + piece <= lines.size();) {
      std::vector<std::string> less = lines;
      less.erase(less.begin() + ptrdiff_t(at), less.begin() + ptrdiff_t(at + piece));
      if (stillFails(joined(less), failure))
        lines = std::move(less);
      else
        at += piece;
    }
  }
  Case small = failure.kernel;
  small.ptx = joined(lines);
  return small;
}

} // namespace tenon::proof
