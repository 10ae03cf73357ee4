// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The user's wishes as verdicts.
#include "runtime/executable/executable_options.h"

#include "runtime/executable/jit_cache.h"

#include <cstdlib>
#include <iterator>

namespace tenon::runtime {

Result<ImagePolicy> parseImagePolicy(std::string_view text) {
  if (text.empty() || text == "any")
    return ImagePolicy::Any;
  if (text == "cubin")
    return ImagePolicy::Cubin;
  if (text == "ptx")
    return ImagePolicy::Ptx;
  return makeError(StatusCode::InvalidArgument, "TENON_IMAGES=", text, ": expected any, cubin (no JIT) or ptx");
}

Result<ExecutableOptions> ExecutableOptions::fromEnvironment() {
  ExecutableOptions options;
  const char *images = std::getenv("TENON_IMAGES");
  TENON_ASSIGN_OR_RETURN(options.images, parseImagePolicy(images ? images : ""));
  TENON_ASSIGN_OR_RETURN(options.cache, JitCache::fromEnvironment());
  return options;
}

/// Why the options rule it out; empty: they do not.
static std::string reasonAgainst(const ExecutableOptions &options, const abi::Candidate &candidate) {
  if (!options.variant.empty() && candidate.variantName != options.variant)
    return concat("ruled out: only variant '", options.variant, "' was asked for");
  if (options.origin && candidate.origin != *options.origin)
    return concat("ruled out: only ", *options.origin == abi::Origin::Generated ? "generated" : "hand-written",
                  " code was asked for");
  if (options.images == ImagePolicy::Cubin && candidate.kind == abi::ImageKind::Ptx)
    return "ruled out: PTX needs a JIT compilation, and no JIT was asked for";
  if (options.images == ImagePolicy::Ptx && candidate.kind == abi::ImageKind::Cubin)
    return "ruled out: only PTX was asked for";
  return {};
}

void applyOptions(const ExecutableOptions &options, const std::vector<abi::Candidate> &candidates,
                  std::vector<abi::RankedCandidate> &ranking) {
  std::vector<abi::RankedCandidate> kept, refused;
  for (abi::RankedCandidate &ranked : ranking) {
    if (std::string reason = reasonAgainst(options, candidates[ranked.index]); !reason.empty())
      ranked.verdict = {false, std::move(reason)};
    (ranked.verdict.runs ? kept : refused).push_back(std::move(ranked));
  }
  kept.insert(kept.end(), std::make_move_iterator(refused.begin()), std::make_move_iterator(refused.end()));
  ranking = std::move(kept);
}

} // namespace tenon::runtime
