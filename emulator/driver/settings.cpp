// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulator/driver/settings.h"

#include "emulator/driver/device.h"

#include "support/number.h"

#include <algorithm>

namespace tenon::emulator {
namespace {

/// A number of that range.
std::optional<uint64_t> parseWithin(std::string_view text, uint64_t least, uint64_t most) {
  std::optional<uint64_t> number = parseNumber<uint64_t>(text);
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

// Each takes the value of one variable into the settings. False: not understood.

bool takeArch(std::string_view text, Settings &settings) {
  std::optional<abi::TargetArch> arch =
      abi::parseTargetArch(text.starts_with("sm_") ? std::string(text) : "sm_" + std::string(text));
  if (!arch)
    return false;
  arch->suffix = abi::ArchSuffix::None; // a device of cc 9.0 runs sm_90a code too: 90 and 90a are the same device
  settings.arch = *arch;
  return findEmulated(arch->number) != nullptr;
}
bool takeDriverVersion(std::string_view text, Settings &settings) {
  std::optional<int> version = parseDriverVersion(text);
  settings.driverVersion = version.value_or(settings.driverVersion);
  return version.has_value();
}
bool takeOrder(std::string_view text, Settings &settings) {
  std::optional<RunOrder> order = parseOrder(text);
  settings.order = order.value_or(settings.order);
  return order.has_value();
}
bool takeFaults(std::string_view text, Settings &settings) {
  settings.faultsEndProcess = text == "process";
  return text == "process" || text == "context";
}
bool takeLevel(std::string_view text, Settings &settings) {
  settings.level = text == "v2" ? Level::V2 : Level::V3;
  return text == "v2" || text == "v3";
}
bool takeMemory(std::string_view text, Settings &settings) {
  std::optional<uint64_t> mebibytes = parseWithin(text, 1, 1 << 20);
  settings.memoryBytes = mebibytes.value_or(1) << 20;
  return mebibytes.has_value();
}
bool takeThreads(std::string_view text, Settings &settings) {
  constexpr std::string_view kTogether = ",together";
  settings.threadsTogether = text.ends_with(kTogether);
  if (settings.threadsTogether)
    text.remove_suffix(kTogether.size());
  std::optional<uint64_t> threads = parseWithin(text, 1, 1024);
  settings.threads = static_cast<uint32_t>(threads.value_or(1));
  return threads.has_value();
}
bool takeTimeout(std::string_view text, Settings &settings) {
  std::optional<double> seconds = parseTimeout(text);
  settings.timeoutSeconds = seconds.value_or(0);
  return seconds.has_value();
}
bool takeDevices(std::string_view text, Settings &settings) {
  std::optional<uint64_t> devices = parseWithin(text, 1, 8);
  settings.devices = static_cast<uint32_t>(devices.value_or(1));
  return devices.has_value();
}

struct Variable {
  const char *name;
  bool (*take)(std::string_view text, Settings &settings);
  std::string (*wanted)();
};
constexpr Variable kVariables[] = {
    {"TENON_EMULATOR_SM", takeArch, [] { return "one of " + emulatedList(); }},
    {"TENON_EMULATOR_DRIVER_VERSION", takeDriverVersion,
     [] { return std::string("a CUDA version from 11.0, like 13.0"); }},
    {"TENON_EMULATOR_ORDER", takeOrder, [] { return std::string("eager, lazy, or random:SEED with a number"); }},
    {"TENON_EMULATOR_FAULTS", takeFaults, [] { return std::string("process or context"); }},
    {"TENON_EMULATOR_LEVEL", takeLevel, [] { return std::string("v2 or v3 (of x86-64)"); }},
    {"TENON_EMULATOR_MEMORY", takeMemory, [] { return std::string("device memory in MiB, 1 to 1048576"); }},
    {"TENON_EMULATOR_THREADS", takeThreads,
     [] { return std::string("a number of threads, 1 to 1024, and perhaps ',together'"); }},
    {"TENON_EMULATOR_DEVICES", takeDevices, [] { return std::string("a number of devices, 1 to 8"); }},
    {"TENON_EMULATOR_TIMEOUT", takeTimeout,
     [] { return std::string("seconds that a launch may take, as 60 or 0.5; 0: any time"); }},
    // Read again by every wait and every change of the order, so that a test can set them while it runs.
    {"TENON_EMULATOR_IDLE_MILLISECONDS",
     [](std::string_view text, Settings &) { return parseIdleMilliseconds(text).has_value(); },
     [] { return std::string("milliseconds, 1 to 1000000"); }},
    {"TENON_EMULATOR_DEADLOCK_SECONDS",
     [](std::string_view text, Settings &) { return parseDeadlockSeconds(text).has_value(); },
     [] { return std::string("seconds, as 10 or 0.5"); }},
};

} // namespace

std::string readSettings(const Environment &environment, Settings &settings) {
  if (const char *text = environment("TENON_EMULATOR_CHECK"))
    if (std::string wrong = parseCheckOptions(text, settings.checks); !wrong.empty())
      return "TENON_EMULATOR_CHECK: " + wrong;
  for (const Variable &variable : kVariables)
    if (const char *text = environment(variable.name); text && *text && !variable.take(text, settings))
      return std::string(variable.name) + "=" + text + " is not understood; wanted " + variable.wanted();
  settings.quiet = isQuiet(environment("TENON_EMULATOR_QUIET"));
  return {};
}

std::optional<RunOrder> parseOrder(std::string_view text) {
  if (text == "eager")
    return RunOrder{Order::Eager};
  if (text == "lazy")
    return RunOrder{Order::Lazy};
  constexpr std::string_view kRandom = "random:";
  if (!text.starts_with(kRandom))
    return std::nullopt;
  std::optional<uint64_t> seed = parseNumber<uint64_t>(text.substr(kRandom.size()));
  return seed ? std::optional<RunOrder>({Order::Random, *seed}) : std::nullopt;
}

std::optional<int> parseDriverVersion(std::string_view text) {
  size_t dot = text.find('.');
  if (dot == std::string_view::npos)
    return std::nullopt;
  std::optional<uint64_t> major = parseWithin(text.substr(0, dot), 11, 99);
  std::optional<uint64_t> minor = parseWithin(text.substr(dot + 1), 0, 99);
  return major && minor ? std::optional<int>(static_cast<int>(*major * 1000 + *minor * 10)) : std::nullopt;
}

std::optional<uint32_t> parseIdleMilliseconds(std::string_view text) {
  std::optional<uint64_t> milliseconds = parseWithin(text, 1, 1000000);
  return milliseconds ? std::optional<uint32_t>(static_cast<uint32_t>(*milliseconds)) : std::nullopt;
}

std::optional<double> parseDeadlockSeconds(std::string_view text) {
  std::optional<double> seconds = parseDouble(text);
  return seconds && *seconds >= 0 ? std::optional<double>(std::max(0.01, *seconds)) : std::nullopt;
}

std::optional<double> parseTimeout(std::string_view text) {
  std::optional<double> seconds = parseDouble(text);
  return seconds && *seconds >= 0 && *seconds <= 1e9 ? seconds : std::nullopt;
}

bool isQuiet(const char *text) {
  return text && *text && std::string_view(text) != "0";
}

} // namespace tenon::emulator
