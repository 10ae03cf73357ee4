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
        device, buildExecutable("exe", {makeExport("k", 1, 0)}, {{.name = "v", .image = "the ptx"}}), "exe", options);
    auto loaded = (*executable)->load(0);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    return loaded.ok() ? (*loaded)->imageOrigin : "failed";
  }
  std::string onlyFile() const { return fs::directory_iterator(folder)->path().string(); }

  const std::string folder;
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
