// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes of an input as decisions: which function, which handle, which number, which struct_size. What has run out is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tenon::fuzz {

class Stream {
public:
  Stream(const uint8_t *data, size_t size) : next_(data), end_(data + size) {}

  bool atEnd() const { return next_ == end_; }
  uint8_t byte() { return atEnd() ? 0 : *next_++; }
  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : byte() % limit; }
  bool flag() { return byte() & 1; }

  /// Small numbers, and those that a size or an offset must not be.
  uint64_t number() {
    constexpr uint64_t kEdges[] = {0,
                                   1,
                                   4,
                                   63,
                                   64,
                                   65,
                                   255,
                                   256,
                                   4096,
                                   65536,
                                   65537,
                                   1 << 20,
                                   INT32_MAX,
                                   UINT32_MAX,
                                   1ull << 32,
                                   1ull << 40,
                                   1ull << 62,
                                   INT64_MAX,
                                   1ull << 63,
                                   UINT64_MAX,
                                   UINT64_MAX - 1,
                                   UINT64_MAX - 255,
                                   16,
                                   32};
    const uint8_t choice = byte();
    if (choice < std::size(kEdges))
      return kEdges[choice];
    if (choice < 128)
      return choice;
    uint64_t out = 0;
    for (int i = 0; i < 8; ++i)
      out = out << 8 | byte();
    return choice < 192 ? out & 0xffff : out;
  }

  /// A count of an array that has `there` elements: true ones, and ones that are too many to be read.
  size_t count(size_t there) {
    const uint8_t choice = byte();
    if (choice >= 224)
      return choice >= 240 ? SIZE_MAX : size_t(1) << 17;
    return choice % (there + 1);
  }

  std::string text(size_t most) {
    std::string out;
    for (size_t left = below(most + 1); left != 0; --left)
      out += static_cast<char>(byte());
    return out.c_str(); // up to its first NUL, as C sees it
  }

private:
  const uint8_t *next_;
  const uint8_t *end_;
};

/// A struct as a caller of any age has it: fields that are set, a struct_size that is right, older, newer or wrong, and
/// memory behind the struct, zero or not. Bits of enums and bools may be any.
template <typename T> class Given {
public:
  explicit Given(const T &value) : bytes_(kRoom) { std::memcpy(bytes_.data(), &value, sizeof(T)); }

  /// Null now and then.
  T *put(Stream &in) {
    const uint8_t choice = in.byte();
    size_t size = sizeof(T);
    if (choice >= 250)
      return nullptr;
    if (choice >= 240)
      size = in.number();
    else if (choice >= 220)
      size = sizeof(size_t) + in.below(sizeof(T));
    else if (choice >= 200)
      size = sizeof(T) + in.below(64);
    if (choice % 16 == 15) { // a byte of it is something else
      const size_t at = sizeof(size_t) + in.below(sizeof(T) - sizeof(size_t));
      if (!isPointer(at))
        bytes_[at] = in.byte();
    }
    if (size > sizeof(T) && size < kRoom && in.flag())
      bytes_[size - 1] = 1;
    std::memcpy(bytes_.data(), &size, sizeof(size));
    return reinterpret_cast<T *>(bytes_.data());
  }
  /// Bytes that must stay what they are.
  void keep(size_t offset, size_t size) { kept_.push_back({offset, size}); }

private:
  static constexpr size_t kRoom = 8192;
  struct Range {
    size_t offset, size;
  };
  bool isPointer(size_t at) const {
    for (const Range &range : kept_)
      if (at >= range.offset && at < range.offset + range.size)
        return true;
    return false;
  }
  std::vector<unsigned char> bytes_;
  std::vector<Range> kept_;
};

} // namespace tenon::fuzz

/// Pointers of a struct, and the counts of the arrays that they name.
#define TENON_FUZZ_KEEP(given, type, field) given.keep(offsetof(type, field), sizeof(type::field))
