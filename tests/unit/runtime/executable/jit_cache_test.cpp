// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executable/jit_cache.h"

#include "runtime/executable/executable.h"
#include "support/files/file.h"
#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

#include <cstdlib>
#include <filesystem>

namespace tenon::runtime {

using namespace tenon::test;
namespace fs = std::filesystem;

class JitCacheTest : public FakeDeviceTest {
protected:
  JitCacheTest()
      : folder(testing::TempDir() + "tenon_jit_cache_" +
               testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder);
    open();
  }
  ~JitCacheTest() override { fs::remove_all(folder); }
  /// Loads the export in a process of its own, as it were, and says what became of the image.
  std::string load() {
    ExecutableOptions options;
    options.cache = std::make_shared<JitCache>(folder);
    fake.loadedImages.clear();
    auto executable = Executable::create(
        device, buildExecutable("exe", {makeExport("k", 1, 0, threads)}, {{.name = "v", .image = ptx}}), "exe",
        options);
    auto loaded = (*executable)->load(0);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    return loaded.ok() ? (*loaded)->imageOrigin : "failed";
  }
  std::string onlyFile() const { return fs::directory_iterator(folder)->path().string(); }

  const std::string folder;
  std::string ptx = "the ptx";
  uint32_t threads = 64;
};

TEST_F(JitCacheTest, CompilesOnceAndFindsItAgain) {
  EXPECT_EQ(load(), "compiled, now in the cache");
  EXPECT_EQ(load(), "from the cache");
  EXPECT_EQ(fake.loadedImages, std::vector<std::string>{"cubin of the ptx"});
  EXPECT_EQ(fake.count("cuLinkComplete"), 1u);
  EXPECT_EQ(device->statistics().jitCompilations, 1u);
  EXPECT_EQ(device->statistics().jitCacheHits, 1u);
}

TEST_F(JitCacheTest, AnotherDriverOrDeviceHasOtherNames) {
  const abi::DeviceTraits traits = device->traits();
  abi::DeviceTraits driver = traits, arch = traits;
  driver.driverVersion = 13010;
  arch.computeCapability = 90;
  EXPECT_NE(JitCache::keyOf("p", traits), JitCache::keyOf("p", driver));
  EXPECT_NE(JitCache::keyOf("p", traits), JitCache::keyOf("p", arch));
  EXPECT_NE(JitCache::keyOf("p", traits), JitCache::keyOf("q", traits));
  EXPECT_EQ(JitCache::keyOf("p", traits), JitCache::keyOf("p", device->traits()));
}

TEST_F(JitCacheTest, ADamagedFileIsCompiledAnew) {
  load();
  ASSERT_TRUE(writeFile(onlyFile(), "tenon-jit 1 rubbish").ok());
  EXPECT_EQ(load(), "compiled, now in the cache");
  EXPECT_EQ(load(), "from the cache");
}

TEST_F(JitCacheTest, WhatTheDriverRefusesIsDropped) {
  load();
  fake.failures = {{"cuModuleLoadDataEx", CUDA_ERROR_NO_BINARY_FOR_GPU}};
  fake.failuresLeft = {{"cuModuleLoadDataEx", 1}};
  EXPECT_EQ(load(), "compiled, now in the cache");
  // A driver that takes no cubin at all gets the PTX itself.
  fake.failures.clear();
  fake.refusedImages["cubin of"] = CUDA_ERROR_NO_BINARY_FOR_GPU;
  EXPECT_EQ(load(), "");
  EXPECT_EQ(fake.loadedImages.back(), "the ptx");
}

TEST(JitCache, TheLinkerMakesOtherCodeOfSomePtx) {
  const std::string aligned = ".extern .shared .align 1024 .b8 arena[];\n", word = "  .shared .align 4 .u32 word;\n";
  const std::string plain = ".extern .shared .align 16 .b8 plain[];\n", use = "  st.shared.b32 [arena], 1;\n";
  auto entry = [](const std::string &body) { return ".visible .entry k()\n{\n" + body + "}\n"; };
  for (const std::string &ptx :
       {std::string(), std::string(".shared"), aligned + entry(use), plain + entry(word + "  mov.b32 %r1, plain;\n"),
        aligned + entry(use) + entry(word), aligned + entry(word) + entry(use),
        aligned + ".entry k(.param .u64 .ptr .shared .align 16 p)\n{\n" + use + "}\n",
        entry("  div.full.f32 %f1, %f2, %f3;\n  rsqrt.approx.f32 %f4, %f1;\n  sqrt.approx.f32 %f5, %f4;\n"),
        entry("  div.u32 %r1, %r2, %r3;\n  rem.s32 %r4, %r1, %r2;\n  rcp.approx.ftz.f64 %d1, %d2;\n")})
    EXPECT_TRUE(linkerMakesTheSame(ptx)) << ptx;
  for (const std::string &ptx :
       {aligned + entry(word + use), entry(use + word) + aligned, word + aligned + entry(use),
        plain + aligned + entry("") + entry(use + word),
        ".extern\n\t.shared  .align\t32 .b8 arena[];" + entry(use + word),
        aligned + ".visible .shared .b8 word[4];" + entry(use), entry("  setmaxnreg.dec.sync.aligned.u32 56;\n"),
        aligned + ".func f()\n{\n" + use + "}\n" + entry(word + "  call f, ();\n"),
        entry("  div.rn.f32 %f1, %f2, %f3;\n"), entry("\tsqrt.rn.ftz.f32\t%f1, %f2;\n"),
        entry("  rcp.rz.f32 %f1, %f2;"), entry("  sqrt.rn.f64 %d1, %d2;\n"),
        entry("  @%p1 div.u64 %rd1, %rd2, %rd3;\n"), entry("rem.s64 %rd1, %rd2, 7;"),
        ".func f()\n{\n  ret;\n}\n" + entry("  call f, ();\n")})
    EXPECT_FALSE(linkerMakesTheSame(ptx)) << ptx;
}

