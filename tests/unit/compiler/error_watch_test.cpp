// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/error_watch.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "gtest/gtest.h"

namespace tenon::compiler {
namespace {

class ErrorWatchTest : public ::testing::Test {
protected:
  ErrorWatchTest() : module_(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_))) {
    context_.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      messages_ += diagnostic.str() + "\n";
      return mlir::success();
    });
    report_.addPhase("simplify", 0.5);
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  CompileReport report_;
  std::string messages_;
};

TEST_F(ErrorWatchTest, WhoFailsWithoutAWordIsNamed) {
  ErrorWatch watch(*module_);
  module_->emitWarning() << "only a warning";
  EXPECT_TRUE(mlir::failed(watch.fail(report_)));
  EXPECT_EQ(messages_, "only a warning\nphase 'simplify' failed and does not say why, which is a bug in the compiler; "
                       "please report it\n");
}

TEST_F(ErrorWatchTest, AnErrorIsEnough) {
  ErrorWatch watch(*module_);
  module_->emitError() << "found 3, wanted 2";
  EXPECT_TRUE(mlir::failed(watch.fail(report_)));
  EXPECT_EQ(messages_, "found 3, wanted 2\n");
}

} // namespace
} // namespace tenon::compiler
