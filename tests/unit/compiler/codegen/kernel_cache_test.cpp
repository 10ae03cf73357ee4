// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel_cache.h"

#include "support/files/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>

namespace tenon::compiler::codegen {
namespace {

namespace fs = std::filesystem;

class KernelCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ =
        ::testing::TempDir() + "tenon_kernel_cache_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    // A toolkit of the test's own.
    fs::create_directories(folder_ + "/cuda/nvvm/libdevice");
    ASSERT_TRUE(writeFile(folder_ + "/cuda/nvvm/libdevice/libdevice.10.bc", "bitcode").ok());
  }
  void TearDown() override { fs::remove_all(folder_); }
  KernelCache open(llvm::StringRef options = "pass{a=1}") { return KernelCache(folder_, options, folder_ + "/cuda"); }
  std::string folder_;
};

TEST_F(KernelCacheTest, FindsInAnotherProcessWhatWasStored) {
  KernelCache cache = open();
  const std::string key = cache.keyOf("module", abi::TargetArch{80});
  EXPECT_FALSE(cache.find(key));
  cache.store(key, "ptx");
  cache.finish();
  EXPECT_EQ(open().keyOf("module", abi::TargetArch{80}), key);
  EXPECT_EQ(open().find(key), "ptx");
}

TEST_F(KernelCacheTest, KeysDifferInWhatDecides) {
  std::set<std::string> keys;
  keys.insert(open().keyOf("module", abi::TargetArch{80}));
  keys.insert(open().keyOf("modul", abi::TargetArch{80}));
  keys.insert(open().keyOf("module", abi::TargetArch{90}));
  keys.insert(open().keyOf("module", *abi::parseTargetArch("sm_90a")));
  keys.insert(open("pass{a=2}").keyOf("module", abi::TargetArch{80}));
  ASSERT_TRUE(writeFile(folder_ + "/cuda/nvvm/libdevice/libdevice.10.bc", "other bitcode").ok());
  keys.insert(open().keyOf("module", abi::TargetArch{80}));
  fs::remove_all(folder_ + "/cuda");
  keys.insert(open().keyOf("module", abi::TargetArch{80}));
  EXPECT_EQ(keys.size(), 7u);
}

TEST_F(KernelCacheTest, DoesWithoutAFolder) {
  KernelCache none("", "", "");
  EXPECT_FALSE(none.isEnabled());
  none.store("key", "ptx");
  none.finish();
  EXPECT_FALSE(none.find("key"));
  ASSERT_TRUE(writeFile(folder_ + "/file", "").ok());
  KernelCache blocked(folder_ + "/file", "", "");
  blocked.store("key", "ptx");
  blocked.finish();
  EXPECT_FALSE(blocked.find("key"));
}

} // namespace
} // namespace tenon::compiler::codegen
