// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs that a call may write (abi/executable_format.md, "Donated inputs"): each is the call's alone, or a copy.
#pragma once

#include "abi/format/program_generated.h"
#include "runtime/values/value.h"

#include <cuda.h>
#include <span>
#include <vector>

namespace tenon::runtime {

class Device;

bool isDonated(const abi::fb::Function &function, uint32_t input);
/// It holds a new value when the call is complete.
bool isUpdated(const abi::fb::Function &function, uint32_t input);
/// Whether the buffer is that of a donated input.
bool isOfDonated(const Buffer &buffer, const abi::fb::Function &function, std::span<const Value> inputs);

/// InvalidArgument: the memory of a donated input is another input's, too. FailedPrecondition: it cannot be written.
/// @param inputs [inputs of the function] of the declared types, with buffers
Status checkDonated(const abi::fb::Function &function, std::span<const Value> inputs);

/// Copies donated inputs on the stream, but for those that are updated, and has `inputs` name the copies.
/// @param isOwnStream the stream is the device's own
/// @return the copies. ResourceExhausted: no memory.
Result<std::vector<std::shared_ptr<const Buffer>>> copyDonated(Device &device, const abi::fb::Function &function,
                                                               CUstream stream, bool isOwnStream,
                                                               std::vector<Value> &inputs);

} // namespace tenon::runtime
