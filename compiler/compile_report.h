// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compilation did and how long each of its phases took: --print-statistics.
#pragma once

#include "compiler/codegen/generate_kernels.h"
#include "compiler/host/program/program.h"

#include <chrono>
#include <string>
#include <vector>

namespace tenon::compiler {

class CompileReport {
public:
  struct Phase {
    std::string name; // of the pass, or what is done
    double seconds = 0;
  };

  /// Measures from here to its end.
  class Timer {
  public:
    Timer(CompileReport &report, std::string name) : report_(report), name_(std::move(name)) {}
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;
    ~Timer();

  private:
    CompileReport &report_;
    std::string name_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

  void addPhase(std::string name, double seconds) { phases_.push_back({std::move(name), seconds}); }
  /// Counts what `program` holds; `fileBytes` is its size once written.
  void count(const host::Program &program, size_t fileBytes);
  codegen::GenerationCounts &generation() { return generation_; }

  const std::vector<Phase> &phases() const { return phases_; }
  /// A line for each phase, then the counts.
  std::string text() const;

private:
  void count(const host::Function &function);

  std::vector<Phase> phases_;
  codegen::GenerationCounts generation_;
  size_t functions_ = 0, dispatches_ = 0, copies_ = 0, checks_ = 0;
  size_t executables_ = 0, executableBytes_ = 0;
  size_t constants_ = 0;
  uint64_t constantBytes_ = 0, storedConstantBytes_ = 0;
  size_t fileBytes_ = 0;
};

} // namespace tenon::compiler
