// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/contraction/routes.h"

#include "compiler/dispatch/analysis/products/routes.h"

using namespace mlir;

namespace tenon::compiler::codegen {

Routes::Routes(KernelBuilder &k, Value table, Value rows, int64_t experts)
    : k_(k), table_(table), rows_(rows), experts_(experts) {}

Value Routes::read(Value place) {
  Type i32 = k_.b.getI32Type();
  return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(),
                                k_.load(i32, k_.at(table_, i32, place), sizeof(int32_t)));
}

/// Lines of the table in front of the tiles of `side` rows; of 0, in front of the rows.
Value Routes::linesBefore(int64_t side) {
  Value lines = k_.number(1);
  for (int64_t other : dispatch::kRoutedTiles) {
    if (other == side)
      break;
    lines = k_.add(lines, k_.add(k_.div(rows_, k_.number(other)), k_.number(experts_)));
  }
  return lines;
}

Value Routes::placeOfCount(KernelBuilder &k, int64_t side) {
  return k.number(llvm::find(dispatch::kRoutedTiles, side) - dispatch::kRoutedTiles.begin());
}

Value Routes::placeOfTile(Value number, int64_t side) {
  return k_.mul(k_.add(linesBefore(side), number), k_.number(dispatch::kRouteLine));
}

Value Routes::placeOfRow(Value position) {
  return k_.add(k_.mul(linesBefore(0), k_.number(dispatch::kRouteLine)), position);
}

Value Routes::tiles(int64_t side) {
  return read(placeOfCount(k_, side));
}

Routes::Tile Routes::tile(Value number, int64_t side) {
  Value place = placeOfTile(number, side);
  auto at = [&](int64_t which) { return read(k_.add(place, k_.number(which))); };
  return {at(0), at(1), at(2)};
}

Value Routes::rowAt(Value position) {
  return read(placeOfRow(position));
}

} // namespace tenon::compiler::codegen
