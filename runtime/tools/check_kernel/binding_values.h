// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One line of a workload to bytes: a binding's contents, a constant's value.
#pragma once

#include "abi/layout.h"
#include "runtime/tools/check_kernel/size_expression.h"
#include "runtime/values/value.h"

namespace tenon::runtime {

/// How a binding's contents count: an output's are what the kernel makes of it.
enum class BindingRole : uint8_t { Input, Output, InOut, PartialOutput };

struct CaseBinding {
  BindingRole role = BindingRole::Input;
  HostTensor value; // contents before; of an output: only type and shape count
};

/// "inout nx4xf32=0": role, extents as expressions, element type, contents.
struct BindingSpec {
  bool inOut = false, partial = false;
  std::vector<std::string> extents;
  abi::ElementType element = abi::ElementType::F32;
  std::string contents; // behind '='; empty: random
};
Result<BindingSpec> parseBindingSpec(std::string_view text);

/// A binding with its contents; random ones are a function of `seed`: floats in [-1, 1), integers in [-100, 100).
Result<CaseBinding> makeBinding(std::string_view text, bool readOnly, const Sizes &sizes, uint64_t seed);

/// [constant.size] bytes. InvalidArgument: the text is none of that constant's.
Result<std::vector<uint8_t>> parseConstant(std::string_view text, const abi::Constant &constant, const Sizes &sizes);

} // namespace tenon::runtime
