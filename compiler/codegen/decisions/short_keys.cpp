// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/decisions/short_keys.h"

#include "compiler/dispatch/analysis/key_parts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

class KeyShortener {
public:
  explicit KeyShortener(func::FuncOp function) : function_(function) {}

  std::optional<int64_t> run();

private:
  static StringRef partOf(Operation *op) {
    auto part = op->getAttrOfType<StringAttr>(dispatch::kKeyPartAttr);
    return part ? part.getValue() : StringRef();
  }
  bool find();
  bool isPlaceInRow(Value index) const;
  bool takesKeysFromHere(linalg::GenericOp op) const;
  bool isOfSameElements(arith::SelectOp ofBest) const;
  void shortenReduction(linalg::GenericOp op);
  void shortenArguments(linalg::GenericOp op);
  void shortenNumber(Operation *op);
  void joinBest(arith::SelectOp ofBest);

  func::FuncOp function_;
  SmallVector<linalg::GenericOp> keys_; // reductions whose results are keys
  SmallVector<Operation *> numbers_;    // of bodies
  SmallVector<arith::SelectOp> ofBest_;
  unsigned keyBits_ = 0, placeBits_ = 0, shorterKeyBits_ = 0, shorterPlaceBits_ = 0;
};

/// Whether the number of an element is its place in the row: rows may be parts of longer ones.
bool KeyShortener::isPlaceInRow(Value index) const {
  Operation *op = index.getDefiningOp();
  auto isSize = [](Value value) { return isa<func::FuncOp>(value.getParentRegion()->getParentOp()); };
  if (auto loop = dyn_cast_or_null<linalg::IndexOp>(op))
    return op->getParentOfType<linalg::GenericOp>().getIteratorTypesArray()[loop.getDim()] ==
           utils::IteratorType::reduction;
  if (isa_and_nonnull<arith::AddIOp>(op))
    return isPlaceInRow(op->getOperand(0)) && isPlaceInRow(op->getOperand(1));
  return isa_and_nonnull<arith::MulIOp>(op) && isPlaceInRow(op->getOperand(0)) && isSize(op->getOperand(1));
}

/// Whether what the body takes for a key is one that is found here.
bool KeyShortener::takesKeysFromHere(linalg::GenericOp op) const {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    auto takesKeys = [](Operation *user) {
      auto isKey = [](Value value) { return value.getDefiningOp() && !partOf(value.getDefiningOp()).empty(); };
      return !partOf(user).empty() ? !isa<arith::ExtUIOp>(user)
                                   : isa<arith::CmpIOp>(user) && llvm::any_of(user->getOperands(), isKey);
    };
    return llvm::none_of(argument.getUsers(), takesKeys) ||
           llvm::is_contained(keys_, input->get().getDefiningOp<linalg::GenericOp>());
  });
}

/// Whether the best element of each row is found here, among the same elements as its place.
bool KeyShortener::isOfSameElements(arith::SelectOp ofBest) const {
  auto isBest = ofBest.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!isBest || isBest.getPredicate() != arith::CmpIPredicate::eq || !isBest.getLhs().getType().isInteger(32) ||
      !isBest->hasOneUse())
    return false;
  auto best = dyn_cast<BlockArgument>(isBest.getRhs());
  auto op = ofBest->getParentOfType<linalg::GenericOp>();
  const unsigned last = op.getNumDpsInputs() - 1;
  if (!best || best.getOwner() != op.getBody() || best.getArgNumber() != last || !best.hasOneUse())
    return false;
  const SmallVector<Value> inputs = op.getDpsInputs();
  auto found = inputs[last].getDefiningOp<linalg::GenericOp>();
  return found && found->hasOneUse() && found.getIteratorTypesArray() == op.getIteratorTypesArray() &&
         llvm::equal(found.getDpsInputs(), ArrayRef(inputs).drop_back()) &&
         found.getIndexingMaps().getValue().drop_back() == op.getIndexingMaps().getValue().drop_back(2) &&
         found.getIndexingMaps().getValue().back() == op.getIndexingMaps().getValue().back();
}

