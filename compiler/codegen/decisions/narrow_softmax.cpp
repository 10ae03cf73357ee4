// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/decisions/narrow_softmax.h"

#include "compiler/codegen/kernel/bodies/one_pass.h"
#include "compiler/codegen/kernel/bodies/origins.h"
#include "compiler/codegen/plan/strategy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class NarrowSoftmax {
public:
  NarrowSoftmax(const KernelFunction &kernel, const GroupShape &shape, const RowSum &sum, const RowSum &over,
                Operation *exponential)
      : kernel_(kernel), origins_(kernel, shape), sum_(sum), over_(over), exponential_(exponential) {}

  /// Whether all that is made of it is narrow; what is to be rewritten is known then.
  bool find() {
    if (!sum_.sum.type.isF32() || !sum_.sum.element.isF32() || !startsAt(sum_, m_AnyZeroFloat()) || !hasLowestStart())
      return false;
    findExponentials();
    for (const Place &e : exponentials_)
      if (!eachUse(e, [&](const KernelOp &op, OpOperand &use) { return takesExponential(op, use); }))
        return false;
    return eachUseOf(sum_.op->op->getResult(sum_.output), sum_.op->outputs[sum_.output],
                     [&](const KernelOp &op, OpOperand &use) { return takesSum(op, use); });
  }

  void rewrite() {
    for (const Place &e : exponentials_) {
      Operation *op = e.value.getDefiningOp();
      auto afn = arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::afn);
      op->setAttr(cast<arith::ArithFastMathInterface>(op).getFastMathAttrName(), afn);
    }
    for (arith::DivFOp division : divisions_) {
      OpBuilder b(division);
      const Location loc = division.getLoc();
      Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(division.getType(), 1));
      Value inverse = arith::DivFOp::create(b, loc, one, division.getRhs());
      division.replaceAllUsesWith(arith::MulFOp::create(b, loc, division.getLhs(), inverse).getResult());
      division.erase();
    }
  }

private:
  using Uses = llvm::function_ref<bool(const KernelOp &, OpOperand &)>;

  template <typename Matcher> static bool startsAt(const RowSum &sum, Matcher &&matcher) {
    const KernelOutput &output = sum.op->outputs[sum.output];
    return output.startScalar && !output.startTensor && matchPattern(output.startScalar, matcher);
  }

  bool hasLowestStart() const {
    APFloat start(0.0);
    return startsAt(over_, m_ConstantFloat(&start)) && start.isNegative() && (start.isInfinity() || start.isLargest());
  }

  /// exp(x - m), wherever it is computed.
  void findExponentials() {
    for (const KernelOp &op : kernel_.ops)
      for (Operation &inner : linalg::GenericOp(op.op).getBody()->without_terminator())
        if (isa<math::ExpOp, math::Exp2Op>(inner) && isExponential({&op, inner.getResult(0)}))
          exponentials_.push_back({&op, inner.getResult(0)});
  }

  bool isExponential(const Place &place) const { return origins_.areSame(place, {sum_.op, sum_.contributed}); }

  /// Calls `take` for each use of a value of a body, also in operations that it is handed to, until one answers no.
  /// @return no, too, where it is stored
  bool eachUse(const Place &place, Uses take) const {
    for (OpOperand &use : place.value.getUses()) {
      if (!isa<linalg::YieldOp>(use.getOwner())) {
        if (!take(*place.op, use))
          return false;
        continue;
      }
      linalg::GenericOp op = place.op->op;
      if (op.getNumReductionLoops() != 0 ||
          !eachUseOf(op->getResult(use.getOperandNumber()), place.op->outputs[use.getOperandNumber()], take))
        return false;
    }
    return true;
  }

  bool eachUseOf(Value result, const KernelOutput &output, Uses take) const {
    if (output.isStored)
      return false;
    for (OpOperand &use : result.getUses()) {
      const KernelOp *reader = nullptr;
      for (const KernelOp &op : kernel_.ops)
        if (op.op == use.getOwner())
          reader = &op;
      if (!reader)
        return false;
      auto generic = linalg::GenericOp(reader->op);
      if (!generic.isDpsInput(&use) || !eachUse({reader, generic.getMatchingBlockArgument(&use)}, take))
        return false;
    }
    return true;
  }

  /// Whether it is rounded to f16 or bf16, and nothing else.
  bool isNarrowed(const KernelOp &op, Value value) const {
    return eachUse({&op, value}, [](const KernelOp &, OpOperand &use) {
      auto narrow = dyn_cast<arith::TruncFOp>(use.getOwner());
      return narrow && (narrow.getType().isF16() || narrow.getType().isBF16());
    });
  }

  bool isDivision(const KernelOp &op, arith::DivFOp division) {
    if (!division || !isExponential({&op, division.getLhs()}) ||
        !origins_.isReduction(origins_.sourceOf({&op, division.getRhs()}), sum_) ||
        !isNarrowed(op, division.getResult()))
      return false;
    divisions_.insert(division);
    return true;
  }

  bool takesExponential(const KernelOp &op, OpOperand &use) {
    if (op.op == sum_.op->op && use.get() == sum_.contributed && isa<arith::AddFOp>(use.getOwner()))
      return true;
    return use.getOperandNumber() == 0 && isDivision(op, dyn_cast<arith::DivFOp>(use.getOwner()));
  }

  bool takesSum(const KernelOp &op, OpOperand &use) {
    if (auto division = dyn_cast<arith::DivFOp>(use.getOwner()))
      return use.getOperandNumber() == 1 && isDivision(op, division);
    auto log = dyn_cast<math::LogOp>(use.getOwner());
    return log && eachUse({&op, log.getResult()}, [&](const KernelOp &user, OpOperand &inner) {
             auto difference = dyn_cast<arith::SubFOp>(inner.getOwner());
             return difference && inner.getOperandNumber() == 1 && isExponent({&user, difference.getLhs()}) &&
                    isNarrowed(user, difference.getResult());
           });
  }

  /// Whether it is x - m. Of exp2 the logarithm is another.
  bool isExponent(const Place &place) const {
    const Place e = origins_.sourceOf({sum_.op, sum_.contributed});
    return isa<math::ExpOp>(exponential_) && origins_.areSame(place, {e.op, exponential_->getOperand(0)});
  }

  const KernelFunction &kernel_;
  const Origins origins_;
  const RowSum &sum_, &over_;
  Operation *exponential_;
  SmallVector<Place> exponentials_;
  llvm::SmallSetVector<arith::DivFOp, 4> divisions_;
};

} // namespace

bool narrowSoftmax(const KernelFunction &kernel) {
  if (kernel.softmax || kernel.ops.empty() || kernel.workgroupSize)
    return false;
  const GroupShape shape = GroupShape::of(kernel);
  if (!hasCombiners(kernel, shape))
    return false;
  const SmallVector<SmallVector<RowSum>> phases = phasesOf(kernel, shape.group);
  const Origins origins(kernel, shape);
  bool found = false;
  for (size_t later = 1; later < phases.size(); ++later)
    for (const RowSum &sum : phases[later])
      for (const RowSum &over : phases[later - 1])
        if (Operation *exponential = exponentialOver(origins, sum, over)) {
          NarrowSoftmax softmax(kernel, shape, sum, over, exponential);
          if (softmax.find()) {
            softmax.rewrite();
            found = true;
          }
        }
  return found;
}

} // namespace tenon::compiler::codegen
