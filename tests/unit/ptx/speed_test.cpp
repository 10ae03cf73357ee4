// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Not run by default: tenon-ptx-test --gtest_also_run_disabled_tests --gtest_filter=*Speed*
//
// Megabytes of PTX per second of processor time, each step alone: reading, names, control flow. TENON_PTX_FILES=DIR
// takes the .ptx files of a folder (benchmarks/link/generate.py makes some) in place of a text of its own;
// TENON_PTX_ROUNDS=1 is for counting instructions: valgrind --tool=callgrind
// --toggle-collect='tenon::ptx::*parseBodies*' ...
#include "ptx/control_flow.h"
#include "ptx/def_use.h"
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tenon::ptx {
namespace {

std::string unrolledLoops() {
  std::string text(test::kHeader);
  for (int kernel = 0; kernel < 100; ++kernel) {
    text += ".visible .entry kernel" + std::to_string(kernel) +
            "(\n\t.param .u64 p,\n\t.param .u32 n\n)\n{\n\t.reg .b32 \t%r<99>;\n";
    for (int i = 0; i < 1000; ++i)
      text += "\t.loc\t1 12 3\n\tmad.lo.s32 \t%r1, %r3, %r4, %r5;\n\tld.global.nc.v2.f32 \t{%f1, %f2}, [%rd8+16];\n"
              "\tfma.rn.f32 \t%f3, %f2, %f1, 0f3F800000;\n\t@%p1 bra \t$L__BB0_" +
              std::to_string(i) + ";\n\n";
    text += "\tret;\n}\n";
  }
  return text;
}

std::vector<std::shared_ptr<const SourceFile>> textsToRead() {
  std::vector<std::shared_ptr<const SourceFile>> texts;
  const char *folder = std::getenv("TENON_PTX_FILES");
  if (!folder)
    return {std::make_shared<SourceFile>("k.ptx", unrolledLoops())};
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx")
      continue;
    std::stringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    texts.push_back(std::make_shared<SourceFile>(entry.path().string(), text.str()));
  }
  return texts;
}

TEST(PtxSpeed, DISABLED_PrintsMegabytesPerSecond) {
  const auto texts = textsToRead();
  const char *rounds = std::getenv("TENON_PTX_ROUNDS");
  size_t bytes = 0;
  for (const auto &text : texts)
    bytes += text->text().size();
  auto measure = [&](const char *what, auto &&readOne) {
    double best = 1e9;
    for (int round = rounds ? std::atoi(rounds) : 10; round > 0; --round) {
      Diagnostics diagnostics;
      const std::clock_t begin = std::clock();
      for (const auto &text : texts)
        readOne(text, diagnostics);
      best = std::min(best, double(std::clock() - begin) / CLOCKS_PER_SEC);
      ASSERT_FALSE(diagnostics.hasErrors()) << diagnostics.toString();
    }
    std::printf("%-32s %6.1f MB/s of processor time, %zu bytes\n", what, double(bytes) / std::max(best, 1e-9) / 1e6,
                bytes);
  };

  DefUseFinder finder;
  ControlFlowBuilder builder;
  ControlFlow flow;
  ModuleNames names;
  using Text = std::shared_ptr<const SourceFile>;
  measure("whole modules, and freed", [](const Text &text, Diagnostics &found) { (void)parse(text, found); });
  measure("body by body", [](const Text &text, Diagnostics &found) {
    (void)parseBodies(text, found, [](const Module &, const Function &) {});
  });
  measure("body by body, names", [&](const Text &text, Diagnostics &found) {
    names = ModuleNames();
    (void)parseBodies(text, found, [&](const Module &module, const Function &function) {
      names.learn(module);
      (void)finder.run(function, names);
    });
  });
  measure("body by body, names, flow", [&](const Text &text, Diagnostics &found) {
    names = ModuleNames();
    (void)parseBodies(text, found, [&](const Module &module, const Function &function) {
      names.learn(module);
      (void)finder.run(function, names);
      builder.run(function, flow);
    });
  });
}

} // namespace
} // namespace tenon::ptx
