// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/runtime/fixture.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tenon::runtime::cuda {

using namespace tenon::test;

TEST(DeviceSelector, ReadsEveryForm) {
  struct Case {
    const char *text;
    DriverKind kind;
    int ordinal;
  };
  for (const Case &c : {Case{"", DriverKind::Any, 0}, Case{"cuda", DriverKind::Cuda, 0},
                        Case{"cuda:1", DriverKind::Cuda, 1}, Case{"cuda://2", DriverKind::Cuda, 2},
                        Case{"emulator", DriverKind::Emulator, 0}, Case{"emulator:0", DriverKind::Emulator, 0}}) {
    auto selector = DeviceSelector::parse(c.text);
    ASSERT_TRUE(selector.ok()) << c.text;
    EXPECT_EQ(selector->kind, c.kind) << c.text;
    EXPECT_EQ(selector->ordinal, c.ordinal) << c.text;
  }
}

TEST(DeviceSelector, RefusesOtherNames) {
  for (const char *text : {"cpu", "cuda1", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "emulators"})
    EXPECT_STATUS(DeviceSelector::parse(text).status(), InvalidArgument,
                  "expected cuda, cuda:ORDINAL, emulator or emulator:ORDINAL");
}

class DriverTest : public testing::Test {
protected:
  DriverTest() : fake(resetFakeDriver()) {}
  Result<std::unique_ptr<Driver>> open(const char *device) {
    return Driver::open(*DeviceSelector::parse(device), search);
  }

  FakeDriver &fake;
  const std::string path = fakeDriverPath();
  const std::string absent = besideTest("no_such_driver.so");
  DriverSearch search = {.cudaLibraries = {absent}};
};

TEST_F(DriverTest, ListsEveryPathWithTheLoadersReason) {
  const std::string incomplete = besideTest("libtenon_incomplete_driver.so");
  search.cudaLibraries = {absent, incomplete};
  auto driver = open("cuda");
  EXPECT_STATUS(driver.status(), Unavailable, "the CUDA driver (libcuda.so.1) cannot be loaded; tried");
  EXPECT_STATUS(driver.status(), Unavailable, "\n  " + absent + ": cannot open shared object file");
  EXPECT_STATUS(driver.status(), Unavailable, incomplete + ": the library lacks cuDriverGetVersion, ");
}

TEST_F(DriverTest, TriesTheLibrariesInOrder) {
  search.cudaLibraries = {absent, path};
  auto driver = open("cuda");
  ASSERT_OK(driver.status());
  EXPECT_EQ((*driver)->path(), path);
  EXPECT_EQ((*driver)->version(), 13000);
  EXPECT_EQ((*driver)->notice(), "");
  EXPECT_NE((*driver)->cuFuncGetParamInfo, nullptr);
}

TEST_F(DriverTest, CudaWithoutADeviceIsAnError) {
  search.cudaLibraries = {path};
  fake.deviceCount = 0;
  EXPECT_STATUS(open("cuda").status(), Unavailable, "has no device");
}

TEST_F(DriverTest, AFailingCuInitIsNamed) {
  search.cudaLibraries = {path};
  fake.failures["cuInit"] = CUDA_ERROR_OUT_OF_MEMORY;
  EXPECT_STATUS(open("cuda").status(), ResourceExhausted, "does not start: cuInit(0): CUDA_ERROR_OUT_OF_MEMORY (2)");
}

TEST_F(DriverTest, EmulatorIsLookedForInItsPlaces) {
  search.ownFolder = "/a/b/c/bin";
  const std::vector<std::string> installed = search.emulatorLibraries();
  ASSERT_EQ(installed.size(), 3u); // nothing of a build tree
  EXPECT_EQ(installed[0], "/a/b/c/bin/libtenon_emulator.so");
  EXPECT_TRUE(installed[1].starts_with("/a/b/c/lib")) << installed[1];
  EXPECT_TRUE(installed[1].ends_with("/libtenon_emulator.so")) << installed[1];
  EXPECT_EQ(installed[2], "libtenon_emulator.so");

  search.emulatorVariable = "/e/lib.so"; // alone: a mistake in it is an error, not another emulator
  EXPECT_EQ(search.emulatorLibraries(), std::vector<std::string>{"/e/lib.so"});
}

TEST_F(DriverTest, EmulatorOfABuildTreeIsLookedForInItAlone) {
  const DriverSearch own = DriverSearch::fromEnvironment();
  EXPECT_EQ(own.ownFolder, std::filesystem::read_symlink("/proc/self/exe").parent_path().string());
  const std::string root = ::testing::TempDir() + "tenon_build_tree";
  std::filesystem::create_directories(root + "/runtime/tools");
  std::ofstream(root + "/build.ninja") << "";
  search.ownFolder = root + "/runtime/tools";
  const std::vector<std::string> paths = search.emulatorLibraries();
  EXPECT_EQ(std::count(paths.begin(), paths.end(), root + "/emulator/libtenon_emulator.so"), 1) << paths.size();
  EXPECT_EQ(paths.size(), 4u);
  std::filesystem::remove_all(root);
}

TEST_F(DriverTest, EmulatorVariableNamesTheLibrary) {
  search.emulatorVariable = path;
  auto driver = open("emulator");
  ASSERT_OK(driver.status());
  EXPECT_EQ((*driver)->path(), path);
}

TEST_F(DriverTest, WithoutADeviceNameTheGpuIsTaken) {
  search.cudaLibraries = {path};
  auto driver = open("");
  ASSERT_OK(driver.status());
  EXPECT_EQ((*driver)->notice(), "");
}

TEST_F(DriverTest, WithoutAGpuTheEmulatorIsTakenAndSaid) {
  search.emulatorVariable = path;
  auto driver = open("");
  ASSERT_OK(driver.status());
  const std::string notice = (*driver)->notice();
  EXPECT_EQ(notice, "no GPU here (" + absent +
                        ": cannot open shared object file: No such file or directory): running on the emulator '" +
                        path + "'");
  EXPECT_EQ(notice.find('\n'), std::string::npos) << notice;
}

TEST_F(DriverTest, NeitherGpuNorEmulatorSaysBoth) {
  search.emulatorVariable = absent;
  search.ownFolder = "/nowhere";
  auto status = open("").takeStatus();
  EXPECT_STATUS(status, Unavailable, "no GPU: the CUDA driver");
  EXPECT_STATUS(status, Unavailable, "no emulator: the emulator (libtenon_emulator.so) cannot be loaded");
}

TEST_F(DriverTest, TheVariableServesEveryDeviceName) {
  search.driverVariable = path;
  for (const char *device : {"", "cuda", "emulator"}) {
    auto driver = open(device);
    ASSERT_OK(driver.status());
    EXPECT_EQ((*driver)->path(), path);
  }
  search.driverVariable = absent;
  EXPECT_STATUS(open("").status(), Unavailable, "the driver that TENON_CUDA_DRIVER names cannot be loaded");
}

TEST_F(DriverTest, TheVariableCanNameTheEmulatorOrForbidIt) {
  search.emulatorVariable = path;
  search.driverVariable = "emulator";
  EXPECT_TRUE(open("cuda").ok());
  search.driverVariable = "cuda";
  EXPECT_STATUS(open("").status(), Unavailable, "the CUDA driver (libcuda.so.1) cannot be loaded");
}

} // namespace tenon::runtime::cuda
