// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/input_values.h"

#include "runtime/tools/npy.h"
#include "support/files/file.h"
#include "tests/unit/runtime/call_fixture.h"

namespace tenon::runtime {

class InputValuesTest : public CallTest {
protected:
  Result<std::vector<Value>> readAndUpload(const std::vector<std::string> &specs) {
    const abi::fb::Function &function = load({addAndScale()}).function(0);
    TENON_ASSIGN_OR_RETURN(std::vector<OptionalValue> values, readInputs(specs, function));
    return uploadInputs(*device, values);
  }
};

TEST_F(InputValuesTest, AreReadAsDeclaredAndUploaded) {
  auto values = readAndUpload({"2xf32=1 2", "2xf32=3", "4"});
  ASSERT_OK(values.status());
  EXPECT_EQ(read((*values)[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(read((*values)[1]), (std::vector<float>{3, 3}));
  EXPECT_EQ(std::get<Scalar>((*values)[2]).bits, 0x40800000);
}

TEST_F(InputValuesTest, AreCountedFirst) {
  EXPECT_STATUS(readAndUpload({"@no-such-file.npy"}).status(), InvalidArgument,
                "1 input given, function 'f' takes 3 (tensor<?xf32>, tensor<?xf32>, f32)");
}

TEST_F(InputValuesTest, AStarIsAsManyAsItsFileHolds) {
  const std::string path = testing::TempDir() + "input_values_test.npy";
  const HostTensor two{ElementType::F32, {2}, std::vector<uint8_t>(8)};
  ASSERT_TRUE(writeFile(path, *writeNpy(two) + *writeNpy(two)).ok());
  auto values = readAndUpload({"*" + path, "4"});
  ASSERT_OK(values.status());
  EXPECT_EQ(values->size(), 3u);
}

TEST_F(InputValuesTest, HaveValues) {
  EXPECT_STATUS(readAndUpload({"2xf32", "(ignored)", "4"}).status(), InvalidArgument,
                "input 1 ('(ignored)'): an input has a value");
}

} // namespace tenon::runtime
