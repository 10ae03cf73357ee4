// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/skinny/skinny_shape.h"

#include "compiler/codegen/contraction/operands/run_inputs.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {

using namespace skinny;

static const Operand &wideOf(const Product &product, const SkinnyShape &how) {
  return how.fewAreRows ? product.right : product.left;
}

uint32_t skinnyPartBytes(const SkinnyShape &shape, uint32_t threads, uint32_t sumBytes) {
  return shape.few * (widePerBlock(shape, threads) + kPadding) * sumBytes;
}

bool areReadSingly(const Product &product, const GroupShape &shape, const Operand &wide) {
  const std::optional<int64_t> size = shape.axes[wide.vectorAxis].size;
  return size && *size % product.widthOf(wide, shape) != 0;
}

uint32_t widePerBlock(const SkinnyShape &shape, uint32_t threads) {
  return threads / kWarp / shape.depthWarps * kGroups * shape.positions;
}

uint32_t skinnyDepth(const Product &product, const GroupShape &shape, const Operand &wide) {
  const uint32_t ofFactors = kBytesOfLane / dispatch::elementBytes(wide.value.getType());
  const bool isPacked = wide.isAlongReduced && !wide.isCopied() && !product.isOfF8();
  return kLanesOfGroup * (isPacked ? std::max(ofFactors, product.widthOf(wide, shape)) : ofFactors);
}

uint32_t ringPartBytes(const SkinnyShape &how, uint32_t threads, Type sum) {
  return how.depthWarps * skinnyPartBytes(how, threads, dispatch::elementBytes(sum));
}

bool mayUseRing(const Product &product, const GroupShape &shape, const SkinnyShape &how) {
  const Operand &wide = wideOf(product, how);
  const std::optional<int64_t> reduced = shape.sizeOf(product.reduced),
                               few = shape.sizeOf(how.fewAreRows ? product.rows : product.columns),
                               across = shape.sizeOf(wide.across);
  if (!reduced || !across || (few && *few > how.few) || !product.tensorCoreElement() || wide.isCopied() ||
      !wide.isAlongReduced || product.routes || shape.sizeOf(product.batch) != 1)
    return false;
  const uint32_t width = product.widthOf(wide, shape), depth = kLanesOfGroup * width;
  if (width < kBytesOfLane || !RunInputs::fit(shape, wide, width) || *reduced == 0 || *across == 0 ||
      *reduced % (int64_t(depth) * how.depthWarps * how.turns) != 0)
    return false;
  return llvm::any_of(wide.inputs, [&](const OperandInput &each) {
    return RunInputs::bytesOf(each, shape, wide.vectorAxis, width) == kRingCopied;
  });
}

bool isBesideNext(const Product &product, const GroupShape &shape, const SkinnyShape &how, const OperandInput &input) {
  const Operand &wide = wideOf(product, how);
  const KernelTensor &tensor = input.input->tensor;
  const uint32_t width = product.widthOf(wide, shape);
  if (product.reduced.size() != 2 || product.reduced.back() != wide.vectorAxis ||
      shape.axes[wide.vectorAxis].size != int64_t(kLanesOfGroup) * width ||
      RunInputs::bytesOf(input, shape, wide.vectorAxis, width) != dispatch::elementBytes(tensor.element))
    return false;
  const unsigned steps = product.reduced.front();
  return shape.along(tensor, input.op->op, steps) == GroupShape::Along::Adjacent && shape.axes[steps].size &&
         *shape.axes[steps].size % how.turns == 0;
}

uint32_t skinnyRingBytes(const Product &product, const GroupShape &shape, const SkinnyShape &how, uint32_t threads) {
  const Operand &wide = wideOf(product, how);
  uint32_t ofRun = 0;
  for (const OperandInput &each : wide.inputs)
    ofRun +=
        RunInputs::bytesOf(each, shape, wide.vectorAxis, product.widthOf(wide, shape)) == kRingCopied ? kRingCopied : 0;
  return kRingStages * how.turns * how.positions * threads * ofRun +
         kRingTilesOfSums * ringPartBytes(how, threads, product.sum.sum.type);
}

} // namespace tenon::compiler::codegen
