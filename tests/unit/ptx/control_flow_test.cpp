// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ptx/control_flow.h"

#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

namespace tenon::ptx {
namespace {
using namespace test;

/// "0>1,2 1>2 2>": every block and where it goes; blocks that the entry does not reach in brackets.
std::string graph(std::string_view body) {
  Parsed parsed = parseModule(std::string(".entry k() {\n").append(body).append("\n}\n"));
  EXPECT_EQ(parsed.errors, "");
  ControlFlow flow = computeControlFlow(parsed.module.functions[0]);
  std::string text;
  for (size_t i = 0; i < flow.blocks.size(); ++i) {
    std::string line = std::to_string(i) + ">";
    for (uint32_t successor : flow.successors(flow.blocks[i]))
      line += (line.back() == '>' ? "" : ",") + std::to_string(successor);
    text += (text.empty() ? "" : " ") + (flow.blocks[i].reachable ? line : "[" + line + "]");
  }
  for (const UnknownTarget &unknown : flow.unknown)
    text += " ?" + std::string(unknown.label);
  return text;
}

TEST(PtxControlFlow, AStraightBodyIsOneBlockAndTheEnd) {
  EXPECT_EQ(graph("mov.u32 %r1, 1; ret;"), "0> [1>]");
  EXPECT_EQ(graph("mov.u32 %r1, 1;"), "0>1 1>");
  EXPECT_EQ(graph(""), "0>");
}

TEST(PtxControlFlow, BranchesGoToTheirLabelAndFallThroughUnderAPredicate) {
  EXPECT_EQ(graph("@%p bra L; mov.u32 %r1, 1; L: ret;"), "0>2,1 1>2 2> [3>]");
  EXPECT_EQ(graph("bra L; mov.u32 %r1, 1; L: ret;"), "0>2 [1>2] 2> [3>]");
  EXPECT_EQ(graph("L: add.u32 %r1, %r1, 1; @!%p bra L; ret;"), "0>0,1 1> [2>]");
}

TEST(PtxControlFlow, APredicatedReturnFallsThrough) {
  EXPECT_EQ(graph("@%p ret; @%q exit; trap;"), "0>1 1>2 2> [3>]");
}

TEST(PtxControlFlow, TablesLeadToAllTheirLabels) {
  EXPECT_EQ(graph("T: .branchtargets A, B; brx.idx %r1, T; A: ret; B: ret;"), "0>1,2 1> 2> [3>]");
}

TEST(PtxControlFlow, CallsReturn) {
  EXPECT_EQ(graph("call f; ret;"), "0> [1>]");
}

TEST(PtxControlFlow, LabelsBelongToTheirScope) {
  // Block 1 holds the first label's instruction and the second branch.
  EXPECT_EQ(graph("{ bra L; L: mov.u32 %r1, 1; } { bra L; L: mov.u32 %r1, 2; } ret;"), "0>1 1>2 2> [3>]");
}

TEST(PtxControlFlow, ABranchSeesTheScopesAroundIt) {
  EXPECT_EQ(graph("{ { bra L; } } mov.u32 %r1, 1; L: ret;"), "0>2 [1>2] 2> [3>]");
}

TEST(PtxControlFlow, AnUnknownTargetMakesEveryBlockReachable) {
  EXPECT_EQ(graph("bra gone; L: ret;"), "0> 1> 2> ?gone");
  EXPECT_EQ(graph("brx.idx %r1, gone; L: ret;"), "0> 1> 2> ?gone");
  EXPECT_EQ(graph("{ L: ret; } bra L;"), "0> 1> 2> ?L");
}

TEST(PtxControlFlow, ManyJumpsThroughOneLargeTableStayLinear) {
  std::string body = "T: .branchtargets ";
  for (int i = 0; i < 2000; ++i)
    body += (i ? ", L" : "L") + std::to_string(i);
  body += ";\n";
  for (int i = 0; i < 2000; ++i)
    body += "@%p brx.idx %r1, T; L" + std::to_string(i) + ":\n";
  Parsed parsed = parseModule(".entry k() {\n" + body + "ret; }\n");
  ASSERT_EQ(parsed.errors, "");
  ControlFlow flow = computeControlFlow(parsed.module.functions[0]);
  EXPECT_LT(flow.edges.size(), 1'000'000u);
  EXPECT_FALSE(flow.unknown.empty());
}

} // namespace
} // namespace tenon::ptx
