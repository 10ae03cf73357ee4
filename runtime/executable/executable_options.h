// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which images of an executable may be taken at all. Selection ranks what the device can run (abi/target_arch.h); the
// user may rule some of it out: code that the driver would have to compile (no start-up cost, no code that was never
// tested), finished code (to test the PTX that a newer device will take), everything but one variant.
//
// What was ruled out stays in the table of --explain, with that reason.
#pragma once

#include "abi/target_arch.h"
#include "support/result.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

class JitCache;

/// Cubin: nothing is compiled at load time (--no-jit). Ptx: the driver compiles everything (--force-ptx).
enum class ImagePolicy : uint8_t { Any, Cubin, Ptx };

struct ExecutableOptions {
  std::string variant = {};               // only this one, by name; empty: every one
  std::optional<abi::Origin> origin = {}; // only hand-written or only generated code
  ImagePolicy images = ImagePolicy::Any;
  std::shared_ptr<const JitCache> cache = {}; // of what the driver compiles; null: nothing is kept

  /// TENON_IMAGES: "any" (as when not set or empty), "cubin" or "ptx". InvalidArgument: anything else. The cache as
  /// JitCache::fromEnvironment says.
  static Result<ExecutableOptions> fromEnvironment();
};
/// The value of TENON_IMAGES.
Result<ImagePolicy> parseImagePolicy(std::string_view text);

/// Moves what the options rule out behind the rest of the ranking, refused with the reason.
void applyOptions(const ExecutableOptions &options, const std::vector<abi::Candidate> &candidates,
                  std::vector<abi::RankedCandidate> &ranking);

} // namespace tenon::runtime
