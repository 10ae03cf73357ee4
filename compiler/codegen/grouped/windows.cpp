// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/grouped/windows.h"

#include "compiler/codegen/contraction/result_ops.h"
#include "compiler/codegen/grouped/patch.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kWarps = kGroupedThreads / 32;
constexpr int64_t kFragmentRows = 16, kFragmentColumns = 8;
constexpr int64_t kMostFragmentsAcross = 4; // that share what is read of the patch

class GroupedWindowsKernel {
public:
  GroupedWindowsKernel(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                       Bodies &bodies, const GroupedForm &form, const abi::TargetArch &target)
      : kernel_(kernel), shape_(shape), k_(k), space_(space), bodies_(bodies), form_(form),
        geometry_(form, *GroupedTile::of(form)),
        hasCores_(form.elementBytes == 2 && hasTensorCoresFor(form.product, target)),
        core_(k, hasCores_ ? form.product.warpElement() : k.b.getF16Type(), {}, target.number),
        patch_(form_, geometry_, shape, k, space, bodies, core_, k.block()),
        arena_(k.shared(k.b.getI8Type(), geometry_.sharedBytes, 128)),
        filters_(k.at(arena_, k.b.getI8Type(), k.number(geometry_.patchBytes))), lane_(k.rem(k.thread(), k.number(32))),
        warp_(k.div(k.thread(), k.number(32))) {}

  void run() {
    patch_.bring(arena_, filters_);
    k_.barrier();
    std::vector<Run> runs = hasCores_ ? multiplyOnCores() : multiply();
    k_.barrier(); // everybody has read what sums are written over
    for (const Run &run : runs)
      stage(run);
    k_.barrier();
    storeResults();
  }

private:
  using Values = SmallVector<Value>;
  /// Sums of neighbouring columns at a place of the results; there may be none of it.
  struct Run {
    Value place, column;
    Values sums;
    Value exists;
  };

  Values unpack(Value vector, int64_t count) {
    Values values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(LLVM::ExtractElementOp::create(k_.b, k_.loc, vector, k_.number(i)));
    return values;
  }
  Value byteAt(Value base, Value offset) { return k_.at(base, k_.b.getI8Type(), offset); }
  Value startOf(Value place) { // of its windows, in the patch
    return k_.mul(patch_.positionOf(k_.min(place, k_.number(geometry_.tile.results() - 1))),
                  k_.number(geometry_.lineBytes));
  }
  std::vector<Run> multiplyOnCores();
  std::vector<Run> multiply();
  void stage(const Run &run);
  void storeResults();
  void storeVectors(int64_t width);
  Value sumAt(Value place, Value column) {
    return k_.at(arena_, k_.b.getF32Type(), k_.add(k_.mul(place, k_.number(geometry_.sumsOfLine)), column));
  }

  const KernelFunction &kernel_;
  const GroupShape &shape_;
  KernelBuilder &k_;
  GroupSpace &space_;
  Bodies &bodies_;
  const GroupedForm &form_;
  const GroupedGeometry geometry_;
  const bool hasCores_;
  TensorCore core_;
  GroupedPatch patch_;
  Value arena_, filters_, lane_, warp_;
};

