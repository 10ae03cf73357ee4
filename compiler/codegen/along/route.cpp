// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/along/route.h"

#include "compiler/codegen/along/sorting/block_ranks.h"
#include "compiler/codegen/contraction/routes.h"
#include "compiler/dialect/linalg_ext/LinalgExtOps.h"
#include "compiler/dispatch/analysis/products/routes.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kWarp = 32, kMostWarps = 16;
// Rows of a lane that are on their way together.
constexpr uint32_t kAtOnce = 8;
// Shared memory, but for the sums of a block.
constexpr int64_t kBytes = (48 << 10) - 512;

int64_t expertsOf(const KernelFunction &kernel) {
  return int64_t(cast<linalg_ext::RouteOp>(kernel.along.op).getExperts());
}

/// Each has a count for every expert, and one for rows that are not there, beside what all have of each expert: where
/// it begins, and its first tile of each size.
uint32_t warpsOf(int64_t experts) {
  const int64_t words = kBytes / int64_t(sizeof(int32_t)) - int64_t(1 + dispatch::kRoutedTiles.size()) * (experts + 1);
  const auto most = uint64_t(words / (experts + 1));
  return uint32_t(llvm::bit_floor(std::clamp<uint64_t>(most, 1, kMostWarps)));
}

class RouteWriter {
public:
  explicit RouteWriter(AlongWriter &w)
      : w_(w), k_(w.k), i32_(k_.b.getI32Type()), experts_(expertsOf(w.kernel)), warps_(k_.threads / kWarp),
        named_(w.kernel.along.inputs[0]), table_(w.kernel.along.outputs[0].tensor), rows_(countRows()),
        routes_(k_, w.arguments.pointers[table_.binding], rows_, experts_) {
    lane_ = k_.rem(k_.thread(), k_.number(kWarp));
    warp_ = k_.div(k_.thread(), k_.number(kWarp));
  }

  void run();

private:
  Value countRows() {
    Value rows = k_.number(1);
    for (const Extent &extent : named_.shape)
      rows = k_.mul(rows, w_.arguments.sizeOf(k_.b, k_.loc, extent));
    return rows;
  }
  Value word(Value number) { return arith::TruncIOp::create(k_.b, k_.loc, i32_, number); }
  Value word(int64_t value) { return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(value))); }
  Value number(Value word) { return arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), word); }
  Value read(Value of, Value at) { return k_.load(i32_, k_.at(of, i32_, at), sizeof(int32_t)); }
  void write(Value word, Value of, Value at) { k_.store(word, k_.at(of, i32_, at), sizeof(int32_t)); }
  void put(Value number, Value place) { w_.store(table_, place, word(number)); }
  Value countAt(Value warp, Value expert) { return k_.add(k_.mul(warp, k_.number(experts_ + 1)), expert); }
  void forEach(Value first, Value last, int64_t step, llvm::function_ref<void(Value)> body) {
    k_.loop(first, last, k_.number(step), {}, [&](Value i, ValueRange) {
      body(i);
      return SmallVector<Value>();
    });
  }

  Value expertOf(Value row, Value last);
  void walk(bool isPlacing);
  void addUp();
  void writeTiles();

  AlongWriter &w_;
  KernelBuilder &k_;
  Type i32_;
  const int64_t experts_, warps_;
  const KernelAlongInput &named_;
  const KernelTensor &table_;
  Value rows_;
  Routes routes_;
  Value lane_, warp_;
  Value counts_;                                           // [warps][experts + 1]
  Value begins_;                                           // [experts + 1] positions; before that, rows
  std::array<Value, dispatch::kRoutedTiles.size()> tiles_; // [experts] number of the first tile
};

/// That of a row below `last`; else one more than there are.
Value RouteWriter::expertOf(Value row, Value last) {
  auto read = [&] {
    // As unsigned: one below 0 is behind the last, too.
    Value expert = w_.load(named_, row);
    if (expert.getType() == i32_)
      expert = number(expert);
    return SmallVector<Value>{k_.min(expert, k_.number(experts_ - 1))};
  };
  auto none = [&] { return SmallVector<Value>{k_.number(experts_)}; };
  return k_.choose(k_.less(row, last), {k_.b.getI64Type()}, read, none).front();
}

/// Each row of the warp, in order: counted, and then, behind addUp(), put in its place.
void RouteWriter::walk(bool isPlacing) {
  const int64_t atOnce = warps_ * kWarp;
  Value share = k_.mul(k_.div(k_.add(rows_, k_.number(atOnce - 1)), k_.number(atOnce)), k_.number(kWarp));
  Value first = k_.mul(warp_, share), last = k_.min(k_.add(first, share), rows_);
  Value lower = k_.sub(arith::ShLIOp::create(k_.b, k_.loc, word(1), word(lane_)), word(1));
  forEach(first, last, kAtOnce * kWarp, [&](Value base) {
    SmallVector<Value> rows, experts;
    for (uint32_t i = 0; i < kAtOnce; ++i) {
      rows.push_back(k_.add(base, k_.add(lane_, k_.number(i * kWarp))));
      experts.push_back(expertOf(rows.back(), last));
    }
    for (auto [row, expert] : llvm::zip_equal(rows, experts)) {
      Value alike = NVVM::MatchSyncOp::create(k_.b, k_.loc, i32_, word(-1), word(expert), NVVM::MatchSyncKind::any);
      Value before = math::CtPopOp::create(k_.b, k_.loc, k_.both(alike, lower));
      Value at = countAt(warp_, expert), counted = read(counts_, at);
      k_.syncWarp();
      k_.when(k_.equal(before, word(int64_t(0))),
              [&] { write(k_.add(counted, math::CtPopOp::create(k_.b, k_.loc, alike)), counts_, at); });
      k_.syncWarp();
      if (isPlacing)
        k_.when(k_.less(row, last), [&] {
          Value place = k_.add(number(read(begins_, expert)), number(k_.add(counted, before)));
          put(row, routes_.placeOfRow(place));
        });
    }
  });
}

