// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dispatch/attention/scores.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tenon::compiler::dispatch {
namespace {

// Tensors that logits are computed from; a kernel has 32 parameters.
constexpr unsigned kMostElements = 20;

/// Whether the loops `ofScores` are those of the anchor, each once.
bool areSame(const llvm::SmallDenseMap<unsigned, unsigned> &anchorOf, ArrayRef<unsigned> ofScores,
             ArrayRef<unsigned> ofAnchor) {
  llvm::SmallDenseSet<unsigned> seen;
  for (unsigned loop : ofScores) {
    auto anchor = anchorOf.find(loop);
    if (anchor == anchorOf.end() || !seen.insert(anchor->second).second)
      return false;
  }
  return seen.size() == ofAnchor.size() && llvm::all_of(ofAnchor, [&](unsigned loop) { return seen.contains(loop); });
}

} // namespace

bool findScores(AttentionMatch &found, Terms &terms, const Contraction &product, bool weightsAreLeft, unsigned most,
                std::string &reason) {
  auto fail = [&](const char *why) {
    if (reason.empty())
      reason = why;
    return false;
  };
  // One kernel computes all of it in f64, or nothing.
  auto isF64 = [](Value value) { return getElementTypeOrSelf(value.getType()).isF64(); };
  const bool isWide = isF64(found.output->getResult(0));
  const char *const isMixed = "its logits and its results are not both computed in f64";
  if (isF64(found.logits.value) != isWide)
    return fail(isMixed);
  const SmallVector<Term> elements = elementsOf(terms, found.logits);
  const auto &rows = weightsAreLeft ? product.rows : product.columns;
  const auto &columns = weightsAreLeft ? product.columns : product.rows;
  if (columns.empty())
    return fail("its values are one number for each key");
  llvm::DenseSet<Value> tensors;
  SmallVector<Term, 2> scores;
  SmallVector<Contraction, 2> forms;
  for (const Term &element : elements) {
    tensors.insert(element.value);
    auto op = element.value.getDefiningOp<linalg::GenericOp>();
    const bool hasKeys = llvm::is_contained(element.place, getAffineDimExpr(found.keys, found.output.getContext()));
    std::optional<Contraction> each = op && hasKeys ? contractionOf(op) : std::nullopt;
    if (!each || each->combiner != Combiner::AddF ||
        llvm::any_of(scores, [&](const Term &known) { return terms.areEqual(known, element); }))
      continue;
    if (scores.size() == most)
      return fail(most == 1 ? "its logits are computed from two products"
                            : "its weights are computed from more than two products");
    scores.push_back(element);
    forms.push_back(*each);
  }
  if (forms.empty())
    return fail("its logits are computed from no product of queries and keys");
  if (tensors.size() > kMostElements)
    return fail("its logits are computed from more tensors than a kernel takes");

  for (auto [form, term] : llvm::zip_equal(forms, scores)) {
    if (isF64(term.value) != isWide)
      return fail(isMixed);
    // The loops of the product, as those of the anchor.
    found.scores.push_back(form.op);
    AffineMap written = form.op.getMatchingIndexingMap(form.op.getDpsInitOperand(0));
    llvm::SmallDenseMap<unsigned, unsigned> anchorOf;
    for (auto [expr, index] : llvm::zip_equal(written.getResults(), term.place)) {
      auto loop = dyn_cast<AffineDimExpr>(expr), anchor = dyn_cast<AffineDimExpr>(index);
      if (!loop || !anchor)
        return fail("its scores are read elsewhere than they are computed");
      anchorOf[loop.getPosition()] = anchor.getPosition();
    }
    const SmallVector<unsigned> keys = {found.keys};
    // A dimension of the batch may be one of queries alone, or of keys: those of the other side are shared.
    SmallVector<unsigned> ofBatch = llvm::to_vector(form.batch);
    auto withoutBatch = [&](ArrayRef<unsigned> loops) {
      SmallVector<unsigned> others;
      for (unsigned loop : loops) {
        auto anchor = anchorOf.find(loop);
        const bool isOfBatch = anchor != anchorOf.end() && llvm::is_contained(product.batch, anchor->second);
        (isOfBatch ? ofBatch : others).push_back(loop);
      }
      return others;
    };
    const SmallVector<unsigned> left = withoutBatch(form.rows), right = withoutBatch(form.columns);
    const bool isPlain = areSame(anchorOf, left, rows) && areSame(anchorOf, right, keys);
    const bool isTurned = areSame(anchorOf, right, rows) && areSame(anchorOf, left, keys);
    if (!areSame(anchorOf, ofBatch, product.batch) || (!isPlain && !isTurned))
      return fail(
          "queries, keys and values do not share their dimensions: those of the batch must be in all three, those "
          "of the queries in neither keys nor values");
  }
  for (unsigned loop = 0; loop < found.output.getNumLoops(); ++loop)
    if (llvm::is_contained(product.batch, loop) || llvm::is_contained(rows, loop))
      found.parallel.push_back(loop);
  auto isOfLogits = [&](AffineExpr expr) {
    bool others = false;
    expr.walk([&](AffineExpr inner) {
      if (auto dim = dyn_cast<AffineDimExpr>(inner))
        others |= dim.getPosition() != found.keys && !llvm::is_contained(found.parallel, dim.getPosition());
    });
    return !others;
  };
  for (const Term &element : elements)
    if (!llvm::all_of(element.place, isOfLogits))
      return fail("its logits differ along the dimensions of the values");
  return true;
}

bool startsFromZero(linalg::GenericOp product) {
  Value init = product.getDpsInits()[0];
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  auto splat = dyn_cast_or_null<FloatAttr>(splatOf(init));
  return splat && splat.getValue().isZero();
}

} // namespace tenon::compiler::dispatch