std::vector<GroupedWindowsKernel::Run> GroupedWindowsKernel::multiplyOnCores() {
  const int64_t ofGroup = geometry_.columns / kFragmentColumns;
  const int64_t across = std::min(ofGroup, kMostFragmentsAcross), unitsOfGroup = llvm::divideCeil(ofGroup, across);
  const int64_t units = geometry_.tile.groups * unitsOfGroup;
  const int64_t fragments = llvm::divideCeil(geometry_.tile.results(), kFragmentRows);
  const int64_t parts = std::clamp<int64_t>(kWarps / units, 1, fragments);
  const int64_t down = llvm::divideCeil(fragments, parts);
  const int64_t items = units * parts, rounds = llvm::divideCeil(items, kWarps);
  const int64_t quadsOfPlace = geometry_.channels / kGroupedQuad, quadBytes = kGroupedQuad * form_.elementBytes;
  Value inFragment = k_.div(lane_, k_.number(4)), quad = k_.rem(lane_, k_.number(4));
  auto words = VectorType::get(2, k_.b.getI32Type());

  // Where a lane's quad of each step lies behind the start of a place's windows.
  SmallVector<Value> offsets, exist;
  for (int64_t step = 0; step < geometry_.steps; ++step) {
    Value number = k_.add(k_.number(step * kGroupedQuad), quad);
    if ((step + 1) * kGroupedQuad > geometry_.quads) {
      exist.push_back(k_.less(number, k_.number(geometry_.quads)));
      number = k_.min(number, k_.number(geometry_.quads - 1));
    } else {
      exist.push_back({});
    }
    Value place = quadsOfPlace % kGroupedQuad == 0 ? k_.number(step * kGroupedQuad / quadsOfPlace)
                                                   : k_.div(number, k_.number(quadsOfPlace));
    Value inPlace = k_.sub(number, k_.mul(place, k_.number(quadsOfPlace)));
    offsets.push_back(k_.add(k_.mul(patch_.positionOfWindow(place), k_.number(geometry_.lineBytes)),
                             k_.mul(inPlace, k_.number(quadBytes))));
  }

  std::vector<Run> runs;
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(0));
  for (int64_t round = 0; round < rounds; ++round) {
    Value item = k_.add(warp_, k_.number(round * kWarps)), isItem;
    if ((round + 1) * kWarps > items) {
      isItem = k_.less(item, k_.number(items));
      item = k_.min(item, k_.number(items - 1));
    }
    Value unit = k_.rem(item, k_.number(units)), part = k_.div(item, k_.number(units));
    Value group = k_.div(unit, k_.number(unitsOfGroup));
    Value firstFragment = k_.mul(k_.rem(unit, k_.number(unitsOfGroup)), k_.number(across));
    Value firstPlace = k_.mul(part, k_.number(down * kFragmentRows));
    Value inLine = k_.mul(group, k_.number(geometry_.channels * form_.elementBytes));
    SmallVector<Value> starts; // [fragments down][halves]
    for (int64_t half = 0; half < 2 * down; ++half)
      starts.push_back(
          k_.add(startOf(k_.add(firstPlace, k_.add(k_.number(half * kFragmentColumns), inFragment))), inLine));
    SmallVector<Value> rows; // of the filters
    for (int64_t fragment = 0; fragment < across; ++fragment) {
      Value number = k_.min(k_.add(firstFragment, k_.number(fragment)), k_.number(ofGroup - 1));
      Value row = k_.add(
          k_.add(k_.mul(group, k_.number(geometry_.columns)), k_.mul(number, k_.number(kFragmentColumns))), inFragment);
      rows.push_back(k_.mul(k_.add(k_.mul(row, k_.number(geometry_.filterQuads)), quad), k_.number(quadBytes)));
    }
    Values sums(down * across * 4, neutral(k_, form_.product.sum.sum));
    for (int64_t step = 0; step < geometry_.steps; ++step) {
      SmallVector<Values> right;
      for (Value row : rows)
        right.push_back(unpack(
            k_.load(words, byteAt(filters_, k_.add(row, k_.number(step * kGroupedQuad * quadBytes))), quadBytes), 2));
      for (int64_t fragment = 0; fragment < down; ++fragment) {
        Value left[4];
        for (int64_t half = 0; half < 2; ++half) {
          const Values both =
              unpack(k_.load(words, byteAt(arena_, k_.add(starts[2 * fragment + half], offsets[step])), quadBytes), 2);
          for (int64_t i = 0; i < 2; ++i) // nothing times nothing, behind the last
            left[2 * i + half] = exist[step] ? k_.select(exist[step], both[i], zero) : both[i];
        }
        for (int64_t column = 0; column < across; ++column) {
          Value *first = sums.begin() + 4 * (fragment * across + column);
          llvm::copy(core_.multiply(ValueRange(left), right[column], ArrayRef<Value>(first, 4)), first);
        }
      }
    }
    for (int64_t fragment = 0; fragment < down; ++fragment)
      for (int64_t column = 0; column < across; ++column)
        for (int64_t half = 0; half < 2; ++half) {
          const Value *first = sums.begin() + 4 * (fragment * across + column) + 2 * half;
          Value place = k_.add(firstPlace, k_.add(k_.number(fragment * kFragmentRows + half * 8), inFragment));
          Value number = k_.add(firstFragment, k_.number(column));
          Value exists = k_.less(place, k_.number(geometry_.tile.results()));
          if (isItem)
            exists = k_.both(exists, isItem);
          if (ofGroup % across != 0)
            exists = k_.both(exists, k_.less(number, k_.number(ofGroup)));
          Value at = k_.add(k_.mul(group, k_.number(geometry_.columns)), k_.mul(number, k_.number(kFragmentColumns)));
          runs.push_back({place, k_.add(at, k_.mul(quad, k_.number(2))), Values(first, first + 2), exists});
        }
  }
  return runs;
}

