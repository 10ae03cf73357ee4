// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/same_code.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

constexpr abi::TargetArch kHopper{90, abi::ArchSuffix::A};

class SameCode : public KernelTest {
protected:
  abi::TargetArch oldest(const std::string &type, const std::string &operation, abi::TargetArch arch) {
    auto module = lower(kernelText(type, operation, /*elements=*/1));
    return module ? oldestWithSameCode(*module, arch) : abi::TargetArch{};
  }
};

TEST_F(SameCode, PlainArithmeticIsThatOfTheFirst) {
  EXPECT_EQ(oldest("f32", "arith.negf", {80}), (abi::TargetArch{75}));
  EXPECT_EQ(oldest("f32", "arith.negf", kHopper), (abi::TargetArch{75}));
  EXPECT_EQ(oldest("f32", "arith.negf", {100}), (abi::TargetArch{100}));
  EXPECT_EQ(oldest("f16", "arith.negf", {80}), (abi::TargetArch{80}));
}

TEST_F(SameCode, HalvesOfAnF64AreWrittenInTwoWays) {
  EXPECT_EQ(oldest("f64", "math.sin", {80}), (abi::TargetArch{75}));
  EXPECT_EQ(oldest("f64", "math.sin", {86}), (abi::TargetArch{86}));
  EXPECT_EQ(oldest("f64", "math.sin", kHopper), (abi::TargetArch{86}));
}

TEST_F(SameCode, WaitsAreWrittenWhereTheRestIsThatOfTargetsWithout) {
  auto module = lower(kernelText("f32", "arith.negf"));
  ASSERT_TRUE(module);
  EXPECT_FALSE(waitsToWrite(*module, {80}));
  EXPECT_TRUE(waitsToWrite(*module, kHopper));
  EXPECT_FALSE(waitsToWrite(*module, {100}));
  auto half = lower(kernelText("f16", "arith.negf", 8));
  ASSERT_TRUE(half);
  EXPECT_FALSE(waitsToWrite(*half, kHopper));
}

TEST_F(SameCode, RetargetsTheHead) {
  EXPECT_EQ(retargetPtx("//\n.version 6.3\n.target sm_75\n.address_size 64\n.target\n", kHopper),
            "//\n.version 8.0\n.target sm_90a\n.address_size 64\n.target\n");
}

} // namespace
} // namespace tenon::compiler::codegen
