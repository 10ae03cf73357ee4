// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host memory that the program registered (cuMemHostRegister), for every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::emulator {

class RegisteredRanges {
public:
  struct Range {
    uint64_t begin, bytes;
    unsigned flags;
  };
  const Range *find(uint64_t address) const {
    for (const Range &range : ranges_)
      if (address - range.begin < range.bytes)
        return &range;
    return nullptr;
  }
  size_t size() const { return ranges_.size(); }
  bool overlaps(uint64_t begin, uint64_t bytes) const {
    for (const Range &range : ranges_)
      if (begin < range.begin + range.bytes && range.begin < begin + bytes)
        return true;
    return false;
  }
  bool empty() const { return ranges_.empty(); }
  template <typename F> void forEach(F visit) const {
    for (const Range &range : ranges_)
      visit(range);
  }
  void add(const Range &range) { ranges_.push_back(range); }
  bool remove(uint64_t begin) {
    for (size_t k = 0; k < ranges_.size(); ++k)
      if (ranges_[k].begin == begin) {
        ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(k));
        return true;
      }
    return false;
  }

private:
  std::vector<Range> ranges_;
};

} // namespace tenon::emulator
