// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/emit_ptx.h"

#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {
namespace {

class EmitPtx : public KernelTest {
protected:
  std::string ptxFor(abi::TargetArch arch) {
    auto ptx = emitPtx(*lowered_, arch, {});
    EXPECT_TRUE(mlir::succeeded(ptx)) << messages_;
    return mlir::succeeded(ptx) ? *ptx : std::string();
  }
  mlir::OwningOpRef<mlir::ModuleOp> lowered_;
};

TEST_F(EmitPtx, EveryKnownArchitecture) {
  lowered_ = lower(kernelText("f32", "arith.negf"));
  ASSERT_TRUE(lowered_);
  for (const abi::ArchInfo &info : abi::knownArchs()) {
    const std::string ptx = ptxFor(info.arch);
    EXPECT_NE(ptx.find("\n.target " + info.arch.toString() + "\n"), std::string::npos) << info.arch.toString();
    EXPECT_NE(ptx.find(".visible .entry k("), std::string::npos) << info.arch.toString();
    EXPECT_NE(ptx.find(".reqntid 256, 1, 1"), std::string::npos) << info.arch.toString();
  }
}

TEST_F(EmitPtx, TheOldestIsaThatWillDo) {
  EXPECT_EQ(generatedIsa({52}), 63);
  EXPECT_EQ(generatedIsa({75}), 63);
  EXPECT_EQ(generatedIsa({80}), 70);
  EXPECT_EQ(generatedIsa({90}), 78);
  EXPECT_EQ(generatedIsa({90, abi::ArchSuffix::A}), 80);
  EXPECT_EQ(generatedIsa({42}), 0);
  lowered_ = lower(kernelText("f32", "arith.negf"));
  EXPECT_NE(ptxFor({80}).find("\n.version 7.0\n"), std::string::npos);
}

TEST_F(EmitPtx, ATransposeOfAFragmentNeedsANewerIsa) {
  mlir::ModuleOp module =
      parse("llvm.func @k(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {\n"
            "%0 = llvm.inline_asm has_side_effects \"movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;\", \"=r,r\" "
            "%x : (i32) -> i32\nllvm.store %0, %p : i32, !llvm.ptr<1>\nllvm.return\n}");
  ASSERT_TRUE(module) << messages_;
  EXPECT_EQ(isaNeededBy(module, {75}), 78);
  auto versionFor = [&](abi::TargetArch arch) {
    auto ptx = emitPtx(module, arch, {});
    EXPECT_TRUE(mlir::succeeded(ptx)) << messages_;
    const size_t at = ptx->find(".version ");
    return ptx->substr(at, ptx->find('\n', at) - at);
  };
  EXPECT_EQ(versionFor({80}), ".version 7.8");
  EXPECT_EQ(versionFor({120}), ".version 8.7");
}

TEST_F(EmitPtx, AnUnknownTargetIsNamed) {
  lowered_ = lower(kernelText("f32", "arith.negf"));
  EXPECT_TRUE(mlir::failed(emitPtx(*lowered_, {42}, {})));
  EXPECT_NE(messages_.find("unknown target 'sm_42'; known targets: "), std::string::npos) << messages_;
}

TEST_F(EmitPtx, SameModuleSameBytes) {
  lowered_ = lower(kernelText("f16", "math.sqrt", 8));
  EXPECT_EQ(ptxFor({80}), ptxFor({80}));
  auto again = lower(kernelText("f16", "math.sqrt", 8));
  auto ptx = emitPtx(*again, {80}, {});
  ASSERT_TRUE(mlir::succeeded(ptx));
  EXPECT_EQ(*ptx, ptxFor({80}));
}

TEST_F(EmitPtx, AMissingLibdeviceNamesTheOperation) {
  lowered_ = lower(kernelText("f32", "math.exp"));
  EXPECT_TRUE(mlir::failed(emitPtx(*lowered_, {80}, {.cudaPath = ::testing::TempDir() + "no_such_toolkit"})));
  EXPECT_NE(messages_.find("'math.exp' calls '__nv_expf' of libdevice, and libdevice.10.bc was not found"),
            std::string::npos)
      << messages_;
}

} // namespace
} // namespace tenon::compiler::codegen
