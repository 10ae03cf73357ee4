// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bodies with lines moved, doubled and dropped: whatever still parses is traced to an end, without a crash.
#include "linker/access/trace/module_tracer.h"

#include "ptx/parse/parser.h"
#include "tests/unit/linker/link_testing.h"

#include <random>

namespace tenon::linker {
namespace {

constexpr std::string_view kSeed = R"(
.global .align 8 .u64 slot;
.extern .func vprintf(.param .b64 a, .param .b64 b);
.func (.param .b64 r) pick(.param .align 8 .b8 s[16], .param .b32 n) {
.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
ld.param.u64 %rd1, [s];
ld.param.v2.u64 {%rd2, %rd3}, [s];
ld.param.u32 %r1, [n];
setp.eq.u32 %p1, %r1, 0;
@%p1 bra DONE;
sub.u32 %r2, %r1, 1;
{ .param .align 8 .b8 a0[16];
.param .b32 a1;
.param .b64 r0;
st.param.v2.b64 [a0], {%rd2, %rd3};
st.param.b32 [a1], %r2;
call (r0), pick, (a0, a1);
ld.param.b64 %rd1, [r0];
}
DONE:
st.param.b64 [r], %rd1;
ret; }
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {
.local .align 8 .b8 depot[16];
.reg .b64 %rd<20>; .reg .b32 %r<9>; .reg .pred %p<3>; .reg .f32 %f<9>; .reg .v2 .b64 %v;
ld.param.u64 %rd1, [p];
ld.param.u64 %rd2, [q];
mov.u64 %rd3, depot;
cvta.local.u64 %rd4, %rd3;
st.u64 [%rd4+8], %rd1;
ld.local.u64 %rd5, [%rd3+8];
mov.b64 {%r1, %r2}, %rd5;
mov.b64 %v.x, %rd1;
mov.b64 %rd6, {%r1, %r2};
T: .branchtargets A, B, C;
brx.idx %r3, T;
A:
mov.b64 %rd6, %rd2;
B:
add.s64 %rd6, %rd6, 4;
@%p1 bra A;
C:
{ .param .align 8 .b8 a0[16];
.param .b32 a1;
.param .b64 r0;
st.param.b64 [a0], %rd6;
st.param.b64 [a0+8], %rd1;
st.param.b32 [a1], 3;
call (r0), pick, (a0, a1);
ld.param.b64 %rd7, [r0];
}
ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd7];
st.global.v2.f32 [%rd6], {%f1, %f2};
atom.global.exch.b64 %rd8, [slot], %rd7;
mov.b64 %rd9, q;
ld.param.u64 %rd10, [%rd9];
red.global.add.f32 [%rd10], %f1;
ret; }
)";

TEST(AccessFuzz, WhateverParsesIsTracedToAnEnd) {
  std::vector<std::string> seed;
  std::string line;
  for (char c : kSeed) {
    if (c == '\n') {
      seed.push_back(line);
      line.clear();
    } else {
      line += c;
    }
  }
  std::mt19937 random(1);
  auto below = [&](size_t n) { return random() % n; };
  size_t traced = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> lines = seed;
    for (size_t i = 1 + below(6); i > 0; --i) {
      const size_t a = below(lines.size()), b = below(lines.size());
      switch (below(4)) {
      case 0:
        std::swap(lines[a], lines[b]);
        break;
      case 1:
        lines[a] = std::string(lines[b]);
        break;
      case 2:
        lines.erase(lines.begin() + ptrdiff_t(a));
        break;
      default:
        if (size_t comma = lines[a].rfind(','); comma != std::string::npos && lines[a].back() == ';')
          lines[a].replace(comma, std::string::npos, ";"); // an operand less
      }
    }
    std::string text;
    for (const std::string &each : lines)
      text += each + "\n";
    Diagnostics diagnostics;
    ptx::Module module = ptx::parse(std::make_shared<SourceFile>("a.ptx", testing::ptxModule(text)), diagnostics);
    if (diagnostics.hasErrors())
      continue;
    ModuleTracer tracer(module);
    for (const ptx::Function &function : module.functions)
      if (function.isEntry && !function.isDeclaration) {
        KernelTrace trace = tracer.trace(function, std::vector<bool>(function.parameters.size(), true));
        EXPECT_EQ(trace.slots.size(), function.parameters.size());
        ++traced;
      }
  }
  EXPECT_GT(traced, 100u);
}

} // namespace
} // namespace tenon::linker
