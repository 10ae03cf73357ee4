// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long the proof takes, in processor time, which other work on the machine stretches little. The bounds are
// generous; the figures are printed.
#include "linker/access/trace/module_tracer.h"

#include "ptx/parse/parser.h"
#include "tests/unit/linker/link_testing.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace tenon::linker {
namespace {

/// A kernel of about `instructions` instructions in the mix that nvcc prints for an unrolled loop nest: addresses,
/// loads, arithmetic, branches, phis as moves.
std::string largeKernel(size_t instructions) {
  std::string text =
      ".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 k_param_1,\n\t.param .u32 k_param_2\n)\n"
      "{\n\t.reg .pred \t%p<99999>;\n\t.reg .f32 \t%f<999999>;\n\t.reg .b32 \t%r<999999>;\n\t.reg .b64 "
      "\t%rd<999999>;\n\n\tld.param.u64 \t%rd1, [k_param_0];\n\tld.param.u64 \t%rd2, [k_param_1];\n\t"
      "ld.param.u32 \t%r1, [k_param_2];\n\tcvta.to.global.u64 \t%rd3, %rd1;\n\tcvta.to.global.u64 \t%rd4, "
      "%rd2;\n\tmov.b64 \t%rd10, %rd3;\n";
  for (size_t i = 0; i < instructions / 10; ++i) {
    const std::string n = std::to_string(i + 100);
    text += "$L__BB0_" + n + ":\n\tmul.wide.s32 \t%rd" + n + "1, %r" + n + ", 4;\n\tadd.s64 \t%rd" + n +
            "2, %rd10, %rd" + n + "1;\n\tld.global.nc.f32 \t%f" + n + "1, [%rd" + n + "2+16];\n\tfma.rn.f32 \t%f" + n +
            "2, %f" + n + "1, %f1, %f2;\n\tadd.s64 \t%rd" + n + "3, %rd4, %rd" + n + "1;\n\tst.global.f32 \t[%rd" + n +
            "3], %f" + n + "2;\n\tadd.s32 \t%r" + std::to_string(i + 101) + ", %r" + n +
            ", 1;\n\tadd.s64 \t%rd10, %rd10, 4;\n" + "\tsetp.lt.s32 \t%p" + n + ", %r" + n + ", %r1;\n\t@%p" + n +
            " bra \t$L__BB0_" + n + ";\n\n";
  }
  return testing::ptxModule(text + "\tret;\n}\n");
}

struct Times {
  double parse = 1e9, trace = 1e9; // seconds of processor time, the best of several
};

Times measure(const std::string &text) {
  Times best;
  auto source = std::make_shared<SourceFile>("k.ptx", text);
  for (int round = 0; round < 5; ++round) {
    Diagnostics diagnostics;
    auto begin = std::clock();
    ptx::Module module = ptx::parse(source, diagnostics);
    auto parsed = std::clock();
    KernelTrace trace = ModuleTracer(module).trace(module.functions[0], {true, true, false});
    auto end = std::clock();
    EXPECT_FALSE(diagnostics.hasErrors());
    EXPECT_FALSE(trace.slots[0].written || trace.slots[0].maybeWritten || trace.gaveUp);
    EXPECT_TRUE(trace.slots[1].written);
    best.parse = std::min(best.parse, double(parsed - begin) / CLOCKS_PER_SEC);
    best.trace = std::min(best.trace, double(end - parsed) / CLOCKS_PER_SEC);
  }
  return best;
}

TEST(AccessSpeed, TimeIsLinearInTheKernel) {
  const std::string small = largeKernel(10'000), large = largeKernel(100'000);
  const Times fast = measure(small), slow = measure(large);
  std::printf(
      "10,000 instructions, %zu bytes: parse %.2f ms, prove %.2f ms; 100,000: parse %.0f MB/s, prove %.0f MB/s, "
      "both %.0f MB/s\n",
      small.size(), fast.parse * 1e3, fast.trace * 1e3, large.size() / slow.parse / 1e6,
      large.size() / slow.trace / 1e6, large.size() / (slow.parse + slow.trace) / 1e6);
  EXPECT_LT(fast.parse + fast.trace, 0.25) << "seconds; 50 ms on a quiet machine of 2020";
  EXPECT_LT(slow.trace, 50 * std::max(fast.trace, 0.001)) << "ten times the instructions";
}

} // namespace
} // namespace tenon::linker
