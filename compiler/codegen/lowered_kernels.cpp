// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/lowered_kernels.h"

#include "compiler/codegen/ptx/same_code.h"
#include "compiler/codegen/written_kernels.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace tenon::compiler::codegen {

static bool areAlike(ModuleOp left, ModuleOp right) {
  return OperationEquivalence::isEquivalentTo(left, right, OperationEquivalence::None);
}

LoweredKernels::LoweredKernels(ModuleOp kernels, PtxOptions options)
    : kernels_(kernels),
      write_([kernels, options](const abi::TargetArch &target) { return writeKernels(kernels, target, options); }),
      options_(options) {}

FailureOr<ModuleOp> LoweredKernels::find(const abi::TargetArch &target) {
  const unsigned number = kernels_ ? kernelVariantFor(kernels_, target) : 0;
  for (const Variant &variant : variants_)
    if (variant.number == number)
      return variant.module;
  FailureOr<OwningOpRef<ModuleOp>> written = write_(target);
  if (failed(written))
    return failure();
  for (Code &code : codes_)
    if (areAlike(*code.written, **written)) {
      variants_.push_back({number, *code.lowered});
      return *code.lowered;
    }
  // Kept as it was written for what other targets get; without those there is nothing to compare it with.
  Code code{.written = kernels_ ? (*written)->clone() : OwningOpRef<ModuleOp>(), .lowered = std::move(*written)};
  if (failed(lowerWritten(*code.lowered, options_)))
    return failure();
  codes_.push_back(std::move(code));
  variants_.push_back({number, *codes_.back().lowered});
  return *codes_.back().lowered;
}

FailureOr<bool> LoweredKernels::haveSameCode(const abi::TargetArch &older, const abi::TargetArch &target) {
  FailureOr<ModuleOp> first = find(older), second = find(target);
  if (failed(first) || failed(second))
    return failure();
  return *first == *second && oldestWithSameCode(*first, older) == oldestWithSameCode(*second, target);
}

} // namespace tenon::compiler::codegen
