// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/families/numbered_kernels.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class NumberedKernelsTest : public KernelTest {};

TEST_F(NumberedKernelsTest, HaveTheirNamesBackInTheEnd) {
  mlir::ModuleOp module = parse("func.func private @first()\nfunc.func private @\"no identifier\"()\n");
  {
    NumberedKernels kernels(module);
    EXPECT_EQ(kernels.names(), (std::vector<std::string>{"first"}));
    EXPECT_TRUE(module.lookupSymbol("__tenon_kernel_0__"));
    EXPECT_EQ(withNames("call __tenon_kernel_0__;", kernels.names()), "call first;");
  }
  EXPECT_TRUE(module.lookupSymbol("first"));
  EXPECT_TRUE(module.lookupSymbol("no identifier"));
}

} // namespace
} // namespace tenon::compiler::codegen
