// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/value_spec.h"

#include "runtime/tools/npy.h"
#include "runtime/tools/tensor_text.h"
#include "support/files/file.h"
#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;
using abi::ElementType;

class ValueSpecTest : public testing::Test {
protected:
  std::string path(const std::string &name) { return testing::TempDir() + "value_spec_test_" + name; }
  /// A file of three arrays: 1xi8 of 1, 2 and 3.
  std::string threeArrays() {
    std::string bytes;
    for (uint8_t i = 1; i <= 3; ++i)
      bytes += *writeNpy(HostTensor{ElementType::I8, {1}, {i}});
    EXPECT_TRUE(writeFile(path("three.npy"), bytes).ok());
    return path("three.npy");
  }
  /// The values as printed, separated by "; ", or the error.
  std::string readAll(const std::vector<std::string> &specs) {
    auto values = ValueReader().readAll(specs, {}, "input");
    if (!values.ok())
      return std::string(values.status().message());
    std::string out;
    for (const OptionalValue &value : *values)
      out += value ? formatTensor(std::get<HostTensor>(*value), 100) + "; " : "ignored; ";
    return out;
  }
};

TEST_F(ValueSpecTest, ReadsTextAndFiles) {
  const std::string file = threeArrays();
  EXPECT_EQ(readAll({"2xi8=1"}), "2xi8=1 1; ");
  EXPECT_EQ(readAll({"@" + file, "+" + file, "+" + file}), "1xi8=1; 1xi8=2; 1xi8=3; ");
  EXPECT_EQ(readAll({"@" + file, "@" + file}), "1xi8=1; 1xi8=1; ");
  EXPECT_EQ(readAll({"*" + file, "i8=9"}), "1xi8=1; 1xi8=2; 1xi8=3; i8=9; ");
  EXPECT_EQ(readAll({"(ignored)", "i8=9"}), "ignored; i8=9; ");
}

TEST_F(ValueSpecTest, ReadsRawElements) {
  ASSERT_TRUE(writeFile(path("raw.bin"), std::string("\1\2\3\4", 4)).ok());
  EXPECT_EQ(readAll({"4xi8=@" + path("raw.bin")}), "4xi8=1 2 3 4; ");
  EXPECT_EQ(readAll({"2xi32=@" + path("raw.bin")}),
            "input 0 ('2xi32=@" + path("raw.bin") + "'): '" + path("raw.bin") + "' has 4 bytes, 2xi32 has 8");
}

TEST_F(ValueSpecTest, ErrorsNameTheInput) {
  EXPECT_EQ(readAll({"i8=1", "i8=x"}), "input 1 ('i8=x'): element 0: 'x' is no i8");
  const std::string file = threeArrays();
  EXPECT_NE(readAll({"*" + file, "+" + file}).find("input 1 ('+" + file + "'): '" + file + "': no .npy array"),
            std::string::npos);
  EXPECT_NE(readAll({"@/no/such.npy"}).find("cannot read '/no/such.npy'"), std::string::npos);
}

TEST_F(ValueSpecTest, ScalarsAreReadAsDeclared) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(abi::fb::CreateValueType(builder, abi::fb::ValueKind::Scalar, abi::fb::ElementType::F32));
  const auto *type = flatbuffers::GetRoot<abi::fb::ValueType>(builder.GetBufferPointer());
  auto values = ValueReader().readAll({"2"}, {type}, "input");
  ASSERT_OK(values.status());
  EXPECT_EQ(std::get<Scalar>(*(*values)[0]).bits, 0x40000000);
}

TEST_F(ValueSpecTest, DescribesResults) {
  EXPECT_EQ(describeResult(0, HostTensor{ElementType::I8, {2}, {1, 2}}, 100), "result[0]: hal.buffer_view\n2xi8=1 2\n");
  EXPECT_EQ(describeResult(1, Scalar{ElementType::I32, 7}, 100), "result[1]: i32=7\n");
  EXPECT_EQ(describeResult(1, Scalar{ElementType::Index, 7}, 100), "result[1]: i64=7\n");
}

TEST_F(ValueSpecTest, WritesResults) {
  const HostTensor tensor{ElementType::I8, {2}, {1, 2}};
  std::string text;
  ASSERT_OK(writeResult("-", 0, tensor, 100, text));
  ASSERT_OK(writeResult("", 1, tensor, 100, text));
  EXPECT_EQ(text, "result[0]: hal.buffer_view\n2xi8=1 2\n");
  const std::string file = path("out.npy");
  ASSERT_OK(writeResult("@" + file, 0, tensor, 100, text));
  ASSERT_OK(writeResult("+" + file, 0, tensor, 100, text));
  EXPECT_EQ(readAll({"*" + file}), "2xi8=1 2; 2xi8=1 2; ");
  ASSERT_OK(writeResult("@" + path("out.bin"), 0, tensor, 100, text));
  EXPECT_EQ(*readFile(path("out.bin")), std::string("\1\2", 2));
}

TEST_F(ValueSpecTest, RefusesOutputsItCannotWrite) {
  std::string text;
  const HostTensor tensor{ElementType::BF16, {1}, {1, 2}};
  EXPECT_STATUS(writeResult("out.npy", 0, tensor, 1, text), InvalidArgument,
                "output 0 ('out.npy'): expected -, @FILE.npy, +FILE.npy or @FILE.bin");
  EXPECT_STATUS(writeResult("@x.npy", 0, tensor, 1, text), Unimplemented, "NumPy has no type for bf16");
  EXPECT_STATUS(writeResult("@x.npy", 2, Scalar{ElementType::I32, 1}, 1, text), InvalidArgument,
                "output 2 ('@x.npy'): the result is a scalar, it can only be printed");
  EXPECT_STATUS(writeResult("+/no/such/folder/x.bin", 0, tensor, 1, text), FailedPrecondition, "cannot write");
}

} // namespace tenon::runtime
