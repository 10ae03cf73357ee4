// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bytes a launch may not write: a parameter says where they begin, nothing says where they end, so they end where
// the next pointer of the same launch points, or with the allocation.
#include "emulator/driver/module/read_only.h"

#include <algorithm>
#include <cstring>

namespace tenon::emulator {

std::vector<ReadOnlyRange> readOnlyRanges(const Kernel &kernel, const Memory &memory,
                                          const std::vector<uint8_t> &parameters) {
  std::vector<ReadOnlyRange> ranges;
  if (kernel.readOnlyParameters.empty())
    return ranges;
  std::vector<uint64_t> values; // of everything that may be a pointer, by index
  for (const ParameterSlot &slot : kernel.decoded->parameters) {
    values.push_back(0);
    if (slot.bytes == sizeof(uint64_t))
      memcpy(&values.back(), parameters.data() + slot.offset, sizeof(uint64_t));
  }
  for (const auto &[index, name] : kernel.readOnlyParameters) {
    uint64_t begin = values[index];
    const Allocation *allocation = memory.find(begin);
    if (!allocation)
      continue;
    uint64_t end = allocation->end();
    bool alsoWritten = false;
    for (size_t other = 0; other < values.size(); ++other) {
      alsoWritten |= values[other] == begin && !kernel.readOnlyParameters.count(other);
      if (values[other] > begin)
        end = std::min(end, values[other]);
    }
    if (!alsoWritten)
      ranges.push_back({begin, end - begin, name});
  }
  return ranges;
}

} // namespace tenon::emulator
