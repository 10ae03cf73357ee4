// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The figures of a device that is not here come from its compute capability. Shared memory per workgroup with opt-in:
// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
#include "linker/tools/explain.h"

#include <charconv>

namespace tenon::linker {
namespace {

struct OptinRow {
  uint16_t computeCapability;
  uint32_t kibibytes;
};
constexpr OptinRow kOptin[] = {{70, 96}, {72, 96},  {75, 64},   {80, 163},  {86, 99},   {87, 163}, {88, 99},
                               {89, 99}, {90, 227}, {100, 227}, {103, 227}, {110, 227}, {120, 99}, {121, 99}};

uint32_t optinBytes(uint16_t computeCapability) {
  for (const OptinRow &row : kOptin)
    if (row.computeCapability == computeCapability)
      return row.kibibytes << 10;
  return computeCapability < 70 ? 48u << 10 : 0;
}

/// "13.0" -> 13, 0.
bool parseDotted(std::string_view text, uint32_t &major, uint32_t &minor) {
  const char *end = text.data() + text.size();
  auto [dot, majorFailed] = std::from_chars(text.data(), end, major);
  if (majorFailed != std::errc() || dot == end || *dot != '.')
    return false;
  auto [stop, minorFailed] = std::from_chars(dot + 1, end, minor);
  return minorFailed == std::errc() && stop == end && minor < 10 && major < 100;
}

} // namespace

Result<abi::DeviceTraits> describeDevice(std::string_view device, std::string_view driver) {
  abi::TargetArch arch;
  uint32_t major = 0, minor = 0;
  if (parseDotted(device, major, minor)) {
    arch.number = uint16_t(major * 10 + minor);
  } else if (auto parsed =
                 abi::parseTargetArch(device.starts_with("sm_") ? std::string(device) : concat("sm_", device))) {
    arch = *parsed;
  } else {
    return makeError(StatusCode::InvalidArgument, "device '", device,
                     "' is neither an architecture (sm_86) nor a compute capability (8.6)");
  }
  if (arch.suffix != abi::ArchSuffix::None)
    return makeError(StatusCode::InvalidArgument, "device '", device,
                     "' has a suffix, which targets have and devices do not; give 'sm_", arch.number, "'");
  if (!abi::findArch(arch))
    return makeError(StatusCode::InvalidArgument, "device '", device, "' is not known; known: ", abi::knownArchList());
  if (!parseDotted(driver, major, minor))
    return makeError(StatusCode::InvalidArgument, "driver '", driver, "' is not a CUDA version, as in 13.0");
  abi::DeviceTraits traits;
  traits.name = concat("sm_", arch.number);
  traits.computeCapability = arch.number;
  traits.driverVersion = int(major * 1000 + minor * 10);
  traits.maxSharedOptinBytes = optinBytes(arch.number);
  return traits;
}

std::string explainExecutable(const abi::ExecutableView &executable, const abi::DeviceTraits &device) {
  std::string text = concat("executable '", executable.name(), "' on ", device.name, " with driver ",
                            device.driverVersion / 1000, '.', device.driverVersion % 1000 / 10, '\n');
  for (uint32_t ordinal = 0; ordinal < executable.exportCount(); ++ordinal) {
    std::vector<abi::Candidate> candidates = executable.candidates(ordinal);
    std::vector<abi::RankedCandidate> ranking = abi::rankCandidates(candidates, device);
    // Where nothing runs, the table ends with what to build.
    const bool anyRuns = !ranking.empty() && ranking.front().verdict.runs;
    text += concat("export '", executable.exportAt(ordinal).name, "':\n",
                   abi::explainRanking(candidates, ranking, anyRuns ? nullptr : &device));
    if (text.back() != '\n')
      text += '\n';
  }
  return text;
}

} // namespace tenon::linker
