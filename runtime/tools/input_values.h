// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs of a call, from `--input=` specs to values on a device.
#pragma once

#include "runtime/tools/value_spec.h"

#include <string>
#include <vector>

namespace tenon::runtime {

/// As the function declares them: InvalidArgument when the specs are too few or too many, or one does not read. A
/// tensor that one element fills has that alone, as uploadTensors() takes it.
Result<std::vector<OptionalValue>> readInputs(const std::vector<std::string> &specs, const abi::fb::Function &function);

/// InvalidArgument: an input is "(ignored)".
Result<std::vector<Value>> uploadInputs(Device &device, const std::vector<OptionalValue> &hostInputs);

} // namespace tenon::runtime
