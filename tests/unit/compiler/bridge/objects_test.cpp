// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/bridge/objects.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace tenon::compiler::bridge {
namespace {

class ObjectsTest : public ::testing::Test {
protected:
  ObjectsTest() : builder_(&context_) { context_.loadDialect<hal::HalDialect>(); }

  hal::ExecutableObjectAttr object(mlir::ElementsAttr data) {
    return hal::ExecutableObjectAttr::get(&context_, builder_.getStringAttr("k.ptx"), data);
  }

  mlir::MLIRContext context_;
  mlir::Builder builder_;
};

TEST_F(ObjectsTest, ReadsInlineBytes) {
  auto type = mlir::VectorType::get({3}, builder_.getI8Type());
  EXPECT_EQ(inlineBytes(object(mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int8_t>{'p', 't', 'x'}))), "ptx");
  EXPECT_EQ(inlineBytes(object(mlir::DenseElementsAttr::get(type, int8_t('a')))), "aaa") << "a splat";
}

TEST_F(ObjectsTest, HasNoBytesWithoutI8Data) {
  EXPECT_EQ(inlineBytes(object(nullptr)), std::nullopt);
  auto words = mlir::VectorType::get({1}, builder_.getI32Type());
  EXPECT_EQ(inlineBytes(object(mlir::DenseElementsAttr::get(words, int32_t(7)))), std::nullopt);
}

} // namespace
} // namespace tenon::compiler::bridge