TEST_F(JitCacheTest, WhatTheLinkerWouldMakeOtherwiseIsNotKept) {
  ptx = ".extern .shared .align 128 .b8 arena[];\n.shared .b32 word;\n.entry k()\n{\n  st.shared.b32 [arena], 1;\n}\n";
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(load(), "");
    EXPECT_EQ(fake.loadedImages, std::vector<std::string>{ptx});
  }
  EXPECT_EQ(fake.count("cuLinkCreate_v2"), 0u);
}

TEST_F(JitCacheTest, WhatHasMoreBlocksWithFewerRegistersIsLeftToTheLoader) {
  threads = 256;
  fake.functionRegisters["k"] = 33; // of 65536 for 2048 threads
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(load(), "");
    EXPECT_EQ(fake.loadedImages.back(), ptx);
  }
  EXPECT_EQ(fake.count("cuLinkCreate_v2"), 1u); // the second time it is known
  EXPECT_EQ(device->statistics().jitCompilations, 2u);
  EXPECT_EQ(device->statistics().modulesLoaded, 2u);
  EXPECT_EQ(fake.liveModules, 0);
  ptx += " ";
  fake.functionRegisters["k"] = 32;
  EXPECT_EQ(load(), "compiled, now in the cache");
  // Of what the driver does not tell, nobody knows that the linker makes the same.
  ptx += " ";
  fake.failures = {{"cuFuncGetAttribute", CUDA_ERROR_NOT_SUPPORTED}};
  fake.failuresLeft = {{"cuFuncGetAttribute", 1}};
  EXPECT_EQ(load(), "");
}

TEST_F(JitCacheTest, WhatDeclaresManyRegistersIsLeftToTheLoader) {
  const std::string few =
      ".reg .pred %p<900>;\n.reg .b16 %rs<900>;\n.reg .b32 %r<112>;\n\t.reg .b64 \t%rd<200>;\n.reg .b32 one;\n";
  EXPECT_TRUE(linkerMakesTheSame(few));
  for (const char *more : {".reg .f32 %f<1>;", ".reg .f64 %fd<1>;", ".reg .u32 %u<1>;"})
    EXPECT_FALSE(linkerMakesTheSame(few + more)) << more;
  for (const char *strange :
       {".reg", ".reg .b32 %r<", ".reg .b32 %r>9<;", ".reg .b32 %r<x>;", ".reg .b32 %r<99999999999999999999999>;"})
    EXPECT_TRUE(linkerMakesTheSame(strange)) << strange;
  ptx = few + ".reg .b32 %more<1>;";
  EXPECT_EQ(load(), "");
  EXPECT_EQ(fake.count("cuLinkCreate_v2"), 0u);
}

TEST_F(JitCacheTest, FailuresOfTheCompilerLeaveThePlainRoad) {
  for (const char *function : {"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete"}) {
    fake.failures = {{function, CUDA_ERROR_INVALID_PTX}};
    EXPECT_EQ(load(), "") << function;
    EXPECT_EQ(fake.loadedImages, std::vector<std::string>{"the ptx"});
  }
}

TEST_F(JitCacheTest, AFolderThatCannotBeMadeHarmsNothing) {
  ASSERT_TRUE(writeFile(folder, "a file").ok());
  EXPECT_NE(load().find("compiled, not kept: cannot make the folder"), std::string::npos);
}

TEST_F(JitCacheTest, TheEmulatorKeepsNothing) {
  device.reset();
  fake.deviceName = "Tenon emulator sm_80 (CPU)";
  open();
  EXPECT_EQ(load(), "");
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_EQ(device->statistics().jitCompilations, 0u);
}

TEST_F(JitCacheTest, TheEnvironmentSaysWhere) {
  setenv("TENON_CACHE_DIR", "/somewhere", 1);
  setenv("TENON_CACHE_BYTES", "5x", 1);
  EXPECT_STATUS(JitCache::fromEnvironment().status(), InvalidArgument, "TENON_CACHE_BYTES=5x");
  unsetenv("TENON_CACHE_BYTES");
  EXPECT_EQ((*JitCache::fromEnvironment())->files().folder(), "/somewhere/jit");
  setenv("TENON_CACHE_DIR", "none", 1);
  EXPECT_EQ(*JitCache::fromEnvironment(), nullptr);
  unsetenv("TENON_CACHE_DIR");
}

} // namespace tenon::runtime
