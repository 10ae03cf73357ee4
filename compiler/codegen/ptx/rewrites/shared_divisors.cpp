// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/ptx/rewrites/shared_divisors.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace tenon::compiler::codegen {
namespace {

// Quotients that ask together, at least and at most.
constexpr size_t kLeastTogether = 2, kMostTogether = 16;
// Instructions that are computed earlier, so that a quotient stands with those before it.
constexpr unsigned kMostMoved = 48;
// Bits of 2^-96, 2^96, 2^-24 and 2^24.
constexpr uint32_t exponent(int power) {
  return uint32_t(127 + power) << 23;
}
constexpr uint32_t kLeast = exponent(-96), kMost = exponent(96);
constexpr uint32_t kLeastDivisor = exponent(-24), kMostDivisor = exponent(24);

using Group = SmallVector<BinaryOperator *>;

BinaryOperator *exactQuotient(Instruction &instruction) {
  auto *division = dyn_cast<BinaryOperator>(&instruction);
  return division && division->getOpcode() == Instruction::FDiv && division->getType()->isFloatTy() &&
                 !division->hasAllowReciprocal() && !division->hasApproxFunc() && !division->hasMetadata()
             ? division
             : nullptr;
}

/// Instructions of the block that `value` needs and that do not stand in front of `place`, in their order; false where
/// one of them has to stay. A quotient of the same divisor does: it is to be computed behind what all ask for together.
bool collectBehind(Value *value, BinaryOperator &place, SmallPtrSetImpl<Instruction *> &seen,
                   SmallVectorImpl<Instruction *> &needed) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || instruction->getParent() != place.getParent() || instruction->comesBefore(&place) ||
      seen.contains(instruction))
    return true;
  const BinaryOperator *other = exactQuotient(*instruction);
  if ((other && other->getOperand(1) == place.getOperand(1)) || isa<PHINode>(instruction) ||
      instruction->mayReadOrWriteMemory() || !isSafeToSpeculativelyExecute(instruction) || seen.size() >= kMostMoved)
    return false;
  seen.insert(instruction);
  for (Value *operand : instruction->operands())
    if (!collectBehind(operand, place, seen, needed))
      return false;
  needed.push_back(instruction);
  return true;
}

/// Whether what is divided is known where `first` stands, or can be: then it is.
bool joins(BinaryOperator &division, BinaryOperator &first) {
  SmallPtrSet<Instruction *, 16> seen;
  SmallVector<Instruction *> needed;
  if (!collectBehind(division.getOperand(0), first, seen, needed))
    return false;
  for (Instruction *instruction : needed)
    instruction->moveBefore(first.getIterator());
  return true;
}

/// The bits of a float with the sign behind them: of numbers in order of their size.
Value *turned(IRBuilder<> &b, Value *value) {
  Value *bits = b.CreateBitCast(value, b.getInt32Ty());
  return b.CreateIntrinsic(Intrinsic::fshl, {b.getInt32Ty()}, {bits, bits, b.getInt32(1)});
}

Value *fused(IRBuilder<> &b, Value *x, Value *y, Value *z) {
  return b.CreateIntrinsic(Intrinsic::fma, {b.getFloatTy()}, {x, y, z});
}

/// What quotients of one divisor share.
struct Divisor {
  Value *negative;   // -b
  Value *reciprocal; // 1 / b
  Value *isInBounds;
};

Divisor divisorOf(Value *value, Function &function) {
  auto *instruction = dyn_cast<Instruction>(value);
  BasicBlock::iterator place =
      instruction ? *instruction->getInsertionPointAfterDef() : function.getEntryBlock().getFirstInsertionPt();
  IRBuilder<> b(place->getParent(), place);
  Value *bits = turned(b, value);
  Value *isInBounds = b.CreateICmpULE(b.CreateSub(bits, b.getInt32(2 * kLeastDivisor)),
                                      b.getInt32(2 * (kMostDivisor - kLeastDivisor) + 1));
  return {b.CreateFNeg(value), b.CreateFDiv(ConstantFP::get(b.getFloatTy(), 1), value), isInBounds};
}

