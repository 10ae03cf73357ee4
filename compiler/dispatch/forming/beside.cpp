// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/forming/beside.h"

#include "compiler/dialect/donation.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/analysis/kernel_config.h"
#include "compiler/dispatch/analysis/own_kernel.h"
#include "compiler/dispatch/analysis/products/contraction.h"
#include "compiler/dispatch/analysis/reduction_body.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Elements of a group that takes less time than its launch, about 2 microseconds of an H200.
constexpr int64_t kMostBeside = 1 << 16;
// Tensors that one kernel moves element by element; and of what two would move, one in so many bytes is saved.
constexpr size_t kMostMoved = 10;
constexpr int64_t kLeastSaved = 8;

bool isPlain(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && !isOfAttention(op) && !op->hasAttr(kFormAttr) && !op->hasAttr(kStoredAttr) &&
         op.getBody()->getOps<tensor::ExtractOp>().empty();
}

/// Bytes of each tensor that these operations read from memory or write, those that have an element for each loop.
void addMoved(const Members &members, llvm::SmallDenseMap<Value, int64_t, 16> &read,
              llvm::SmallDenseMap<Value, int64_t, 16> &written) {
  llvm::SmallPtrSet<Operation *, 8> inside(llvm::from_range, members);
  auto bytesOf = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getNumElements() * int64_t(elementBytes(type.getElementType()));
  };
  for (linalg::GenericOp op : members) {
    for (OpOperand *input : op.getDpsInputOperands())
      if (isa<RankedTensorType>(input->get().getType()) && !inside.contains(input->get().getDefiningOp()) &&
          op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops())
        read[input->get()] = bytesOf(input->get());
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        written[result] = bytesOf(result);
  }
}

} // namespace

linalg::GenericOp smallLeaderOf(const Members &members) {
  linalg::GenericOp leader;
  for (linalg::GenericOp op : members) {
    if (!isPlain(op) || (op.getNumReductionLoops() != 0 && (!isTreeReduction(op) || contractionOf(op))))
      return {};
    if (!leader || op.getNumLoops() > leader.getNumLoops())
      leader = op;
  }
  int64_t elements = 1;
  for (int64_t size : leader.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size) || size > kMostBeside)
      return {};
    elements *= size;
  }
  return elements <= kMostBeside ? leader : linalg::GenericOp();
}

/// Whether a result may take the memory of what the operation reads (dispatch/in_place), which needs the last reader
/// for itself.
static bool readsGivenUp(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    auto argument = dyn_cast<BlockArgument>(withoutRenames(input));
    return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) && isGivenUp(argument);
  });
}

bool isElementByElement(const Members &members) {
  const SmallVector<int64_t> sizes = linalg::GenericOp(members.front()).getStaticLoopRanges();
  return llvm::all_of(members, [&](linalg::GenericOp op) {
    if (!isPlain(op) || readsGivenUp(op) || op->hasAttr(kOwnKernelAttr) || op.getNumReductionLoops() != 0 ||
        op.getNumLoops() == 0 || op.getStaticLoopRanges() != sizes || llvm::is_contained(sizes, ShapedType::kDynamic))
      return false;
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      const AffineMap map = op.getMatchingIndexingMap(&operand);
      return !type || (type.hasStaticShape() && map.isProjectedPermutation() &&
                       (map.getNumResults() < op.getNumLoops() ? !op.isDpsInit(&operand) : map.isIdentity()));
    });
  });
}

bool isWorthReading(const Members &first, const Members &second) {
  if (linalg::GenericOp(first.front()).getStaticLoopRanges() != linalg::GenericOp(second.front()).getStaticLoopRanges())
    return false;
  llvm::SmallDenseMap<Value, int64_t, 16> read, other, written;
  addMoved(first, read, written);
  addMoved(second, other, written);
  int64_t saved = 0, all = 0;
  for (auto [tensor, bytes] : other) {
    saved += read.contains(tensor) ? bytes : 0;
    all += bytes;
  }
  for (const auto &moved : {read, written})
    for (auto [tensor, bytes] : moved)
      all += bytes;
  read.insert(other.begin(), other.end());
  return saved * kLeastSaved >= all && saved != 0 && read.size() + written.size() <= kMostMoved;
}

} // namespace tenon::compiler::dispatch
