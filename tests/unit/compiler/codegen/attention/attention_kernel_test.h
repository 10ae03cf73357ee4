// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attention of a kernel function, for the tests of those who write its kernel.
#pragma once

#include "compiler/codegen/attention/hiding.h"
#include "tests/unit/compiler/codegen/kernels.h"

namespace tenon::compiler::codegen {

class AttentionKernelTest : public KernelTest {
protected:
  using Changes = std::vector<std::pair<std::string, std::string>>; // what, and by what it is replaced
  void readKernel(std::string text, const Changes &changes) {
    for (const auto &[what, with] : changes)
      for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
    auto kernel = KernelFunction::read(parseFunction(text));
    ASSERT_TRUE(mlir::succeeded(kernel)) << messages_;
    kernel_ = std::move(*kernel);
    shape_ = GroupShape::of(*kernel_);
    attention_ = Attention::of(*kernel_, *shape_);
    ASSERT_TRUE(attention_.has_value());
    hiding_ = hidingOf(*shape_, *attention_, 64);
  }

  std::optional<KernelFunction> kernel_;
  std::optional<GroupShape> shape_;
  std::optional<Attention> attention_;
  std::optional<Hiding> hiding_;
};

} // namespace tenon::compiler::codegen
