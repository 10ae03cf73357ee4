// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction at a time, on values at the edges of its type, against what IEEE-754 and the PTX ISA say:
// expectations are written with 128-bit integers, long double and plain loops, not with the emulator's own helpers.
#pragma once

#include "tests/unit/emulator/harness.h"

#include <array>
#include <bit>
#include <functional>

namespace tenon::emulator::test {

using Inputs = std::vector<std::array<uint64_t, 3>>;

/// Runs `body` once per input triple: %a0..2 (.b64), %w0..2 (.b32), %h0..2 (.b16) hold it; the result is %d (.b64),
/// from %r (.b32) when `wide` is false.
inline std::vector<uint64_t> evaluate(const std::string &body, const Inputs &inputs, bool wide,
                                      const std::string &target = "sm_80") {
  std::vector<uint64_t> flat;
  for (const auto &triple : inputs)
    flat.insert(flat.end(), triple.begin(), triple.end());
  DeviceArray<uint64_t> in(flat), out(inputs.size());
  std::string ptx = header(target) + R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b64 %p<3>, %a<3>, %d, %t, %e;
  .reg .b32 %w<3>, %r, %i, %z;
  .reg .b16 %h<3>, %s;
  .reg .pred %q<4>;
  ld.param.u64 %p0, [in];
  ld.param.u64 %p1, [out];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %t, %i, 24;
  add.u64 %t, %t, %p0;
  ld.global.u64 %a0, [%t];
  ld.global.u64 %a1, [%t+8];
  ld.global.u64 %a2, [%t+16];
  cvt.u32.u64 %w0, %a0;
  cvt.u32.u64 %w1, %a1;
  cvt.u32.u64 %w2, %a2;
  cvt.u16.u64 %h0, %a0;
  cvt.u16.u64 %h1, %a1;
  cvt.u16.u64 %h2, %a2;
  mov.b32 %r, 0;
  mov.b64 %d, 0;
)" + body + (wide ? "" : "\n  cvt.u64.u32 %d, %r;") +
                    R"(
  mul.wide.u32 %t, %i, 8;
  add.u64 %t, %t, %p1;
  st.global.u64 [%t], %d;
  ret;
}
)";
  EXPECT_EQ(run(ptx, {in.address, out.address}, 1, static_cast<unsigned>(inputs.size())), CUDA_SUCCESS) << body;
  return out.read();
}

inline const std::vector<uint32_t> kWords = {
    0,      1,      2,       31,         32,         33,         63,         255,        256,        0x7fff,
    0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x12345678, 0xdeadbeef};
inline const std::vector<uint32_t> kFloats = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                              0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x3f000000,
                                              0x40490fdb, 0x4b000000, 0x4f000000, 0xcf000000, 0x7f7fffff,
                                              0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345};

inline Inputs pairs(const std::vector<uint32_t> &values) {
  Inputs inputs;
  for (uint32_t a : values)
    for (uint32_t b : values)
      inputs.push_back({a, b, a * 2654435761u + b});
  return inputs;
}

using Word = std::function<uint32_t(uint32_t, uint32_t, uint32_t)>;
inline void checkWords(const std::string &body, const Inputs &inputs, const Word &want,
                       const std::string &target = "sm_80") {
  std::vector<uint64_t> got = evaluate(body, inputs, false, target);
  for (size_t k = 0; k < inputs.size(); ++k) {
    uint32_t a = static_cast<uint32_t>(inputs[k][0]), b = static_cast<uint32_t>(inputs[k][1]),
             c = static_cast<uint32_t>(inputs[k][2]);
    ASSERT_EQ(static_cast<uint32_t>(got[k]), want(a, b, c))
        << body << " of " << std::hex << a << ", " << b << ", " << c;
  }
}

inline float f(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline uint32_t bits(float x) {
  return x != x ? 0x7fffffffu : std::bit_cast<uint32_t>(x);
}
inline uint32_t flushed(uint32_t x) {
  return (x & 0x7f800000) == 0 ? x & 0x80000000 : x;
}
inline int64_t s(uint32_t x) {
  return static_cast<int32_t>(x);
}

struct Case {
  const char *body;
  Word want;
};

} // namespace tenon::emulator::test