/// A lane has places 32 apart, a warp four filters.
std::vector<GroupedWindowsKernel::Run> GroupedWindowsKernel::multiply() {
  const int64_t unitsOfGroup = geometry_.columns / kGroupedQuad, units = geometry_.tile.groups * unitsOfGroup;
  const int64_t places = llvm::divideCeil(geometry_.tile.results(), int64_t(32));
  const int64_t rounds = llvm::divideCeil(units, kWarps);
  const int64_t quadsOfPlace = geometry_.channels / kGroupedQuad, quadBytes = kGroupedQuad * form_.elementBytes;
  Type element = form_.product.left.value.getType();
  auto vector = VectorType::get(kGroupedQuad, element);
  auto quadAt = [&](Value base, Value offset) {
    Values values = unpack(k_.load(vector, byteAt(base, offset), quadBytes), kGroupedQuad);
    for (Value &value : values)
      value = extended(k_, form_.product.left, value, form_.product.sum.sum.type);
    return values;
  };
  SmallVector<Value> starts;
  for (int64_t place = 0; place < places; ++place)
    starts.push_back(startOf(k_.add(lane_, k_.number(place * 32))));
  std::vector<Run> runs;
  for (int64_t round = 0; round < rounds; ++round) {
    Value unit = k_.add(warp_, k_.number(round * kWarps)), isUnit;
    if ((round + 1) * kWarps > units) {
      isUnit = k_.less(unit, k_.number(units));
      unit = k_.min(unit, k_.number(units - 1));
    }
    Value group = k_.div(unit, k_.number(unitsOfGroup)), column = k_.mul(unit, k_.number(kGroupedQuad));
    Value inLine = k_.mul(group, k_.number(geometry_.channels * form_.elementBytes));
    const Values none(places * kGroupedQuad, neutral(k_, form_.product.sum.sum)); // [places][columns]
    const Values sums = k_.loop(
        k_.number(0), k_.number(form_.windowPlaces()), k_.number(1), none, [&](Value inWindow, ValueRange carried) {
          Values next = llvm::to_vector(carried);
          Value before = k_.add(k_.mul(patch_.positionOfWindow(inWindow), k_.number(geometry_.lineBytes)), inLine);
          for (int64_t quad = 0; quad < quadsOfPlace; ++quad) {
            SmallVector<Values> filters;
            for (int64_t i = 0; i < kGroupedQuad; ++i) {
              Value row = k_.mul(k_.add(column, k_.number(i)), k_.number(geometry_.filterQuads));
              Value at = k_.add(row, k_.add(k_.mul(inWindow, k_.number(quadsOfPlace)), k_.number(quad)));
              filters.push_back(quadAt(filters_, k_.mul(at, k_.number(quadBytes))));
            }
            for (int64_t place = 0; place < places; ++place) {
              const Values image = quadAt(arena_, k_.add(starts[place], k_.add(before, k_.number(quad * quadBytes))));
              for (int64_t i = 0; i < kGroupedQuad; ++i)
                for (int64_t channel = 0; channel < kGroupedQuad; ++channel) {
                  Value product = arith::MulFOp::create(k_.b, k_.loc, image[channel], filters[i][channel]).getResult();
                  Value &sum = next[place * kGroupedQuad + i];
                  sum = combine(k_, form_.product.sum.sum, sum, product);
                }
            }
          }
          return next;
        });
    for (int64_t place = 0; place < places; ++place) {
      Value number = k_.add(lane_, k_.number(place * 32)),
            exists = k_.less(number, k_.number(geometry_.tile.results()));
      if (isUnit)
        exists = k_.both(exists, isUnit);
      const Value *first = sums.begin() + place * kGroupedQuad;
      runs.push_back({number, column, Values(first, first + kGroupedQuad), exists});
    }
  }
  return runs;
}

