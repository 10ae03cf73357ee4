// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/order.h"

#include "compiler/codegen/along/sorting/comparison.h"
#include "compiler/codegen/kernel/combine.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

Block &bodyOf(AlongWriter &w) {
  return w.kernel.along.op->getRegion(0).front();
}

Value negate(KernelBuilder &k, Value condition) {
  return k.exclusiveOr(condition, arith::ConstantOp::create(k.b, k.loc, k.b.getBoolAttr(true)));
}

Value either(KernelBuilder &k, Value x, Value y) {
  return k.b.createOrFold<arith::OrIOp>(k.loc, x, y);
}

} // namespace

ElementOrder::ElementOrder(AlongWriter &w, Type positionType) : w_(w), k_(w.k), positionType_(positionType) {
  Block &body = bodyOf(w);
  for (unsigned operand = 0; operand < body.getNumArguments() / 2; ++operand)
    if (!body.getArgument(2 * operand).use_empty() || !body.getArgument(2 * operand + 1).use_empty()) {
      keys_.push_back(operand);
      types_.push_back(body.getArgument(2 * operand).getType());
    }
}

Value ElementOrder::nowhere() {
  return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getIntegerAttr(positionType_, -1));
}

Entry ElementOrder::none() {
  Entry entry;
  for (Type type : types_)
    entry.keys.push_back(arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(type)));
  entry.position = nowhere();
  return entry;
}

Value ElementOrder::exists(Value position) {
  return arith::CmpIOp::create(k_.b, k_.loc, arith::CmpIPredicate::ne, position, nowhere());
}

/// By the region alone.
Value ElementOrder::before(const Entry &a, const Entry &b) {
  Block &body = bodyOf(w_);
  std::optional<Comparison> compared = Comparison::of(body);
  if (compared && isa<FloatType>(compared->type)) {
    Value x = a.keys[0], y = b.keys[0];
    Value first = arith::CmpFOp::create(
        k_.b, k_.loc, compared->isDescending ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, y);
    Value isNumber = arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::ORD, x, x);
    Value isNan = arith::CmpFOp::create(k_.b, k_.loc, arith::CmpFPredicate::UNO, y, y);
    return either(k_, first, k_.both(isNumber, isNan));
  }
  SmallVector<Value> values;
  for (BlockArgument argument : body.getArguments()) {
    const auto *key = llvm::find(keys_, argument.getArgNumber() / 2);
    const Entry &side = argument.getArgNumber() % 2 == 0 ? a : b;
    values.push_back(key != keys_.end()
                         ? side.keys[key - keys_.begin()]
                         : arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(argument.getType())).getResult());
  }
  return w_.region(values).front();
}

Value ElementOrder::precedes(const Entry &a, const Entry &b) {
  Value first = before(a, b), second = before(b, a);
  Value stood = k_.less(a.position, b.position);
  Value order = k_.select(k_.exclusiveOr(first, second), first, stood);
  return k_.both(exists(a.position), either(k_, negate(k_, exists(b.position)), order));
}

Value ElementOrder::overtakes(const Entry &a, const Entry &b) {
  return k_.both(before(a, b), negate(k_, before(b, a)));
}

SharedEntries::SharedEntries(AlongWriter &w, ElementOrder &order, uint64_t capacity) : k_(w.k), order_(order) {
  for (Type type : order.keyTypes())
    keys_.push_back(k_.shared(storedType(type), capacity));
  positions_ = k_.shared(order.positionType(), capacity);
}

Entry SharedEntries::load(Value at) {
  Entry entry;
  for (auto [key, type] : llvm::zip_equal(keys_, order_.keyTypes()))
    entry.keys.push_back(loadShared(k_, type, k_.at(key, storedType(type), at)));
  entry.position = loadShared(k_, order_.positionType(), k_.at(positions_, order_.positionType(), at));
  return entry;
}

void SharedEntries::store(Value at, const Entry &entry) {
  for (auto [key, type, value] : llvm::zip_equal(keys_, order_.keyTypes(), entry.keys))
    storeShared(k_, value, k_.at(key, storedType(type), at));
  storeShared(k_, entry.position, k_.at(positions_, order_.positionType(), at));
}

/// Bitonic: runs of 2^i entries, forwards and backwards in turn, become runs of 2^(i + 1).
void SharedEntries::sort(Value bits) {
  Value one = k_.number(1), pairs = k_.div(shiftLeft(k_, one, bits), k_.number(2)), threads = k_.number(k_.threads);
  k_.barrier();
  k_.loop(one, k_.add(bits, one), one, {}, [&](Value size, ValueRange) {
    k_.loop(k_.number(0), size, one, {}, [&](Value step, ValueRange) {
      Value strideBits = k_.sub(k_.sub(size, one), step), stride = shiftLeft(k_, one, strideBits);
      k_.loop(k_.thread(), pairs, threads, {}, [&](Value pair, ValueRange) {
        Value low = arith::AndIOp::create(k_.b, k_.loc, pair, k_.sub(stride, one)); // pair mod stride
        Value first = k_.add(k_.mul(k_.sub(pair, low), k_.number(2)), low), second = k_.add(first, stride);
        Entry a = load(first), b = load(second);
        // Backwards where the bit of this size is set.
        Value run = k_.rem(arith::ShRUIOp::create(k_.b, k_.loc, first, size), k_.number(2));
        Value forwards = k_.equal(run, k_.number(0));
        Value exchanged = k_.select(forwards, order_.precedes(b, a), order_.precedes(a, b));
        k_.when(exchanged, [&] {
          store(first, b);
          store(second, a);
        });
        return SmallVector<Value>();
      });
      k_.barrier();
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

Value shiftLeft(KernelBuilder &k, Value value, Value by) {
  return arith::ShLIOp::create(k.b, k.loc, value, by);
}

Value bitsFor(KernelBuilder &k, Value count) {
  Value below = k.sub(k.select(k.equal(count, k.number(0)), k.number(1), count), k.number(1));
  return k.sub(k.number(64), math::CountLeadingZerosOp::create(k.b, k.loc, below));
}

} // namespace tenon::compiler::codegen
