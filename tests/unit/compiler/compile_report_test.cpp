// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/compile_report.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TEST(CompileReportTest, CountsWhatBlocksHold) {
  host::Function block;
  block.commands = {{host::Dispatch{}, ""}, {host::Copy{}, ""}};
  block.checks.resize(2);
  host::Program program;
  program.functions.resize(2);
  program.functions[0] = block;
  program.functions[1].blocks = {block, block};
  program.initializer = block;
  const std::vector<uint8_t> bytes(4);
  program.constants = {{bytes, 4, nullptr}, {bytes, 400, nullptr}};
  CompileReport report;
  {
    const CompileReport::Timer timer(report, "parse");
  }
  report.addPhase("a longer name", 0.5);
  report.count(program, 77);
  const std::string text = report.text();
  EXPECT_TRUE(text.starts_with("parse              0.")) << text;
  for (const char *line : {"a longer name    500.00 ms\n", "functions: 2, dispatches 4, copies 4, checks 8\n",
                           "constants: 2, 404 bytes, 8 stored\n", "program: 77 bytes\n"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST(CompileReportTest, OfAFailureHasThePhases) {
  CompileReport report;
  report.addPhase("parse", 0.001);
  EXPECT_EQ(report.text(), "parse      1.00 ms\ntotal      1.00 ms\n");
}

} // namespace
} // namespace tenon::compiler
