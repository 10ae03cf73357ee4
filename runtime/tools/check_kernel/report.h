// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings as a table for people, or as JSON. The table has a line for each check; a check that fails shows its first
// case that does, with the place.
#pragma once

#include "runtime/tools/check_kernel/kernel_checks.h"

namespace tenon::runtime {

/// What was found about one export.
struct ExportReport {
  std::string name, variant, symbol, device;
  size_t cases = 0;
  std::vector<Finding> findings; // case by case
  bool hasFailed() const;
};

std::string tableOf(const ExportReport &report);
/// {"exports": [{"export": ..., "findings": [{"check": ..., "result": "failed", ...}]}]}, newline-terminated.
std::string jsonOf(const std::vector<ExportReport> &reports);

} // namespace tenon::runtime
