// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/sorting/topk_warp.h"

#include "compiler/codegen/along/sorting/comparison.h"
#include "compiler/codegen/along/sorting/radix_key.h"
#include "compiler/codegen/along/sorting/topk_line.h"
#include "compiler/dialect/linalg_ext/topk_places.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kWarp = 32;
// Elements of a lane are looked at once for each of the best.
constexpr int64_t kLongest = 512, kMostBest = 16;
constexpr unsigned kKeyBits = 32;

class WarpWriter {
public:
  explicit WarpWriter(AlongWriter &w)
      : w_(w), k_(w.k), along_(w.kernel.along), line_(w), key_(*Comparison::of(line_.op.getRegion().front())),
        length_(*LineShape(along_.inputs[0], line_.op.getDimension()).knownLength()),
        best_(*LineShape(along_.outputs[0].tensor, line_.op.getDimension()).knownLength()) {}

  void run();

private:
  Type i64() { return k_.b.getI64Type(); }
  Value none() { return k_.number(-1); }
  Value valueOf(Value position);
  Value packed(Value key, Value position);
  SmallVector<Value> read();
  Value leastOf(Value x, Value y) { return arith::MinUIOp::create(k_.b, k_.loc, x, y); }

  AlongWriter &w_;
  KernelBuilder &k_;
  const KernelAlong &along_;
  TopkLine line_;
  const RadixKey key_;
  const int64_t length_, best_;
  Value lane_;
};

/// The element of a position: what the result begins with stands before the line.
Value WarpWriter::valueOf(Value position) {
  Value best = k_.number(best_);
  return k_
      .choose(
          k_.less(position, best), key_.type(), [&] { return SmallVector<Value>{line_.startAt(position).keys[0]}; },
          [&] {
            Value place = k_.sub(position, best);
            return SmallVector<Value>{w_.load(along_.inputs[0], line_.source.element(k_, line_.line, place))};
          })
      .front();
}

/// What comes first is least. No two are equal.
Value WarpWriter::packed(Value key, Value position) {
  Value code = arith::ExtUIOp::create(k_.b, k_.loc, i64(), key_.code(k_, key));
  return arith::OrIOp::create(k_.b, k_.loc, arith::ShLIOp::create(k_.b, k_.loc, code, k_.number(kKeyBits)), position);
}

/// The lane's elements, and one of what the result begins with.
SmallVector<Value> WarpWriter::read() {
  SmallVector<Value> keys, entries;
  for (int64_t first = 0; first < length_; first += kWarp) {
    Value place = k_.min(k_.add(lane_, k_.number(first)), k_.number(length_ - 1));
    keys.push_back(w_.load(along_.inputs[0], line_.source.element(k_, line_.line, place)));
  }
  for (auto [number, key] : llvm::enumerate(keys)) {
    const int64_t first = int64_t(number) * kWarp;
    Value place = k_.add(lane_, k_.number(first)), entry = packed(key, k_.add(place, k_.number(best_)));
    entries.push_back(first + kWarp <= length_ ? entry : k_.select(k_.less(place, k_.number(length_)), entry, none()));
  }
  Value place = k_.min(lane_, k_.number(best_ - 1));
  entries.push_back(k_.select(k_.less(lane_, k_.number(best_)), packed(line_.startAt(place).keys[0], place), none()));
  return entries;
}

void WarpWriter::run() {
  lane_ = k_.rem(k_.thread(), k_.number(kWarp));
  Value number = k_.add(k_.mul(k_.block(), k_.number(TopkWarp::kLines)), k_.div(k_.thread(), k_.number(kWarp)));
  Value exists = k_.less(number, line_.source.count);
  // All lanes of a warp take part in its shuffles.
  line_.line = k_.min(number, k_.sub(line_.source.count, k_.number(1)));
  SmallVector<Value> entries = read();
  Value found = none();
  for (int64_t place = 0; place < best_; ++place) {
    Value least = entries.front();
    for (Value entry : ArrayRef(entries).drop_front())
      least = leastOf(least, entry);
    for (uint32_t mask = kWarp / 2; mask != 0; mask /= 2)
      least = leastOf(least, k_.shuffleXor(least, mask));
    found = k_.select(k_.equal(lane_, k_.number(place)), least, found);
    if (place + 1 < best_)
      for (Value &entry : entries)
        entry = k_.select(k_.equal(entry, least), none(), entry);
  }
  k_.when(k_.both(exists, k_.less(lane_, k_.number(best_))), [&] {
    Value position = k_.both(found, k_.number((int64_t(1) << kKeyBits) - 1));
    line_.give(lane_, {{along_.outputs[0].isStored ? valueOf(position) : Value()}, line_.toPosition(position)});
  });
}

} // namespace

bool TopkWarp::takes(const KernelFunction &kernel) {
  auto op = cast<linalg_ext::TopkOp>(kernel.along.op);
  const LineShape source(kernel.along.inputs[0], op.getDimension());
  const std::optional<int64_t> length = source.knownLength(),
                               best = LineShape(kernel.along.outputs[0].tensor, op.getDimension()).knownLength();
  const std::optional<Comparison> compared = Comparison::of(op.getRegion().front());
  return compared && compared->type.getIntOrFloatBitWidth() <= kKeyBits && source.isAdjacent() && length && best &&
         *length > 0 && *length <= kLongest && *best > 0 && *best <= kMostBest &&
         linalg_ext::topkPlaceBits(length, best) == kKeyBits;
}

void writeTopkWarp(AlongWriter &writer) {
  WarpWriter(writer).run();
}

} // namespace tenon::compiler::codegen
