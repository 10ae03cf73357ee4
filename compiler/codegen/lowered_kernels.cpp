// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/lowered_kernels.h"

#include "compiler/codegen/ptx/same_code.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace tenon::compiler::codegen {

FailureOr<ModuleOp> LoweredKernels::find(const abi::TargetArch &target) {
  const unsigned number = kernelVariantFor(kernels_, target);
  for (const Variant &variant : variants_)
    if (variant.number == number)
      return variant.module;
  FailureOr<OwningOpRef<ModuleOp>> made = lowerKernels(kernels_, target, options_);
  if (failed(made))
    return failure();
  for (OwningOpRef<ModuleOp> &known : modules_)
    if (OperationEquivalence::isEquivalentTo(*known, made->get(), OperationEquivalence::None)) {
      variants_.push_back({number, *known});
      return *known;
    }
  modules_.push_back(std::move(*made));
  variants_.push_back({number, *modules_.back()});
  return *modules_.back();
}

FailureOr<bool> LoweredKernels::haveSameCode(const abi::TargetArch &older, const abi::TargetArch &target) {
  FailureOr<ModuleOp> first = find(older), second = find(target);
  if (failed(first) || failed(second))
    return failure();
  return *first == *second && oldestWithSameCode(*first, older) == oldestWithSameCode(*second, target);
}

} // namespace tenon::compiler::codegen
