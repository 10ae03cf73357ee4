// Not run by default: tenon-ptx-test --gtest_also_run_disabled_tests --gtest_filter=*Speed*
#include "tests/unit/ptx/parse_helper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace tenon::ptx {
namespace {

TEST(PtxSpeed, DISABLED_PrintsMegabytesPerSecond) {
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
  auto source = std::make_shared<SourceFile>("k.ptx", text);
  double best = 1e9;
  for (int round = 0; round < 10; ++round) {
    Diagnostics diagnostics;
    auto begin = std::chrono::steady_clock::now();
    parse(source, diagnostics); // and free the module
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    ASSERT_FALSE(diagnostics.hasErrors());
  }
  std::printf("%zu bytes, %.1f MB/s\n", text.size(), text.size() / best / 1e6);
}

} // namespace
} // namespace tenon::ptx
