// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of f32 in any order for the tests of tiles.
#pragma once

#include "compiler/dispatch/winograd/layer.h"

#include "tests/unit/compiler/dispatch/kernel_text.h"

namespace tenon::compiler::dispatch {

class WinogradTest : public KernelTextTest {
protected:
  /// Loops of the default: d0 images, d1 filters, d2 and d3 places, d4 channels, d5 and d6 the window. The last ones
  /// are summed over.
  struct Shape {
    std::string image = "d0, d2 + d5, d3 + d6, d4", filters = "d1, d5, d6, d4", out = "d0, d2, d3, d1";
    std::vector<int64_t> sizes = {8, 48, 32, 30, 64, 3, 3};
    unsigned reductions = 3;
    std::string type = "f32", start = "0.0", attributes, behind, pin;
    int64_t unread = 0; // places of the image behind those that windows read
  };

  std::string text(const Shape &shape) {
    const std::string image = tensorOf(shape.image, shape), filters = tensorOf(shape.filters, shape),
                      out = tensorOf(shape.out, shape), loops = "(d0, d1, d2, d3, d4, d5, d6)";
    std::string kinds;
    for (unsigned loop = 0; loop < 7; ++loop)
      kinds += std::string(loop ? ", " : "") + (loop < 7 - shape.reductions ? "\"parallel\"" : "\"reduction\"");
    auto map = [&](const std::string &results) { return "affine_map<" + loops + " -> (" + results + ")>"; };
    return "func.func @f(%x: " + image + ", %f: " + filters + ", %b: tensor<48x" + shape.type + ">) -> " + out +
           " {\n%c = arith.constant " + shape.start + " : " + shape.type + "\n%e = tensor.empty() : " + out +
           "\n%s = linalg.fill ins(%c : " + shape.type + ") outs(%e : " + out + ") -> " + out +
           "\n%r = linalg.generic {indexing_maps = [" + map(shape.image) + ", " + map(shape.filters) + ", " +
           map(shape.out) + "], iterator_types = [" + kinds + "]} ins(%x, %f : " + image + ", " + filters +
           ") outs(%s : " + out + ")" + shape.attributes + " {\n^bb0(%a: " + shape.type + ", %g: " + shape.type +
           ", %t: " + shape.type + "):\n%m = arith.mulf %a, %g : " + shape.type + "\n%u = arith.addf %t, %m" +
           shape.pin + " : " + shape.type + "\nlinalg.yield %u : " + shape.type + "\n} -> " + out + "\n" +
           shape.behind + "return " + (shape.behind.empty() ? "%r" : "%q") + " : " + out + "\n}\n";
  }

  mlir::linalg::GenericOp convolutionOf(const Shape &shape) {
    mlir::func::FuncOp function = parseFunction(text(shape));
    return *function.getOps<mlir::linalg::GenericOp>().begin();
  }

  std::optional<WindowLayer> layer(const Shape &shape) {
    const std::optional<Convolution> found = Convolution::of(convolutionOf(shape));
    return found ? WindowLayer::of(*found) : std::nullopt;
  }

private:
  /// As large as the loops of each dimension need.
  static std::string tensorOf(const std::string &results, const Shape &shape) {
    std::string text = "tensor<";
    for (size_t begin = 0; begin < results.size();) {
      const size_t end = std::min(results.find(',', begin), results.size());
      const std::string place = results.substr(begin, end - begin);
      int64_t size = 1 + (place.find('+') != std::string::npos ? shape.unread : 0);
      for (size_t at = place.find('d'); at != std::string::npos; at = place.find('d', at + 1)) {
        const bool isTwice = place.compare(at + 2, 4, " * 2") == 0;
        size += (shape.sizes[size_t(place[at + 1] - '0')] - 1) * (isTwice ? 2 : 1);
      }
      text += std::to_string(size) + "x";
      begin = end + 1;
    }
    return text + shape.type + ">";
  }
};

} // namespace tenon::compiler::dispatch
