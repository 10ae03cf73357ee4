// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which edition of a program a device runs: kernels 'plain' of one executable, 'own' of another that has code for
// sm_90a alone.
#include "runtime/program/program.h"

#include "tests/unit/runtime/fixture.h"
#include "tests/unit/runtime/program_builder.h"

namespace tenon::runtime {

using namespace tenon::test;

class ProgramEditionsTest : public FakeDeviceTest {
protected:
  static constexpr abi::TargetArch kHopper = {90, abi::ArchSuffix::A};

  /// f() launches the export of an executable.
  static FunctionSpec launching(uint32_t executable) {
    FunctionSpec function{.name = "f"};
    function.registers = {abi::fb::RegisterOp(abi::fb::RegisterOpcode::Const, 0, 0, 0, 1)};
    function.commands = {{.grid = {0, 0, 0}, .constants = {0}, .executable = executable}};
    return function;
  }
  AlignedBytes program(VariantSpec own) {
    const auto plain =
        buildExecutable("one", {makeExport("plain", 0, 1)}, {{.name = "sm_75", .arch = 75, .image = "75"}});
    const auto other = buildExecutable("two", {makeExport("own", 0, 1)}, {std::move(own)});
    return buildProgram({launching(0)}, {plain, other}, {}, 0, {.editions = {{kHopper, {launching(1)}}}});
  }
  /// Which kernel a call launches; or why it does not.
  std::string launched(const AlignedBytes &bytes, const ExecutableOptions &options = {}) {
    auto program = Program::load(open(), bytes.span(), "p", options);
    if (!program.ok())
      return std::string(program.status().message());
    fake.launches.clear();
    fake.parameters["plain"] = fake.parameters["own"] = {{0, 4}};
    fake.kernels["plain"] = fake.kernels["own"] = [](const FakeLaunch &) {};
    explained = (*program)->explain();
    if (Status called = (*program)->call(0, {}).takeStatus(); !called.ok())
      return std::string(called.message());
    return fake.launches.size() == 1 ? fake.launches[0].kernel : "not one launch";
  }

  std::string explained;
};

TEST_F(ProgramEditionsTest, AreForTheirTargets) {
  const AlignedBytes bytes = program({.name = "sm_80", .arch = 80, .image = "80"});
  EXPECT_EQ(launched(bytes), "plain") << "the fake is sm_80, where code for sm_90a does not run";
  EXPECT_TRUE(explained.starts_with("edition for other devices, one of 2\n")) << explained;
  EXPECT_EQ(explained.find("'two'"), std::string::npos) << explained;
  fake.major = 9;
  EXPECT_EQ(launched(bytes), "own");
  EXPECT_TRUE(explained.starts_with("edition for sm_90a, one of 2\n")) << explained;
  EXPECT_EQ(explained.find("'one'"), std::string::npos) << explained;
}

TEST_F(ProgramEditionsTest, NeedAnImageOfEveryKernel) {
  fake.major = 9;
  EXPECT_EQ(launched(program({.name = "new", .arch = 100, .image = "100"})), "plain");
  EXPECT_EQ(launched(program({.name = "late", .arch = 80, .image = "80", .isa = 99})), "plain")
      << "PTX that the driver is too old for";
  EXPECT_EQ(launched(program({.name = "c", .arch = 90, .image = "c", .kind = abi::fb::ImageKind::Cubin}),
                     {.images = ImagePolicy::Ptx}),
            "plain");
}

TEST_F(ProgramEditionsTest, AreLeftWhereTheDriverRefusesTheirKernels) {
  fake.major = 9;
  fake.refusedImages["for 90"] = CUDA_ERROR_NO_BINARY_FOR_GPU;
  const AlignedBytes bytes =
      program({.name = "sm_90", .arch = 90, .image = "for 90", .kind = abi::fb::ImageKind::Cubin});
  EXPECT_EQ(launched(bytes), "plain");
  fake.refusedImages.clear();
  EXPECT_EQ(launched(bytes), "own");
}

TEST_F(ProgramEditionsTest, ThatHaveANamedVariantComeFirst) {
  fake.major = 9;
  const AlignedBytes bytes = program({.name = "sm_80", .arch = 80, .image = "80"});
  EXPECT_EQ(launched(bytes, {.variant = "sm_75"}), "plain");
  EXPECT_EQ(launched(bytes, {.variant = "sm_80"}), "own");
}

TEST_F(ProgramEditionsTest, SayWhyNoneRuns) {
  fake.major = 9;
  fake.refusedImages["for 90"] = CUDA_ERROR_NO_BINARY_FOR_GPU;
  fake.refusedImages["75"] = CUDA_ERROR_INVALID_PTX;
  const std::string text = launched(program({.name = "x", .arch = 90, .image = "for 90"}));
  EXPECT_NE(text.find("no image of export"), std::string::npos) << text;
}

} // namespace tenon::runtime
