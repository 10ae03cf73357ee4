// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch of an export, straight to a stream: for callers who bring their own memory and order. A command buffer is
// recorded once and checks once; this checks each time, so what it checks is cheap, and it allocates nothing for a
// kernel of ordinary size.
#pragma once

#include "runtime/executable/executable.h"

#include <array>
#include <span>

namespace tenon::runtime {

class Buffer;

/// InvalidArgument: a retired buffer, one of another device, without the usage or access that the export's binding asks
/// for; the counts differ.
Status checkBindings(const Executable &executable, const abi::Export &declaration,
                     std::span<const Buffer *const> buffers);

/// Launches export `ordinal` on `stream` and returns; a zero in `grid` launches nothing.
/// @param ranges [bindings] memory of the device, valid until the work is complete
/// @param words  [words of the layout] as abi::packParameters takes them
/// Errors of Executable::load; InvalidArgument: counts or alignment differ from the declaration; OutOfRange: the grid;
/// the driver's errors name the export.
Status launchExport(Executable &executable, uint32_t ordinal, const std::array<uint32_t, 3> &grid,
                    std::span<const DeviceRange> ranges, std::span<const uint64_t> words, CUstream stream);

} // namespace tenon::runtime
