// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/lowered_kernels.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

constexpr abi::TargetArch kHopper{90, abi::ArchSuffix::A};

class LoweredKernelsTest : public KernelTest {};

TEST_F(LoweredKernelsTest, TargetsOfOneVariantHaveOneModule) {
  LoweredKernels lowered(parse(kernelText("f32", "arith.negf")), {});
  auto first = lowered.find({75}), second = lowered.find(kHopper);
  ASSERT_TRUE(mlir::succeeded(first) && mlir::succeeded(second)) << messages_;
  EXPECT_EQ(first->getOperation(), second->getOperation());
  auto isSame = lowered.haveSameCode({75}, kHopper);
  ASSERT_TRUE(mlir::succeeded(isSame));
  EXPECT_TRUE(*isSame);
}

TEST_F(LoweredKernelsTest, OneModuleMayStillBeTwoCodes) {
  LoweredKernels lowered(parse(kernelText("f16", "arith.negf", 8)), {});
  auto isSame = lowered.haveSameCode({75}, {80});
  ASSERT_TRUE(mlir::succeeded(isSame)) << messages_;
  EXPECT_FALSE(*isSame);
}

} // namespace
} // namespace tenon::compiler::codegen
