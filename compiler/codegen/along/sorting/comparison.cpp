// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/comparison.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

enum class Way : uint8_t { Rising, Falling };

std::optional<Way> wayOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULT:
  case arith::CmpFPredicate::ULE:
    return Way::Rising;
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGT:
  case arith::CmpFPredicate::UGE:
    return Way::Falling;
  default:
    return std::nullopt;
  }
}

std::optional<Way> wayOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::ule:
    return Way::Rising;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::ugt:
  case arith::CmpIPredicate::uge:
    return Way::Falling;
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<Comparison> Comparison::of(Block &body) {
  Operation &compare = body.front();
  if (!llvm::hasNItems(body, 2) || compare.getNumResults() != 1 || body.back().getOperand(0) != compare.getResult(0))
    return std::nullopt;
  Comparison found;
  std::optional<Way> way;
  if (auto floats = dyn_cast<arith::CmpFOp>(compare)) {
    way = wayOf(floats.getPredicate());
  } else if (auto integers = dyn_cast<arith::CmpIOp>(compare)) {
    way = wayOf(integers.getPredicate());
    const arith::CmpIPredicate predicate = integers.getPredicate();
    found.isSigned = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle ||
                     predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
  }
  if (!way)
    return std::nullopt;
  auto lhs = dyn_cast<BlockArgument>(compare.getOperand(0)), rhs = dyn_cast<BlockArgument>(compare.getOperand(1));
  if (!lhs || !rhs || lhs.getOwner() != &body || rhs.getOwner() != &body ||
      lhs.getArgNumber() / 2 != rhs.getArgNumber() / 2 || lhs == rhs || !lhs.getType().isIntOrFloat())
    return std::nullopt;
  found.operand = lhs.getArgNumber() / 2;
  found.type = lhs.getType();
  const bool isTurned = lhs.getArgNumber() > rhs.getArgNumber();
  found.isDescending = (*way == Way::Falling) != isTurned;
  return found;
}

} // namespace tenon::compiler::codegen
