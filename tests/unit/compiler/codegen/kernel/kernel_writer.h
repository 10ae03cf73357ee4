// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An empty kernel that a test writes into with the words of a strategy.
#pragma once

#include "compiler/codegen/kernel/kernel_builder.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {

class KernelWriterTest : public KernelTest {
protected:
  /// A builder in an empty kernel whose parameters are i64.
  KernelBuilder &begin(uint32_t threads = 256, unsigned parameters = 2) {
    mlir::Location loc = mlir::UnknownLoc::get(&context_);
    written_ = mlir::ModuleOp::create(loc);
    builder_ = std::make_unique<mlir::OpBuilder>(mlir::OpBuilder::atBlockEnd(written_->getBody()));
    llvm::SmallVector<mlir::Type> types(parameters, builder_->getI64Type());
    auto type = mlir::LLVM::LLVMFunctionType::get(mlir::LLVM::LLVMVoidType::get(&context_), types);
    kernel_ = mlir::LLVM::LLVMFuncOp::create(*builder_, loc, "k", type);
    builder_->setInsertionPointToStart(kernel_.addEntryBlock(*builder_));
    writer_ = std::make_unique<KernelBuilder>(*builder_, loc, kernel_, threads);
    return *writer_;
  }
  mlir::Value parameter(unsigned number) { return kernel_.getArgument(number); }
  /// A value of the type, about which nothing is known.
  mlir::Value unknown(mlir::Type type) { return mlir::LLVM::UndefOp::create(*builder_, writer_->loc, type); }

  /// Operations of that name in the kernel.
  unsigned count(llvm::StringRef name) {
    unsigned found = 0;
    kernel_.walk([&](mlir::Operation *op) { found += op->getName().getStringRef() == name; });
    return found;
  }
  static std::optional<int64_t> constant(mlir::Value value) {
    auto op = value.getDefiningOp<mlir::arith::ConstantOp>();
    auto integer = op ? llvm::dyn_cast<mlir::IntegerAttr>(op.getValue()) : mlir::IntegerAttr();
    return integer ? std::optional(integer.getInt()) : std::nullopt;
  }

  mlir::OwningOpRef<mlir::ModuleOp> written_;
  mlir::LLVM::LLVMFuncOp kernel_;
  std::unique_ptr<mlir::OpBuilder> builder_;
  std::unique_ptr<KernelBuilder> writer_;
};

} // namespace tenon::compiler::codegen
