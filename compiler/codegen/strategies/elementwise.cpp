// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/elementwise.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

// A thread's straight-line code: beyond it, wider threads only cost registers and compile time.
constexpr uint32_t kMaxWorkPerThread = 256;
// Vectors of a row whose length is no multiple of one: of a shorter one, too many lie in two rows.
constexpr int64_t kShortRow = 8;

class ElementwiseWriter {
public:
  explicit ElementwiseWriter(Writer &w) : w_(w), k_(w.k), width_(w.choice("width")) {}

  void run() {
    const unsigned axes = w_.shape.axes.size();
    w_.space.vectorAxis = axes == 0 ? 0 : axes - 1;
    elements_ = w_.space.size(0, axes);
    first_ = k_.mul(k_.block(), k_.number(int64_t(k_.threads) * width_));
    if (width_ == 1)
      return writeApart();
    if (axes == 1)
      return k_.branch(w_.bodies.areBasesAligned(width_), [&] { writeWide(); }, [&] { writeApart(); });
    Value row = w_.space.size(axes - 1);
    Value isWhole = k_.equal(k_.rem(row, k_.number(width_)), k_.number(0));
    Value isLong = k_.less(k_.number(kShortRow * width_), row);
    auto whole = [&] { k_.branch(w_.bodies.areBasesAligned(width_), [&] { writeWide(); }, [&] { writeApart(); }); };
    k_.branch(isWhole, whole, [&] { k_.branch(isLong, [&] { writeRagged(); }, [&] { writeApart(); }); });
  }

private:
  Point pointAt(Value element) {
    Point point;
    w_.space.place(point, 0, w_.shape.axes.size(), element);
    point.id = w_.space.newId();
    return point;
  }

  void writeAt(const Point &point, unsigned width, bool isAligned = true) {
    Bodies::Scope scope(w_.bodies);
    w_.bodies.setWidth(width, isAligned);
    w_.bodies.preload(point);
    for (const KernelOp &op : w_.kernel.ops)
      w_.bodies.store(op, point);
  }

  /// Whole vectors; the last thread that has an element may have less.
  void writeWide() {
    Value first = k_.add(first_, k_.mul(k_.thread(), k_.number(width_)));
    Value end = k_.add(first, k_.number(width_));
    k_.branch(
        k_.less(elements_, end), [&] { writeEach(first, elements_, 1); }, [&] { writeAt(pointAt(first), width_); });
  }

  /// Rows that are no multiple of a vector: the vectors of what is written are those of the whole tensor, and one that
  /// lies in two rows goes one element at a time. Each access tests whether it is aligned.
  void writeRagged() {
    Value first = k_.add(first_, k_.mul(k_.thread(), k_.number(width_)));
    Value end = k_.add(first, k_.number(width_));
    Point point = pointAt(first);
    Value rowEnd = k_.add(point.index.back(), k_.number(width_));
    Value isTorn = arith::OrIOp::create(k_.b, k_.loc, k_.less(elements_, end),
                                        k_.less(w_.space.size(w_.shape.axes.size() - 1), rowEnd));
    k_.branch(
        isTorn, [&] { writeEach(first, k_.min(end, elements_), 1); },
        [&] { writeAt(point, width_, /*isAligned=*/false); });
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
  KernelBuilder &k_;
  const unsigned width_;
  Value elements_;
  Value first_; // element of the block
};

} // namespace

std::optional<Plan> Elementwise::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  if (shape.group.hasReduction())
    return std::nullopt;
  uint32_t width = shape.axes.empty() ? 1 : vectorWidth(kernel, shape, shape.axes.size() - 1);
  for (const uint32_t work = workOf(kernel); width > 1 && width * work > kMaxWorkPerThread;)
    width /= 2;
  constexpr uint32_t kThreads = 256;
  return Plan{name(), kThreads, {{"width", width}}, {{extentsOf(shape.axes), int64_t(kThreads) * width}}};
}

void Elementwise::write(Writer &writer) const {
  ElementwiseWriter(writer).run();
}

} // namespace tenon::compiler::codegen
