// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the environment says (TENON_EMULATOR_*, emulator/README.md). Each variable is understood whole or refused with
// what is wanted instead; an empty one counts as unset.
#pragma once

#include "emulator/machine/check_options.h"
#include "emulator/machine/handlers.h"

#include "abi/target_arch.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::emulator {

/// When enqueued work runs, see operation_queue.h.
enum class Order : uint8_t { Eager, Lazy, Random };
struct RunOrder {
  Order order = Order::Eager;
  uint64_t seed = 0; // of a random order
};

struct Settings {
  abi::TargetArch arch{90, abi::ArchSuffix::None};
  int driverVersion = 13000;
  CheckOptions checks;
  RunOrder order;
  bool faultsEndProcess = true;
  std::optional<Level> level; // nothing: the best that the processor has
  uint64_t memoryBytes = 16384ull << 20;
  uint32_t threads = 1;
  bool threadsTogether = false;
  uint32_t devices = 1;
  bool quiet = false;
  double timeoutSeconds = 0; // of one launch; 0: none
};

/// The value of a variable, or null: getenv, or a test's own.
using Environment = std::function<const char *(const char *name)>;

/// Reads all variables but TENON_EMULATOR_FAIL (failure_plan.h). Returns what is wrong with the first that is not
/// understood, or nothing.
std::string readSettings(const Environment &environment, Settings &settings);

// The values of single variables; nothing: not understood.
/// "eager", "lazy", "random:SEED".
std::optional<RunOrder> parseOrder(std::string_view text);
/// "13.0" is 13000.
std::optional<int> parseDriverVersion(std::string_view text);
/// 1 to 1000000.
std::optional<uint32_t> parseIdleMilliseconds(std::string_view text);
/// From 0; what is below 0.01 counts as 0.01.
std::optional<double> parseDeadlockSeconds(std::string_view text);
/// From 0, which is none, to 1e9.
std::optional<double> parseTimeout(std::string_view text);
/// TENON_EMULATOR_QUIET: anything but "" and "0".
bool isQuiet(const char *text);

} // namespace tenon::emulator
