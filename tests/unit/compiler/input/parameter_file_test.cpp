// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/input/parameter_file.h"

#include "support/files/file.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

namespace tenon::compiler::input {
namespace {

class ParameterFileTest : public ::testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(path_); }

  Result<ParameterFile> open(std::string_view head, std::string_view data) {
    const uint64_t length = head.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    EXPECT_TRUE(writeFile(path_, concat(bytes, head, data)).ok());
    return ParameterFile::open(path_);
  }
  std::string refusal(std::string_view head, std::string_view data) {
    Result<ParameterFile> file = open(head, data);
    return file.ok() ? "" : std::string(file.status().message());
  }
  const std::string path_ = concat(::testing::TempDir(), "tenon_parameter_file_",
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ParameterFileTest, FindsTensors) {
  Result<ParameterFile> file = open(R"({"__metadata__": {"a": "b"}, "x\"y": {"dtype": "I8", "shape": [2, 1],
                                       "data_offsets": [1, 3]}, "z": {"dtype": "F32", "shape": [], "data_offsets": [3, 3]}})",
                                    "abcdefg");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const Parameter *found = file->find("x\"y");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->dtype, "I8");
  EXPECT_EQ(found->shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(found->bytes, "bc");
  EXPECT_EQ(file->find("__metadata__"), nullptr);
  EXPECT_EQ(file->keys(), (std::vector<std::string>{"x\"y", "z"}));
}

TEST_F(ParameterFileTest, RefusesWhatDoesNotHold) {
  for (auto [head, wanted] : std::initializer_list<std::pair<const char *, const char *>>{
           {R"({"x": {"dtype": "I8", "shape": [2], "data_offsets": [1, 9]}})", "'x' do not lie in the file"},
           {R"({"x": {"dtype": "I8", "shape": [2], "data_offsets": [3, 1]}})", "'x' do not lie in the file"},
           {R"({"x": {"dtype": "I8", "shape": [2], "data_offsets": [1]}})", "'x' do not lie in the file"},
           {R"({"x": {"dtype": "I8", "shape": [2]}})", "'x' do not lie in the file"},
           {R"({"x": {"dtype": "I8", "shape": [-2], "data_offsets": [1, 2]}})", "byte"},
           {R"({"x": {"dtyp": "I8", "shape": [2], "data_offsets": [1, 2]}})", "unknown field 'dtyp'"},
           {R"({"x": {"dtype": "I8", "shape": [1], "data_offsets": [1, 2]},
                "x": {"dtype": "I8", "shape": [1], "data_offsets": [1, 2]}})",
            "'x' is there twice"},
           {"[]", "byte"},
           {"{", "byte"}})
    EXPECT_NE(refusal(head, "abcdefg").find(wanted), std::string::npos) << head << refusal(head, "abcdefg");
  ASSERT_TRUE(writeFile(path_, "1234567").ok());
  EXPECT_NE(ParameterFile::open(path_).status().message().find("it has 7 bytes"), std::string::npos);
  ASSERT_TRUE(writeFile(path_, "\xff\xff\xff\xff\xff\xff\xff\xff{}").ok());
  EXPECT_NE(ParameterFile::open(path_).status().message().find("18446744073709551615 bytes, the file has 10"),
            std::string::npos);
}

} // namespace
} // namespace tenon::compiler::input
