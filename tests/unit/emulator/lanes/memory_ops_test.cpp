// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld and st for every way in which the lanes of a warp may point: neighbours, one place, strides, anything; with all
// lanes and with some; in each space and size, alone and in vectors. The kernel copies in[index] to out[index].
#include "tests/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

constexpr uint32_t kCount = 512;

/// Lane t reads element index[t] and, when `takes[t]`, writes it at out[index[t]].
std::string copyKernel(const std::string &space, const std::string &suffix, uint32_t bytes,
                       const std::string &registers, const std::string &vector) {
  std::string size = std::to_string(bytes), text = header("sm_80");
  text +=
      ".visible .entry k(.param .u64 in, .param .u64 index, .param .u64 takes, .param .u64 out)\n{\n"
      "  .reg .b64 %rd<12>; .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .b32 %v<9>; .reg .b16 %h<9>; .reg .pred %p;\n"
      "  ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [index]; ld.param.u64 %rd2, [takes]; ld.param.u64 %rd3, [out];\n"
      "  mov.u32 %r0, %tid.x; mul.wide.u32 %rd4, %r0, 4; add.s64 %rd5, %rd1, %rd4; ld.global.u32 %r1, [%rd5];\n"
      "  add.s64 %rd6, %rd2, %rd4; ld.global.u32 %r2, [%rd6]; setp.ne.u32 %p, %r2, 0;\n";
  if (space == "shared")
    text += "  .shared .align 64 .b8 buffer[16384];\n";
  if (space == "local")
    text += "  .local .align 16 .b8 buffer[16384];\n";
  if (space == "shared" || space == "local") {
    // Every thread copies all of it; then the address is one in the space.
    text += "  mov.u64 %rd7, buffer; mov.u32 %r3, 0;\nfill: cvt.u64.u32 %rd8, %r3; add.s64 %rd9, %rd0, %rd8;\n"
            "  ld.global.u32 %r4, [%rd9]; add.s64 %rd10, %rd7, %rd8; st." +
            space + ".u32 [%rd10], %r4;\n  add.u32 %r3, %r3, 4; setp.lt.u32 %p, %r3, 16384; @%p bra fill;\n" +
            "  bar.sync 0; setp.ne.u32 %p, %r2, 0;\n";
  } else {
    text += "  mov.u64 %rd7, %rd0;\n";
  }
  text += "  mul.wide.u32 %rd8, %r1, " + size + "; add.s64 %rd9, %rd7, %rd8; add.s64 %rd10, %rd3, %rd8;\n";
  std::string dot = space == "generic" ? "" : "." + space;
  text += "  @%p ld" + dot + vector + suffix + " " + registers + ", [%rd9];\n";
  text += "  @%p st.global" + vector + suffix + " [%rd10], " + registers + ";\n  ret;\n}\n";
  return text;
}

struct Form {
  const char *suffix, *vector, *registers;
  uint32_t bytes;
};
constexpr Form kForms[] = {{".u8", "", "%h1", 1},
                           {".u16", "", "%h1", 2},
                           {".u32", "", "%v1", 4},
                           {".u64", "", "%d1", 8},
                           {".u32", ".v2", "{%v1, %v2}", 8},
                           {".u32", ".v4", "{%v1, %v2, %v3, %v4}", 16},
                           {".u64", ".v2", "{%d1, %d2}", 16},
                           {".u16", ".v4", "{%h1, %h2, %h3, %h4}", 8},
                           {".u8", ".v2", "{%h1, %h2}", 2}};

