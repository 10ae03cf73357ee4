// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/program_file.h"

#include "support/files/file.h"
#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;

TEST(ProgramFile, MapsAFile) {
  const std::string path = testing::TempDir() + "program_file_test.tenon";
  ASSERT_OK(writeFile(path, "hello"));
  auto file = ProgramFile::open(path);
  ASSERT_OK(file.status());
  EXPECT_EQ(std::string(file->bytes().begin(), file->bytes().end()), "hello");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->bytes().data()) % 64, 0u);
}

TEST(ProgramFile, ReadsAnEmptyFile) {
  const std::string path = testing::TempDir() + "program_file_test_empty.tenon";
  ASSERT_OK(writeFile(path, ""));
  auto file = ProgramFile::open(path);
  ASSERT_OK(file.status());
  EXPECT_TRUE(file->bytes().empty());
}

TEST(ProgramFile, NamesAMissingFile) {
  EXPECT_STATUS(ProgramFile::open("/no/such.tenon").status(), NotFound, "cannot read '/no/such.tenon'");
}

} // namespace tenon::runtime
