// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/check_kernel/case.h"

#include "tests/unit/runtime/fixture.h"

#include <cstring>

namespace tenon::runtime {

using namespace tenon::test;

static abi::Export saxpy() {
  abi::Export out;
  out.name = "saxpy";
  out.layout.bindings = {{.readOnly = true, .name = "x"}, {.name = "y"}};
  out.layout.constants = {abi::Constant::scalar(abi::ElementType::F32), abi::Constant::scalar(abi::ElementType::I32)};
  out.layout.constants[1].name = "n";
  out.launch.workgroupSize = {64, 1, 1};
  return out;
}

static Workload lines(std::initializer_list<std::pair<const char *, const char *>> lines) {
  Workload out;
  for (auto [key, text] : lines)
    EXPECT_TRUE((out.add(key, text)).ok());
  return out;
}

TEST(Workload, MakesACaseForEveryCombinationOfSizes) {
  auto cases = makeCases(lines({{"size", "n = 1, 65"},
                                {"size", "m=2,3"},
                                {"binding", "nxmxf32=0.5"},
                                {"binding", "nx(m*2)xi8"},
                                {"constant", "2.5"},
                                {"constant", "n - 1"},
                                {"grid", "ceildiv(n, 64), m"}}),
                         saxpy(), 1);
  ASSERT_OK(cases.status());
  ASSERT_EQ(cases->size(), 4u);
  const Case &last = cases->back();
  EXPECT_EQ(last.text(), "m=3, n=65");
  EXPECT_EQ(last.grid, (std::array<uint32_t, 3>{2, 3, 1}));
  EXPECT_EQ(last.bindings[0].role, BindingRole::Input);
  EXPECT_EQ(last.bindings[0].value.shape, (Shape{65, 3}));
  EXPECT_EQ(last.bindings[1].role, BindingRole::Output);
  EXPECT_EQ(last.bindings[1].value.bytes.size(), 65u * 6);
  float first = 0;
  std::memcpy(&first, last.bindings[0].value.bytes.data(), 4);
  EXPECT_EQ(first, 0.5f);
  ASSERT_EQ(last.constants.size(), 2u);
  EXPECT_EQ(last.constants[0], 0x40200000u);
  EXPECT_EQ(last.constants[1], 64u);
}

TEST(Workload, FillsInSizesGridAndNamedConstants) {
  abi::Export declared = saxpy();
  declared.layout.constants.erase(declared.layout.constants.begin());
  auto cases = makeCases(lines({{"binding", "nxf32"}, {"binding", "inout nxf32"}}), declared, 1);
  ASSERT_OK(cases.status());
  std::string sizes;
  for (const Case &one : *cases) {
    sizes += concat(one.text(), " ");
    EXPECT_EQ(one.constants[0], uint64_t(one.sizes.at("n")));
    EXPECT_EQ(one.grid[0], (one.sizes.at("n") + 63) / 64);
    EXPECT_EQ(one.bindings[1].role, BindingRole::InOut);
  }
  EXPECT_EQ(sizes, "n=1 n=7 n=63 n=64 n=65 n=199 ");
}

TEST(Workload, HasTheSameRandomContentsForTheSameSeed) {
  const Workload workload = lines(
      {{"size", "n=100"}, {"binding", "nxf32"}, {"binding", "inout nxi32=0..n"}, {"constant", "1"}, {"constant", "n"}});
  auto contents = [&](uint64_t seed) { return makeCases(workload, saxpy(), seed)->front().bindings; };
  EXPECT_EQ(contents(1)[0].value.bytes, contents(1)[0].value.bytes);
  EXPECT_NE(contents(1)[0].value.bytes, contents(2)[0].value.bytes);
  for (size_t i = 0; i < 100; ++i) {
    float real = 0;
    int32_t index = 0;
    std::memcpy(&real, &contents(1)[0].value.bytes[4 * i], 4);
    std::memcpy(&index, &contents(1)[1].value.bytes[4 * i], 4);
    EXPECT_TRUE(real >= -1 && real <= 1) << real;
    EXPECT_TRUE(index >= 0 && index < 100) << index;
  }
}

TEST(Workload, PacksStructsAndExtentsOfTensorMaps) {
  abi::Export declared = saxpy();
  declared.layout.bindings[0].alignment = 16;
  abi::Constant map = {abi::ConstantKind::TensorMap, abi::ElementType::F32, 128, 64, "", abi::TensorMap()};
  map.map->box = {4, 8};
  declared.layout.constants = {map,
                               {abi::ConstantKind::Struct, abi::ElementType::I32, 16, 8, "", {}},
                               {abi::ConstantKind::Struct, abi::ElementType::I32, 3, 1, "", {}}};
  auto cases = makeCases(lines({{"size", "n=8"},
                                {"binding", "5xnxf32"},
                                {"binding", "nxf32"},
                                {"constant", "(i64=n, f32=2)"},
                                {"constant", "bytes:0102ff"}}),
                         declared, 1);
  ASSERT_OK(cases.status());
  EXPECT_EQ(cases->front().constants, (std::vector<uint64_t>{5, 8, 8, 0x40000000, 0xff0201}));
}

TEST(Workload, SaysWhatIsWrong) {
  auto error = [](std::initializer_list<std::pair<const char *, const char *>> given) {
    return std::string(makeCases(lines(given), saxpy(), 1).status().message());
  };
  EXPECT_NE(error({{"binding", "nxf32"}}).find("1 bindings given; export 'saxpy' takes 2 bindings"), std::string::npos);
  EXPECT_NE(error({{"binding", "nxf32"}, {"binding", "nxf32"}, {"constant", "1"}}).find("1 constants given"),
            std::string::npos);
  EXPECT_EQ(error({{"binding", "inout nxf32"}, {"binding", "nxf32"}, {"constant", "1"}, {"constant", "n"}}),
            "binding 0 ('inout nxf32'): the layout declares it read-only: it is neither inout nor partial");
  EXPECT_EQ(error({{"binding", "nxf32"}, {"binding", "nxf32"}, {"constant", "i32=1"}, {"constant", "n"}}),
            "constant 0 ('i32=1'): it is i32, the layout declares f32");
  EXPECT_EQ(error({{"binding", "nxf32"}, {"binding", "nxf32"}, {"constant", "1"}, {"constant", "n"}, {"grid", "0"}}),
            "grid: the workgroup count is 0 along x, possible are 1 to 2147483647");
  EXPECT_EQ(error({{"size", "x=1"}, {"binding", "nxf32"}, {"binding", "nxf32"}}),
            "size 'x': a name has letters other than x");
  EXPECT_EQ(error({{"size", "n=1,,3"}, {"binding", "nxf32"}, {"binding", "nxf32"}}),
            "size 'n': '': a number or a name is missing at its end");
}

TEST(Workload, ReadsFiles) {
  auto workloads = parseWorkloads("# two\n[a]\nbinding = nxf32\n\n[b]\nsize = n = 1\ngrid = n\n", "w");
  ASSERT_OK(workloads.status());
  ASSERT_EQ(workloads->size(), 2u);
  EXPECT_EQ((*workloads)[0].exportName, "a");
  EXPECT_EQ((*workloads)[1].sizes[0], "n = 1");
  EXPECT_STATUS(parseWorkloads("[a]\ngrind = 1\n", "w").status(), InvalidArgument, "w:2: unknown key 'grind'");
  EXPECT_STATUS(parseWorkloads("grid = 1\n", "w").status(), InvalidArgument, "w:1: expected [EXPORT]");
  EXPECT_STATUS(parseWorkloads("[a]\ngrid = 1\ngrid = 2\n", "w").status(), InvalidArgument, "w:3: a second 'grid'");
}

} // namespace tenon::runtime
