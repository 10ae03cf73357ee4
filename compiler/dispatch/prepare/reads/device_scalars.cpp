// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/prepare/reads/device_scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Operations that a kernel computes for each element anew.
constexpr size_t kMostSteps = 16;
// Numbers of a block that are looked at: what is computed of two numbers is two that are computed of others.
constexpr size_t kMostNumbers = 256;

/// Arithmetic on whole numbers, of which host and device make the same.
bool isWhole(Operation *op) {
  auto isInteger = [](Type type) { return type.isIntOrIndex(); };
  return isa<arith::ArithDialect>(op->getDialect()) && op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getOperandTypes(), isInteger) && llvm::all_of(op->getResultTypes(), isInteger);
}

bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

/// What is computed of a number on the device, as far as the bodies of operations that use it.
struct Reach {
  llvm::SetVector<Operation *> steps; // of the function, the number among them
  llvm::SetVector<linalg::GenericOp> readers;
};

/// Nothing where anybody else uses it.
std::optional<Reach> reachOf(tensor::ExtractOp number) {
  Reach reach;
  reach.steps.insert(number);
  for (size_t next = 0; next < reach.steps.size(); ++next)
    for (Operation *user : reach.steps[next]->getUsers()) {
      if (auto reader = user->getParentOfType<linalg::GenericOp>()) {
        if (reader->getBlock() != number->getBlock())
          return std::nullopt;
        reach.readers.insert(reader);
      } else if (user->getBlock() == number->getBlock() && isWhole(user)) {
        reach.steps.insert(user);
      } else {
        return std::nullopt;
      }
    }
  if (reach.steps.size() > kMostSteps || reach.readers.empty())
    return std::nullopt;
  return reach;
}

/// Whether the number is there whatever sizes there are: the host says what is read behind the end.
bool isThere(tensor::ExtractOp number) {
  auto type = cast<RankedTensorType>(number.getTensor().getType());
  return llvm::all_of(llvm::zip_equal(number.getIndices(), type.getShape()), [](auto each) {
    APInt index;
    return matchPattern(std::get<0>(each), m_ConstantInt(&index)) && std::get<1>(each) != ShapedType::kDynamic &&
           index.sge(0) && index.slt(std::get<1>(each));
  });
}

bool isNumberOrTensorOfOne(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || type.getRank() == 0;
}

/// A number that an operation without loops computes of others, in `most` steps, is computed of these where it was
/// read.
/// @return those of the others that lie on the device; nothing where it is another number
std::optional<SmallVector<tensor::ExtractOp>> computeHere(tensor::ExtractOp number, size_t most) {
  auto result = dyn_cast<OpResult>(number.getTensor());
  auto op = number.getTensor().getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumLoops() != 0 || !op.hasPureTensorSemantics() || op.getBody()->getOperations().size() > most ||
      !llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) { return isWhole(&inner); }) ||
      !llvm::all_of(op.getRegionOutputArgs(), [](BlockArgument start) { return start.use_empty(); }) ||
      !llvm::all_of(op->getOperands(), isNumberOrTensorOfOne) ||
      !llvm::all_of(op.getDpsInputs(), [](Value input) { return getElementTypeOrSelf(input).isIntOrIndex(); }))
    return std::nullopt;
  OpBuilder b(number);
  IRMapping here;
  SmallVector<tensor::ExtractOp> others;
  llvm::SmallDenseMap<Value, Value> read;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (isa<RankedTensorType>(value.getType())) {
      Value &element = read[value];
      if (!element) {
        others.push_back(tensor::ExtractOp::create(b, number.getLoc(), value, ValueRange{}));
        element = others.back();
      }
      value = element;
    }
    here.map(op.getMatchingBlockArgument(input), value);
  }
  for (Operation &inner : op.getBody()->without_terminator())
    b.clone(inner, here);
  number.replaceAllUsesWith(here.lookupOrDefault(op.getBody()->getTerminator()->getOperand(result.getResultNumber())));
  number.erase();
  return others;
}

/// The steps in the body, in their order; what they take from elsewhere stays a number of the host.
void computeInside(linalg::GenericOp reader, ArrayRef<Operation *> steps) {
  OpBuilder b = OpBuilder::atBlockBegin(reader.getBody());
  IRMapping inside;
  for (Operation *step : steps)
    b.clone(*step, inside);
  for (Operation *step : steps)
    for (OpResult result : step->getResults())
      result.replaceUsesWithIf(inside.lookup(result),
                               [&](OpOperand &use) { return reader->isProperAncestor(use.getOwner()); });
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*reader.getBody())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

} // namespace

void keepScalarsOnDevice(func::FuncOp function) {
  for (Block &block : function.getBody()) {
    SmallVector<tensor::ExtractOp> open = llvm::to_vector(block.getOps<tensor::ExtractOp>());
    for (size_t looked = 0; !open.empty() && looked < kMostNumbers; ++looked) {
      tensor::ExtractOp number = open.pop_back_val();
      if (!number.getType().isIntOrIndex() || !isThere(number) || isConstant(number.getTensor()))
        continue;
      const std::optional<Reach> reach = reachOf(number);
      if (!reach)
        continue;
      if (const auto others = computeHere(number, kMostSteps - reach->steps.size())) {
        llvm::append_range(open, *others);
        continue;
      }
      SmallVector<Operation *> steps(reach->steps.begin(), reach->steps.end());
      llvm::sort(steps, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
      for (linalg::GenericOp reader : reach->readers)
        computeInside(reader, steps);
      for (Operation *step : llvm::reverse(steps))
        step->erase();
    }
  }
}

} // namespace tenon::compiler::dispatch
