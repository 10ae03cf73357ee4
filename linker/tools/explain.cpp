// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The figures of a device that is not here come from the table of architectures.
#include "linker/tools/explain.h"

#include "abi/arch_table.h"
#include "support/number.h"

#include <algorithm>
#include <optional>

namespace tenon::linker {
namespace {

/// "13.0" -> 13, 0.
bool parseDotted(std::string_view text, uint32_t &major, uint32_t &minor) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos)
    return false;
  const std::optional<uint32_t> first = parseNumber<uint32_t>(text.substr(0, dot));
  const std::optional<uint32_t> second = parseNumber<uint32_t>(text.substr(dot + 1));
  if (!first || !second || *first >= 100 || *second >= 10)
    return false;
  major = *first;
  minor = *second;
  return true;
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
  const abi::Architecture *row = abi::findArchitecture(arch.number);
  if (!row)
    return makeError(StatusCode::InvalidArgument, "device '", device, "' is not known; known: ", abi::knownArchList());
  if (!parseDotted(driver, major, minor))
    return makeError(StatusCode::InvalidArgument, "driver '", driver, "' is not a CUDA version, as in 13.0");
  abi::DeviceTraits traits;
  traits.name = concat("sm_", arch.number);
  traits.computeCapability = arch.number;
  traits.driverVersion = int(major * 1000 + minor * 10);
  traits.maxSharedOptinBytes = row->limits.blockSharedBytes;
  return traits;
}

static bool runsAll(const abi::ProgramView &program, const abi::DeviceTraits &device) {
  const abi::ProgramView::LaunchedExports launched = program.launchedExports();
  return std::all_of(launched.begin(), launched.end(), [&](const auto &each) {
    const std::vector<abi::RankedCandidate> ranking =
        abi::rankCandidates(program.executableAt(each.first).candidates(each.second), device);
    return !ranking.empty() && ranking.front().verdict.runs;
  });
}

abi::ProgramView viewFor(const abi::ProgramView &program, const abi::DeviceTraits &device) {
  std::optional<abi::ProgramView> first; // whose errors are of use where nothing runs
  for (size_t i = program.editionCount() + 1; i-- > 0;) {
    if (i != 0 && !program.isEditionFor(i - 1, device))
      continue;
    const abi::ProgramView view = program.withEdition(i == 0 ? std::nullopt : std::optional(uint32_t(i - 1)));
    if (runsAll(view, device))
      return view;
    if (!first)
      first = view;
  }
  return *first;
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
