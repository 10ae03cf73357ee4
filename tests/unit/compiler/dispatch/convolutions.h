// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of channels last for the tests of dispatch formation.
#pragma once

#include "compiler/dispatch/analysis/convolutions/convolution.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {

class ConvolutionTest : public KernelTextTest {
protected:
  /// batch: -1 is unknown. size: of the square results; the image is as much larger as the window needs. isOfAnySize:
  /// neither is known.
  struct Shape {
    int batch = 8, size = 32, channels = 64, results = 64, window = 3, stride = 1;
    std::string type = "bf16", attributes;
    bool isOfAnySize = false;
  };

  std::string text(const Shape &shape) {
    const int image = (shape.size - 1) * shape.stride + shape.window;
    const std::string sum = "f32", batch = shape.batch < 0 ? "?" : std::to_string(shape.batch);
    auto tensor = [](std::initializer_list<std::string> sizes, const std::string &type) {
      std::string text = "tensor<";
      for (const std::string &size : sizes)
        text += size + "x";
      return text + type + ">";
    };
    auto number = [](int value) { return std::to_string(value); };
    auto place = [&](int size) { return shape.isOfAnySize ? "?" : number(size); };
    const std::string x = tensor({batch, place(image), place(image), number(shape.channels)}, shape.type);
    const std::string f =
        tensor({number(shape.window), number(shape.window), number(shape.channels), number(shape.results)}, shape.type);
    const std::string o = tensor({batch, place(shape.size), place(shape.size), number(shape.results)}, sum);
    return "func.func @f(%x: " + x + ", %f: " + f + ", %o: " + o + ") -> " + o + shape.attributes +
           " {\n%r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<" +
           number(shape.stride) + "> : tensor<2xi64>} ins(%x, %f : " + x + ", " + f + ") outs(%o : " + o + ") -> " + o +
           "\nreturn %r : " + o + "\n}\n";
  }

  std::optional<Convolution> convolution(const Shape &shape) {
    return Convolution::of(genericWindowOf(*parseFunction(text(shape)).getOps<mlir::linalg::LinalgOp>().begin()));
  }

  /// What the function's result is computed by.
  mlir::linalg::GenericOp result() {
    mlir::func::FuncOp function = *module_->getOps<mlir::func::FuncOp>().begin();
    return function.front().getTerminator()->getOperand(0).getDefiningOp<mlir::linalg::GenericOp>();
  }
};

} // namespace tenon::compiler::dispatch
