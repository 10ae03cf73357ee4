// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/elementwise_writer.h"

#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr uint32_t kCopies = 8;             // work of kernels that do little but move elements
constexpr uint32_t kResidentThreads = 2048; // of a multiprocessor

/// A number that the length of a row is a multiple of: its own where it is known, else what the program has seen to.
int64_t multipleOfRow(const Writer &w) {
  if (w.shape.axes.empty())
    return 1;
  const std::optional<int64_t> row = w.shape.axes.back().size;
  return row ? *row : w.choiceOr("multiple", 1);
}

/// How permuted tensors are indexed, each way once.
SmallVector<AffineMap> ordersOf(const Writer &w) {
  SmallVector<AffineMap> orders;
  auto add = [&](const KernelOp &op, const KernelTensor &tensor) {
    const AffineMap map = w.shape.mapOf(tensor, op.op);
    if (map.isPermutation() && !w.space.isInOrder(map) && !llvm::is_contained(orders, map))
      orders.push_back(map);
  };
  for (const KernelOp &op : w.kernel.ops) {
    for (const KernelInput &input : op.inputs)
      if (input.isMemory() && !input.bodyArgument.use_empty())
        add(op, input.tensor);
    for (const KernelOutput &output : op.outputs)
      if (output.isStored)
        add(op, output.tensor);
  }
  return orders;
}

class ElementwiseWriter {
public:
  ElementwiseWriter(Writer &w, const Strategy &strategy)
      : w_(w), strategy_(strategy), k_(w.k), width_(w.choice("width")), axes_(w.shape.axes.size()),
        multiple_(multipleOfRow(w)),
        unrolled_(w.choice("unrolled") > 1 ? unrolledAxis(w.kernel, w.shape) : std::nullopt),
        apart_(w.choiceOr("apart", 1)), hasUnknownRows_(axes_ > 1 && !unrolled_ && !GroupShape::sizeOf(w.shape.axes)),
        orders_(ordersOf(w)) {}

  void run() {
    const unsigned axes = axes_;
    w_.space.vectorAxis = axes == 0 ? 0 : axes - 1;
    w_.space.unrolledAxis = unrolled_;
    if (axes > 1 && !w_.shape.axes.back().size && movesElements(w_.kernel))
      k_.wantResident(kResidentThreads / k_.threads);
    writeBySize(strategy_, w_, [&] { write(); });
  }

private:
  void write() {
    const unsigned axes = axes_;
    elements_ =
        unrolled_ ? k_.mul(w_.space.size(0, *unrolled_), w_.space.size(*unrolled_ + 1, axes)) : w_.space.size(0, axes);
    first_ = k_.mul(k_.block(), k_.number(int64_t(k_.threads) * width_ * apart_));
    if (width_ == 1 && apart_ > 1)
      return writeSeveral();
    if (width_ == 1)
      return writeApart();
    if (axes == 1)
      return k_.branch(w_.bodies.areBasesAligned(width_), [&] { writeWide(); }, [&] { writeApart(); });
    // One kind of row to a kernel: with the code of others it would take their registers, and have fewer warps.
    const bool isWhole = multiple_ % width_ == 0;
    if (isWhole && (unrolled_ || w_.kernel.gathered.empty()))
      return k_.branch(w_.bodies.areBasesAligned(width_), [&] { writeWide(); }, [&] { writeApart(); });
    if (!isWhole && takesHalves(w_.kernel, width_) && multiple_ % (width_ / 2) == 0)
      return k_.branch(w_.bodies.areBasesAligned(width_ / 2), [&] { writeHalves(); }, [&] { writeApart(); });
    writeTogether(isWhole);
  }

  Point pointAt(Value element) {
    Point point;
    if (unrolled_) {
      const Quotient found = w_.space.divide(element, *unrolled_ + 1, axes_);
      w_.space.place(point, 0, *unrolled_, found.quotient);
      w_.space.place(point, *unrolled_ + 1, axes_, found.remainder);
    } else if (hasUnknownRows_) {
      w_.space.placeAll(point, element, orders_);
    } else {
      w_.space.place(point, 0, axes_, element);
    }
    point.id = point.place = w_.space.newId();
    return point;
  }

  void writeAt(ArrayRef<Point> points, unsigned width, bool isAligned = true) {
    Bodies::Scope scope(w_.bodies);
    w_.bodies.setWidth(width, isAligned);
    for (const Point &point : points)
      w_.bodies.preload(point);
    for (const Point &point : points)
      storeAt(point);
  }

  void storeAt(const Point &point) {
    for (int64_t round = 0, rounds = unrolled_ ? *w_.shape.axes[*unrolled_].size : 1; round < rounds; ++round) {
      Point at = point;
      if (unrolled_) {
        at.index[*unrolled_] = k_.number(round);
        at.id = w_.space.newId();
      }
      for (const KernelOp &op : w_.kernel.ops)
        w_.bodies.store(op, at);
    }
  }

  /// Whole vectors; the last thread that has an element may have less.
  void writeWide() {
    Value first = k_.add(first_, k_.mul(k_.thread(), k_.number(width_)));
    Value end = k_.add(first, k_.number(width_));
    k_.branch(
        k_.less(elements_, end), [&] { writeEach(first, elements_, 1); }, [&] { writeAt(pointAt(first), width_); });
  }

