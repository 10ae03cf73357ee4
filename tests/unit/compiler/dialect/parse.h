// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules from text, for tests.
#pragma once

#include "compiler/dialect/Dialects.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace tenon::compiler {

/// A context with every dialect, and the diagnostics that it was told, in order.
class ParseTest : public testing::Test {
protected:
  ParseTest() : context_(registry()) {
    context_.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      errors_ += diagnostic.str() + "\n";
      return mlir::success();
    });
  }

  /// The module, which must parse and verify.
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text, llvm::StringRef name = "test.mlir") {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context_), name);
    EXPECT_TRUE(module) << errors_;
    return module;
  }

  template <typename Attr> Attr parseAttr(llvm::StringRef text) {
    auto attr = llvm::dyn_cast_or_null<Attr>(mlir::parseAttribute(text, &context_));
    EXPECT_TRUE(attr) << errors_;
    return attr;
  }

  /// The first operation of a kind.
  template <typename Op> Op find(mlir::ModuleOp module) {
    Op found;
    module.walk([&](Op op) {
      found = op;
      return mlir::WalkResult::interrupt();
    });
    EXPECT_TRUE(found);
    return found;
  }

  mlir::MLIRContext context_;
  std::string errors_;

private:
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
};

} // namespace tenon::compiler