TEST(EmulatorMemoryOps, EveryPatternInEverySpace) {
  Session session;
  std::vector<uint8_t> data(16 * kCount * 2);
  for (size_t k = 0; k < data.size(); ++k)
    data[k] = static_cast<uint8_t>(k * 7 + k / 256 + 1);
  std::vector<std::vector<uint32_t>> patterns(6, std::vector<uint32_t>(32));
  for (uint32_t l = 0; l < 32; ++l) {
    patterns[0][l] = 3 + l;                // neighbours
    patterns[1][l] = 17;                   // one place
    patterns[2][l] = l / 16 * 40 + l % 16; // two rows of sixteen
    patterns[3][l] = l / 16 * 40;          // a place for each half
    patterns[4][l] = l * 5 % 33 * 3;       // scattered
    patterns[5][l] = 200 - l;              // backwards
  }
  const uint32_t masks[] = {0xffffffffu, 1u, 0x80000000u, 0x0000ffffu, 0x00ff00f0u, 0x55555555u};
  for (const char *space : {"global", "generic", "shared", "local"})
    for (const Form &form : kForms) {
      Loaded loaded = load(copyKernel(space, form.suffix, form.bytes, form.registers, form.vector));
      ASSERT_EQ(loaded.result, CUDA_SUCCESS) << loaded.log;
      CUfunction function;
      ASSERT_EQ(cuModuleGetFunction(&function, loaded.module, "k"), CUDA_SUCCESS);
      for (const std::vector<uint32_t> &pattern : patterns)
        for (uint32_t mask : masks) {
          std::vector<uint32_t> takes(32);
          std::vector<uint8_t> want(data.size());
          for (uint32_t l = 0; l < 32; ++l)
            if ((takes[l] = mask >> l & 1))
              memcpy(&want[pattern[l] * form.bytes], &data[pattern[l] * form.bytes], form.bytes);
          DeviceArray<uint8_t> in(data), out(data.size());
          DeviceArray<uint32_t> index(pattern), taken(takes);
          void *parameters[] = {&in.address, &index.address, &taken.address, &out.address};
          ASSERT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr), CUDA_SUCCESS);
          ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS) << lastReport();
          ASSERT_EQ(out.read(), want) << space << form.vector << form.suffix << " mask " << mask << " first "
                                      << pattern[0] << " second " << pattern[1];
        }
      cuModuleUnload(loaded.module);
    }
}

TEST(EmulatorMemoryOps, OneLaneOutsideIsFoundInAnyPlace) {
  for (uint32_t lane : {0u, 7u, 8u, 31u})
    for (int64_t offset : {int64_t(-1), int64_t(64), int64_t(1) << 32}) {
      Session session;
      DeviceArray<uint32_t> in(64);
      std::string text = header("sm_80") +
                         ".visible .entry k(.param .u64 in)\n{\n  .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p;\n"
                         "  ld.param.u64 %rd0, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4;\n"
                         "  setp.eq.u32 %p, %r0, " +
                         std::to_string(lane) + "; @%p mov.u64 %rd1, " + std::to_string(offset * 4) +
                         ";\n  add.s64 %rd2, %rd0, %rd1; ld.global.u32 %r1, [%rd2]; ret;\n}\n";
      EXPECT_EQ(run(text, {in.address}), CUDA_ERROR_ILLEGAL_ADDRESS) << lane << " at " << offset;
      EXPECT_NE(lastReport().find("thread (" + std::to_string(lane) + ",0,0)"), std::string::npos) << lastReport();
      cuDevicePrimaryCtxReset(0);
    }
}

// Registers that are written once with what the launch fixes are names; those written twice, conditionally or used
// before are not.
TEST(EmulatorMemoryOps, ParametersAndSpecialRegistersInRegisters) {
  Session session;
  DeviceArray<uint32_t> out(6 * 32);
  std::string text = header("sm_80") + R"(
.visible .entry k(.param .u64 out)
{
  .reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .pred %p<3>;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd1, %rd0;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %r0;
  add.u32 %r1, %r1, 100;
  setp.lt.u32 %p0, %r0, 4;
  mov.u32 %r2, 7;
  @%p0 mov.u32 %r2, 9;
  mov.u32 %r5, 1;
  mov.u32 %r6, 0;
again:
  @%p1 add.u32 %r6, %r6, %r3;
  mov.u32 %r3, 50;
  setp.eq.u32 %p1, %r0, %r0;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 4;
  @%p2 bra again;
  {
    .reg .b32 %r2;
    mov.u32 %r2, 1000;
    add.u32 %r7, %r2, %r0;
  }
  mul.wide.u32 %rd2, %r0, 24;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r0;
  st.global.u32 [%rd3+4], %r1;
  st.global.u32 [%rd3+8], %r2;
  st.global.u32 [%rd3+12], %r6;
  st.global.u32 [%rd3+16], %r7;
  st.global.u32 [%rd3+20], %r3;
  ret;
}
)";
  ASSERT_EQ(run(text, {out.address}), CUDA_SUCCESS) << lastReport();
  auto got = out.read();
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t want[6] = {t, t + 100, t < 4 ? 9u : 7u, 100, 1000 + t, 50};
    for (uint32_t k = 0; k < 6; ++k)
      EXPECT_EQ(got[6 * t + k], want[k]) << "thread " << t << ", value " << k;
  }
}

} // namespace
} // namespace tenon::emulator::test
