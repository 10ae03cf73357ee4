// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/early_launch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class EarlyLaunch : public KernelTest {
protected:
  static mlir::LLVM::LLVMFuncOp kernelOf(mlir::ModuleOp module) {
    return *module.getOps<mlir::LLVM::LLVMFuncOp>().begin();
  }
};

TEST_F(EarlyLaunch, PlainWaitsAreThoseWithoutACondition) {
  auto module = lower(kernelText("f32", "arith.negf"));
  ASSERT_TRUE(module);
  auto waits = plainWaitsOf(*module);
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->size(), 1u);
  EXPECT_FALSE(waits->lookup("k"));

  launchNextEarly(kernelOf(*module), 0);
  waits = plainWaitsOf(*module);
  ASSERT_TRUE(waits);
  EXPECT_TRUE(waits->lookup("k"));
}

TEST_F(EarlyLaunch, AConditionIsNotPlain) {
  auto module = lower(kernelText("f32", "arith.negf"));
  ASSERT_TRUE(module);
  launchNextEarly(kernelOf(*module), 4096);
  EXPECT_FALSE(plainWaitsOf(*module));
}

constexpr char kPtx[] = ".visible .entry a(\n\t.param .u64 a_0\n)\n.reqntid 32, 1, 1\n{\n"
                        "\t.reg .b32 \t%r<2>;\n\t// demoted variable\n\t.shared .align 16 .b8 s[64];\n"
                        "\tld.param.b64 \t%rd1, [a_0];\n\tmov.u32 \t%r1, %tid.x;\n$L__BB0_1:\n\tret;\n\n}\n"
                        ".visible .entry ab(\n)\n{\n\n\n// %bb.0:\n\tret;\n\n}\n";

std::string assembly(const std::string &text) {
  return "\t// begin inline asm\n\t" + text + "\n\t// end inline asm\n";
}

TEST_F(EarlyLaunch, WritesBehindTheLoadsOfParameters) {
  PlainWaits waits;
  waits["a"] = true;
  const std::string text = writeWaits(kPtx, waits);
  EXPECT_NE(text.find("[a_0];\n" + assembly("griddepcontrol.wait;") + assembly("griddepcontrol.launch_dependents;") +
                      "\tmov.u32"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("// %bb.0:\n\tret;"), std::string::npos) << text; // another kernel's name
}

TEST_F(EarlyLaunch, WritesIntoEachKernel) {
  PlainWaits waits;
  waits["a"] = waits["ab"] = false;
  const std::string text = writeWaits(kPtx, waits);
  EXPECT_NE(text.find("[a_0];\n" + assembly("griddepcontrol.wait;") + "\tmov.u32"), std::string::npos) << text;
  EXPECT_NE(text.find("// %bb.0:\n" + assembly("griddepcontrol.wait;") + "\tret;"), std::string::npos) << text;
}

/// With lines of the source, what is behind the first `.loc` belongs to it.
TEST_F(EarlyLaunch, WritesInFrontOfLocations) {
  PlainWaits waits;
  waits["a"] = false;
  const std::string text =
      writeWaits(".entry a(\n)\n{\n\t.reg .b32 \t%r<2>;\n\t.loc\t1 2 3\n\tld.param.b64 x;\n}\n", waits);
  EXPECT_NE(text.find("%r<2>;\n" + assembly("griddepcontrol.wait;") + "\t.loc"), std::string::npos) << text;
}

} // namespace
} // namespace tenon::compiler::codegen
