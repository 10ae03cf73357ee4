// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One measurement, as the processes that measure hand it to the one that reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::benchmarks {

struct Row {
  std::string group, name, shape;
  unsigned threads = 1;
  uint64_t repeats = 0;
  double cpu = 0, cpuLeast = 0, wall = 0; // seconds of one run: median, least, median
  double instructions = 0;                // thread instructions of one run
  double rate() const { return cpuLeast > 0 ? instructions / (threads > 1 ? wall : cpuLeast) / 1e9 : 0; }
  /// Fields with commas between, without end of line.
  std::string line() const;
  /// False: `text` is no such line.
  bool parse(const std::string &text);
  static const char *columns();
};

/// Runs `command` as many times at once as `processes` says, each with its lines of rows on stdout, and waits. Of
/// several the medians are taken, case by case. A process that fails ends this one.
std::vector<Row> runProcesses(const std::string &command, unsigned processes);

} // namespace tenon::benchmarks
