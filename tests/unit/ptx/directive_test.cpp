// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/directive.h"

#include <gtest/gtest.h>

namespace tenon::ptx {

TEST(PtxDirective, KnowsItsWords) {
  EXPECT_EQ(parseDirective("entry"), Directive::Entry);
  EXPECT_EQ(parseDirective("blocksareclusters"), Directive::BlocksAreClusters);
  EXPECT_EQ(parseDirective("f32"), std::nullopt);
  EXPECT_EQ(parseDirective(""), std::nullopt);
}

TEST(PtxDirective, SuggestsTheNearest) {
  EXPECT_EQ(nearestDirective("visble"), "visible");
  EXPECT_EQ(nearestDirective("maxnitd"), "maxntid");
  EXPECT_EQ(nearestDirective("xyz"), "");
  EXPECT_EQ(nearestDirective(std::string(1000, 'x')), "");
}

TEST(PtxDirective, SeparatesStateSpaces) {
  EXPECT_EQ(stateSpace(Directive::Shared), StateSpace::Shared);
  EXPECT_EQ(stateSpace(Directive::Tex), StateSpace::Tex);
  EXPECT_EQ(stateSpace(Directive::Entry), std::nullopt);
}

} // namespace tenon::ptx
