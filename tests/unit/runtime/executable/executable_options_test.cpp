// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executable/executable_options.h"

#include "tests/unit/runtime/fixture.h"

#include <cstdlib>

namespace tenon::runtime {

TEST(ExecutableOptions, ReadsTheEnvironment) {
  unsetenv("TENON_IMAGES");
  EXPECT_EQ(ExecutableOptions::fromEnvironment()->images, ImagePolicy::Any);
  setenv("TENON_IMAGES", "cubin", 1);
  EXPECT_EQ(ExecutableOptions::fromEnvironment()->images, ImagePolicy::Cubin);
  setenv("TENON_IMAGES", "ptx", 1);
  EXPECT_EQ(ExecutableOptions::fromEnvironment()->images, ImagePolicy::Ptx);
  setenv("TENON_IMAGES", "sass", 1);
  EXPECT_STATUS(ExecutableOptions::fromEnvironment().status(), InvalidArgument,
                "TENON_IMAGES=sass: expected any, cubin (no JIT) or ptx");
  unsetenv("TENON_IMAGES");
}

TEST(ExecutableOptions, RefusalsGoBehindWhatRunsInTheirOrder) {
  const std::vector<abi::Candidate> candidates = {{.variantName = "a", .kind = abi::ImageKind::Cubin},
                                                  {.variantName = "b", .kind = abi::ImageKind::Ptx},
                                                  {.variantName = "c", .kind = abi::ImageKind::Ptx}};
  std::vector<abi::RankedCandidate> ranking = {{0, {true, ""}}, {1, {true, ""}}, {2, {false, "too new"}}};
  applyOptions({.images = ImagePolicy::Ptx}, candidates, ranking);
  EXPECT_EQ(ranking[0].index, 1u);
  EXPECT_EQ(ranking[1].index, 0u);
  EXPECT_EQ(ranking[1].verdict.reason, "ruled out: only PTX was asked for");
  EXPECT_EQ(ranking[2].verdict.reason, "too new");
}

} // namespace tenon::runtime
