// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the emulator looks for while kernels run: TENON_EMULATOR_CHECK=races,uninitialised. Names add to what is on by
// default, which is what costs nothing.
//
//   memory         bounds, alignment, freed memory; always on
//   readonly       writes into a range that the launch declares read-only; on by default
//   uninitialised  reads of bytes that nothing has written
//   results        copies of such bytes to the host
//   races          accesses of two threads to one place that no barrier, fence or atomic orders
//   barriers       barriers in divergent code, and counts that do not fit
//   async          asynchronous copies run at the latest time that the program allows
//   leaks          what is still allocated when a context is destroyed
//   all            everything
#pragma once

#include <string>
#include <string_view>

namespace tenon::emulator {

struct CheckOptions {
  bool memory = true, readonly = true;
  bool uninitialised = false, results = false, races = false, barriers = false, async = false, leaks = false;
  /// Every access of global and shared memory is looked up in shadow memory, which blocks share: a launch runs on one
  /// thread.
  bool shadowed() const { return tracksWritten() || races; }
  /// Which bytes something has written.
  bool tracksWritten() const { return uninitialised || results; }
};

/// Adds the names of a comma-separated list to `options`. Returns what is wrong with `text`, or nothing.
std::string parseCheckOptions(std::string_view text, CheckOptions &options);

} // namespace tenon::emulator