void GroupedWindowsKernel::stage(const Run &run) {
  k_.when(run.exists, [&] {
    if (geometry_.sumsOfLine % 4 != 0) {
      for (auto [lane, sum] : llvm::enumerate(run.sums))
        k_.store(sum, sumAt(run.place, k_.add(run.column, k_.number(lane))), sizeof(float));
      return;
    }
    Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(run.sums.size(), k_.b.getF32Type()));
    for (auto [lane, sum] : llvm::enumerate(run.sums))
      all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, sum, k_.number(lane));
    k_.store(all, sumAt(run.place, run.column), run.sums.size() * sizeof(float));
  });
}

void GroupedWindowsKernel::storeResults() {
  const ArrayRef<unsigned> columns = form_.product.columns;
  space_.vectorAxis = columns.back();
  // Vectors lie in one group.
  int64_t width = form_.isLastInMemory() ? vectorWidth(kernel_, shape_, columns.back()) : 1;
  while (*shape_.axes[columns.back()].size % width != 0)
    width /= 2;
  k_.branch(bodies_.isAligned(width, /*needsWhole=*/true), [&] { storeVectors(width); }, [&] { storeVectors(1); });
}

void GroupedWindowsKernel::storeVectors(int64_t width) {
  const GroupedTile &tile = geometry_.tile;
  const int64_t ofGroup = form_.columns / width, across = tile.groups * ofGroup, results = tile.results();
  const RowSum &sum = form_.product.sum;
  const bool isLast = form_.isLastInMemory();
  k_.loop(k_.thread(), k_.number(results * across), k_.number(k_.threads), {}, [&](Value number, ValueRange) {
    Bodies::Scope scope(bodies_);
    bodies_.setWidth(width);
    // Neighbouring threads have neighbours in memory.
    const int64_t inner = isLast ? across : results;
    Value quotient = k_.div(number, k_.number(inner)), rest = k_.rem(number, k_.number(inner));
    Value place = isLast ? quotient : rest, vector = isLast ? rest : quotient;
    Value group = k_.div(vector, k_.number(ofGroup)),
          column = k_.mul(k_.rem(vector, k_.number(ofGroup)), k_.number(width));
    const Point point = patch_.resultAt(place, group, column);
    auto storeOne = [&] {
      Value from = sumAt(place, k_.add(k_.mul(group, k_.number(geometry_.columns)), column));
      Values totals;
      if (width == 1)
        totals.push_back(k_.load(k_.b.getF32Type(), from, sizeof(float)));
      else
        totals = unpack(
            k_.load(VectorType::get(width, k_.b.getF32Type()), from, std::min<uint32_t>(16, width * sizeof(float))),
            width);
      for (auto [lane, total] : llvm::enumerate(totals))
        total = bodies_.finish(sum, point, lane, total);
      bodies_.setRow(sum, totals);
      for (const KernelOp &op : kernel_.ops)
        if (isOfResult(kernel_, shape_, form_.product, op))
          bodies_.storeRow(op, point);
    };
    if (Value is = patch_.isResult(point))
      k_.when(is, storeOne);
    else
      storeOne();
    return SmallVector<Value>();
  });
}

} // namespace

void writeGroupedWindows(const KernelFunction &kernel, const GroupShape &shape, KernelBuilder &k, GroupSpace &space,
                         Bodies &bodies, const GroupedForm &form, const abi::TargetArch &target) {
  GroupedWindowsKernel(kernel, shape, k, space, bodies, form, target).run();
}

} // namespace tenon::compiler::codegen
