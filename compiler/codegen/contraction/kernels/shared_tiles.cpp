// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/kernels/shared_tiles.h"

using namespace mlir;

namespace tenon::compiler::codegen {

SharedTiles::SharedTiles(KernelBuilder &k, Value tiles, Value steps, uint32_t inRound, uint32_t parts)
    : k_(k), steps_(steps), parts_(k.number(parts)), shared_(k.rem(tiles, k.number(inRound))) {
  whole_ = k.sub(tiles, shared_);
}

Value SharedTiles::items() {
  return k_.add(whole_, k_.mul(shared_, parts_));
}

SharedTiles::Item SharedTiles::item(Value number) {
  Value isWhole = k_.less(number, whole_), inShared = k_.sub(number, k_.min(number, whole_));
  // Of no shared tile there is no item that asks.
  Value tiles = k_.select(k_.equal(shared_, k_.number(0)), k_.number(1), shared_);
  Value part = k_.div(inShared, tiles), tile = k_.rem(inShared, tiles), next = k_.add(part, k_.number(1));
  Value isLast = k_.equal(next, parts_), none = k_.number(0);
  // The first parts have one step more where they do not divide them. (Nothing is subtracted here: of the difference of
  // two divisions ptxas 13.0 gets the upper half wrong where the second is 0.)
  Value least = k_.div(steps_, parts_), more = k_.rem(steps_, parts_);
  Value begin = k_.add(k_.mul(part, least), k_.min(part, more));
  Value count = k_.select(k_.less(part, more), k_.add(least, k_.number(1)), least);
  return {.tile = k_.select(isWhole, number, k_.add(whole_, tile)),
          .begin = k_.select(isWhole, none, begin),
          .count = k_.select(isWhole, steps_, count),
          .isLeft = k_.less(none, k_.select(isWhole, none, k_.select(isLast, none, k_.number(1)))),
          .share = k_.select(isLast, tile, inShared),
          .shares = k_.select(isWhole, none, k_.select(isLast, part, none))};
}

} // namespace tenon::compiler::codegen
