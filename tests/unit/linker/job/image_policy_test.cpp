// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/job/image_policy.h"

#include <gtest/gtest.h>

namespace tenon::linker {
namespace {

TEST(ImagePolicy, Parses) {
  EXPECT_EQ(*parseImagePolicy(""), ImagePolicy::CubinAndPtx);
  EXPECT_EQ(*parseImagePolicy("cubin+ptx"), ImagePolicy::CubinAndPtx);
  EXPECT_EQ(*parseImagePolicy("ptx"), ImagePolicy::Ptx);
  EXPECT_EQ(*parseImagePolicy("cubin"), ImagePolicy::Cubin);
  EXPECT_EQ(parseImagePolicy("sass").status().message(), "--images is 'cubin+ptx', 'ptx' or 'cubin', not 'sass'");
}

} // namespace
} // namespace tenon::linker
