// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel functions of operations along a dimension, and the kernels that are planned for them.
#pragma once

#include "compiler/codegen/along/write_along.h"
#include "compiler/codegen/emit_kernel.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "tests/unit/compiler/codegen/kernels.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"

namespace tenon::compiler::codegen {

class AlongTest : public KernelTest {
protected:
  /// A kernel function that returns the results of `operation`, a text in which %x, %y, .. are tensors of these types.
  /// `before`: lines in front of it.
  mlir::FailureOr<KernelFunction> read(const std::vector<std::string> &arguments, const std::string &operation,
                                       const std::vector<std::string> &results, const std::string &before = "") {
    std::string text = "func.func @k(%n: i64", types, values;
    const char *names[] = {"%x", "%y", "%z", "%w"};
    // Every unknown size is %n.
    auto dims = [](const std::string &type) {
      std::string sizes;
      for (char each : type)
        sizes += each == '?' ? (sizes.empty() ? " 0" : ", 0") : "";
      return sizes.empty() ? std::string() : " {tenon.dims = array<i64:" + sizes + ">}";
    };
    for (size_t i = 0; i < arguments.size(); ++i)
      text += std::string(", ") + names[i] + ": " + arguments[i] + dims(arguments[i]);
    for (size_t i = 0; i < results.size(); ++i) {
      types += (i ? ", " : "") + results[i] + dims(results[i]);
      values += (i ? ", %r#" : "%r#") + std::to_string(i);
    }
    std::string plain;
    for (size_t i = 0; i < results.size(); ++i)
      plain += (i ? ", " : "") + results[i];
    text += ") -> (" + types + ") {\n" + before + "\n%r:" + std::to_string(results.size()) + " = iree_linalg_ext." +
            operation + " -> " + plain + "\nreturn " + values + " : " + plain + "\n}";
    return KernelFunction::read(parseFunction(text));
  }
  AlongPlans plansOf(const std::vector<std::string> &arguments, const std::string &operation,
                     const std::vector<std::string> &results, const std::string &before = "") {
    kernel_ = read(arguments, operation, results, before);
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    return mlir::succeeded(kernel_) ? alongStrategyOf(*kernel_).plans(*kernel_) : AlongPlans();
  }
  /// The kernel of a plan that shares no scratch memory.
  mlir::LLVM::LLVMFuncOp emit(const Plan &plan) {
    mlir::func::FuncOp function = kernel_->function;
    function->setAttr(dispatch::kStrategyAttr, plan.attribute(&context_));
    auto kernel = KernelFunction::read(function);
    EXPECT_TRUE(mlir::succeeded(kernel)) << messages_;
    emitted_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
    auto made = emitKernel(*kernel, "k", abi::TargetArch{90}, *emitted_);
    EXPECT_TRUE(mlir::succeeded(made)) << messages_;
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*emitted_))) << messages_;
    return *made;
  }
  static unsigned count(mlir::Operation *kernel, llvm::StringRef name) {
    unsigned found = 0;
    kernel->walk([&](mlir::Operation *op) { found += op->getName().getStringRef() == name; });
    return found;
  }
  static int64_t choice(const Plan &plan, llvm::StringRef name) {
    for (auto [other, value] : plan.choices)
      if (other == name)
        return value;
    return -1;
  }

  mlir::FailureOr<KernelFunction> kernel_;
  mlir::OwningOpRef<mlir::ModuleOp> emitted_;
};

} // namespace tenon::compiler::codegen
