// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel functions for the tests of code generation.
#pragma once

#include "compiler/codegen/generate_ptx.h"
#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::codegen {

/// "tensor<2x3xbf16>".
inline std::string tensorText(const std::vector<int64_t> &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

class KernelTest : public KernelTextTest {
protected:
  KernelTest() {
    mlir::DialectRegistry registry;
    registerKernelDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
  }

  /// @k: one unary operation on a vector of dynamic size, four elements to a thread.
  static std::string kernelText(const std::string &type, const std::string &operation, int elements = 4) {
    const std::string tensor = "tensor<?x" + type + ">", dims = " {tenon.dims = array<i64: 0>}";
    return "func.func @k(%n: i64, %a: " + tensor + dims + ") -> (" + tensor + dims +
           ") attributes {tenon.elements_per_thread = " + std::to_string(elements) +
           " : i64} {\n%d = arith.index_cast %n : i64 to index\n%e = tensor.empty(%d) : " + tensor +
           "\n%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], "
           "iterator_types = [\"parallel\"]} ins(%a : " +
           tensor + ") outs(%e : " + tensor + ") {\n^bb0(%x: " + type + ", %o: " + type + "):\n%1 = " + operation +
           " %x : " + type + "\nlinalg.yield %1 : " + type + "\n} -> " + tensor + "\nreturn %r : " + tensor + "\n}\n";
  }

  mlir::OwningOpRef<mlir::ModuleOp> lower(const std::string &text) {
    auto lowered = lowerKernels(parse(text), abi::TargetArch{90}, {});
    EXPECT_TRUE(mlir::succeeded(lowered)) << messages_;
    return mlir::succeeded(lowered) ? std::move(*lowered) : nullptr;
  }
};

} // namespace tenon::compiler::codegen
