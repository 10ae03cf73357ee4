// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/kernel/bodies/shared_vectors.h"

#include "compiler/dispatch/analysis/kernel_config.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tenon::compiler::codegen {

SharedVectors::SharedVectors(KernelBuilder &k, const KernelFunction &kernel, GroupSpace &space, Bodies &bodies,
                             unsigned most)
    : k_(k), space_(space), bodies_(bodies), inputs_(elementInputs(kernel, space.shape())) {
  Value base = k_.dynamicShared();
  Type byte = k_.b.getI8Type();
  int64_t before = 0; // bytes of the block for earlier inputs
  for (size_t input = 0; input < inputs_.size(); ++input) {
    Value own = k_.mul(k_.thread(), k_.number(vectorBytes(input)));
    bases_.push_back(k_.at(base, byte, k_.add(own, k_.number(before))));
    before += int64_t(most) * k_.threads * vectorBytes(input);
  }
}

uint32_t SharedVectors::vectorBytes(size_t input) const {
  return bodies_.width() * dispatch::elementBytes(inputs_[input].tensor->element);
}

VectorType SharedVectors::vectorType(size_t input) const {
  return VectorType::get(bodies_.width(), memoryType(inputs_[input].tensor->element));
}

Value SharedVectors::place(size_t input, Value number) const {
  return k_.at(bases_[input], k_.b.getI8Type(), k_.mul(number, k_.number(int64_t(k_.threads) * vectorBytes(input))));
}

void SharedVectors::bring(const Point &point) {
  Value number = numbers_.lookup(point.id);
  for (size_t input = 0; input < inputs_.size(); ++input) {
    const auto [op, tensor] = inputs_[input];
    const uint32_t bytes = vectorBytes(input);
    Value to = place(input, number);
    const bool isAdjacent = space_.shape().along(*tensor, op->op, space_.vectorAxis) == GroupShape::Along::Adjacent;
    if (isAdjacent && (bytes == 4 || bytes == 8 || bytes == 16)) { // the sizes that the instruction has
      const auto cached = bytes == 16 ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
      NVVM::CpAsyncOp::create(k_.b, k_.loc, to, bodies_.address(*op, *tensor, point), bytes, cached, Value());
      continue;
    }
    Bodies::Scope scope(bodies_);
    const Lanes lanes = bodies_.load(*op, *tensor, point);
    Value all = LLVM::PoisonOp::create(k_.b, k_.loc, vectorType(input));
    for (unsigned lane = 0; lane < bodies_.width(); ++lane)
      all =
          LLVM::InsertElementOp::create(k_.b, k_.loc, all, toMemory(k_, lanes[lane], tensor->element), k_.number(lane));
    k_.store(all, to, bytes);
  }
}

void SharedVectors::commit() {
  NVVM::CpAsyncCommitGroupOp::create(k_.b, k_.loc);
}

void SharedVectors::stage() {
  NVVM::CpAsyncWaitGroupOp::create(k_.b, k_.loc, 0);
  for (size_t input = 0; input < inputs_.size(); ++input)
    bodies_.stage(*inputs_[input].op, *inputs_[input].tensor,
                  [this, input](const Point &point) { return lanesAt(point, input); });
}

SmallVector<Value> SharedVectors::lanesAt(const Point &point, size_t input) const {
  Value vector = k_.load(vectorType(input), place(input, numbers_.lookup(point.id)), vectorBytes(input));
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < bodies_.width(); ++lane)
    lanes.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, vector, k_.number(lane)));
  return lanes;
}

void SharedVectors::put(const Point &point, ArrayRef<Value> lanes) {
  Value all = LLVM::PoisonOp::create(k_.b, k_.loc, vectorType(0));
  for (auto [number, lane] : llvm::enumerate(lanes))
    all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, lane, k_.number(number));
  k_.store(all, place(0, numbers_.lookup(point.id)), vectorBytes(0));
}

} // namespace tenon::compiler::codegen
