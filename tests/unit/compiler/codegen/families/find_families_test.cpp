// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/find_families.h"

#include "compiler/codegen/written_kernels.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class FindFamiliesTest : public KernelTest {};

TEST_F(FindFamiliesTest, AModuleIsOneMemberForTargetsThatGetTheSame) {
  mlir::ModuleOp module = parse(kernelText("f32", "arith.negf"));
  const KernelsWriter writer{kernelVariantFor, [](mlir::ModuleOp kernels, const abi::TargetArch &target) {
                               return writeKernels(kernels, target, {});
                             }};
  auto found = findFamilies({module}, {abi::TargetArch{75}, abi::TargetArch{80}}, writer);
  ASSERT_TRUE(mlir::succeeded(found)) << messages_;
  ASSERT_EQ(found->families.size(), 1u);
  EXPECT_EQ(found->families[0]->family.size(), 1u);
  EXPECT_TRUE(found->families[0]->targets.all());
  ASSERT_EQ(found->places.size(), 2u);
  EXPECT_EQ(found->places[1].target, 1u);
  EXPECT_EQ(found->places[1].member, 0u);
}

} // namespace
} // namespace tenon::compiler::codegen