  /// Rows that are a multiple of half a vector: a thread has two halves on their way, each beside its neighbours'.
  void writeHalves() {
    const unsigned lanes = width_ / 2;
    Value first = k_.add(first_, k_.mul(k_.thread(), k_.number(lanes)));
    Value second = k_.add(first, k_.number(int64_t(k_.threads) * lanes));
    k_.branch(
        k_.less(second, elements_), [&] { writeAt({pointAt(first), pointAt(second)}, lanes); },
        [&] { k_.when(k_.less(first, elements_), [&] { writeAt(pointAt(first), lanes); }); });
  }

  /// Vectors of the whole result, but for those that lie in two rows, or whose lanes do not all read alike: what is
  /// left of these a warp computes together, an element a lane.
  void writeTogether(bool isOfWholeRows) {
    const int64_t ofThreads = int64_t(k_.threads) * width_; // elements
    Value first = k_.add(first_, k_.mul(k_.thread(), k_.number(width_)));
    SmallVector<Point> points;
    for (int64_t each = 0; each < apart_; ++each)
      points.push_back(pointAt(k_.add(first, k_.number(each * ofThreads))));
    Value last = k_.add(points.back().index.back(), k_.number(width_ - 1));
    Value isWhole = k_.both(k_.less(k_.add(first, k_.number((apart_ - 1) * ofThreads)), elements_),
                            w_.bodies.areBasesAligned(width_));
    if (!isOfWholeRows)
      isWhole = k_.both(isWhole, k_.less(last, w_.space.size(axes_ - 1)));
    auto none = [&] { return SmallVector<Value>{k_.less(first, elements_)}; };
    auto one = [&] { // the last thread's: of whole rows a vector is there or it is not
      Value isThere = k_.both(k_.less(first, elements_), w_.bodies.areBasesAligned(width_));
      return k_.choose(
          isThere, k_.b.getI1Type(), [&] { return SmallVector<Value>{writeSure(points.front(), isOfWholeRows)}; },
          none);
    };
    const Value areLeft =
        k_.choose(
              isWhole, k_.b.getI1Type(), [&] { return SmallVector<Value>{writeSure(points, isOfWholeRows)}; },
              [&] { return apart_ > 1 ? one() : none(); })
            .front();
    for (int64_t each = 0; each < apart_; ++each) {
      Value begin = k_.add(first_, k_.number(each * ofThreads));
      Value own = k_.add(begin, k_.mul(k_.thread(), k_.number(width_)));
      writeLeft(each == 0 ? areLeft : k_.both(areLeft, k_.less(own, elements_)), begin);
    }
  }

