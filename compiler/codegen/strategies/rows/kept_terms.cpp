// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/rows/kept_terms.h"

#include "compiler/codegen/kernel/bodies/origins.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr unsigned kMaxDepth = 64;

class TermFinder {
public:
  TermFinder(const KernelFunction &kernel, const GroupShape &shape, const RowSum &sum)
      : origins_(kernel, shape), shape_(shape), term_{sum.op, sum.contributed} {}

  /// Whether a value can be computed from terms, and from what is the same for all of a row or lies along it. Each is
  /// looked at once: x * x of x * x has twice as many ways through it for each product.
  bool isOfTerms(const Place &place, unsigned depth = 0) {
    if (depth > kMaxDepth)
      return false;
    const std::pair<const KernelOp *, Value> key(place.op, place.value);
    if (auto found = known_.find(key); found != known_.end())
      return found->second;
    const bool isOf = lookAt(place, depth);
    known_[key] = isOf;
    return isOf;
  }

  Place source() const { return origins_.sourceOf(term_); }

  llvm::SetVector<Value> terms;

private:
  bool lookAt(const Place &place, unsigned depth) {
    // A term of another type is not what is kept, though it was extended to it.
    if (place.value.getType() == term_.value.getType() && origins_.areSame(place, term_)) {
      terms.insert(place.value);
      return true;
    }
    if (isa<BlockArgument>(place.value)) {
      const KernelInput *input = Origins::inputOf(place);
      if (!input || input->scalar)
        return bool(input);
      if (input->isMemory())
        return !shape_.mapOf(input->tensor, place.op->op).isPermutation();
      const KernelOp *producer = origins_.opOf(input->computed);
      if (!producer)
        return false;
      linalg::GenericOp op = producer->op;
      if (op.getNumReductionLoops() != 0 || shape_.group.isPerRow(op))
        return true;
      const unsigned result = cast<OpResult>(input->computed).getResultNumber();
      return isOfTerms({producer, op.getBody()->getTerminator()->getOperand(result)}, depth + 1);
    }
    Operation *inner = place.value.getDefiningOp();
    if (!inner || inner->getBlock() != linalg::GenericOp(place.op->op).getBody())
      return true; // a number of the host
    if (inner->getNumRegions() != 0 ||
        llvm::any_of(inner->getOperandTypes(), [](Type type) { return isa<ShapedType>(type); }))
      return false;
    return llvm::all_of(inner->getOperands(), [&](Value operand) { return isOfTerms({place.op, operand}, depth + 1); });
  }

  const Origins origins_;
  const GroupShape &shape_;
  const Place term_;
  llvm::DenseMap<std::pair<const KernelOp *, Value>, bool> known_;
};

} // namespace

SmallVector<Value> keptTermsOf(const KernelFunction &kernel, const GroupShape &shape, ArrayRef<RowSum> lastPhase) {
  const SmallVector<ElementInput> inputs = elementInputs(kernel, shape);
  if (lastPhase.size() != 1 || inputs.size() != 1 || !inputs.front().tensor->element.isF32() ||
      !lastPhase.front().sum.type.isF32() || !lastPhase.front().contributed.getType().isF32())
    return {};
  TermFinder finder(kernel, shape, lastPhase.front());
  Operation *by = finder.source().value.getDefiningOp();
  if (!by || !isa<math::MathDialect>(by->getDialect()))
    return {};
  for (const KernelOp &op : kernel.ops) {
    linalg::GenericOp generic = op.op;
    for (auto [number, output] : llvm::enumerate(op.outputs))
      if (output.isStored && generic.getNumReductionLoops() == 0 && !shape.group.isPerRow(generic) &&
          !finder.isOfTerms({&op, generic.getBody()->getTerminator()->getOperand(number)}))
        return {};
  }
  return finder.terms.takeVector();
}

} // namespace tenon::compiler::codegen
