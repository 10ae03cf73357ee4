// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of one convolution for the tests of their code generation.
#pragma once

#include "compiler/codegen/contraction/product.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {

class ConvolutionTest : public KernelTest {
protected:
  /// Of the results; windows are 3 x 3.
  struct Sizes {
    int64_t images = 2, height = 8, width = 8, channels = 64, filters = 64, step = 1;
    bool isUnknown = false; // how many images there are
  };

  /// image[n, y * step + r, x * step + s, c] * filters[r, s, c, f], bf16; the image has all that windows reach.
  const KernelFunction &convolution(const Sizes &sizes) {
    auto number = [](int64_t value) { return std::to_string(value); };
    const std::string step = number(sizes.step), n = sizes.isUnknown ? "?" : number(sizes.images),
                      c = number(sizes.channels);
    const std::string image = "tensor<" + n + "x" + number((sizes.height - 1) * sizes.step + 3) + "x" +
                              number((sizes.width - 1) * sizes.step + 3) + "x" + c + "xbf16>",
                      filters = "tensor<3x3x" + c + "x" + number(sizes.filters) + "xbf16>",
                      result = "tensor<" + n + "x" + number(sizes.height) + "x" + number(sizes.width) + "x" +
                               number(sizes.filters) + "xf32>";
    const std::string dims = sizes.isUnknown ? " {tenon.dims = array<i64: 0>}" : "";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(" + std::string(sizes.isUnknown ? "%n: i64, " : "") + "%a: " + image + dims + ", %b: " + filters +
        ", %c: " + result + dims + ") -> (" + result + dims +
        ") {\n%v = linalg.generic {indexing_maps = [affine_map<(n, y, x, f, r, s, c) -> (n, y * " + step +
        " + r, x * " + step +
        " + s, c)>, affine_map<(n, y, x, f, r, s, c) -> (r, s, c, f)>, affine_map<(n, y, x, f, r, s, c) -> (n, y, x, "
        "f)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\", "
        "\"reduction\"]} ins(%a, %b : " +
        image + ", " + filters + ") outs(%c : " + result +
        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%g = arith.extf %x : bf16 to f32\n%h = arith.extf %y : bf16 to f32\n"
        "%p = arith.mulf %g, %h : f32\n%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " +
        result + "\nreturn %v : " + result + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    return *kernel_;
  }

  /// The gradient by filters[f, r, s, c] of such a one, from the image and the result's.
  const KernelFunction &gradient(const Sizes &sizes) {
    const std::string step = std::to_string(sizes.step);
    const std::string image = tensorText({sizes.images, (sizes.height - 1) * sizes.step + 3,
                                          (sizes.width - 1) * sizes.step + 3, sizes.channels},
                                         "bf16"),
                      given = tensorText({sizes.images, sizes.height, sizes.width, sizes.filters}, "bf16"),
                      result = tensorText({sizes.filters, 3, 3, sizes.channels}, "f32");
    const std::string loops = "affine_map<(f, r, s, c, n, y, x) -> ";
    kernel_ = KernelFunction::read(parseFunction(
        "func.func @k(%a: " + image + ", %b: " + given + ", %c: " + result + ") -> (" + result +
        ") {\n%v = linalg.generic {indexing_maps = [" + loops + "(n, y * " + step + " + r, x * " + step +
        " + s, c)>, " + loops + "(n, y, x, f)>, " + loops +
        "(f, r, s, c)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"reduction\", "
        "\"reduction\", \"reduction\"]} ins(%a, %b : " +
        image + ", " + given + ") outs(%c : " + result +
        ") {\n^bb0(%x: bf16, %y: bf16, %s: f32):\n%g = arith.extf %x : bf16 to f32\n%h = arith.extf %y : bf16 to f32\n"
        "%p = arith.mulf %g, %h : f32\n%t = arith.addf %s, %p : f32\nlinalg.yield %t : f32\n} -> " +
        result + "\nreturn %v : " + result + "\n}\n"));
    EXPECT_TRUE(mlir::succeeded(kernel_)) << messages_;
    shape_.emplace(GroupShape::of(*kernel_));
    return *kernel_;
  }

  mlir::FailureOr<KernelFunction> kernel_ = mlir::failure();
  std::optional<GroupShape> shape_;
};

} // namespace tenon::compiler::codegen
