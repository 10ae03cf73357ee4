// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/files/near_files.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace tenon {
namespace {

class NearFiles : public ::testing::Test {
protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "tenon_near_files/";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    for (const char *name : {"kernels_sm_80.ptx", "kernels_sm_90.ptx", "notes.txt"})
      std::ofstream(folder_ + name) << "x";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(NearFiles, NamesFilesBesideTheOneThatIsMissing) {
  const std::vector<std::string> wanted = {folder_ + "kernel_sm_80.ptx"};
  EXPECT_EQ(nearFiles(wanted),
            (std::vector<std::string>{folder_ + "kernels_sm_80.ptx", folder_ + "kernels_sm_90.ptx"}));
}

TEST_F(NearFiles, LooksUnderTheRootAndAnswersWithoutIt) {
  const std::vector<std::string> wanted = {"note.txt"};
  EXPECT_EQ(nearFiles(wanted, folder_), std::vector<std::string>{"notes.txt"});
}

// It is there, and cannot be read: a folder, somebody else's.
TEST_F(NearFiles, DoesNotNameTheOneThatWasAskedFor) {
  std::filesystem::create_directory(folder_ + "sources");
  const std::vector<std::string> wanted = {folder_ + "sources"};
  EXPECT_TRUE(nearFiles(wanted).empty());
}

TEST_F(NearFiles, IsSilentWhereNothingIsNearOrNoFolderIs) {
  const std::vector<std::string> wanted = {folder_ + "something_else.cubin", folder_ + "none/kernels_sm_80.ptx"};
  EXPECT_TRUE(nearFiles(wanted).empty());
}

} // namespace
} // namespace tenon
