// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels for the judge (judge.h), each by its number: those that write behind a pointer which came a long way
// round, and those that do what kernels really do, which nobody should refuse.
#pragma once

#include "tests/proof/maps.h"

namespace tenon::proof {

struct Case {
  uint64_t seed = 0;
  std::string ptx;       // one kernel, `k`
  uint32_t bindings = 0; // parameters: pointers, then words
  uint32_t constants = 0;
  MapShape maps;        // of the first bindings
  uint32_t classes = 0; // what it uses, a mask
  std::string ways;     // how, in words: "split marked", "benign:histogram"
  bool operator==(const Case &) const = default;
};

/// @param classes a mask; the kernel keeps to ways of these
Case makeCase(uint64_t seed, uint32_t classes);

/// A kernel that writes behind its parameter 0, after that went the one way that `ways` has.
Case makeCase(uint64_t seed, const Ways &ways);

/// A kernel that searches for its parameter 0, which near buffers let it find.
struct Guess;
Case makeCase(uint64_t seed, const Guess &guess);

/// Kernels as they are written by hand and by compilers, for `body` with pointers to buffers. A row of benign.cpp.
struct Benign {
  const char *name;
  /// @param pointers [2 or more] b64; count: b32, words that each buffer surely has
  void (*go)(Body &body, std::span<const std::string> pointers, const std::string &count);
};
std::span<const Benign> benignKernels();

} // namespace tenon::proof
