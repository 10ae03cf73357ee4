// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of one export over its cases. Each compares runs that differ in one thing only:
//
//   launch       it runs to its end, also where memory ends with its bindings
//   bounds       nothing around the bindings changes, and nothing around them shows in the outputs
//   read-only    what the layout declares read-only is unchanged
//   offsets      bindings that begin in the middle of a buffer, aligned to what the layout promises, give the same
//   repeats      the same again, bit by bit, at other addresses
//   outputs      every element of an output is written, whatever was there before
//   reference    the outputs are those of a reference, within tolerances
//   fallback     the outputs are those of the generated variant of the export, where there is one
#pragma once

#include "runtime/tools/check_kernel/guarded_run.h"
#include "runtime/tools/check_kernel/reference.h"
#include "runtime/tools/compare.h"

#include <optional>

namespace tenon::runtime {

enum class Verdict : uint8_t { Passed, Failed, Skipped };

/// What a check found in a case, for the author of the kernel.
struct Finding {
  std::string check;
  Verdict verdict = Verdict::Passed;
  std::string caseText;
  std::string message; // Failed: what is wrong and what to look at; Skipped: why
  // Failed, where it has a place.
  std::optional<uint32_t> binding;
  std::optional<int64_t> byteOffset, element;
  std::string found, expected;
};

struct CheckOptions {
  uint32_t repeats = 3;
  Thresholds thresholds;
};

class KernelChecks {
public:
  /// `reference` and `fallback` may be null.
  KernelChecks(Session &session, const abi::Export &declared, Reference *reference, Reference *fallback,
               const CheckOptions &options)
      : session_(session), declared_(declared), reference_(reference), fallback_(fallback), options_(options) {}

  /// One finding for each check.
  std::vector<Finding> run(const Case &inputs);

private:
  std::optional<RunResult> launch(const RunOptions &options, Finding &finding);
  Finding checkLaunch();
  Finding checkBounds(const std::optional<RunResult> &plain);
  Finding checkReadOnly(const std::optional<RunResult> &plain);
  Finding checkOffsets(const std::optional<RunResult> &plain);
  Finding checkRepeats(const std::optional<RunResult> &plain);
  Finding checkOutputs(const std::optional<RunResult> &plain);
  Finding compareWith(std::string check, Reference *reference, const std::optional<RunResult> &plain);
  Finding begin(std::string check) const;
  void placeDifference(Finding &finding, uint32_t binding, uint64_t byte, const std::vector<uint8_t> &found,
                       const std::vector<uint8_t> &expected) const;
  bool findDifference(Finding &finding, const RunResult &found, const RunResult &expected) const;
  std::string nameOf(uint32_t binding) const;

  Session &session_;
  const abi::Export &declared_;
  Reference *reference_, *fallback_;
  CheckOptions options_;
  const Case *case_ = nullptr;
  bool deterministic_ = true;
  bool leftItsBuffers_ = false; // the last launch that failed did
};

} // namespace tenon::runtime
