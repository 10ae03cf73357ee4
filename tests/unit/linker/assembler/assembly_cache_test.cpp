// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The assembler is a shell script that writes down each of its runs.
#include "linker/assembler/assembly_cache.h"

#include "support/files/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace tenon::linker {
namespace {

namespace fs = std::filesystem;

class AssemblyCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = concat(::testing::TempDir(), "tenon_assembly_cache_",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    writePtxas(0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void writePtxas(int status) {
    ASSERT_TRUE(writeFile(ptxas(), concat("#!/bin/sh\necho run >> '", folder_, "/runs'\n",
                                          "echo \"ptxas info    : Compiling entry function 'k' for 'sm_80'\"\n"
                                          "echo 'ptxas info    : Used 33 registers'\n"
                                          "cat \"$3\" > \"$5\"; exit ",
                                          status, "\n"))
                    .ok());
    ASSERT_EQ(chmod(ptxas().c_str(), 0700), 0);
  }
  std::string ptxas() const { return folder_ + "/ptxas"; }
  size_t runs() const {
    Result<std::string> text = readFile(folder_ + "/runs");
    return text.ok() ? text->size() / 4 : 0;
  }
  void expectAssembled(const AssemblyCache &cache, uint16_t target, std::string_view text) {
    Result<Assembly> assembly = cache.assemble(abi::TargetArch{target}, text);
    ASSERT_TRUE(assembly.ok()) << assembly.status().message();
    EXPECT_EQ(assembly->outcome, Assembly::Outcome::Assembled);
    EXPECT_EQ(assembly->cubin, text);
    ASSERT_EQ(assembly->kernels.size(), 1u);
    EXPECT_EQ(assembly->kernels[0].registers, 33u);
  }
  std::string folder_;
};

TEST_F(AssemblyCacheTest, AssemblesTheSameOnce) {
  for (int process = 0; process < 3; ++process)
    expectAssembled(AssemblyCache(folder_ + "/cache", ptxas()), 80, "text");
  EXPECT_EQ(runs(), 1u);
  const AssemblyCache cache(folder_ + "/cache", ptxas());
  expectAssembled(cache, 90, "text");
  expectAssembled(cache, 80, "other");
  EXPECT_EQ(runs(), 3u);
}

TEST_F(AssemblyCacheTest, KnowsAnotherAssembler) {
  expectAssembled(AssemblyCache(folder_ + "/cache", ptxas()), 80, "text");
  fs::last_write_time(ptxas(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  expectAssembled(AssemblyCache(folder_ + "/cache", ptxas()), 80, "text");
  EXPECT_EQ(runs(), 2u);
}

TEST_F(AssemblyCacheTest, KeepsNothingWithoutAFolder) {
  for (int i = 0; i < 2; ++i)
    expectAssembled(AssemblyCache("", ptxas()), 80, "text");
  EXPECT_EQ(runs(), 2u);
  // Nor where the folder cannot be made.
  for (int i = 0; i < 2; ++i)
    expectAssembled(AssemblyCache(ptxas() + "/no", ptxas()), 80, "text");
  EXPECT_EQ(runs(), 4u);
}

TEST_F(AssemblyCacheTest, KeepsNoFailure) {
  writePtxas(1);
  const AssemblyCache cache(folder_ + "/cache", ptxas());
  for (int i = 0; i < 2; ++i) {
    Result<Assembly> assembly = cache.assemble(abi::TargetArch{80}, "text");
    ASSERT_TRUE(assembly.ok());
    EXPECT_EQ(assembly->outcome, Assembly::Outcome::Refused);
  }
  EXPECT_EQ(runs(), 2u);
}

TEST_F(AssemblyCacheTest, TakesAFileOfAnotherFormForNone) {
  const AssemblyCache cache(folder_ + "/cache", ptxas());
  expectAssembled(cache, 80, "text");
  const std::string name = fs::directory_iterator(folder_ + "/cache/cubins")->path().filename();
  size_t wanted = 1;
  for (std::string_view body : {"", "5", "x\n", "99\nshort", "18446744073709551615\nl"}) {
    ASSERT_TRUE(FolderCache(folder_ + "/cache/cubins", "tenon-cubin 1 ", 1 << 20).store(name, body).ok());
    expectAssembled(cache, 80, "text");
    EXPECT_EQ(runs(), ++wanted) << body;
  }
}

} // namespace
} // namespace tenon::linker
