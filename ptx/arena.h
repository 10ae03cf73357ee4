// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory for the leaves of a syntax tree: handed out in order, never given back one by one, freed or reused as a whole.
// A body of PTX has hundreds of short lists; allocated one by one they cost more time than reading the text does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace tenon::ptx {

class Arena {
public:
  /// Room for `bytes` bytes at a multiple of 8.
  std::byte *allocate(size_t bytes) {
    bytes = (bytes + 7) & ~size_t(7);
    if (bytes > size_t(end_ - next_))
      return allocateBlock(bytes);
    std::byte *out = next_;
    next_ += bytes;
    return out;
  }
  /// Room for up to `bytes` bytes, of which take() takes what was used: the next thing that must be done to the arena.
  std::byte *room(size_t bytes) {
    if (bytes > size_t(end_ - next_)) {
      allocateBlock(bytes);
      next_ -= bytes;
    }
    return next_;
  }
  /// `bytes` is a multiple of 8.
  void take(size_t bytes) { next_ += bytes; }
  /// Forgets everything handed out, and keeps the memory for what comes.
  void reset() {
    current_ = 0;
    next_ = end_ = nullptr;
    if (!blocks_.empty())
      enter(0);
  }

private:
  struct Free {
    void operator()(std::byte *bytes) const { std::free(bytes); }
  };
  struct Block {
    std::unique_ptr<std::byte[], Free> bytes;
    size_t size = 0;
  };

  void enter(size_t block) {
    current_ = block;
    next_ = blocks_[block].bytes.get();
    end_ = next_ + blocks_[block].size;
  }

  std::byte *allocateBlock(size_t bytes);

  std::vector<Block> blocks_;
  size_t current_ = 0;
  std::byte *next_ = nullptr, *end_ = nullptr;
};

/// Elements that lie in an arena, or in any memory that outlives the list: a view that is read like a vector.
template <typename T> class List {
public:
  List() = default;
  List(const T *data, size_t size) : data_(data), size_(static_cast<uint32_t>(size)) {}
  explicit List(std::span<const T> elements) : List(elements.data(), elements.size()) {}
  /// A copy of `elements` in `arena`. Only for types without a destructor: nobody would call it.
  List(Arena &arena, std::span<const T> elements) : size_(static_cast<uint32_t>(elements.size())) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    if (elements.empty())
      return;
    std::byte *memory = arena.allocate(elements.size_bytes());
    std::memcpy(memory, elements.data(), elements.size_bytes());
    data_ = reinterpret_cast<const T *>(memory);
  }

  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }
  const T *data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T &operator[](size_t i) const { return data_[i]; }
  const T &front() const { return data_[0]; }
  const T &back() const { return data_[size_ - 1]; }
  bool operator==(const List &other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

private:
  const T *data_ = nullptr;
  uint32_t size_ = 0;
};

} // namespace tenon::ptx
