// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-find-attention (Passes.td): attention in any of its usual forms becomes one form.
#include "compiler/dialect/hal/declarations.h"
#include "compiler/dialect/hal/default_targets.h"
#include "compiler/dispatch/Passes.h"
#include "compiler/dispatch/analysis/groups/group.h"
#include "compiler/dispatch/attention/build.h"
#include "compiler/dispatch/attention/chain.h"
#include "compiler/dispatch/attention/chains/kept_weights.h"
#include "compiler/dispatch/attention/chains/row_factors.h"
#include "compiler/dispatch/attention/chains/twins.h"
#include "compiler/dispatch/attention/forms/open_forms.h"
#include "compiler/dispatch/attention/match.h"
#include "compiler/dispatch/attention/row_sums.h"
#include "compiler/dispatch/attention/shared_heads.h"
#include "compiler/dispatch/attention/surroundings.h"
#include "compiler/dispatch/attention/triplets.h"
#include "compiler/dispatch/prepare/prepare.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <map>
#include <string>

using namespace mlir;

namespace tenon::compiler::dispatch {

#define GEN_PASS_DEF_FINDATTENTION
#include "compiler/dispatch/Passes.h.inc"

namespace {

struct FindAttention : impl::FindAttentionBase<FindAttention> {
  using FindAttentionBase::FindAttentionBase;

  void runOnOperation() override {
    isForHopper_ = isForOnly(getOperation(), kHopper);
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() && hasExponential(function))
        findIn(function);
  }

private:
  static bool hasExponential(func::FuncOp function) {
    return function
        .walk([](Operation *op) {
          return isa<math::ExpOp, math::Exp2Op>(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// In the program as it is, or, where more is found there, in a copy without what stands between.
  void findIn(func::FuncOp function) {
    generalizeOperations(function);
    eraseDeadOperations(function);
    splitHeads(function);
    exchangeSums(function);
    if (hasClosedForms(function) && !openIn(function, /*isAroundAlone=*/false))
      openIn(function, /*isAroundAlone=*/true);
    build(function);
    if (buildChains(function) > 0) {
      multiplyRowsFirst(function);
      eraseDeadOperations(function);
    }
    if (isForHopper_) {
      joinTwins(function);
      joinSharedHeads(function, anyOrder);
      anyOrder ? joinTriplets(function) : keepWeights(function, mostKept);
      eraseDeadOperations(function);
    }
    if (print)
      printRemarks(function);
  }

  /// Where no less is found so.
  /// @param isAroundAlone around attentions that are there as they are, and nowhere else
  static bool openIn(func::FuncOp function, bool isAroundAlone) {
    const unsigned known = countIn(function);
    if (isAroundAlone && known == 0)
      return false;
    OwningOpRef<func::FuncOp> opened(cast<func::FuncOp>(function->clone()));
    if (isAroundAlone)
      keepClosedElsewhere(*opened);
    openForms(*opened);
    exchangeSums(*opened);
    const unsigned count = build(*opened);
    if (count == 0 || count < known)
      return false;
    function.getBody().takeBody(opened->getBody());
    return true;
  }

  /// Where more is found so.
  static void splitHeads(func::FuncOp function) {
    if (!hasSharedHeads(function))
      return;
    OwningOpRef<func::FuncOp> split(cast<func::FuncOp>(function->clone()));
    splitSharedHeads(*split);
    auto found = [](func::FuncOp in) {
      size_t count = countIn(in);
      for (Block &block : in.getBody())
        count += chainsOf(block).size();
      return count;
    };
    if (found(*split) > found(function))
      function.getBody().takeBody(split->getBody());
  }

  /// Where that rounds, only those of attentions of which more is found so: kernels that store no weights have no other
  /// sums of them. Layers that are alike are asked together, which takes two copies instead of one for each.
  static void exchangeSums(func::FuncOp function) {
    std::map<std::string, SmallVector<size_t>> alike; // numbers of attentions, by what is left of them
    const SmallVector<std::string> left = exchangeSumsIn(function, {});
    for (auto [number, sums] : llvm::enumerate(left))
      if (!sums.empty())
        alike[sums].push_back(number);
    if (alike.empty())
      return;
    int64_t found = countBuilt(function);
    OwningOpRef<func::FuncOp> exchanged;
    auto more = [&](ArrayRef<size_t> numbers) {
      exchanged = cast<func::FuncOp>(function->clone());
      exchangeSumsIn(*exchanged, numbers);
      return countBuilt(*exchanged) - found;
    };
    auto take = [&](int64_t count) {
      if (count <= 0)
        return;
      found += count;
      function.getBody().takeBody(exchanged->getBody());
    };
    for (const auto &[sums, numbers] : alike) {
      const int64_t ofOne = more(numbers.front()), ofAll = numbers.size() == 1 ? ofOne : more(numbers);
      if (ofAll == ofOne * int64_t(numbers.size()))
        take(ofAll);
      else
        for (size_t number : numbers)
          take(more(number));
    }
  }

  /// @param rounded numbers of the attentions whose sums become those of their results, though that rounds
  /// @return of each attention, sums that are left because they would be rounded (row_sums.h); empty: none
  static SmallVector<std::string> exchangeSumsIn(func::FuncOp function, ArrayRef<size_t> rounded) {
    SmallVector<std::string> left;
    bool any = false;
    for (Block &block : function.getBody())
      for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>())) {
        std::string reason;
        const std::optional<AttentionMatch> match = matchAttention(op, reason, /*mustBeAlone=*/false);
        if (!match)
          continue;
        std::string sums;
        any |= exchangeRowSums(*match, llvm::is_contained(rounded, left.size()) ? nullptr : &sums);
        left.push_back(sums);
      }
    if (any)
      eraseDeadOperations(function);
    return left;
  }

  /// How many attentions and chains a copy has that is built.
  static int64_t countBuilt(func::FuncOp function) {
    OwningOpRef<func::FuncOp> built(cast<func::FuncOp>(function->clone()));
    const int64_t attentions = build(*built);
    return attentions + buildChains(*built);
  }

  static unsigned countIn(func::FuncOp function) {
    unsigned count = 0;
    for (Block &block : function.getBody())
      for (auto op : block.getOps<linalg::GenericOp>()) {
        std::string reason;
        count += matchAttention(op, reason).has_value();
      }
    return count;
  }

  /// @return how many there were
  static unsigned build(func::FuncOp function) {
    unsigned found = 0;
    KeyRanges ranges;
    for (Block &block : function.getBody())
      for (auto op : llvm::to_vector(block.getOps<linalg::GenericOp>())) {
        std::string reason;
        if (std::optional<AttentionMatch> match = matchAttention(op, reason)) {
          buildAttention(*match, ranges);
          ++found;
        }
      }
    if (found > 0)
      eraseDeadOperations(function);
    return found;
  }

  bool isForHopper_ = false; // alone: kernels of twins (chains/twins.h) need more memory than other targets have

  static void printRemarks(func::FuncOp function) {
    for (Block &block : function.getBody())
      for (auto op : block.getOps<linalg::GenericOp>()) {
        std::string reason;
        if (!op->hasAttr(kChainAttr) && !matchAttention(op, reason) && !reason.empty())
          op.emitRemark() << "this product is not computed as attention: " << reason;
      }
  }
};

} // namespace

} // namespace tenon::compiler::dispatch
