// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/attention/hopper/tile_order.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// Tiles of a group, about: some rounds of the blocks of a large device.
constexpr uint32_t kGroupTiles = 512;

Value roundedUp(KernelBuilder &k, Value size, Value part) {
  return k.div(k.add(size, k.sub(part, k.number(1))), part);
}

} // namespace

TileOrder::TileOrder(const AttentionKernel &kernel, bool isMasked)
    : k_(kernel.k), tileRows_(kernel.rows), isMasked_(isMasked),
      mayBeShort_(kernel.shape.sizeOf(kernel.attention.output.rows).value_or(1) % tileRows_ != 0) {
  auto sizeOf = [&](ArrayRef<unsigned> axes) {
    Value size = k_.number(1);
    for (unsigned axis : axes)
      size = k_.mul(size, kernel.space.size(axis));
    return size;
  };
  batch_ = sizeOf(kernel.attention.output.batch);
  down_ = roundedUp(k_, sizeOf(kernel.attention.output.rows), k_.number(tileRows_));
  inner_ = down_;
  // An axis of the rows may be several dimensions in one.
  const Extent &last = kernel.shape.axes[kernel.attention.output.rows.back()].extents.back();
  if (!last.value && last.size % tileRows_ == 0)
    inner_ = k_.number(last.size / tileRows_);
  // Without rows there is no tile, and nothing is divided by their number.
  Value rows = arith::MaxUIOp::create(k_.b, k_.loc, down_, k_.number(1));
  group_ = batch_;
  if (isMasked_) {
    // Groups as large as each other: a small one at the end would not be balanced.
    Value wanted = roundedUp(k_, k_.number(kGroupTiles), rows), half = k_.div(wanted, k_.number(2));
    Value groups = k_.div(k_.add(batch_, half), wanted);
    group_ = roundedUp(k_, batch_, arith::MaxUIOp::create(k_.b, k_.loc, groups, k_.number(1)));
  }
  group_ = arith::MaxUIOp::create(k_.b, k_.loc, group_, k_.number(1));
  roundsOfGroup_ = roundedUp(k_, k_.mul(group_, down_), k_.blocks());
  rounds_ = k_.mul(roundsOfGroup_, roundedUp(k_, batch_, group_));
  down_ = rows;
  inner_ = arith::MaxUIOp::create(k_.b, k_.loc, inner_, k_.number(1));
}

TileOrder::Turn TileOrder::turn(Value round) const {
  // Where there is no round at all nobody asks for one, but the quotient is computed.
  Value perGroup = arith::MaxUIOp::create(k_.b, k_.loc, roundsOfGroup_, k_.number(1));
  Value first = k_.mul(k_.div(round, perGroup), group_), inGroup = k_.rem(round, perGroup);
  Value position = k_.block();
  if (isMasked_)
    position = k_.select(k_.equal(k_.rem(round, k_.number(2)), k_.number(0)), position,
                         k_.sub(k_.sub(k_.blocks(), k_.number(1)), position));
  else if (mayBeShort_)
    position = k_.rem(k_.add(position, round), k_.blocks());
  Value number = k_.add(k_.mul(inGroup, k_.blocks()), position);
  Value elements = k_.min(group_, k_.sub(batch_, first));
  Turn turn;
  turn.exists = k_.both(k_.less(round, rounds_), k_.less(number, k_.mul(elements, down_)));
  Value element = isMasked_ ? k_.rem(number, elements) : k_.div(number, down_);
  Value row = k_.rem(number, down_);
  if (isMasked_) {
    Value others = k_.div(down_, inner_), step = k_.div(number, elements);
    Value inInner = k_.sub(k_.sub(inner_, k_.number(1)), k_.div(step, others));
    row = k_.add(k_.mul(k_.rem(step, others), inner_), inInner);
  }
  turn.tile = {k_.add(first, element), k_.mul(row, k_.number(tileRows_)), k_.number(0)};
  return turn;
}

} // namespace tenon::compiler::codegen
