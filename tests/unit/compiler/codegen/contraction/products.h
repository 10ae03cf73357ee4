// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of one matrix product for the tests of their code generation.
#pragma once

#include "compiler/codegen/contraction/product.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {

class ProductTest : public KernelTest {
protected:
  /// Sizes by the letters b, m, n, k; "?" where one is not known.
  using Sizes = std::map<char, std::string>;

  /// result = sum over k of left * right, whose dimensions are letters: "mk", "kn", "mn".
  const KernelFunction &read(const std::string &left, const std::string &right, const Sizes &sizes,
                             const std::string &element = "bf16", const std::string &total = "f32") {
    const bool hasBatch = sizes.count('b') != 0;
    const std::string loops = hasBatch ? "b, m, n, k" : "m, n, k", result = hasBatch ? "bmn" : "mn";
    auto type = [&](const std::string &letters, const std::string &of) {
      std::string text = "tensor<";
      for (char letter : letters)
        text += sizes.at(letter) + "x";
      return text + of + ">";
    };
    auto map = [&](const std::string &letters) {
      std::string text = "affine_map<(" + loops + ") -> (";
      for (char letter : letters)
        text += std::string(letter == letters[0] ? "" : ", ") + letter;
      return text + ")>";
    };
    // Each size that is not known is a constant of the kernel, which its tensors name.
    std::map<char, int> constants;
    std::string passed;
    for (const auto &[letter, size] : sizes)
      if (size == "?") {
        passed += std::string("%size_") + letter + ": i64, ";
        constants.emplace(letter, int(constants.size()));
      }
    auto dims = [&](const std::string &letters) {
      std::string text;
      for (char letter : letters)
        if (constants.count(letter) != 0)
          text += (text.empty() ? "" : ", ") + std::to_string(constants[letter]);
      return text.empty() ? "" : " {tenon.dims = array<i64: " + text + ">}";
    };
    // f8 are bytes; "f8E4M3FN f8E5M2": of the left side, of the right.
    const bool isF8 = element.starts_with("f8");
    const std::string stored = isF8 ? "i8" : element;
    const std::string a = type(left, stored), b = type(right, stored), c = type(result, total);
    std::string body, x = "%x", y = "%y";
    if (isF8) {
      const size_t end = element.find(' ');
      const std::string first = element.substr(0, end),
                        second = end == std::string::npos ? first : element.substr(end + 1);
      body = "%f = arith.bitcast %x : i8 to " + first + "\n%v = arith.extf %f : " + first + " to f32\n" +
             "%g = arith.bitcast %y : i8 to " + second + "\n%w = arith.extf %g : " + second + " to f32\n";
      x = "%v";
      y = "%w";
    } else if (element != total) {
      const std::string extend = total == "f32" ? "arith.extf" : "arith.extsi";
      body = "%v = " + extend + " %x : " + element + " to " + total + "\n%w = " + extend + " %y : " + element + " to " +
             total + "\n";
      x = "%v";
      y = "%w";
    }
    const std::string kind = total.front() == 'i' ? "i" : "f";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(" + passed + "%a: " + a + dims(left) + ", %b: " + b + dims(right) + ", %c: " + c + dims(result) +
        ") -> (" + c + dims(result) + ")" + " {\n%r = linalg.generic {indexing_maps = [" + map(left) + ", " +
        map(right) + ", " + map(result) + "], iterator_types = [" + (hasBatch ? "\"parallel\", " : "") +
        "\"parallel\", \"parallel\", \"reduction\"]} ins(%a, %b : " + a + ", " + b + ") outs(%c : " + c +
        ") {\n^bb0(%x: " + stored + ", %y: " + stored + ", %s: " + total + "):\n" + body + "%p = arith.mul" + kind +
        " " + x + ", " + y + " : " + total + "\n%t = arith.add" + kind + " %s, %p : " + total +
        "\nlinalg.yield %t : " + total + "\n} -> " + c + "\nreturn %r : " + c + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    return *kernel_;
  }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
};

} // namespace tenon::compiler::codegen