Value *quotient(IRBuilder<> &b, Value *of, const Divisor &divisor) {
  Value *found = b.CreateFMul(of, divisor.reciprocal);
  return fused(b, fused(b, divisor.negative, found, of), divisor.reciprocal, found);
}

void rewrite(const Group &group, const Divisor &divisor) {
  BinaryOperator *first = group.front();
  IRBuilder<> b(first);
  // +0 becomes the largest of `least`, and is never one of `most`; -0 and numbers that are too small are below.
  Value *least = nullptr, *most = nullptr;
  for (BinaryOperator *division : group) {
    Value *bits = turned(b, division->getOperand(0)), *before = b.CreateSub(bits, b.getInt32(1));
    least = least ? b.CreateBinaryIntrinsic(Intrinsic::umin, least, before) : before;
    most = most ? b.CreateBinaryIntrinsic(Intrinsic::umax, most, bits) : bits;
  }
  Value *areInBounds = b.CreateAnd(
      b.CreateAnd(b.CreateICmpUGE(least, b.getInt32(2 * kLeast - 1)), b.CreateICmpULE(most, b.getInt32(2 * kMost + 1))),
      divisor.isInBounds);
  Instruction *shared = nullptr, *apart = nullptr;
  SplitBlockAndInsertIfThenElse(areInBounds, first->getIterator(), &shared, &apart);
  IRBuilder<> inShared(shared), inApart(apart), behind(first);
  for (BinaryOperator *division : group) {
    PHINode *either = behind.CreatePHI(division->getType(), 2);
    either->addIncoming(quotient(inShared, division->getOperand(0), divisor), shared->getParent());
    either->addIncoming(inApart.Insert(division->clone()), apart->getParent());
    division->replaceAllUsesWith(either);
  }
  for (BinaryOperator *division : group)
    division->eraseFromParent();
}

/// Quotients of one divisor in a block, in their order, as groups that ask together.
void addGroups(const Group &quotients, SmallVectorImpl<Group> &groups) {
  Group group;
  auto end = [&] {
    if (group.size() >= kLeastTogether)
      groups.push_back(group);
    group.clear();
  };
  for (BinaryOperator *division : quotients) {
    if (!group.empty() && (group.size() == kMostTogether || !joins(*division, *group.front())))
      end();
    group.push_back(division);
  }
  end();
}

using Quotients = MapVector<BasicBlock *, Group>; // of one divisor, by block

MapVector<Value *, Quotients> quotientsOf(Function &function) {
  MapVector<Value *, Quotients> found;
  for (Instruction &instruction : instructions(function))
    if (BinaryOperator *division = exactQuotient(instruction); division && !isa<Constant>(division->getOperand(1)))
      found[division->getOperand(1)][division->getParent()].push_back(division);
  return found;
}

size_t countOf(const Quotients &quotients) {
  size_t count = 0;
  for (const auto &[block, group] : quotients)
    count += group.size();
  return count;
}

/// Divisors one after the other: what is done for one moves quotients of others, and cuts their blocks.
unsigned shareIn(Function &function, unsigned least) {
  unsigned count = 0;
  SmallVector<WeakVH> done; // a divisor may be a quotient, which is replaced
  for (;;) {
    MapVector<Value *, Quotients> all = quotientsOf(function);
    auto *next = find_if(
        all, [&](const auto &each) { return countOf(each.second) >= least && !is_contained(done, each.first); });
    if (next == all.end())
      return count;
    done.push_back(next->first);
    SmallVector<Group> groups;
    for (const auto &[block, group] : next->second)
      addGroups(group, groups);
    size_t grouped = 0;
    for (const Group &group : groups)
      grouped += group.size();
    if (grouped < least)
      continue;
    const Divisor divisor = divisorOf(next->first, function);
    for (const Group &group : groups)
      rewrite(group, divisor);
    count += unsigned(grouped);
  }
}

} // namespace

unsigned shareDivisors(Module &device, unsigned least) {
  unsigned count = 0;
  for (Function &function : device)
    count += shareIn(function, least);
  assert(!verifyModule(device));
  return count;
}

} // namespace tenon::compiler::codegen
