// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tool leaves behind when it crashes: one line about where it was, and a file with its input and the calls that
// led there, so that whoever sees the crash can hand it on, even one that does not come again. A crash is a bug
// whatever the input says.
//
//   tenon-compile: crashed in phase 'tenon-form-dispatches' (signal 11), which is a bug in tenon-compile
//   tenon-compile: what led to it is in '/tmp/tenon-compile-crash-4711.txt'; please report it
#pragma once

#include <string>
#include <string_view>

namespace tenon {

/// While it lives, a signal that ends the process (SIGSEGV, SIGILL, SIGFPE, SIGABRT), on any thread, is
/// reported; then the process ends by the signal, as it would have. One at a time. Threads of LargeStackThread report
/// an overflow of their stack too.
class CrashReport {
public:
  /// @param program the tool's name; must live on
  /// @param marker makes a line a comment in the input's language: "// "
  /// @param comment one line in front of the input: the command
  /// @param input must live as long as this
  CrashReport(const char *program, std::string marker, std::string comment, std::string_view input);
  ~CrashReport();
  CrashReport(const CrashReport &) = delete;
  CrashReport &operator=(const CrashReport &) = delete;

  /// What the process does from now on.
  static void setPhase(std::string_view name);
};

} // namespace tenon
