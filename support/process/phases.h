// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tool does, one phase after the other, and how long each took: `-v` prints it. Where stderr is a terminal, a
// phase that takes longer than a second is shown while it runs.
//
//   Phases phases("tenon-link");
//   commandLine.phases(phases);     // declares -v
//   phases.begin("read");
//   ...
//   phases.begin("prove");          // ends the one before
//   ...                             // the end of the process, or finish(), prints the table
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace tenon {

class Phases {
public:
  explicit Phases(std::string tool);
  ~Phases();
  Phases(const Phases &) = delete;
  Phases &operator=(const Phases &) = delete;

  /// For CommandLine: -v.
  bool *verbose() { return &verbose_; }
  /// Ends the phase that runs, and begins the next.
  void begin(std::string name);
  struct Phase {
    std::string name;
    double seconds = 0;
  };
  /// Ends the phase that runs, and puts in its place what it was made of.
  void divide(std::vector<Phase> parts);
  /// Ends the phase that runs; with -v prints the table to stderr. Once.
  void finish();
  /// The table: a line for each phase, and the sum.
  std::string text() const;

private:
  class Ticker;
  void end();

  std::string tool_;
  bool verbose_ = false, running_ = false, finished_ = false;
  std::vector<Phase> phases_;
  std::chrono::steady_clock::time_point begin_;
  std::unique_ptr<Ticker> ticker_; // null: stderr is no terminal
};

} // namespace tenon
