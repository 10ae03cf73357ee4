// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small programs for the tests of dispatch formation and code generation.
#pragma once

#include "compiler/dialect/Dialects.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <string>

namespace tenon::compiler {

/// Sums of the rows of a matrix of dynamic size.
inline const char kRowSum[] = R"mlir(
func.func @f(%a: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = arith.constant 0.0 : f32
  %s = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<?x?xf32>) outs(%s : tensor<?xf32>) {
    ^bb0(%x: f32, %y: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
)mlir";

class KernelTextTest : public ::testing::Test {
protected:
  KernelTextTest() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    context_.getDiagEngine().registerHandler([this](mlir::Diagnostic &diagnostic) {
      messages_ += diagnostic.str() + "\n";
      return mlir::success();
    });
  }

  mlir::ModuleOp parse(const std::string &text) {
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    EXPECT_TRUE(module_) << messages_;
    return *module_;
  }
  mlir::func::FuncOp parseFunction(const std::string &text) {
    return *parse(text).getOps<mlir::func::FuncOp>().begin();
  }
  mlir::linalg::GenericOp firstGeneric(const std::string &text) {
    return *parseFunction(text).getOps<mlir::linalg::GenericOp>().begin();
  }

  /// A sum over three dimensions of unknown sizes into one. @param kinds how its result is read, and the loops:
  /// `(i)>], iterator_types = ["parallel", "reduction", "reduction"`
  mlir::linalg::GenericOp firstSum(const std::string &kinds) {
    return firstGeneric(
        "func.func @f(%a: tensor<?x?x?xf32>, %s: tensor<?xf32>) -> tensor<?xf32> {\n"
        "%r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> " +
        kinds +
        "]} ins(%a : tensor<?x?x?xf32>) outs(%s : tensor<?xf32>) {\n^bb0(%x: f32, %y: f32):\n"
        "%t = arith.addf %x, %y : f32\nlinalg.yield %t : f32\n} -> tensor<?xf32>\n"
        "return %r : tensor<?xf32>\n}");
  }

  /// One unary operation, `times` times over, on a vector of dynamic size.
  static std::string elementwise(const std::string &type, const std::string &operation, int times = 1) {
    const std::string tensor = "tensor<?x" + type + ">";
    std::string body;
    for (int i = 0; i < times; ++i)
      body += "%" + std::to_string(i + 1) + " = " + operation + " %" + (i == 0 ? "x" : std::to_string(i)) + " : " +
              type + "\n";
    return "func.func @f(%n: index, %a: " + tensor + ") -> " + tensor + " {\n%e = tensor.empty(%n) : " + tensor +
           "\n%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
           "iterator_types = [\"parallel\"]} ins(%a : " +
           tensor + ") outs(%e : " + tensor + ") {\n^bb0(%x: " + type + ", %o: " + type + "):\n" + body +
           "linalg.yield %" + std::to_string(times) + " : " + type + "\n} -> " + tensor + "\nreturn %r : " + tensor +
           "\n}\n";
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::string messages_;
};

} // namespace tenon::compiler
