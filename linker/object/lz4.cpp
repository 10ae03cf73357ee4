// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block is a list of sequences: a token with two lengths of four bits, literals, then a distance back into the output
// and a length to copy from there. A length of 15 goes on in bytes of 255 and a last smaller one. The last sequence has
// literals only.
#include "linker/object/lz4.h"

#include <cstdint>

namespace tenon::linker {
namespace {

constexpr size_t kMinimumMatch = 4;
constexpr size_t kHighestRatio = 255; // no block stands for more bytes than this times its own

class Reader {
public:
  Reader(std::string_view block, size_t size) : block_(block), size_(size) {}

  bool run(std::string &out) {
    out.reserve(size_);
    while (position_ < block_.size()) {
      const uint8_t token = uint8_t(block_[position_++]);
      size_t literals = token >> 4;
      if (!extend(literals) || literals > block_.size() - position_ || literals > size_ - out.size())
        return false;
      out.append(block_, position_, literals);
      position_ += literals;
      if (position_ == block_.size())
        break; // the last one
      if (!copyMatch(token & 15, out))
        return false;
    }
    return out.size() == size_;
  }

private:
  bool extend(size_t &length) {
    if (length != 15)
      return true;
    for (;;) {
      if (position_ == block_.size())
        return false;
      const uint8_t more = uint8_t(block_[position_++]);
      length += more;
      if (more != 255)
        return true;
    }
  }

  bool copyMatch(size_t length, std::string &out) {
    if (block_.size() - position_ < 2)
      return false;
    const size_t distance = uint8_t(block_[position_]) | size_t(uint8_t(block_[position_ + 1])) << 8;
    position_ += 2;
    if (!extend(length) || distance == 0 || distance > out.size())
      return false;
    length += kMinimumMatch;
    if (length > size_ - out.size())
      return false;
    for (size_t from = out.size() - distance; length > 0; --length)
      out += out[from++]; // byte by byte: it may run into what it writes
    return true;
  }

  std::string_view block_;
  size_t size_;
  size_t position_ = 0;
};

} // namespace

Result<std::string> decompressLz4(std::string_view block, size_t size) {
  std::string out;
  if (size / kHighestRatio > block.size() || !Reader(block, size).run(out))
    return makeError(StatusCode::DataLoss, "LZ4 data is damaged");
  return out;
}

} // namespace tenon::linker