/// A warp's counts become what the warps before it have; then where each expert begins.
void RouteWriter::addUp() {
  const auto each = int64_t(llvm::divideCeil(uint64_t(experts_), uint64_t(k_.threads)));
  Value firstExpert = k_.mul(k_.thread(), k_.number(each)), none = k_.number(0);
  Value lastExpert = k_.min(k_.add(firstExpert, k_.number(each)), k_.number(experts_));
  // What a thread's experts have: rows, and tiles of each size.
  SmallVector<Value> own(1 + tiles_.size(), none);
  own = k_.loop(firstExpert, lastExpert, k_.number(1), own, [&](Value expert, ValueRange carried) {
    Value total = k_.loop(none, k_.number(warps_), k_.number(1), word(int64_t(0)), [&](Value warp, ValueRange earlier) {
                      Value at = countAt(warp, expert), count = read(counts_, at);
                      write(earlier[0], counts_, at);
                      return SmallVector<Value>{k_.add(earlier[0], count)};
                    }).front();
    write(total, begins_, expert);
    SmallVector<Value> sums = {k_.add(carried[0], number(total))};
    for (auto [side, sum] : llvm::zip_equal(dispatch::kRoutedTiles, carried.drop_front()))
      sums.push_back(k_.add(sum, k_.div(k_.add(number(total), k_.number(side - 1)), k_.number(side))));
    return sums;
  });
  SmallVector<Value> before;
  for (auto [which, sum] : llvm::enumerate(own)) {
    const BlockSum all = BlockSum::of(k_, word(sum), k_.shared(i32_, uint64_t(warps_)));
    before.push_back(number(all.before));
    if (which == 0)
      continue;
    Value tiles = number(all.all);
    const int64_t side = dispatch::kRoutedTiles[which - 1];
    k_.when(k_.equal(k_.thread(), none), [&] {
      put(tiles, Routes::placeOfCount(k_, side));
      // Of none, the first is read and not looked at, and so is the first row.
      k_.when(k_.equal(tiles, none), [&] {
        put(none, routes_.placeOfRow(none));
        for (int64_t i = 0; i < dispatch::kRouteLine; ++i)
          put(none, k_.add(routes_.placeOfTile(none, side), k_.number(i)));
      });
    });
  }
  k_.loop(firstExpert, lastExpert, k_.number(1), before, [&](Value expert, ValueRange carried) {
    Value total = number(read(begins_, expert));
    write(word(carried[0]), begins_, expert);
    SmallVector<Value> sums = {k_.add(carried[0], total)};
    for (auto [side, first, sum] : llvm::zip_equal(dispatch::kRoutedTiles, tiles_, carried.drop_front())) {
      write(word(sum), first, expert);
      sums.push_back(k_.add(sum, k_.div(k_.add(total, k_.number(side - 1)), k_.number(side))));
    }
    return sums;
  });
  k_.when(k_.equal(k_.thread(), none), [&] { write(word(rows_), begins_, k_.number(experts_)); });
  k_.barrier();
}

/// A warp for each expert, lanes for its tiles.
void RouteWriter::writeTiles() {
  forEach(warp_, k_.number(experts_), warps_, [&](Value expert) {
    Value begin = number(read(begins_, expert)), end = number(read(begins_, k_.add(expert, k_.number(1))));
    Value total = k_.sub(end, begin);
    for (auto [side, tiles] : llvm::zip_equal(dispatch::kRoutedTiles, tiles_)) {
      Value first = number(read(tiles, expert));
      Value count = k_.div(k_.add(total, k_.number(side - 1)), k_.number(side));
      forEach(lane_, count, kWarp, [&](Value tile) {
        Value place = routes_.placeOfTile(k_.add(first, tile), side);
        const std::array<Value, 3> line = {k_.add(begin, k_.mul(tile, k_.number(side))), end, expert};
        for (auto [which, value] : llvm::enumerate(line))
          put(value, k_.add(place, k_.number(int64_t(which))));
      });
    }
  });
}

void RouteWriter::run() {
  const auto experts = uint64_t(experts_);
  counts_ = k_.shared(i32_, uint64_t(warps_) * (experts + 1));
  begins_ = k_.shared(i32_, experts + 1);
  for (Value &tiles : tiles_)
    tiles = k_.shared(i32_, experts);
  forEach(k_.thread(), k_.number(warps_ * (experts_ + 1)), k_.threads,
          [&](Value at) { write(word(int64_t(0)), counts_, at); });
  k_.barrier();
  walk(/*isPlacing=*/false);
  k_.barrier();
  addUp();
  walk(/*isPlacing=*/true);
  writeTiles();
}

} // namespace

bool Route::takes(Operation *op) const {
  return isa<linalg_ext::RouteOp>(op);
}

AlongPlans Route::plans(const KernelFunction &kernel) const {
  Plan plan;
  plan.strategy = name();
  plan.threads = kWarp * warpsOf(expertsOf(kernel));
  plan.grid = {{{Extent{1, {}}}, 1}};
  AlongPlans result;
  result.kernels.push_back(plan);
  return result;
}

void Route::write(AlongWriter &writer) const {
  RouteWriter(writer).run();
}

} // namespace tenon::compiler::codegen
