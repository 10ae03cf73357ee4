// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attention of a kernel function, for the tests of those who write its kernel.
#pragma once

#include "compiler/codegen/attention/apart_heads.h"
#include "compiler/codegen/attention/hiding.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {

/// What tests of kernels write of them: of the batch, rows, keys and the depth.
inline constexpr const char *kMaps = R"mlir(
#bmk = affine_map<(b, m, n, d) -> (b, m, d)>
#bnk = affine_map<(b, m, n, d) -> (b, n, d)>
#bmn = affine_map<(b, m, n, d) -> (b, m, n)>
#all = affine_map<(b, m, n) -> (b, m, n)>)mlir";

/// Bodies of the two products.
inline constexpr const char *kMultiply = R"mlir(
    ^bb0(%a: f16, %b: f16, %c: f32):
      %x = arith.extf %a : f16 to f32
      %y = arith.extf %b : f16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32)mlir";
inline constexpr const char *kWeigh = R"mlir(
    ^bb0(%a: f32, %b: f16, %c: f32):
      %h = arith.truncf %a : f32 to f16
      %x = arith.extf %h : f16 to f32
      %y = arith.extf %b : f16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %c, %p : f32
      linalg.yield %t : f32)mlir";

class AttentionKernelTest : public KernelTest {
protected:
  using Changes = std::vector<std::pair<std::string, std::string>>; // what, and by what it is replaced
  void readKernel(std::string text, Changes changes) {
    changes.insert(changes.end(), {{"MAPS", kMaps}, {"MULTIPLY", kMultiply}, {"WEIGH", kWeigh}});
    for (const auto &[what, with] : changes)
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    auto kernel = KernelFunction::read(parseFunction(text));
    ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
    kernel_ = std::move(*kernel);
    shape_ = GroupShape::of(*kernel_);
    attention_ = attentionOf(*kernel_, *shape_);
    ASSERT_TRUE(attention_.has_value());
    hiding_ = hidingOf(*shape_, *attention_, 64);
  }

  std::optional<KernelFunction> kernel_;
  std::optional<GroupShape> shape_;
  std::optional<Attention> attention_;
  std::optional<Hiding> hiding_;
};

} // namespace tenon::compiler::codegen
