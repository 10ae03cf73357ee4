// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors whose elements are all one number that the compiler can compute. Front ends make them of attributes of a
// layer: a variance divides by the number of elements less a correction, which arrives as a tensor<f32> that is filled,
// subtracted from and compared. Each would be a kernel, and a number that the host reads would wait for the device.
#include "compiler/input/tensors/patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace tenon::compiler::input {
namespace {

/// The number that a scalar is, or that all elements of a tensor are; null where that is not known.
class Elements {
public:
  TypedAttr of(Value value) const {
    if (auto found = known_.find(value); found != known_.end())
      return found->second;
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant))) {
      if (auto elements = dyn_cast<DenseElementsAttr>(constant))
        return elements.isSplat() ? dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>()) : TypedAttr();
      auto scalar = dyn_cast<TypedAttr>(constant);
      return scalar && !isa<ShapedType>(scalar.getType()) ? scalar : TypedAttr(); // a resource's elements stay unread
    }
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<tensor::SplatOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                        tensor::ExtractSliceOp>(op))
      return of(op->getOperand(0));
    return {};
  }

  void add(Value tensor, TypedAttr element) { known_[tensor] = element; }

private:
  llvm::DenseMap<Value, TypedAttr> known_;
};

/// The numbers that values of one operation's body are, operation by operation. Only what rounds as the kernel would:
/// arith, and no function of math.
class Body {
public:
  Body(linalg::LinalgOp op, const Elements &elements) : elements_(elements) {
    for (OpOperand &operand : op->getOpOperands())
      values_[op.getMatchingBlockArgument(&operand)] = elements.of(operand.get());
    for (Operation &inner : op.getBlock()->without_terminator())
      compute(inner);
  }

  /// Null where it is not known.
  TypedAttr of(Value value) const {
    auto found = values_.find(value);
    return found != values_.end() ? found->second : elements_.of(value);
  }

private:
  void compute(Operation &op) {
    if (!isa<arith::ArithDialect>(op.getDialect()) || op.getNumResults() != 1)
      return;
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands()) {
      operands.push_back(of(operand));
      if (!operands.back())
        return;
    }
    SmallVector<OpFoldResult> folded;
    if (failed(op.fold(operands, folded)) || folded.size() != 1)
      return;
    auto attribute = dyn_cast<Attribute>(folded[0]);
    values_[op.getResult(0)] = attribute ? dyn_cast<TypedAttr>(attribute) : of(cast<Value>(folded[0]));
  }

  const Elements &elements_;
  llvm::DenseMap<Value, TypedAttr> values_;
};

} // namespace

void foldKnownElements(func::FuncOp function) {
  Elements elements;
  function.walk([&](Operation *op) {
    OpBuilder b(op);
    if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
      if (TypedAttr element = elements.of(read.getTensor()))
        read.replaceAllUsesWith(arith::ConstantOp::create(b, read.getLoc(), element).getResult());
      return;
    }
    auto computed = dyn_cast<linalg::LinalgOp>(op);
    if (!computed || !computed.hasPureTensorSemantics() || computed.getNumParallelLoops() != computed.getNumLoops())
      return;
    const Body body(computed, elements);
    for (auto [init, result, value] : llvm::zip_equal(computed.getDpsInitsMutable(), op->getResults(),
                                                      computed.getBlock()->getTerminator()->getOperands())) {
      TypedAttr element = body.of(value);
      if (!element || !computed.getMatchingIndexingMap(&init).isPermutation())
        continue;
      elements.add(result, element);
      if (isa<linalg::FillOp>(op) || result.use_empty())
        continue;
      Value number = arith::ConstantOp::create(b, op->getLoc(), element);
      auto filled = linalg::FillOp::create(b, op->getLoc(), number, init.get());
      elements.add(filled.getResult(0), element);
      result.replaceAllUsesWith(filled.getResult(0));
    }
  });
}

} // namespace tenon::compiler::input
