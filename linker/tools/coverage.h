// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --require-coverage: whether every export runs on every architecture that a product ships to. A gate for CI: it asks
// by the rules that the loader selects by, for devices that need not be here.
#pragma once

#include "abi/format/views/program_view.h"
#include "support/diagnostics.h"

#include <span>
#include <string>
#include <vector>

namespace tenon::linker {

/// The devices of --require-coverage=sm_80,sm_90. InvalidArgument: as describeDevice says, or none is named.
/// @param canJit false: their drivers take no PTX, so that a cubin is needed
Result<std::vector<abi::DeviceTraits>> coverageDevices(const std::vector<std::string> &lists, std::string_view driver,
                                                       bool canJit);

/// One error per export and device that no image runs on, with why each one does not and what to build.
void requireCoverage(const abi::ExecutableView &executable, std::span<const abi::DeviceTraits> devices,
                     Diagnostics &diagnostics);

/// Of a program: of each device, the exports that its functions launch there, and those that nobody launches.
void requireCoverage(const abi::ProgramView &program, std::span<const abi::DeviceTraits> devices,
                     Diagnostics &diagnostics);

} // namespace tenon::linker
