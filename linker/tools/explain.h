// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --explain: which variant a device takes for each export, and why not the others. The device need not be here.
#pragma once

#include "abi/format/views/program_view.h"
#include "support/result.h"

#include <string>
#include <string_view>

namespace tenon::linker {

/// Traits of a device by its architecture ("sm_86", "86" or "8.6") and the CUDA version of its driver ("13.0").
/// InvalidArgument: neither form, an architecture that is not known, or a suffixed one (no device is an sm_90a).
Result<abi::DeviceTraits> describeDevice(std::string_view device, std::string_view driver);

/// The program with the functions that a runtime takes on the device, as far as is known without its driver.
abi::ProgramView viewFor(const abi::ProgramView &program, const abi::DeviceTraits &device);

/// One table per export.
std::string explainExecutable(const abi::ExecutableView &executable, const abi::DeviceTraits &device);

} // namespace tenon::linker
