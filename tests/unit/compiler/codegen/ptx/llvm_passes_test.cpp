// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/llvm_passes.h"

#include "tests/unit/compiler/codegen/kernels.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace tenon::compiler::codegen {
namespace {

// What one side of a branch has loaded and the other has stored, behind both.
constexpr const char *kPartlyLoaded = R"(
  target triple = "nvptx64-nvidia-cuda"
  define void @f(ptr addrspace(1) noalias %p, ptr addrspace(1) noalias %q, i1 %c) {
    br i1 %c, label %one, label %other
  one:
    %a = load float, ptr addrspace(1) %p
    store volatile float %a, ptr addrspace(1) %q
    br label %both
  other:
    store volatile float 1.0, ptr addrspace(1) %q
    store float 2.0, ptr addrspace(1) %p
    br label %both
  both:
    %b = load float, ptr addrspace(1) %p
    store volatile float %b, ptr addrspace(1) %q
    ret void
  })";

class LlvmPassesTest : public KernelTest {
protected:
  LlvmPassesTest() {
    mlir::OwningOpRef<mlir::ModuleOp> module = lower(kernelText("f32", "arith.negf"));
    EXPECT_TRUE(mlir::succeeded(emitPtx(*module, {80}, {}))) << "which makes the back end known";
    std::string error;
    const llvm::Triple triple("nvptx64-nvidia-cuda");
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
    EXPECT_NE(target, nullptr) << error;
    machine_.reset(target->createTargetMachine(triple, "sm_80", "+ptx70", {}, std::nullopt));
  }

  std::unique_ptr<llvm::Module> read(const std::string &text) {
    llvm::SMDiagnostic error;
    std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, llvmContext_);
    EXPECT_TRUE(module) << error.getMessage().str() << text;
    return module;
  }

  std::string optimized(bool withSearches) {
    std::unique_ptr<llvm::Module> module = read(kPartlyLoaded);
    Optimizer(*machine_).optimize(*module, withSearches);
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->getFunction("f")->print(stream);
    return text;
  }

  static size_t count(const std::string &text, const std::string &part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++found;
    return found;
  }

  llvm::LLVMContext llvmContext_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

// libdevice asks for it where newer targets have another way.
TEST_F(LlvmPassesTest, BothPipelinesKnowTheArchitecture) {
  for (bool withSearches : {false, true}) {
    std::unique_ptr<llvm::Module> module = read(R"(
      target triple = "nvptx64-nvidia-cuda"
      @s = private constant [12 x i8] c"__CUDA_ARCH\00"
      declare i32 @__nvvm_reflect(ptr)
      define i32 @f() {
        %a = call i32 @__nvvm_reflect(ptr @s)
        ret i32 %a
      })");
    Optimizer(*machine_).optimize(*module, withSearches);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->getFunction("f")->print(stream);
    EXPECT_EQ(count(text, "ret i32 800"), 1u) << text;
  }
}

TEST_F(LlvmPassesTest, ManyElementsThatAreMultipliedSeveralTimes) {
  auto multiplies = [&](size_t loads, const std::string &type, size_t products) {
    std::string text = "define void @f(ptr %p, float %x) {\n";
    for (size_t i = 0; i < loads; ++i)
      text += "load " + type + ", ptr %p\n";
    for (size_t i = 0; i < products; ++i)
      text += "call float @llvm.fma.f32(float %x, float %x, float %x)\n";
    std::unique_ptr<llvm::Module> module = read(text + "ret void\n}\ndeclare float @llvm.fma.f32(float, float, float)");
    return module && multipliesInRegisters(*module);
  };
  EXPECT_FALSE(multiplies(128, "float", 512)) << "few elements";
  EXPECT_TRUE(multiplies(129, "float", 512));
  EXPECT_FALSE(multiplies(32, "<4 x float>", 512));
  EXPECT_TRUE(multiplies(33, "<4 x float>", 512));
  EXPECT_FALSE(multiplies(33, "<4 x float>", 132)) << "no more products than elements";
  EXPECT_TRUE(multiplies(33, "<4 x float>", 133));
}

TEST_F(LlvmPassesTest, ProductsCountUnlessTheyAreDead) {
  auto multiplies = [&](const std::string &use) {
    std::string text = "define void @f(ptr %p, float %x) {\n";
    for (size_t i = 0; i < 40; ++i)
      text += "load <4 x float>, ptr %p\n";
    for (size_t i = 0; i < 200; ++i)
      text += "%m" + std::to_string(i) + " = fmul float %x, %x\n" + use + std::to_string(i) + "\n";
    std::unique_ptr<llvm::Module> module = read(text + "ret void\n}\n");
    return module && multipliesInRegisters(*module);
  };
  EXPECT_TRUE(multiplies("fneg float %m"));
  EXPECT_FALSE(multiplies("; "));
}

TEST_F(LlvmPassesTest, LoadsAreLookedForWhereItIsSaid) {
  EXPECT_EQ(count(optimized(true), "load float"), 1u);
  EXPECT_EQ(count(optimized(false), "load float"), 2u);
}

TEST_F(LlvmPassesTest, ValuesAreNumberedAndLoadsStay) {
  std::unique_ptr<llvm::Module> module = read(R"(
    target triple = "nvptx64-nvidia-cuda"
    define i32 @f(ptr %p, i32 %x, i32 %y) {
      %a = add i32 %x, %y
      %b = add i32 %x, %y
      %c = mul i32 %a, %b
      %l = load i32, ptr %p
      store i32 %l, ptr %p
      %m = load i32, ptr %p
      %d = add i32 %l, %m
      %e = mul i32 %c, %d
      ret i32 %e
    })");
  Optimizer optimizer(*machine_);
  EXPECT_TRUE(optimizer.numberValues(*module->getFunction("f")));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  EXPECT_EQ(count(text, "add i32 %x, %y"), 1u) << text;
  EXPECT_EQ(count(text, "load i32"), 2u) << text;
}

} // namespace
} // namespace tenon::compiler::codegen
