// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that no other kernel sees, in an abstract run: parameters' addresses, thread-private, shared and tensor
// memory. What was stored there may be what is loaded; places of variables that are told apart are cells of an instance
// (cell.h), and what is stored in one stands here as well, for loads that may mean any place.
//
// An access is aligned to its width. So a word of 8 bytes that was stored as one is loaded as one, or in pieces; and a
// load of 8 bytes finds a word that was stored as one, or pieces of several.
#pragma once

#include "linker/access/cell.h"
#include "ptx/module.h"

#include <array>

namespace tenon::linker {

/// kParamMemory, kLocalMemory, kSharedMemory.
inline constexpr std::array<uint32_t, 3> kPrivateSlots = {kParamMemory, kLocalMemory, kSharedMemory};

/// Everything that may stand in some memory.
class MemoryContents {
public:
  explicit MemoryContents(const Origins &initially = Origins::number()) : words_(initially) {}
  /// `value` may stand in some `bytes` from now on (0: nobody knows how many). Whether that is new.
  bool store(uint32_t bytes, const Origins &value, const Secrets &secrets);
  /// What a load of so many bytes may find.
  Origins load(uint32_t bytes, const Secrets &secrets) const;
  /// What is left of a value at a place that is known, where these contents may stand at any place.
  Origins over(const Origins &value, const Secrets &secrets) const;
  uint64_t involved() const { return words_.involved() | pieces_.involved(); }
  Origins all() const { return Origins(words_).join(pieces_); }

private:
  Origins words_;
  Origins pieces_ = Origins::number(); // of values that were stored with another width, cut
  bool cuts_ = false;                  // something with another width was stored
};

class PrivateMemory {
public:
  /// As a kernel finds it: shared memory holds what other threads put there.
  void reset(Secrets secrets);
  const Secrets &secrets() const { return secrets_; }
  /// Everything that may stand in the memory of a slot.
  const MemoryContents &at(uint32_t slot) const { return contents_[slot - kParamMemory]; }
  /// What may stand in any place of it, since it was stored nobody knows where.
  const MemoryContents &scattered(uint32_t slot) const { return scattered_[slot - kParamMemory]; }
  bool isScattered(uint32_t slot) const { return isScattered_[slot - kParamMemory]; }
  /// `value` was stored at a place that is told apart. Whether it is new there, as in the next ones.
  bool remember(uint32_t slot, uint32_t bytes, const Origins &value) {
    return contents_[slot - kParamMemory].store(bytes, value, secrets_);
  }
  /// At a place that nobody knows.
  bool scatter(uint32_t slot, uint32_t bytes, const Origins &value);
  /// What a load from `address` may find; of memory that everybody sees, something foreign.
  Origins behind(const Origins &address, ptx::StateSpace space, uint32_t bytes) const;

  /// Whether an address that was loaded from memory may be one of this memory: of parameters, where the address of one
  /// was stored or passed on, which kernels do not.
  bool isLoadable(uint32_t slot) const { return slot != kParamMemory || parametersEscaped; }

  bool parametersEscaped = false;
  MemoryContents tensor{Origins::of(kForeign)};

private:
  Secrets secrets_;
  std::array<MemoryContents, 3> contents_, scattered_;
  std::array<bool, 3> isScattered_ = {};
};

} // namespace tenon::linker