  /// @return whether the vectors are left: not computed (i1)
  Value writeSure(ArrayRef<Point> points, bool isOfWholeRows) {
    Bodies::Scope scope(w_.bodies);
    const std::optional<AffineMap> order = isOfWholeRows ? std::nullopt : orderOfResults();
    w_.bodies.setWidth(width_, /*isAligned=*/isOfWholeRows || order);
    w_.bodies.setRagged(order);
    SmallVector<Value> doubts;
    for (const Point &point : points)
      w_.bodies.preload(point);
    if (!unrolled_) {
      w_.bodies.collectDoubts(&doubts);
      for (const Point &point : points)
        for (const KernelOp &op : w_.kernel.ops)
          for (auto [number, output] : llvm::enumerate(op.outputs))
            if (output.isStored)
              w_.bodies.element(op, number, point, 0);
      w_.bodies.collectDoubts(nullptr);
    }
    Value isLeft = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(false));
    for (Value doubt : doubts)
      isLeft = k_.b.createOrFold<arith::OrIOp>(k_.loc, isLeft, doubt);
    Value isSure = k_.exclusiveOr(isLeft, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getBoolAttr(true)));
    k_.when(isSure, [&] {
      for (const Point &point : points)
        storeAt(point);
    });
    w_.bodies.setRagged(std::nullopt);
    return isLeft;
  }

  /// The map of tensors whose vectors are those of the whole result, if there is one.
  std::optional<AffineMap> orderOfResults() const {
    if (unrolled_)
      return std::nullopt;
    for (const KernelOp &op : w_.kernel.ops)
      for (const KernelOutput &output : op.outputs)
        if (AffineMap map = w_.shape.mapOf(output.tensor, op.op); output.isStored && map.isIdentity())
          return map;
    return std::nullopt;
  }

  /// Of vectors that some lanes of the warp have left, as many at a time as it has lanes for.
  /// @param begin the first element of the block's vectors, of which each thread has one
  void writeLeft(Value isLeft, Value begin) {
    constexpr unsigned kWarp = 32;
    const unsigned atOnce = kWarp / width_;
    Value lane = k_.rem(k_.thread(), k_.number(kWarp)), group = k_.div(lane, k_.number(width_));
    Value ofWarp = k_.add(begin, k_.mul(k_.sub(k_.thread(), lane), k_.number(width_)));
    Type i32 = k_.b.getI32Type();
    auto number32 = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(value));
    };
    auto withoutFirst = [&](Value mask) -> Value {
      return arith::AndIOp::create(k_.b, k_.loc, mask, arith::SubIOp::create(k_.b, k_.loc, mask, number32(1)));
    };
    Value mask = k_.ballot(isLeft);
    Value count =
        arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), LLVM::CtPopOp::create(k_.b, k_.loc, i32, mask));
    k_.loop(k_.number(0), count, k_.number(atOnce), {mask}, [&](Value, ValueRange carried) {
      Value rest = carried.front(), own = rest; // of which the group takes the first
      for (unsigned each = 0; each < atOnce; ++each) {
        own = each == 0 ? rest : k_.select(k_.less(group, k_.number(each)), own, rest);
        rest = withoutFirst(rest);
      }
      Value owner = LLVM::CountTrailingZerosOp::create(k_.b, k_.loc, i32, own, /*is_zero_poison=*/false);
      owner = arith::ExtUIOp::create(k_.b, k_.loc, k_.b.getI64Type(), owner); // 32 where there is none
      Value element = k_.add(k_.add(ofWarp, k_.mul(owner, k_.number(width_))), k_.rem(lane, k_.number(width_)));
      Value exists = k_.both(k_.less(owner, k_.number(kWarp)), k_.less(element, elements_));
      k_.when(exists, [&] { writeAt(pointAt(element), 1); });
      return SmallVector<Value>{rest};
    });
  }

  /// As writeApart(), several elements of each thread together.
  void writeSeveral() {
    Value first = k_.add(first_, k_.thread()), end = k_.add(first_, k_.number(int64_t(k_.threads) * apart_));
    k_.branch(
        k_.less(elements_, end), [&] { writeEach(first, elements_, k_.threads); },
        [&] {
          SmallVector<Point> points;
          for (int64_t each = 0; each < apart_; ++each)
            points.push_back(pointAt(k_.add(first, k_.number(each * k_.threads))));
          writeAt(points, 1);
        });
  }

  /// Neighbouring threads take neighbouring elements.
  void writeApart() {
    Value end = k_.min(k_.add(first_, k_.number(int64_t(k_.threads) * width_)), elements_);
    Value first = k_.add(first_, k_.thread());
    writeEach(first, end, k_.threads);
  }

  void writeEach(Value first, Value end, int64_t step) {
    k_.loop(first, end, k_.number(step), {}, [&](Value element, ValueRange) {
      writeAt(pointAt(element), 1);
      return SmallVector<Value>();
    });
  }

  Writer &w_;
  const Strategy &strategy_;
  KernelBuilder &k_;
  const unsigned width_, axes_;
  const int64_t multiple_;                 // that a row is one of
  const std::optional<unsigned> unrolled_; // axis that the thread runs through
  const int64_t apart_;                    // elements of a thread, where vectors have one
  const bool hasUnknownRows_;
  const SmallVector<AffineMap> orders_; // of permuted tensors
  Value elements_;                      // without it
  Value first_;                         // element of the block
};

} // namespace

bool isOfWords(const KernelFunction &kernel, const GroupShape &shape) {
  auto isWide = [&](const KernelOp &op, const KernelTensor &tensor) {
    const GroupShape::Along along = shape.along(tensor, op.op, shape.axes.size() - 1);
    return along == GroupShape::Along::Same || along == GroupShape::Along::Apart ||
           dispatch::elementBytes(tensor.element) >= 4;
  };
  return llvm::all_of(kernel.ops, [&](const KernelOp &op) {
    return llvm::all_of(op.inputs, [&](const KernelInput &in) { return !in.isMemory() || isWide(op, in.tensor); }) &&
           llvm::all_of(op.outputs, [&](const KernelOutput &out) { return !out.isStored || isWide(op, out.tensor); });
  });
}

std::optional<unsigned> unrolledAxis(const KernelFunction &kernel, const GroupShape &shape) {
  if (kernel.ops.size() != 1 || shape.axes.size() < 2)
    return std::nullopt;
  if (const std::optional<int64_t> row = shape.axes.back().size;
      row && *row % vectorWidth(kernel, shape, shape.axes.size() - 1) != 0 && !isOfWords(kernel, shape))
    return std::nullopt;
  const std::optional<unsigned> loop = dispatch::unrolledLoopOf(kernel.only().op);
  if (!loop)
    return std::nullopt;
  const unsigned wanted = shape.group.axisOf.lookup(kernel.only().op)[*loop];
  for (auto [number, axis] : llvm::enumerate(shape.axes))
    if (axis.axes.size() == 1 && axis.axes[0] == wanted && axis.size && number + 1 < shape.axes.size())
      return unsigned(number);
  return std::nullopt;
}

bool takesHalves(const KernelFunction &kernel, uint32_t width) {
  return width >= 4 && kernel.gathered.empty();
}

bool movesElements(const KernelFunction &kernel) {
  return workOf(kernel) <= kCopies;
}

void writeElementwise(Writer &writer, const Strategy &strategy) {
  ElementwiseWriter(writer, strategy).run();
}

} // namespace tenon::compiler::codegen
