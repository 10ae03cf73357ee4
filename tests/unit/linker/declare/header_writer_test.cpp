// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "linker/declare/header_writer.h"

#include "tests/unit/linker/link_testing.h"

namespace tenon::linker {
namespace {

using namespace testing;

std::string header(abi::Export declared, std::vector<std::string> signature = {}) {
  LinkJob job{.name = "kernels"};
  job.exports.push_back(std::move(declared));
  return writeHeader(job, {std::move(signature)}, "kernels.json");
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(HeaderWriter, WritesPrototypesOfKnownTypes) {
  abi::Export declared = makeExport("saxpy", 2, {abi::Constant::scalar(abi::ElementType::F32), abi::Constant::word()});
  declared.layout.bindings[0] = {.readOnly = true, .alignment = 16, .name = "x"};
  declared.layout.constants[1].name = "n";
  std::string text = header(declared, {"const float *", "float *", "float", "int"});
  EXPECT_HAS(text, "written by tenon-link --header from kernels.json");
  EXPECT_HAS(text, "// declared at job.json:7:3\n");
  EXPECT_HAS(text,
             "extern \"C\" __global__ void __launch_bounds__(64) saxpy(const float *x, float *, float, int n);\n");
  EXPECT_HAS(text, "#define TENON_DECLARED_saxpy TENON_WORKGROUP(64, 1, 1), TENON_READ(const float *, x).aligned(16), "
                   "TENON_WRITE(float *), TENON_CONSTANT(float), TENON_CONSTANT(int, n)\n");
  EXPECT_HAS(text, "#define TENON_DECLARED_TYPE_saxpy void(const float *, float *, float, int)\n");
}

TEST(HeaderWriter, ListsParametersInTheirOrder) {
  using Kind = abi::ParameterKind;
  abi::Constant block;
  block.kind = abi::ConstantKind::Struct;
  block.size = 24;
  block.alignment = 8;
  abi::Export declared = makeExport("k", 4, {abi::Constant::scalar(abi::ElementType::F32), block, block});
  declared.layout.bindings[2] = {.readOnly = true, .alignment = 16, .name = "x"};
  declared.layout.hiddenPointers = 1;
  abi::DeclaredParameter filled = abi::DeclaredParameter::constant(1);
  filled.members = {{Kind::Binding, 3, 8}};
  declared.layout.parameters = {
      abi::DeclaredParameter::constant(0),
      abi::DeclaredParameter::binding(1),
      abi::DeclaredParameter::hidden(),
      abi::DeclaredParameter::structOf(48, 8, {{Kind::Binding, 2, 0}, {Kind::Constant, 2, 8}, {Kind::Binding, 0, 32}}),
      filled,
      abi::DeclaredParameter::structOf(4, 4)};
  std::string text = header(declared);
  EXPECT_HAS(text, "TENON_CONSTANT(float), TENON_WRITE(tenon::Any *), TENON_HIDDEN(void *), "
                   "TENON_STRUCT(TenonType_k_0).read(TENON_AT(const tenon::Any *, 0).aligned(16))"
                   ".constant(TENON_AT(TenonType_k_1, 8)).write(TENON_AT(tenon::Any *, 32)), "
                   "TENON_CONSTANT(TenonType_k_2).write(TENON_AT(tenon::Any *, 8)), TENON_UNUSED(TenonType_k_3), "
                   "TENON_HIDDEN(void *)\n");
  EXPECT_HAS(text, "using TenonType_k_0 = tenon::Bytes<48, 8>;\nusing TenonType_k_1 = tenon::Bytes<24, 8>;\n");
  EXPECT_HAS(header(declared, {"float", "float *", "void *", "Params", "Block", "int", "void *"}),
             "k(float, float *, void *, Params, Block, int, void *);\n");
  declared.layout.parameters[1].index = 9;
  EXPECT_HAS(header(declared), "// it is not checked here, no kernel has this layout: [K-3] parameter 1 is binding 9, "
                               "the layout has 4 bindings, numbered from 0\n");
}

TEST(HeaderWriter, ChecksLayoutsWithoutTypes) {
  abi::Constant bytes;
  bytes.kind = abi::ConstantKind::Struct;
  bytes.size = 12;
  abi::Export declared =
      makeExport("k", 2,
                 {abi::Constant::word(), abi::Constant::scalar(abi::ElementType::I64),
                  abi::Constant::scalar(abi::ElementType::F16), abi::Constant::scalar(abi::ElementType::I1), bytes});
  declared.layout.bindings[0].readOnly = true;
  declared.layout.hiddenPointers = 1;
  std::string text = header(declared);
  EXPECT_EQ(text.find("__global__ void __launch_bounds__"), std::string::npos) << text;
  EXPECT_HAS(text, "using TenonType_k_0 = tenon::Bytes<12, 4>;\n");
  EXPECT_HAS(text, "TENON_READ(const tenon::Any *), TENON_WRITE(tenon::Any *), TENON_CONSTANT(tenon::Word), "
                   "TENON_CONSTANT(tenon::Integer<8>), TENON_CONSTANT(__half), TENON_CONSTANT(bool), "
                   "TENON_CONSTANT(TenonType_k_0), TENON_HIDDEN(void *)\n");
  EXPECT_HAS(text, "#include <cuda_fp16.h>\n");
}

TEST(HeaderWriter, WritesTheLaunch) {
  abi::Export declared = makeExport("k", 0);
  declared.launch = {.workgroupSize = {8, 4, 2},
                     .subgroupSize = 32,
                     .dynamicSharedBytes = 64,
                     .cluster = {2, 1, 1},
                     .cooperative = true,
                     .programmaticDependentLaunch = true};
  EXPECT_HAS(header(declared), "#define TENON_DECLARED_k TENON_WORKGROUP(8, 4, 2), TENON_CLUSTER(2, 1, 1), "
                               "TENON_DYNAMIC_SHARED(64), TENON_SUBGROUP(32), TENON_COOPERATIVE, "
                               "TENON_PROGRAMMATIC_LAUNCH\n");
}

TEST(HeaderWriter, NamesCxxKernelsByTheirName) {
  abi::Export declared = makeExport("exported", 1);
  declared.symbol = "_ZN2ns1kEPf";
  std::string text = header(declared, {"float *"});
  EXPECT_HAS(text,
             "#define TENON_DECLARED_k TENON_WORKGROUP(64, 1, 1), TENON_NAME(\"exported\"), TENON_WRITE(float *)\n");
  EXPECT_EQ(text.find("extern \"C\" __global__ void __launch_bounds__"), std::string::npos) << text;
}

TEST(HeaderWriter, KeepsNamesOnTheirLine) {
  abi::Export declared = makeExport("a\n#error \"b\"", 0);
  declared.symbol = "k";
  std::string text = header(declared);
  EXPECT_HAS(text, "// 'a?#error \"b\"': ");
  EXPECT_HAS(text, "TENON_NAME(\"a\\u000a#error \\\"b\\\"\")");
}

TEST(HeaderWriter, LeavesOutNamesThatNoDefinitionHas) {
  EXPECT_HAS(header(makeExport("a.b", 1)), "// 'a.b' is no name that a definition can have: it is not checked here\n");
}

} // namespace
} // namespace tenon::linker
