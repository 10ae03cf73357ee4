// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a caller gives: checked against the function's declaration, and spelled as a key. Two calls with equal keys are
// the same but for the addresses of their buffers, so that all the arithmetic of the first serves the second.
#pragma once

#include "abi/format/program_generated.h"
#include "runtime/values/value.h"

#include <span>
#include <vector>

namespace tenon::runtime {

/// InvalidArgument says how many inputs of which types the function takes.
Status checkInputCount(const abi::fb::Function &function, size_t given);
/// Count, element types, ranks, static extents, and that each tensor has a buffer that holds it. InvalidArgument names
/// the first input that differs.
Status checkInputs(const abi::fb::Function &function, std::span<const Value> inputs);
/// The same of values that have no memory yet.
Status checkInputTypes(const abi::fb::Function &function, std::span<const Value> inputs);

/// Element types, ranks, extents and scalars of a call, one after another; no two different calls spell the same.
class CallKey {
public:
  /// Scalars that a plan does not depend on may differ between calls with equal keys.
  using IgnoredScalars = std::vector<bool>; // [inputs], or empty: none
  explicit CallKey(std::span<const Value> inputs, const IgnoredScalars &ignored = {});
  uint64_t hash() const { return hash_; }

  /// Of `inputs`, without making a key: allocates nothing.
  static uint64_t hashOf(std::span<const Value> inputs);
  static uint64_t hashOf(std::span<const Value> inputs, const IgnoredScalars &ignored);
  bool matches(std::span<const Value> inputs) const;
  bool matches(std::span<const Value> inputs, const IgnoredScalars &ignored) const;

private:
  std::vector<int64_t> words_;
  uint64_t hash_;
};

} // namespace tenon::runtime
