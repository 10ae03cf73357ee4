// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/target_queries.h"

#include "tests/unit/compiler/codegen/ptx/rewrites/rewritten.h"

#include "compiler/codegen/kernel/kernel_builder.h"

namespace tenon::compiler::codegen {
namespace {

/// A function that asks twice, as it is for a target.
std::string answered(abi::TargetArch arch) {
  const std::string name = kHasClusters.str();
  return rewritten("declare i1 @" + name + "()\ndefine i1 @f() {\n%a = call i1 @" + name + "()\n%b = call i1 @" + name +
                       "()\n%c = and i1 %a, %b\nret i1 %c\n}\n",
                   Printed::Module, [&](llvm::Module &module) { answerTargetQueries(module, arch); });
}

TEST(TargetQueriesTest, ClustersAreThereFromSm90OnWhereMemoryIs) {
  for (uint16_t number : {90, 100})
    EXPECT_NE(answered({number}).find("and i1 true, true"), std::string::npos) << number;
  for (uint16_t number : {75, 80, 89, 120, 121})
    EXPECT_NE(answered({number}).find("and i1 false, false"), std::string::npos) << number;
}

TEST(TargetQueriesTest, NobodyAsksAnyMore) {
  EXPECT_EQ(answered({90}).find(kHasClusters.str()), std::string::npos);
}

} // namespace
} // namespace tenon::compiler::codegen
