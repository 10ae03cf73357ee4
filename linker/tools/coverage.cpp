// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/tools/coverage.h"

#include "linker/tools/explain.h"

namespace tenon::linker {

Result<std::vector<abi::DeviceTraits>> coverageDevices(const std::vector<std::string> &lists, std::string_view driver,
                                                       bool canJit) {
  std::vector<abi::DeviceTraits> devices;
  for (std::string_view rest : lists)
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      TENON_ASSIGN_OR_RETURN(abi::DeviceTraits device, describeDevice(name, driver));
      device.canJit = canJit;
      devices.push_back(std::move(device));
    }
  if (devices.empty())
    return makeError(StatusCode::InvalidArgument, "--require-coverage names no architecture, as in sm_80,sm_90");
  return devices;
}

static std::string fixFor(const abi::DeviceTraits &device) {
  if (device.canJit)
    return abi::whatToBuild(device);
  return concat("build a cubin for ", device.name,
                " (--images=cubin+ptx, with a ptxas that knows it), or allow PTX: ", "leave out --no-jit");
}

void requireCoverage(const abi::ExecutableView &executable, std::span<const abi::DeviceTraits> devices,
                     Diagnostics &diagnostics) {
  if (devices.empty())
    return;
  for (uint32_t ordinal = 0; ordinal < executable.exportCount(); ++ordinal) {
    const abi::Export &value = executable.exportAt(ordinal);
    const std::vector<abi::Candidate> candidates = executable.candidates(ordinal);
    for (const abi::DeviceTraits &device : devices) {
      const std::vector<abi::RankedCandidate> ranking = abi::rankCandidates(candidates, device);
      if (!ranking.empty() && ranking.front().verdict.runs)
        continue;
      Diagnostic &error =
          diagnostics.error(executable.declaredAt(ordinal), "",
                            concat("export '", value.name, "' of executable '", executable.name(), "' does not run on ",
                                   device.name, " with driver ", device.driverVersion / 1000, '.',
                                   device.driverVersion % 1000 / 10, device.canJit ? "" : " without its PTX compiler"));
      for (const abi::RankedCandidate &refused : ranking) {
        const abi::Candidate &candidate = candidates[refused.index];
        error.note({}, concat("variant '", candidate.variantName, "', ",
                              candidate.kind == abi::ImageKind::Ptx ? "PTX" : "cubin", " for ",
                              candidate.arch.toString(), ": ", refused.verdict.reason));
      }
      if (ranking.empty())
        error.note({}, "no variant has it");
      error.withFix(fixFor(device));
    }
  }
}

void requireCoverage(const abi::ProgramView &program, std::span<const abi::DeviceTraits> devices,
                     Diagnostics &diagnostics) {
  std::vector<std::vector<abi::DeviceTraits>> launching(program.executableCount());
  for (const abi::DeviceTraits &device : devices) {
    const std::set<uint32_t> others = viewFor(program, device).executablesOfOthers();
    for (uint32_t i = 0; i < launching.size(); ++i)
      if (!others.contains(i))
        launching[i].push_back(device);
  }
  for (size_t i = 0; i < launching.size(); ++i)
    requireCoverage(program.executableAt(i), launching[i], diagnostics);
}

} // namespace tenon::linker