bool KeyShortener::find() {
  bool isGood = true;
  function_.walk([&](Operation *op) {
    const StringRef part = partOf(op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      Operation *yielded = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp();
      if (!yielded || partOf(yielded).empty())
        return;
      keys_.push_back(generic);
      auto start = generic.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
      isGood &= generic->getNumResults() == 1 && start && start.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    } else if (part == dispatch::kKeyOfBest) {
      ofBest_.push_back(cast<arith::SelectOp>(op));
    } else if (!part.empty()) {
      numbers_.push_back(op);
    }
    if (part == dispatch::kKeyPlaces) {
      const APInt places = cast<IntegerAttr>(cast<arith::ConstantOp>(op).getValue()).getValue();
      isGood &= placeBits_ == 0 || placeBits_ == places.countr_one(); // of one choice, or of several alike
      keyBits_ = places.getBitWidth();
      placeBits_ = places.countr_one();
    }
    if (auto place = dyn_cast<arith::IndexCastUIOp>(op); place && !part.empty() && place.getIn().getType().isIndex())
      isGood &= isPlaceInRow(place.getIn());
  });
  auto isSeenElsewhere = [](linalg::GenericOp key) {
    return llvm::any_of(key->getUsers(), [](Operation *user) { return !isa<linalg::GenericOp>(user); });
  };
  if (!isGood || keys_.empty() || keyBits_ != 64 || llvm::any_of(keys_, isSeenElsewhere) ||
      !llvm::all_of(function_.getOps<linalg::GenericOp>(), [&](auto op) { return takesKeysFromHere(op); }))
    return false;
  if (ofBest_.empty()) {
    // Above the places are the bits of an element.
    if (placeBits_ < 48)
      return false;
    shorterKeyBits_ = 32;
    shorterPlaceBits_ = placeBits_ - 32;
    return true;
  }
  shorterKeyBits_ = 64;
  shorterPlaceBits_ = 32;
  return placeBits_ == 64 && llvm::all_of(ofBest_, [&](arith::SelectOp select) { return isOfSameElements(select); });
}

/// Its results, and what they start from.
void KeyShortener::shortenReduction(linalg::GenericOp op) {
  OpBuilder b(op);
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto type = cast<RankedTensorType>(op.getResultTypes()[0]).clone(b.getIntegerType(shorterKeyBits_));
  auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
  Value none = arith::ConstantOp::create(b, op.getLoc(), b.getZeroAttr(type.getElementType()));
  Value start = tensor::EmptyOp::create(b, op.getLoc(), type, empty.getDynamicSizes());
  op.getDpsInitsMutable()[0].set(linalg::FillOp::create(b, op.getLoc(), none, start).getResult(0));
  op->getResult(0).setType(type);
}

/// Of the body, what stands for keys.
void KeyShortener::shortenArguments(linalg::GenericOp op) {
  for (OpOperand &operand : op->getOpOperands())
    op.getMatchingBlockArgument(&operand).setType(getElementTypeOrSelf(operand.get().getType()));
}

void KeyShortener::shortenNumber(Operation *op) {
  OpBuilder b(op);
  const Type type = b.getIntegerType(shorterKeyBits_);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    APInt value = cast<IntegerAttr>(constant.getValue()).getValue().zextOrTrunc(shorterKeyBits_);
    if (partOf(op) == dispatch::kKeyPlaces)
      value = APInt::getLowBitsSet(shorterKeyBits_, shorterPlaceBits_);
    else if (partOf(op) == dispatch::kKeyPlaceBits)
      value = APInt(shorterKeyBits_, shorterPlaceBits_);
    constant.setValueAttr(b.getIntegerAttr(type, value));
  }
  op->getResult(0).setType(type);
}

/// Where the element is the best one it has its place as a key: now every element has, and the best one's is largest.
void KeyShortener::joinBest(arith::SelectOp ofBest) {
  OpBuilder b(ofBest);
  const Location loc = ofBest.getLoc();
  auto isBest = ofBest.getCondition().getDefiningOp<arith::CmpIOp>();
  const auto best = cast<BlockArgument>(isBest.getRhs());
  const Type type = b.getIntegerType(shorterKeyBits_);
  Value order = arith::ExtUIOp::create(b, loc, type, isBest.getLhs());
  Value bits = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, shorterPlaceBits_));
  Value above = arith::ShLIOp::create(b, loc, order, bits);
  ofBest.replaceAllUsesWith(arith::OrIOp::create(b, loc, above, ofBest.getTrueValue()).getResult());
  ofBest.erase();
  isBest.erase();
  // Nothing reads the best element any more.
  auto op = cast<linalg::GenericOp>(best.getOwner()->getParentOp());
  Operation *found = op.getDpsInputs()[best.getArgNumber()].getDefiningOp();
  SmallVector<Attribute> maps = llvm::to_vector(op.getIndexingMaps());
  maps.erase(maps.begin() + best.getArgNumber());
  op.getInputsMutable().erase(best.getArgNumber());
  op.getBody()->eraseArgument(best.getArgNumber());
  op.setIndexingMapsAttr(ArrayAttr::get(op.getContext(), maps));
  found->erase();
}

std::optional<int64_t> KeyShortener::run() {
  if (!find())
    return std::nullopt;
  for (linalg::GenericOp op : keys_)
    shortenReduction(op);
  for (Operation *op : numbers_)
    shortenNumber(op);
  for (arith::SelectOp ofBest : ofBest_)
    joinBest(ofBest);
  for (auto op : function_.getOps<linalg::GenericOp>())
    shortenArguments(op);
  // Whoever else sees a key sees another type now.
  const ScopedDiagnosticHandler quiet(function_.getContext(), [](Diagnostic &) { return success(); });
  if (failed(verify(function_)))
    return std::nullopt;
  return (int64_t(1) << shorterPlaceBits_) - 1;
}

} // namespace

std::optional<int64_t> shortenKeys(func::FuncOp function) {
  return KeyShortener(function).run();
}

} // namespace tenon::compiler::codegen
