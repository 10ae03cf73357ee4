// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/npy.h"

#include "tests/unit/runtime/fixture.h"

namespace tenon::runtime {

using namespace tenon::test;
using abi::ElementType;

/// A file as NumPy would lay it out.
static std::string npy(const std::string &dictionary, const std::string &elements, char major = 1) {
  std::string out = "\x93NUMPY";
  out += major;
  out += '\0';
  const size_t size = dictionary.size() + 1;
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    out += static_cast<char>(size >> (8 * i) & 0xff);
  return out + dictionary + "\n" + elements;
}
static std::string header(const std::string &descr, const std::string &shape, const char *order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}
static Result<HostTensor> read(const std::string &file) {
  size_t offset = 0;
  return readNpy(file, offset);
}

TEST(Npy, ReadsEveryVersionAndShape) {
  for (char version : {1, 2, 3}) {
    auto tensor = read(npy(header("<i2", "(2, 2)"), std::string("\1\0\2\0\3\0\4\0", 8), version));
    ASSERT_OK(tensor.status());
    EXPECT_EQ(tensor->element, ElementType::I16);
    EXPECT_EQ(tensor->shape, (Shape{2, 2}));
    EXPECT_EQ(tensor->bytes, (std::vector<uint8_t>{1, 0, 2, 0, 3, 0, 4, 0}));
  }
  EXPECT_EQ(read(npy(header("<f4", "()"), "1234"))->shape, Shape{});
  EXPECT_EQ(read(npy(header("<f4", "(1,)"), "1234"))->shape, Shape{1});
  EXPECT_EQ(read(npy(header("<f4", "(0, 3)"), ""))->shape, (Shape{0, 3}));
}

TEST(Npy, MapsEveryType) {
  const std::pair<const char *, ElementType> types[] = {
      {"|b1", ElementType::I1},  {"?", ElementType::I1},    {"|i1", ElementType::I8},  {"|u1", ElementType::I8},
      {"<u2", ElementType::I16}, {"<i4", ElementType::I32}, {"<u8", ElementType::I64}, {"<f2", ElementType::F16},
      {"<f4", ElementType::F32}, {"=f8", ElementType::F64}};
  for (const auto &[descr, element] : types) {
    if (std::string_view(descr) == "?")
      continue; // NumPy writes |b1
    auto tensor = read(npy(header(descr, "(1,)"), std::string(abi::byteSize(element), '\0')));
    ASSERT_TRUE(tensor.ok()) << descr << ": " << tensor.status().message();
    EXPECT_EQ(tensor->element, element) << descr;
  }
}

TEST(Npy, ComplexNumbersArePairs) {
  auto single = read(npy(header("<c8", "(2,)", "True"), std::string(16, '\1')));
  ASSERT_OK(single.status());
  EXPECT_EQ(single->element, ElementType::F32);
  EXPECT_EQ(single->shape, (Shape{2, 2}));
  EXPECT_EQ(single->bytes, std::vector<uint8_t>(16, 1));
  auto twice = read(npy(header("<c16", "(3, 1)"), std::string(48, '\1')));
  ASSERT_OK(twice.status());
  EXPECT_EQ(twice->element, ElementType::F64);
  EXPECT_EQ(twice->shape, (Shape{3, 1, 2}));
  EXPECT_STATUS(read(npy(header("<c8", "(2,)"), "12345678")).status(), OutOfRange,
                "the .npy holds 8 bytes of elements, tensor<2x2xf32> has 16");
}

TEST(Npy, WritesWhatItReads) {
  for (const Shape &shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0}, Shape{2, 1, 4}}) {
    HostTensor tensor{ElementType::F32, shape, std::vector<uint8_t>(*denseBytes(shape, ElementType::F32), 7)};
    auto file = writeNpy(tensor);
    ASSERT_OK(file.status());
    EXPECT_EQ((file->size() - tensor.bytes.size()) % 64, 0u);
    auto back = read(*file);
    ASSERT_OK(back.status());
    EXPECT_EQ(back->shape, shape);
    EXPECT_EQ(back->bytes, tensor.bytes);
  }
  EXPECT_NE(writeNpy(HostTensor{ElementType::I8, {3}, {1, 2, 3}})->find("'shape': (3,), }"), std::string::npos);
  EXPECT_NE(writeNpy(HostTensor{ElementType::I8, {1, 3}, {1, 2, 3}})->find("'shape': (1, 3), }"), std::string::npos);
}

TEST(Npy, ReadsOneArrayAfterAnother) {
  const std::string file = npy(header("|i1", "(2,)"), "ab") + npy(header("|i1", "(1,)"), "c");
  size_t offset = 0;
  EXPECT_EQ(readNpy(file, offset)->bytes, (std::vector<uint8_t>{'a', 'b'}));
  EXPECT_EQ(readNpy(file, offset)->bytes, (std::vector<uint8_t>{'c'}));
  EXPECT_STATUS(readNpy(file, offset).status(), InvalidArgument, "the file has no further array");
}

TEST(Npy, RefusesWhatItCannotRead) {
  EXPECT_STATUS(read("hello, this is no array").status(), InvalidArgument, "no .npy array at byte 0 of 23");
  EXPECT_STATUS(read("").status(), InvalidArgument, "no .npy array");
  EXPECT_STATUS(read(npy(header("<f4", "(2, 2)", "True"), std::string(16, '\0'))).status(), Unimplemented,
                "the .npy is in Fortran order: not supported; save it with numpy.ascontiguousarray");
  EXPECT_TRUE(read(npy(header("<f4", "(4,)", "True"), std::string(16, '\0'))).ok());
  EXPECT_STATUS(read(npy(header(">f4", "(1,)"), "1234")).status(), Unimplemented, "big-endian elements ('>f4')");
  EXPECT_STATUS(read(npy(header("<m8", "(1,)"), "12345678")).status(), Unimplemented, "elements of type '<m8'");
  EXPECT_STATUS(read(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234")).status(),
                Unimplemented, "structured elements");
  EXPECT_STATUS(read(npy(header("<f4", "(2,)"), "1234")).status(), OutOfRange,
                "the .npy holds 4 bytes of elements, tensor<2xf32> has 8");
  EXPECT_STATUS(read(npy(header("<f4", "(1,)"), "1234", 4)).status(), Unimplemented, ".npy version 4.0");
  EXPECT_STATUS(read(npy("{'descr': '<f4', 'shape': (1,), }", "1234")).status(), InvalidArgument,
                "lacks 'fortran_order'");
  EXPECT_STATUS(read(npy("{'descr': '<f4', 'other': 3}", "1234")).status(), InvalidArgument, "unknown key 'other'");
  EXPECT_STATUS(read(npy("descr", "1234")).status(), InvalidArgument, "does not parse: 'descr");
  EXPECT_STATUS(read(npy(header("<f4", "(x,)"), "1234")).status(), InvalidArgument, "expected a tuple of sizes");
  EXPECT_STATUS(read(npy(header("<f4", "(-1,)"), "1234")).status(), InvalidArgument, "expected a tuple of sizes");
  EXPECT_STATUS(writeNpy(HostTensor{ElementType::BF16, {1}, {0, 0}}).status(), Unimplemented,
                "NumPy has no type for bf16");
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string file = npy(header("<f4", "(2, 2)"), std::string(16, '\1'));
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(read(file.substr(0, size)).ok()) << size;
}

} // namespace tenon::runtime
