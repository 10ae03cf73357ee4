// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM IR as text, before and behind a rewrite.
#pragma once

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace tenon::compiler::codegen {

enum class Printed { Module, FunctionF };

/// The module of `text` behind `rewrite`, which leaves it valid: all of it, or @f. Empty where the text is none.
inline std::string rewritten(const std::string &text, Printed printed,
                             llvm::function_ref<void(llvm::Module &)> rewrite) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
  EXPECT_TRUE(module) << error.getMessage().str() << text;
  if (!module)
    return {};
  rewrite(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string result;
  llvm::raw_string_ostream stream(result);
  if (printed == Printed::Module)
    module->print(stream, nullptr);
  else
    module->getFunction("f")->print(stream);
  return result;
}

} // namespace tenon::compiler::codegen
